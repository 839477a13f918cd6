import Foundation
import Logging
import VoiceServer

/// The project's own gateway for calls, as `voice serve` runs it, with many users and without the limits of one client.
enum CallsSubject {
  static func run() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "voice-bench-\(getpid())")
    defer { try? FileManager.default.removeItem(at: folder) }
    var calls = ServerConfiguration.Calls()
    calls.users = (["alice"] + (0..<64).map { "user\($0)" }).map {
      .init(name: $0, password: "\($0)-password")
    }
    calls.limits.connectionsPerAddress = 100_000
    calls.limits.connections = 100_000
    calls.limits.registrationsPerUser = 10_000
    calls.limits.callsPerUser = 10_000
    calls.limits.framesPerSecond = 1_000_000
    calls.limits.loginsPerSecond = 1_000_000
    var limits = ServerConfiguration.Limits()
    limits.decoders = 1
    var logger = Logger(label: "bench")
    logger.logLevel = .error
    let server = VoiceServer(
      configuration: ServerConfiguration(
        grpcPort: 0, httpPort: 0, dataFolder: folder.path, limits: limits, calls: calls),
      engine: AnsweringEngine(), logger: logger,
      observer: VoiceServer.Observer(becameReady: { BenchServer.announce(port: $0.http.port) }))
    try await server.run()
  }
}
