import Foundation
import Logging
import PocketSphinxRecognition
import Synchronization
import VoiceCore
import VoiceServer

/// A gateway in this process, for the time of a call: on a free port of the loopback interface, with data of its own.
enum LocalGateway {
  /// Runs a gateway for the time of a closure, which gets its address and its users.
  ///
  /// - Throws: ``VoiceFailure`` if the server cannot start.
  static func run(
    clock: any VoiceClock, _ body: @Sendable @escaping (URL, [DemoUser]) async -> CommandStatus
  ) async throws(VoiceFailure) -> CommandStatus {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "voice-call-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = ServerConfiguration(grpcPort: 0, httpPort: 0, dataFolder: folder.path)
    configuration.limits.decoders = 1
    configuration.drainTime = .seconds(1)
    let users = Mutex<[DemoUser]>([])
    let server = VoiceServer(
      configuration: configuration, engine: try PocketSphinxEngine(), clock: clock,
      logger: Logger(label: "voice.call") { _ in SwiftLogNoOpLogHandler() },
      observer: VoiceServer.Observer(tookDemoUsers: { taken in users.withLock { $0 = taken } }))
    do {
      return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        defer { group.cancelAll() }
        let addresses = try await server.addresses
        guard let url = URL(string: "ws://127.0.0.1:\(addresses.http.port)/calls") else {
          throw VoiceFailure(.unexpected)
        }
        let status = await body(url, users.withLock { $0 })
        server.beginGracefulShutdown()
        return status
      }
    } catch {
      throw error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error)
    }
  }
}
