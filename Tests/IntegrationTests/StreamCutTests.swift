import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import SpeechStreaming
import Synchronization
import Testing
import VoiceAudio
import VoiceCore
import VoiceServer
import VoiceTesting

/// The connection breaks at any byte, and the words and their meaning stay the same.
@Suite struct StreamCutTests {
  static let seed: UInt64 = 20_260_401
  /// 48 cuts, or 200 with `VOICE_LONG_TESTS=1`: each of them recognises seconds of audio anew.
  static let cuts = ProcessInfo.processInfo.environment["VOICE_LONG_TESTS"] == "1" ? 200 : 48

  /// Two recordings with a pause between them, so that one segment is finished while the next is open.
  static var recording: any AudioSource {
    ConcatenatedSource([
      Recording.goForward, SilenceSource(duration: .milliseconds(900)),
      PipeSource(path: "\(Recording.folder)/something.raw", rawFormat: RawAudioFormat()),
      SilenceSource(duration: .milliseconds(900)),
    ])
  }

  private static let options = ["silence_triggered_segmentation": ["400"]]

  @Test func wordsAreIdenticalAfterCutsAtRandomBytes() async throws {
    let outcome = try await RunningServer.with(
      engine: try PocketSphinxEngine(),
      configure: {
        $0.limits.decoders = 4; $0.limits.loginsPerSecond = 1000
      }
    ) { server in
      let uncut = try await Self.run(server, plan: LinkPlan())
      try #require(uncut.utterance.context.segments.count >= 2)
      try #require(uncut.utterance.failures.isEmpty)

      var generator = SeededGenerator(seed: Self.seed)
      let plans = (0..<Self.cuts).map { number in
        Self.plan(number, like: uncut.connections, using: &generator)
      }
      return try await Self.run(server, plans: plans, like: uncut)
    }
    print(
      "Stream cuts: \(outcome.runs) runs with seed \(Self.seed), \(outcome.recoveries) recoveries in open contexts, \(outcome.different.count) with other words"
    )
    #expect(outcome.runs == Self.cuts)
    #expect(outcome.recoveries > Self.cuts / 2)
    #expect(outcome.different == [])
  }

  // MARK: Understanding

  /// Commands for a home, as a script says them: pauses in sentences, two in one breath, what nobody understands.
  private static let commands: [ScriptedEngine.Word] =
    ScriptedEngine.Word.sentence("turn on the coffee", at: .milliseconds(200))
    + ScriptedEngine.Word.sentence("machine in the kitchen", at: .milliseconds(1400))
    + ScriptedEngine.Word.sentence("turn off the lights turn on the radio", at: .milliseconds(3200))
    + ScriptedEngine.Word.sentence("what a day", at: .milliseconds(6200), isRejected: true)
    + ScriptedEngine.Word.sentence("set the volume to twenty five", at: .milliseconds(8000))

  private static let templates = """
    lang: en-US
    entities:
      - {name: level, type: number}
    templates: |
      device = [lights | radio | coffee | coffee machine]
      *turn_on turn on the $device(device) {in the [kitchen | living room](room)}
      *turn_off turn off the $device(device) {in the [kitchen | living room](room)}
      *volume set the volume to [1..40](level)
    """

  /// Half a command before the cut, half behind it: its intent is the same.
  @Test(arguments: [true, false])
  func intentsAndEntitiesAreIdenticalAfterCutsAtRandomBytes(followsGrammars: Bool) async throws {
    let engine = ScriptedEngine(
      words: Self.commands,
      capabilities: RecognitionCapabilities(
        languages: ["en-US"], revisesAtEnd: true, detectsVoiceActivity: true, followsGrammars: followsGrammars
      ))
    let outcome = try await RunningServer.with(
      engine: engine,
      configure: {
        $0.limits.decoders = 4; $0.limits.loginsPerSecond = 1000
      }, templates: Self.templates
    ) { server in
      let uncut = try await Self.run(server, plan: LinkPlan(), source: Self.silence)
      let segments = uncut.utterance.context.segments
      #expect(
        segments.map(\.intent.value) == ["turn_on", "turn_off", "turn_on", "", "volume"])
      #expect(
        segments.flatMap(\.entities).map(\.value) == ["coffee machine", "kitchen", "lights", "radio", "25"])
      #expect(segments.allSatisfy { $0.isFinal && $0.intent.isFinal && $0.entities.allSatisfy(\.isFinal) })
      #expect(uncut.utterance.failures.isEmpty)
      var generator = SeededGenerator(seed: Self.seed)
      let plans = (0..<60).map { number in
        Self.plan(number, like: uncut.connections, using: &generator)
      }
      return try await Self.run(server, plans: plans, like: uncut, source: Self.silence)
    }
    print("Cuts in commands: \(outcome.runs) runs, \(outcome.recoveries) recoveries in open contexts")
    #expect(outcome.recoveries > 30)
    #expect(outcome.different == [])
  }

  private static var silence: any AudioSource { SilenceSource(duration: .seconds(11)) }

  // MARK: Runs

  private static func run(
    _ server: RunningServer, plans: [LinkPlan], like uncut: Run, source: any AudioSource = recording
  ) async throws -> Tally {
    let next = Numbers()
    return try await withThrowingTaskGroup(of: Tally.self) { group in
      for _ in 0..<3 {
        group.addTask {
          var tally = Tally()
          while true {
            let number = next.take()
            guard number < plans.count else { return tally }
            let cut = try await Self.run(server, plan: plans[number], source: source)
            tally.runs += 1
            tally.recoveries += cut.utterance.recoveries
            if Words(cut.utterance) != Words(uncut.utterance) {
              tally.different.append(
                "cut \(number), \(plans[number]): \(Words(cut.utterance)) is not \(Words(uncut.utterance))")
            }
            for failure in cut.utterance.failures where failure.code != .connectionLost {
              guard case .automatic = failure.recovery else {
                tally.different.append("cut \(number): \(failure)")
                continue
              }
            }
          }
        }
      }
      return try await group.reduce(into: Tally()) { $0.add($1) }
    }
  }

  private final class Numbers: Sendable {
    private let next = Atomic(0)
    func take() -> Int { self.next.wrappingAdd(1, ordering: .relaxed).oldValue }
  }

  private struct Tally: Sendable {
    var runs = 0
    var recoveries = 0
    var different: [String] = []

    mutating func add(_ other: Tally) {
      self.runs += other.runs
      self.recoveries += other.recoveries
      self.different += other.different
    }
  }

  /// What must not change: words, times, intents, entities and segments.
  private struct Words: Hashable, CustomStringConvertible {
    var description: String

    init(_ utterance: Utterance) {
      self.description = utterance.context.segments.map { segment in
        "\(segment.segmentId)\(segment.isFinal ? "" : "?"): "
          + segment.transcripts.map { word in
            String(format: "%@ %.3f-%.3f", word.value, word.startOffset, word.endOffset)
          }.joined(separator: ", ")
          + " *\(segment.intent.value) "
          + segment.entities.map { "\($0.type)=\($0.value) \($0.startIndex)..<\($0.endIndex)" }
          .joined(separator: ", ")
      }.joined(separator: " | ")
    }
  }

  private struct Run: Sendable {
    var utterance: Utterance
    var connections: [ImpairedLink.Connection]
  }

  /// Cuts the login, the stream, or both; now and then the replacement too.
  private static func plan(
    _ number: Int, like uncut: [ImpairedLink.Connection], using generator: inout SeededGenerator
  ) -> LinkPlan {
    func cut(_ connection: ImpairedLink.Connection?) -> LinkPlan.Connection {
      let direction = LinkPlan.Direction.allCases.randomElement(using: &generator) ?? .toClient
      let bytes = max(1, connection?.bytes(direction) ?? 1)
      // Half-open connections take 15 s to be noticed, so there are few of them.
      let ending: LinkPlan.Ending =
        number % 50 == 49 ? .silence : (Bool.random(using: &generator) ? .reset : .finish)
      return LinkPlan.Connection(
        cut: .init(direction, afterBytes: Int.random(in: 0..<bytes, using: &generator), ending))
    }
    var plan = LinkPlan(seed: generator.next())
    if number % 20 == 0 {
      plan.connections[0] = cut(uncut.first)
    } else {
      plan.connections[1] = cut(uncut.last)
      if number % 3 == 0 { plan.connections[2] = cut(uncut.last) }
    }
    return plan
  }

  private static func run(
    _ server: RunningServer, plan: LinkPlan, source: any AudioSource = recording
  ) async throws -> Run {
    try await withImpairedLink(to: "127.0.0.1", port: server.port, plan: plan) { link in
      var configuration = server.configuration(port: link.port)
      configuration.retry = RetryPolicy(base: .milliseconds(5), cap: .milliseconds(50), budget: .seconds(120))
      let utterance = try await recognize(source, configuration, options: Self.options)
      return Run(utterance: utterance, connections: link.connections)
    }
  }
}
