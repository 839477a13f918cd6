import Foundation
import Logging
import VoiceServer

/// The project's own server, as `voice serve` runs it, with an ``AnsweringEngine``.
enum VoiceSubject {
  static func run() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "voice-bench-\(getpid())")
    defer { try? FileManager.default.removeItem(at: folder) }
    var limits = ServerConfiguration.Limits()
    limits.decoders = 128
    limits.streams = 4096
    limits.decoderPatience = .seconds(30)
    limits.contextDuration = .seconds(3600)
    let app = ServerConfiguration.App.demo
    var logger = Logger(label: "bench")
    logger.logLevel = .error
    let server = VoiceServer(
      configuration: ServerConfiguration(
        grpcPort: 0, httpPort: 0, dataFolder: folder.path,
        projects: [.init(id: app.project, apiKeys: [BenchServer.key])], limits: limits),
      engine: AnsweringEngine(), logger: logger,
      observer: VoiceServer.Observer(becameReady: { BenchServer.announce(port: $0.grpc.port) }))
    try await server.run()
  }
}
