import SpeechUnderstanding
import Testing
import VoiceCore
import VoiceTesting

@testable import SpeechPipeline

/// Understanding in whole contexts: a script speaks, the events tell what it means.
struct UnderstandingContextTests {
  private typealias Word = ScriptedEngine.Word

  private static let script =
    Word.sentence("turn on the coffee", at: .milliseconds(200))
    + Word.sentence("machine in the kitchen", at: .milliseconds(1400))
    + Word.sentence("turn off the lights turn on the radio", at: .milliseconds(3500))
    + Word.sentence("what a day", at: .milliseconds(6500), isRejected: true)
    + Word.sentence("set the volume to twenty five", at: .milliseconds(8500))

  private func engine(_ words: [Word] = Self.script, followsGrammars: Bool) -> ScriptedEngine {
    ScriptedEngine(
      words: words,
      capabilities: RecognitionCapabilities(
        languages: ["en-US"], revisesAtEnd: true, detectsVoiceActivity: true, followsGrammars: followsGrammars
      ))
  }

  private func recognize(
    from sample: Int = 0, seconds: Int = 11, chunk: Int = 1600, adaptation: RecognizerAdaptation? = nil,
    silence: Duration? = .milliseconds(500), understanding: ContextUnderstanding?,
    engine: ScriptedEngine
  ) async throws -> [RecognitionEvent] {
    let pool = RecognizerPool(engine: engine, size: 1)
    let options = ContextOptions(
      silence: silence, adaptation: adaptation, understanding: understanding, vocabulary: ["radio"],
      vocabularyBias: 0.75)
    let context = try await pool.beginContext(options, patience: .seconds(600))
    var events: [RecognitionEvent] = []
    for start in stride(from: sample, to: seconds * 16_000, by: chunk) {
      let count = min(chunk, seconds * 16_000 - start)
      events += try await context.append([Int16](repeating: 0, count: count))
    }
    return try await events + context.finish()
  }

  private func meaning(_ events: [RecognitionEvent]) -> [String] {
    events.filter { event in
      switch event {
      case .entity, .intent(_, _, isFinal: true), .segmentEnded: true
      case .hypothesis, .word, .tentativeEntities, .intent: false
      }
    }.map { $0.line.replacing(/ended at .*/, with: "ended") }
  }

  @Test(arguments: [true, false])
  func understandsASessionAsItIsSpoken(followsGrammars: Bool) async throws {
    let engine = self.engine(followsGrammars: followsGrammars)
    let events = try await self.recognize(
      understanding: Home.context(followsGrammar: true), engine: engine)
    #expect(
      self.meaning(events).sorted() == [
        "0 *turn_on", "0 [coffee machine](device 3..<5)", "0 [kitchen](room 7..<8)", "0 ended",
        "1 *turn_off", "1 [lights](device 3..<4)", "1 ended",
        "2 *turn_on", "2 [radio](device 3..<4)", "2 ended",
        "3 *", "3 ended", "4 *volume", "4 [25](level 4..<6)", "4 ended",
      ])
    var checker = EventChecker()
    checker.check(events)
    checker.expectNothingOpen()
    #expect(checker.problems == [])
    // Something is told long before the end of each sentence.
    #expect(events.contains { if case .intent(4, "volume", isFinal: false) = $0 { true } else { false } })
    #expect(engine.lastTask?.grammar != nil)
    #expect(engine.lastTask?.vocabulary == ["radio"])
    #expect(engine.lastTask?.vocabularyBias == 0.75)
  }

  @Test func withAGrammarNoWordIsFinalBeforeItsUtteranceEnds() async throws {
    let words =
      Word.sentence("turn on the radio turn off the lights turn on the coffee", at: .zero)
      + Word.sentence("turn on the radio turn off the lights turn on the coffee", at: .seconds(3))
    let free = try await self.recognize(
      seconds: 6, understanding: Home.context(), engine: self.engine(words, followsGrammars: true))
    let bound = try await self.recognize(
      seconds: 6, understanding: Home.context(followsGrammar: true),
      engine: self.engine(words, followsGrammars: true))
    func finalBeforeTheEnd(_ events: [RecognitionEvent]) -> Bool {
      let last = events.lastIndex {
        if case .hypothesis(_, _, let words) = $0 { !words.isEmpty } else { false }
      }
      return events[..<(last ?? 0)].contains { if case .word = $0 { true } else { false } }
    }
    #expect(finalBeforeTheEnd(free))
    #expect(!finalBeforeTheEnd(bound))
    #expect(self.meaning(free).sorted() == self.meaning(bound).sorted())
  }

  @Test func theChunksMakeNoDifference() async throws {
    let engine = self.engine(followsGrammars: true)
    let context = try Home.context(followsGrammar: true)
    let whole = try await self.recognize(chunk: 16_000 * 11, understanding: context, engine: engine)
    for chunk in [701, 1600, 5000] {
      #expect(try await self.recognize(chunk: chunk, understanding: context, engine: engine) == whole)
    }
  }

  /// From each resume point on, the same segments come again, however many intents an utterance holds.
  @Test(arguments: [Duration.milliseconds(500), nil], [true, false])
  func goesOnFromEveryResumePointWithTheSameMeaning(silence: Duration?, followsGrammars: Bool) async throws {
    let engine = self.engine(followsGrammars: followsGrammars)
    let context = try Home.context(followsGrammar: true)
    let events = try await self.recognize(silence: silence, understanding: context, engine: engine)
    var ends: [(segment: Int, ResumePoint)] = []
    for case .segmentEnded(let segment, let summary) in events { ends.append((segment, summary.resumePoint)) }
    // Only silence, or rejection, tells free text apart from the sentence before it.
    #expect(ends.count == (silence == nil && !followsGrammars ? 4 : 5))
    #expect(ends.contains { $0.1.repeatedSegments > 0 })
    for (segment, point) in ends {
      let resumed = try await self.recognize(
        from: Int(point.sample), adaptation: point.adaptation, silence: silence, understanding: context,
        engine: engine)
      let first = segment + 1 - point.repeatedSegments
      let expected = self.meaning(events).filter { (Int($0.prefix { $0 != " " }) ?? 0) >= first }
      let shifted = self.meaning(resumed).map { line in
        let number = Int(line.prefix { $0 != " " }) ?? 0
        return "\(number + first)" + line.drop { $0 != " " }
      }
      #expect(shifted == expected)
      let texts = resumed.compactMap { if case .word(_, _, let word) = $0 { word.text } else { nil } }
      let all = events.compactMap { event -> String? in
        if case .word(let segment, _, let word) = event, segment >= first { word.text } else { nil }
      }
      #expect(texts == all)
    }
  }

  @Test func withoutAnInterfaceNothingChanges() async throws {
    let plain = try await self.recognize(
      understanding: nil, engine: self.engine(followsGrammars: true))
    #expect(Set(self.meaning(plain).filter { $0.contains("*") }.map { $0.drop { $0 != " " } }) == [" *"])
    #expect(!plain.contains { if case .segmentEnded(_, let end) = $0 { end.isRejected } else { false } })
    #expect(self.meaning(plain).count { $0.hasSuffix("ended") } == 4)
  }

  @Test func aRecogniserThatFailsLeavesTheMeaningOfItsWords() async throws {
    let engine = ScriptedEngine(
      words: Word.sentence("turn on the lights in the kitchen", at: .zero),
      faults: [.init(.process(at: .milliseconds(1250)))])
    let pool = RecognizerPool(engine: engine, size: 1)
    let context = try await pool.beginContext(
      ContextOptions(understanding: Home.context()), patience: .seconds(600))
    var events: [RecognitionEvent] = []
    for _ in 0..<20 where context.failure == nil {
      events += try await context.append([Int16](repeating: 0, count: 1600))
    }
    #expect(context.failure?.code == .engineFailed)
    #expect(self.meaning(events) == ["0 [lights](device 3..<4)", "0 *turn_on", "0 ended"])
  }
}
