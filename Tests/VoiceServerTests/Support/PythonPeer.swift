import Foundation
import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceTesting

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
    let status = try await withPeerProcess(
      "Tests/Peers/slu_client.py",
      arguments: [
        "--proto", self.root + "/proto", "--grpc", "\(server.addresses.grpc)", "--http",
        "\(server.addresses.http)",
      ] + tokens.flatMap { ["--token", "\($0.key)=\($0.value)"] } + cases
    ) { peer in
      for await event in peer.events {
        try handle(try JSONDecoder().decode(Report.self, from: Data(event.line.utf8)))
      }
      return peer.exitStatus
    }
    #expect(status == 0, "the peer failed; its errors are above")
  }
}
