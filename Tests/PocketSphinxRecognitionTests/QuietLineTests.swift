import SpeechPipeline
import Testing
import VoiceTesting

@testable import PocketSphinxRecognition

/// What codecs, gates and converters leave of silence is not speech.
struct QuietLineTests {
  private static let templates = """
    *goodbye [goodbye | bye | hang up | please hang up]
    *turn_on turn on the [lights | radio](device) in the [kitchen | bedroom](room)
    """

  private func rest(_ line: inout QuietLine, _ samples: [Int16]) -> Int16? {
    samples.withUnsafeBufferPointer { line.rest(in: $0) }
  }

  @Test func theLastBitsRestAtZero() {
    var line = QuietLine()
    #expect(self.rest(&line, []) == nil)
    #expect(self.rest(&line, [0, 1, -1, 0]) == 0)
    #expect(self.rest(&line, [8, -8]) == 0)
    #expect(self.rest(&line, [9, -8]) == nil)
  }

  @Test func aLineThatMovedRestsOnlyWhenItMovesMuchLess() {
    var line = QuietLine()
    #expect(self.rest(&line, [9, -8]) == nil)
    #expect(self.rest(&line, [5, -4]) == nil)
    #expect(self.rest(&line, [4, -4]) == 0)
    #expect(self.rest(&line, [8, -8]) == 0)
  }

  @Test(arguments: [1, 1.5, 2, 2.5, 3, 4]) func noiseThatStaysDoesNotComeAndGo(deviation: Double) {
    var line = QuietLine()
    var generator = SeededGenerator(seed: 7)
    let isResting = (0..<200).map { _ in
      // The sum of twelve even numbers is nearly normal, with a deviation of one.
      let step = (0..<1280).map { _ in
        let normal = (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0..<1, using: &generator) }
        return Int16((normal * deviation).rounded())
      }
      return self.rest(&line, step) != nil
    }
    #expect(zip(isResting, isResting.dropFirst()).count { $0 != $1 } <= 1)
  }

  @Test func aLineThatIsNotAroundZeroRestsWhereItIs() {
    var line = QuietLine()
    #expect(self.rest(&line, [1000, 1004]) == 1002)
    #expect(self.rest(&line, [1001, 1006]) == 1002)
    #expect(self.rest(&line, [.min, .min]) == .min)
    #expect(self.rest(&line, [.max, .max]) == .max)
    #expect(self.rest(&line, [.min, .max]) == nil)
  }

  /// Noise that begins and ends at random, with digital silence between.
  private func gatedNoise(level: Int, seed: UInt64) -> [Int16] {
    var generator = SeededGenerator(seed: seed)
    var samples: [Int16] = []
    while samples.count < 64_000 {
      let level = Int.random(in: 0...level, using: &generator)
      for _ in 0..<320 * Int.random(in: 1...60, using: &generator) {
        samples.append(Int16(Int.random(in: -level...level, using: &generator)))
      }
    }
    return samples
  }

  /// What a recogniser shows while it hears samples, and at their end.
  private func hear(_ samples: [Int16], _ grammar: RecognitionGrammar?, _ recognizer: any Recognizer) throws
    -> (isActive: Bool, hypotheses: Set<String>, result: RecognitionResult)
  {
    try recognizer.begin(RecognitionTask(grammar: grammar))
    var isActive = false
    var hypotheses: Set<String> = []
    for start in stride(from: 0, to: samples.count, by: 1600) {
      try samples[start..<min(start + 1600, samples.count)].withUnsafeBufferPointer {
        if try recognizer.process($0) == true { isActive = true }
      }
      hypotheses.insert(recognizer.hypothesis().map(\.text).joined(separator: " "))
    }
    return (isActive, hypotheses.subtracting([""]), try recognizer.finish(alternatives: 0))
  }

  @Test(arguments: [1, 8]) func whatACodecLeavesOfSilenceIsNobody(level: Int) throws {
    let grammar = try RecognitionGrammar.english(Self.templates)
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    for seed in 0..<12 as Range<UInt64> {
      let samples = self.gatedNoise(level: level, seed: seed)
      for grammar in [grammar, nil] {
        let heard = try self.hear(samples, grammar, recognizer)
        #expect(!heard.isActive, "seed \(seed)")
        #expect(heard.hypotheses.isEmpty, "seed \(seed)")
        #expect(heard.result == RecognitionResult(words: []), "seed \(seed)")
      }
    }
  }

  @Test func noiseThatIsNoLouderThanAnIdleLineShowsNoWordsAndIsNoGoodbye() throws {
    let grammar = try RecognitionGrammar.english(Self.templates)
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    for seed in 0..<12 as Range<UInt64> {
      let heard = try self.hear(self.gatedNoise(level: 16, seed: seed), grammar, recognizer)
      #expect(heard.hypotheses.isEmpty, "seed \(seed)")
      #expect(heard.result == RecognitionResult(words: []), "seed \(seed)")
    }
  }

  @Test func noiseThatIsHardlyLouderShowsNoWordsAndIsHeardOnlyIfEachWordFits() throws {
    let grammar = try RecognitionGrammar.english(Self.templates)
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    for seed in 0..<20 as Range<UInt64> {
      let heard = try self.hear(self.gatedNoise(level: 40, seed: seed), grammar, recognizer)
      #expect(heard.hypotheses.isEmpty, "seed \(seed)")
      #expect(!heard.result.isRejected, "seed \(seed)")
      #expect(heard.result.words.allSatisfy { ($0.confidence ?? 0) >= 0.5 }, "seed \(seed)")
    }
  }

  @Test func aQuietCommandAfterDigitalSilenceIsHeard() throws {
    let templates = "*move go [forward | backward](direction) [ten | twenty](distance) meters"
    let grammar = try RecognitionGrammar.english(templates)
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    let speech = Recording.goForward.samples
    for divisor in [1, 30, 100] as [Int16] {
      let samples = [Int16](repeating: 0, count: 8000) + speech.map { $0 / divisor }
      let heard = try self.hear(samples, grammar, recognizer)
      let level = speech.map { Int($0 / divisor).magnitude }.max() ?? 0
      #expect(heard.result.words.map(\.text).joined(separator: " ") == "go forward ten meters", "\(level)")
      #expect(!heard.result.isRejected, "\(level)")
    }
  }
}
