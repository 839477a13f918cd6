import Foundation
import SpeechPipeline
import SpeechUnderstanding
import Testing
import VoiceCore
import VoiceTesting

@testable import PocketSphinxRecognition

/// Recognition after an app's grammar, with the real decoder and recordings of people.
struct GrammarRecognitionTests {
  private static let robot = """
    direction = [forward | backward | left | right]
    *move go $direction(direction) {[1..20](distance) [meters | steps]}
    *stop [stop | halt]
    """

  private func hear(
    _ samples: [Int16], _ grammar: RecognitionGrammar, with recognizer: any Recognizer, block: Int = 1600,
    adaptation: RecognizerAdaptation? = nil, hypotheses: ((String) -> Void)? = nil
  ) throws -> RecognitionResult {
    try recognizer.begin(RecognitionTask(adaptation: adaptation, grammar: grammar))
    for start in stride(from: 0, to: samples.count, by: block) {
      try samples[start..<min(start + block, samples.count)].withUnsafeBufferPointer {
        _ = try recognizer.process($0)
      }
      hypotheses?(recognizer.hypothesis().map(\.text).joined(separator: " "))
    }
    return try recognizer.finish(alternatives: 0)
  }

  private func text(_ result: RecognitionResult) -> String {
    result.words.map(\.text).joined(separator: " ")
  }

  // MARK: What cannot be recognised

  @Test func speechThatTheGrammarDoesNotCoverIsRejectedWithItsWords() throws {
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    let grammar = try RecognitionGrammar.english(Self.robot)
    for recording in Recording.librivox.prefix(3) {
      let result = try self.hear(recording.samples, grammar, with: recognizer)
      #expect(result.isRejected, "\(recording.path): \(self.text(result))")
      // The language model heard it, not the grammar: more words than any sentence of the grammar has.
      #expect(result.words.count > 5)
    }
  }

  @Test func aThresholdOfZeroRejectsNothing() throws {
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    let result = try self.hear(
      Recording.librivox[0].samples, try RecognitionGrammar.english(Self.robot, threshold: 0),
      with: recognizer)
    #expect(!result.isRejected)
    let vocabulary: Set = ["go", "forward", "backward", "left", "right", "meters", "steps", "stop", "halt"]
    let numbers = (1...20).flatMap { EnglishPack().spokenForms(of: $0).flatMap(\.self) }
    #expect(Set(result.words.map(\.text)).isSubset(of: vocabulary.union(numbers)))
  }

  @Test func silenceHasNoWordsAndIsNotRejected() throws {
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    let grammar = try RecognitionGrammar.english(Self.robot)
    for samples in [[], [Int16](repeating: 0, count: 32_000)] {
      let result = try self.hear(samples, grammar, with: recognizer)
      #expect(result.words.isEmpty)
      #expect(!result.isRejected)
    }
  }

  @Test func noiseBehindACommandIsNoCommand() throws {
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    let grammar = try RecognitionGrammar.english(Self.robot)
    _ = try self.hear(Recording.goForward.samples, grammar, with: recognizer)
    var generator = SeededGenerator(seed: 3)
    for level in [100, 400, 3000] {
      // Half a second of hiss between two of silence.
      let hiss = (0..<24_000).map { index in
        (8_000..<16_000).contains(index)
          ? Int16.random(in: Int16(-level)...Int16(level), using: &generator) : 0
      }
      let result = try self.hear(hiss, grammar, with: recognizer, adaptation: recognizer.adaptation)
      #expect(result.words.isEmpty || result.isRejected, "\(level): \(self.text(result))")
    }
  }

  private func noise(_ count: Int, level: Int, seed: UInt64) -> [Int16] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in Int16.random(in: Int16(-level)...Int16(level), using: &generator) }
  }

  @Test func noiseAloneOnANewChannelIsNoCommand() throws {
    let grammar = try RecognitionGrammar.english(Self.robot)
    for level in [30, 300, 3000] {
      let recognizer = try PocketSphinxEngine().makeRecognizer()
      let result = try self.hear(self.noise(32_000, level: level, seed: 5), grammar, with: recognizer)
      #expect(result.words.isEmpty || result.isRejected, "\(level): \(self.text(result))")
    }
  }

  @Test func aCommandInLoudNoiseOnANewChannelIsHeard() throws {
    let speech = Recording.goForward.samples
    // The loudest step is 16 dB above the quietest.
    let samples = zip(speech, self.noise(speech.count, level: 800, seed: 5)).map {
      Int16(clamping: Int($0) + Int($1))
    }
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    let result = try self.hear(samples, try RecognitionGrammar.english(Self.robot), with: recognizer)
    #expect(self.text(result) == "go forward ten meters")
    #expect(!result.isRejected)
  }

  @Test func aGrammarOfWordsThatNobodyCanSayIsHeardAsFreeText() throws {
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    let result = try self.hear(
      Recording.goForward.samples, try RecognitionGrammar.english("*fly 東京"), with: recognizer)
    #expect(self.text(result) == "go forward ten meters")
  }

  @Test func wordsThatNobodyCanSayCostNoOtherSentence() throws {
    let grammar = try RecognitionGrammar.english(Self.robot + "\n*fly fly to 東京")
    let problems = try PocketSphinxEngine().problems(of: grammar)
    #expect(problems.map(\.code) == [.wordUnpronounceable])
    #expect(problems.first?.message.contains("東京") == true)
    let result = try self.hear(
      Recording.goForward.samples, grammar, with: try PocketSphinxEngine().makeRecognizer())
    #expect(self.text(result) == "go forward ten meters")
  }

  @Test func aGrammarThatIsTooLargeForASearchSaysSo() throws {
    let items = (1...40).map { "item\($0)" }.joined(separator: " | ")
    let grammar = try RecognitionGrammar.english(
      "v = [\(items)]\n*a ![$v(a) x | $v(b) y | $v(c) z | $v(d) u | $v(e) w | $v(f) q | $v(g) r | $v(h) s]")
    #expect(grammar.grammar.wordNetwork(atMost: 1000) == nil)
    let failure = #expect(throws: VoiceFailure.self) {
      _ = try GrammarPlan(
        grammar.grammar, pronouncer: Pronouncer(model: try PocketSphinxModel.find()), mostArcs: 1000,
        mostPairs: 100)
    }
    #expect(failure?.code == .grammarTooLarge)
  }

  // MARK: What is recognised

  @Test func aCommandIsHeardWhileItIsSpokenAndAtItsEnd() throws {
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    var hypotheses: [String] = []
    let result = try self.hear(
      Recording.goForward.samples, try RecognitionGrammar.english(Self.robot), with: recognizer
    ) { if $0 != hypotheses.last { hypotheses.append($0) } }
    #expect(self.text(result) == "go forward ten meters")
    #expect(!result.isRejected)
    #expect(hypotheses.contains("go forward"))
    #expect(result.words.allSatisfy { ($0.confidence ?? 0) > 0.5 })
    // The words are where they are in the recording.
    let go = try #require(result.words.first)
    let meters = try #require(result.words.last)
    #expect(go.start > .milliseconds(300) && go.end < .milliseconds(1000))
    #expect(meters.end > .milliseconds(1800) && meters.end <= .milliseconds(2800))
    #expect(zip(result.words, result.words.dropFirst()).allSatisfy { $0.end <= $1.start })
  }

  // MARK: Which pass

  /// The passes that an utterance needs on a new recogniser, and what it hears.
  private func passes(of samples: [Int16]) throws -> (Set<WholePass>, RecognitionResult) {
    let recognizer = try PocketSphinxRecognizer(
      configuration: PocketSphinxEngine.Configuration(model: PocketSphinxModel.find()))
    let grammar = try RecognitionGrammar.english(Self.robot)
    let result = try self.hear(samples, grammar, with: recognizer)
    let again = try self.hear(samples, grammar, with: recognizer)
    #expect(again == result)
    return (Set(try #require(try recognizer.grammars.search(grammar)).whole.keys), result)
  }

  /// As over a telephone line: nothing above 3 kHz.
  private func lowPass(_ samples: [Int16]) -> [Int16] {
    let filter = (-50...50).map { place -> Float in
      let window = 0.54 + 0.46 * cos(Float.pi * Float(place) / 50)
      let angle = Float.pi * Float(place)
      return window * (place == 0 ? 0.375 : sin(0.375 * angle) / angle)
    }
    return samples.indices.dropFirst(50).dropLast(50).map { middle in
      Int16(
        clamping: Int(
          zip(samples[(middle - 50)...(middle + 50)], filter).reduce(0) { $0 + Float($1.0) * $1.1 }))
    }
  }

  /// Silence around it, as a microphone gives it that is closed while nobody speaks.
  private func inSilence(_ samples: [Int16]) -> [Int16] {
    [Int16](repeating: 0, count: 8000) + samples + [Int16](repeating: 0, count: 8000)
  }

  @Test func aCommandInQuietIsSearchedQuicklyAndInNoiseOrByTelephoneInFull() throws {
    let speech = self.inSilence(Recording.goForward.samples)
    let noisy = zip(speech, self.noise(speech.count, level: 300, seed: 5)).map {
      Int16(clamping: Int($0) + Int($1))
    }
    for (samples, expected) in [(speech, WholePass.quick), (noisy, .full), (self.lowPass(speech), .full)] {
      let (passes, result) = try self.passes(of: samples)
      #expect(passes == [expected])
      #expect(self.text(result) == "go forward ten meters")
      #expect(!result.isRejected)
    }
  }

  @Test func whatFitsBadlyInTheQuickPassIsSearchedInFull() throws {
    let (passes, result) = try self.passes(of: self.inSilence(Recording.librivox[0].samples))
    #expect(passes == [.quick, .full])
    #expect(result.isRejected)
  }

  @Test func silenceIsNotSearchedQuickly() throws {
    let (passes, result) = try self.passes(of: [Int16](repeating: 0, count: 32_000))
    #expect(!passes.contains(.quick))
    #expect(result.words.isEmpty)
  }

  @Test func wordsThatTheDictionaryLacksAreHeardByTheirSpelling() throws {
    // "forword" is in no dictionary; flite's rules know how it sounds.
    let grammar = try RecognitionGrammar.english("*move go [forword | baqward] ten [meters | steppes]")
    let result = try self.hear(
      Recording.goForward.samples, grammar, with: try PocketSphinxEngine().makeRecognizer())
    #expect(self.text(result) == "go forword ten meters")
  }

  @Test func twoSentencesInOneBreathAreHeard() throws {
    let grammar = try RecognitionGrammar.english("*go go forward\n*measure ten meters")
    let result = try self.hear(
      Recording.goForward.samples, grammar, with: try PocketSphinxEngine().makeRecognizer())
    #expect(self.text(result) == "go forward ten meters")
  }

  @Test(arguments: [160, 777, 4000])
  func theSizeOfTheBlocksChangesNothing(block: Int) throws {
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    let grammar = try RecognitionGrammar.english(Self.robot)
    let usual = try self.hear(Recording.goForward.samples, grammar, with: recognizer)
    let other = try self.hear(Recording.goForward.samples, grammar, with: recognizer, block: block)
    #expect(self.text(usual) == self.text(other))
  }

  @Test func whatWasHeardBeforeChangesNothing() throws {
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    let robot = try RecognitionGrammar.english(Self.robot)
    let other = try RecognitionGrammar.english("*say go somewhere {and do something}")
    let fresh = try self.hear(Recording.goForward.samples, robot, with: recognizer)
    // Another grammar, free text, a rejected utterance, and one that is dropped.
    #expect(
      self.text(try self.hear(Recording.something.samples, other, with: recognizer))
        == "go somewhere and do something")
    try recognizer.begin(adaptation: nil)
    _ = try recognizer.finish(alternatives: 0)
    _ = try self.hear(Recording.librivox[0].samples, robot, with: recognizer)
    try recognizer.begin(RecognitionTask(grammar: robot))
    recognizer.cancel()
    #expect(try self.hear(Recording.goForward.samples, robot, with: recognizer) == fresh)
  }

  @Test func aChannelIsRememberedFromOneUtteranceToTheNext() throws {
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    let grammar = try RecognitionGrammar.english(Self.robot)
    _ = try self.hear(Recording.goForward.samples, grammar, with: recognizer)
    let learned = try #require(recognizer.adaptation)
    let result = try self.hear(
      Recording.goForward.samples, grammar, with: recognizer, adaptation: learned)
    #expect(self.text(result) == "go forward ten meters")
    #expect(recognizer.adaptation != learned)
    // Free text takes over what a grammar's utterance taught.
    try recognizer.begin(adaptation: learned)
    recognizer.cancel()
  }
}
