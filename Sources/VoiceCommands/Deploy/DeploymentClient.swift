import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2
import GRPCProtobuf
import SpeechProtocol
import SpeechStreaming
import SwiftProtobuf
import Synchronization
import VoiceCore
import VoiceServer

/// Asks a server to deploy configurations, with the API key of a project.
struct DeploymentClient: Sendable {
  typealias Config = Speechly_Config_V1_ConfigAPI
  typealias Connection = GRPCClient<HTTP2ClientTransport.Posix>

  let address: GRPCAddress
  let key: String
  var trustedCertificates: String?

  /// How much of a configuration goes into one message; the tools of the hosted service do the same.
  private static let pieceSize = 1_000_000

  /// Runs calls over one connection.
  func connected<Value: Sendable>(
    _ body: @Sendable (Connection) async throws -> Value
  ) async throws(VoiceFailure) -> Value {
    do {
      let probe = ServerProbe(address: self.address, trustedCertificates: self.trustedCertificates)
      let transport = try HTTP2ClientTransport.Posix(
        target: probe.target, transportSecurity: probe.security)
      return try await withGRPCClient(transport: transport) { try await body($0) }
    } catch {
      if let failure = error as? VoiceFailure { throw failure }
      throw GRPCFailures.end(error, address: self.address).failure ?? VoiceFailure(.unexpected, cause: error)
    }
  }

  /// The present state of an app.
  func app(_ id: UUID, over connection: Connection) async throws -> Speechly_Config_V1_App {
    try await Config.Client(wrapping: connection).getApp(
      .with { $0.appID = id.uuidString.lowercased() }, metadata: self.metadata, options: self.options
    ).app
  }

  /// Sends an archive; returns when the server has taken it, which may be before it is deployed.
  ///
  /// - Parameter progress: Called with how many bytes are on their way.
  func upload(
    _ archive: [UInt8], to app: UUID, over connection: Connection, progress: @escaping @Sendable (Int) -> Void
  ) async throws {
    // Compiling can take longer than other calls do.
    _ = try await Config.Client(wrapping: connection).uploadTrainingData(
      metadata: self.metadata, options: self.options(patience: .seconds(900))
    ) { writer in
      for start in stride(from: 0, to: max(1, archive.count), by: Self.pieceSize) {
        let end = min(start + Self.pieceSize, archive.count)
        try await writer.write(
          .with {
            $0.appID = app.uuidString.lowercased()
            $0.contentType = .tar
            $0.dataChunk = Data(archive[start..<end])
          })
        progress(end)
      }
    }
  }

  /// What was deployed to an app last.
  func download(_ app: UUID, over connection: Connection) async throws -> (bytes: [UInt8], isArchive: Bool) {
    try await Config.Client(wrapping: connection).downloadCurrentTrainingData(
      .with { $0.appID = app.uuidString.lowercased() }, metadata: self.metadata,
      options: self.options(patience: .seconds(300))
    ) { response in
      var bytes: [UInt8] = []
      var isArchive = false
      for try await message in response.messages {
        bytes += message.dataChunk
        isArchive = message.contentType == .tar
      }
      return (bytes, isArchive)
    }
  }

  private var metadata: Metadata { ["authorization": .string("Bearer \(self.key)")] }
  private var options: GRPCCore.CallOptions { self.options(patience: .seconds(20)) }

  private func options(patience: Duration) -> GRPCCore.CallOptions {
    var options = GRPCCore.CallOptions.defaults
    options.timeout = patience
    // A server that is not there is reported at once.
    options.waitForReady = false
    return options
  }
}
