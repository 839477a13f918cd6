import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import SpeechStreaming
import Testing
import VoiceAudio
import VoiceCore
import VoiceServer

/// The real client, server and engine over a real socket.
@Suite struct SpeechStreamingEndToEndTests {
  @Test func wordsOfARecordingComeBackWhileItPlays() async throws {
    try await RunningServer.with(engine: try PocketSphinxEngine()) { server in
      let result = try await recognize(Recording.goForward, server.configuration())
      #expect(result.context.text == "go forward ten meters")
      #expect(result.tentativeUpdates > 1)
      #expect(result.failures.isEmpty)
      let words = result.context.segments.flatMap(\.transcripts)
      let tentative = words.filter { !$0.isFinal }
      #expect(tentative.isEmpty)
      #expect(words.map(\.startOffset) == words.map(\.startOffset).sorted())
    }
  }

  @Test func anUnknownAppIsToldApartFromAnUnreachableServer() async throws {
    try await RunningServer.with(engine: try PocketSphinxEngine()) { server in
      var configuration = server.configuration()
      configuration.app = .app(UUID())
      let client = try SpeechClient(
        configuration: configuration, source: SilenceSource(duration: .seconds(1)))
      #expect(await failure(of: client) == .unknownApp)

      configuration = server.configuration(port: 1)
      let unreachable = try SpeechClient(
        configuration: configuration, source: SilenceSource(duration: .seconds(1)))
      #expect(await failure(of: unreachable) == .serverUnreachable)

      configuration = server.configuration()
      configuration.language = .fiFI
      let finnish = try SpeechClient(
        configuration: configuration, source: SilenceSource(duration: .seconds(1)))
      #expect(await failure(of: finnish) == .languageNotOffered)

      configuration = server.configuration()
      configuration.identityAddress = "grpc+tls://127.0.0.1:\(server.port)"
      let tls = try SpeechClient(configuration: configuration, source: SilenceSource(duration: .seconds(1)))
      #expect(await failure(of: tls) == .tlsFailed)
    }
  }

  private func failure(of client: SpeechClient) async -> VoiceFailure.Code? {
    do {
      try await client.prepare()
      return nil
    } catch {
      return error.code
    }
  }
}
