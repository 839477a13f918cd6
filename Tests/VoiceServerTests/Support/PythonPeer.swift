import Foundation
import SpeechProtocol
import SwiftProtobuf
import Testing

@testable import VoiceServer

/// The independent client in `Tests/Peers/slu_client.py`.
enum PythonPeer {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  /// The interpreter with grpcio: `VOICE_PEERS_PYTHON`, else `.peers/bin/python` in the project's folder.
  static func interpreter() throws -> String {
    let path = ProcessInfo.processInfo.environment["VOICE_PEERS_PYTHON"] ?? self.root + "/.peers/bin/python"
    try #require(
      FileManager.default.isExecutableFile(atPath: path),
      "There is no Python for the peers at \(path): run make setup-peers, or set VOICE_PEERS_PYTHON.")
    return path
  }

  /// What the peer saw in one case.
  struct Report: Decodable, Sendable {
    var `case`: String
    var event: String?
    var status: String?
    var details: String?
    var failure: String?
    var pushback: String?
    var kinds: [String]?
    var words: [String]?
    var responses: [String]?
    var token: String?
    var origin: String?
    var expiresAt: Int64?
    var expiresAtEpoch: Int64?
    var validFor: Int64?
    var hasZone: Bool?
    var held: String?
    var waited: Double?

    var messages: [Speechly_Slu_V1_SLUResponse] {
      get throws {
        try (self.responses ?? []).map {
          try Speechly_Slu_V1_SLUResponse(serializedBytes: Data(base64Encoded: $0) ?? Data())
        }
      }
    }
  }

  /// Runs cases; each report is handed out as soon as it is there.
  static func run(
    _ cases: [String], against server: RunningServer, tokens: [String: String] = [:],
    _ handle: @escaping @Sendable (Report) throws -> Void
  ) async throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try self.interpreter())
    process.arguments =
      [
        self.root + "/Tests/Peers/slu_client.py", "--proto", self.root + "/proto", "--grpc",
        "\(server.addresses.grpc)", "--http", "\(server.addresses.http)",
      ] + tokens.flatMap { ["--token", "\($0.key)=\($0.value)"] } + cases
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // A thread of its own: reading blocks.
    let status: Int32 = try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        var text = Data()
        var problem: (any Error)?
        while true {
          let piece = output.fileHandleForReading.availableData
          if piece.isEmpty { break }
          text.append(piece)
          while let end = text.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Data(text[text.startIndex..<end])
            text = Data(text[text.index(after: end)...])
            do {
              try handle(try JSONDecoder().decode(Report.self, from: line))
            } catch {
              problem = problem ?? error
            }
          }
        }
        process.waitUntilExit()
        if let problem {
          continuation.resume(throwing: problem)
        } else {
          continuation.resume(returning: process.terminationStatus)
        }
      }
    }
    #expect(status == 0, "the peer failed; its errors are above")
  }
}
