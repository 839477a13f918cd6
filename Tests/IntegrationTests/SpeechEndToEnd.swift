import Foundation
import Logging
import PocketSphinxRecognition
import SpeechPipeline
import SpeechStreaming
import VoiceAudio
import VoiceCore
import VoicePlatform
import VoiceServer

/// Debian's recordings of the package `pocketsphinx-testdata`.
enum Recording {
  static let folder = "/usr/share/pocketsphinx/test/data"

  static var goForward: any AudioSource {
    PipeSource(path: "\(folder)/goforward.raw", rawFormat: RawAudioFormat())
  }

  static func librivox(_ number: String) -> any AudioSource {
    AudioFileSource(path: "\(folder)/librivox/sense_and_sensibility_01_austen_64kb-\(number).wav")
  }
}

/// A server in this process, on free ports of the loopback interface, with its data in a folder of its own.
struct RunningServer: Sendable {
  var server: VoiceServer
  var port: Int

  /// Runs a server for the time of a closure.
  static func with<R: Sendable>(
    engine: any RecognitionEngine,
    configure: @Sendable (inout ServerConfiguration) -> Void = { _ in },
    templates: String? = nil, observer: VoiceServer.Observer = .init(),
    _ body: @Sendable @escaping (RunningServer) async throws -> R
  ) async throws -> R {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("voice-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = ServerConfiguration()
    configuration.grpcPort = 0
    configuration.httpPort = 0
    configuration.dataFolder = folder.path
    configuration.drainTime = .seconds(2)
    if let templates {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let file = folder.appendingPathComponent("templates.yaml")
      try Data(templates.utf8).write(to: file)
      configuration.apps[0].templates = file.path
    }
    configure(&configuration)
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let server = VoiceServer(
      configuration: configuration, engine: engine, logger: logger, observer: observer)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      let addresses = try await server.addresses
      let result = try await body(RunningServer(server: server, port: addresses.grpc.port))
      server.beginGracefulShutdown()
      return result
    }
  }

  func configuration(port: Int? = nil) -> SpeechClient.Configuration {
    var configuration = SpeechClient.Configuration(
      app: .app(ServerConfiguration.App.demo.id), language: "en-US")
    configuration.identityAddress = "grpc://127.0.0.1:\(port ?? self.port)"
    configuration.speechAddress = "grpc://127.0.0.1:\(port ?? self.port)"
    configuration.store = MemorySecureStore()
    configuration.paths = nil
    configuration.postRoll = .zero
    return configuration
  }
}

/// What came out of one utterance.
struct Utterance: Sendable {
  var context: SpeechContext
  var events: [SpeechEvent]

  var failures: [VoiceFailure] {
    self.events.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
  }
  var recoveries: Int { self.events.count { if case .recovered = $0 { true } else { false } } }
  var tentativeUpdates: Int {
    self.events.count { if case .segmentUpdated(let segment) = $0 { !segment.isFinal } else { false } }
  }
}

enum EndToEndError: Error {
  case noContext([VoiceFailure])
}

/// Streams a source to its end and returns what was recognised.
func recognize(
  _ source: any AudioSource, _ configuration: SpeechClient.Configuration, options: [String: [String]] = [:]
) async throws -> Utterance {
  try await withSpeechClient(configuration, source: source) { client in
    let events = client.events
    client.start(appId: nil, options: options)
    var seen: [SpeechEvent] = []
    for await event in events {
      seen.append(event)
      if case .finished(let context) = event {
        guard let context else {
          throw EndToEndError.noContext(
            seen.compactMap { if case .failed(let failure) = $0 { failure } else { nil } })
        }
        return Utterance(context: context, events: seen)
      }
    }
    throw EndToEndError.noContext([])
  }
}
