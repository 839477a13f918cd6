import Foundation
import Logging
import NIOCore
import PocketSphinxRecognition
import SpeechStreaming
import Testing
import VoiceCore
import VoicePlatform
import VoiceServer

@testable import VoiceCommands

private let recordings = "/usr/share/pocketsphinx/test/data"

/// The command against a real server on a socket.
@Suite(.timeLimit(.minutes(2)))
struct ServerRecognitionTests {
  /// Runs a server on free ports for the time of the body.
  private func withServer(_ body: (ListenAddresses) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "voice-cli-\(UUID().uuidString)"
    ).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var configuration = ServerConfiguration(grpcPort: 0, httpPort: 0, dataFolder: folder)
    configuration.limits.decoders = 1
    let server = VoiceServer(
      configuration: configuration, engine: try PocketSphinxEngine(),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      try await body(try await server.addresses)
      server.beginGracefulShutdown()
      try await group.waitForAll()
    }
  }

  @Test func recognisesAndRefuses() async throws {
    try await self.withServer { addresses in
      let address = "\(addresses.grpc)"
      let heard = await voice(
        "recognize", "--server", address, "--raw", recordings + "/goforward.raw", "--json")
      #expect(heard.status == .done)
      let final = try #require(heard.console.outputLines.last { $0.contains(#""final":true"#) })
      #expect(final.contains(#""text":"go forward ten meters""#))
      #expect(heard.console.outputLines.first?.hasPrefix(#"{"event":"started","contextId":""#) == true)
      #expect(heard.console.outputLines.last?.hasPrefix(#"{"event":"finished","contextId":""#) == true)

      let unknown = await voice(
        "recognize", "--server", address, "--app", "00000000-0000-4000-8000-00000000dead", "--raw",
        recordings + "/goforward.raw", recordings + "/numbers.raw")
      #expect(unknown.status == .refused)
      #expect(unknown.console.error.contains("speech.identity.unknown-app"))
      // The second file would be refused too: it is not tried.
      #expect(unknown.console.error.split(separator: "\n").count { $0.contains("✖") } == 1)

      let language = await voice(
        "recognize", "--server", address, "--language", "fi-FI", "--raw", recordings + "/goforward.raw")
      #expect(language.status == .refused)

      let mixed = await voice(
        "recognize", "--server", address, "/none-such.wav",
        recordings + "/librivox/sense_and_sensibility_01_austen_64kb-0880.wav")
      #expect(mixed.status == .input)
      #expect(mixed.console.outputLines.count == 1)

      let secure = await voice(
        "recognize", "--server", "grpc+tls://\(address)", "--raw", recordings + "/goforward.raw")
      #expect(secure.status == .network)
      #expect(secure.console.error.contains("network.tls.failed"))
    }
  }

  @Test func theSampleOfTheReadmeWorks() async throws {
    try await self.withServer { addresses in
      var configuration = SpeechClient.Configuration(app: .app(ServerConfiguration.App.demo.id))
      configuration.identityAddress = "grpc://\(addresses.grpc)"
      configuration.speechAddress = configuration.identityAddress
      configuration.store = MemorySecureStore()
      let text = try await transcribe(
        recordings + "/librivox/sense_and_sensibility_01_austen_64kb-0880.wav", with: configuration)
      #expect(text.hasPrefix("he was not"))
      #expect(text.hasSuffix("young man"))
    }
  }

  @Test func theProbeTellsServersApart() async throws {
    try await self.withServer { addresses in
      let grpc = ServerProbe(
        address: .init(host: "127.0.0.1", port: addresses.grpc.port, secure: false), patience: .seconds(60))
      #expect(await grpc.ask() == .ready)
      let http = ServerProbe(
        address: .init(host: "127.0.0.1", port: addresses.http.port, secure: false), patience: .seconds(60))
      #expect(await http.ask() == .other)
      #expect(await PortProbe.ask(port: addresses.http.port, patience: .seconds(60)) == .ours)
      #expect(await PortProbe.ask(port: addresses.grpc.port, patience: .seconds(60)) == .other)
    }
    let nobody = ServerProbe(
      address: .init(host: "127.0.0.1", port: 1, secure: false), patience: .seconds(60))
    #expect(await nobody.ask() == .nobody)
  }
}
