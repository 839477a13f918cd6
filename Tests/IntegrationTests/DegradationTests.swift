import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import SpeechStreaming
import Testing
import VoiceAudio
import VoiceCore
import VoiceServer
import VoiceTesting

/// The server goes away, and the engine in the app's process goes on: no sample is lost or heard twice.
@Suite struct DegradationTests {
  static let seed: UInt64 = 20_261_121
  static let cuts = 60
  private static let options = ["silence_triggered_segmentation": ["400"]]

  private static func run(
    _ server: RunningServer, plan: LinkPlan, source: any AudioSource, onDevice: OnDeviceRecognition?
  ) async throws -> (utterance: Utterance, connections: [ImpairedLink.Connection]) {
    try await withImpairedLink(to: "127.0.0.1", port: server.port, plan: plan) { link in
      var configuration = server.configuration(port: link.port)
      configuration.onDevice = onDevice
      configuration.serverPatience = .seconds(5)
      let utterance = try await recognize(source, configuration, options: Self.options)
      return (utterance, link.connections)
    }
  }

  /// The numbers and lengths of the words; their places count from where a recogniser began.
  private static func words(_ utterance: Utterance) -> [String] {
    utterance.context.segments.flatMap { segment in
      segment.transcripts.map { word in
        "\(segment.segmentId) \(word.value.prefix { $0 != "@" }) \(String(format: "%.2f", word.startOffset))"
      }
    }
  }

  private static func degradations(_ utterance: Utterance) -> Int {
    utterance.events.count { if case .degraded = $0 { true } else { false } }
  }

  /// The first stream is cut somewhere, and every later connection is refused.
  @Test func everySampleIsHeardOnceWhereverTheServerIsLost() async throws {
    let audio = MarkerAudio(sentences: 6)
    let source = SamplesSource(samples: audio.samples)
    let outcome = try await RunningServer.with(
      engine: MarkerEngine(), configure: { $0.limits.loginsPerSecond = 1000 }
    ) { server -> (degraded: Int, different: [String]) in
      let uncut = try await Self.run(server, plan: LinkPlan(), source: source, onDevice: nil)
      try #require(uncut.utterance.context.segments.count == 6)
      let expected = Self.words(uncut.utterance)
      var generator = SeededGenerator(seed: Self.seed)
      var degraded = 0
      var different: [String] = []
      for number in 0..<Self.cuts {
        let direction = LinkPlan.Direction.allCases.randomElement(using: &generator) ?? .toClient
        let bytes = uncut.connections.last?.bytes(direction) ?? 1
        var plan = LinkPlan(everyConnection: .init(isRejected: true))
        plan.connections[0] = number % 10 == 0 ? .init(isRejected: true) : .init()
        plan.connections[1] = .init(
          cut: .init(
            direction, afterBytes: Int.random(in: 0..<max(1, bytes), using: &generator),
            Bool.random(using: &generator) ? .reset : .finish))
        let cut = try await Self.run(
          server, plan: plan, source: source, onDevice: OnDeviceRecognition(engine: MarkerEngine()))
        degraded += Self.degradations(cut.utterance)
        // A word that was final before its segment ended comes again with another place in its text.
        let failures = cut.utterance.failures.filter { $0.code != .replayDiverged }
        if Self.words(cut.utterance) != expected || !failures.isEmpty {
          different.append("\(plan): \(Self.words(cut.utterance)), \(failures)")
        }
      }
      return (degraded, different)
    }
    print("Degradations: \(outcome.degraded) of \(Self.cuts) runs with seed \(Self.seed)")
    #expect(outcome.degraded > Self.cuts / 2)
    #expect(outcome.different == [])
  }

  @Test func aSpokenSentenceIsRecognisedWithoutItsServer() async throws {
    let engine = try PocketSphinxEngine()
    let (uncut, cut) = try await RunningServer.with(engine: engine) { server in
      let uncut = try await Self.run(server, plan: LinkPlan(), source: Recording.goForward, onDevice: nil)
      var plan = LinkPlan(everyConnection: .init(isRejected: true))
      plan.connections[0] = .init()
      plan.connections[1] = .init(cut: .init(.toTarget, afterBytes: 40_000, .reset))
      let cut = try await Self.run(
        server, plan: plan, source: Recording.goForward, onDevice: OnDeviceRecognition(engine: engine))
      return (uncut.utterance, cut.utterance)
    }
    #expect(Self.degradations(cut) == 1)
    #expect(cut.context.text == "go forward ten meters")
    #expect(cut.context.segments.map(\.transcripts) == uncut.context.segments.map(\.transcripts))
  }
}
