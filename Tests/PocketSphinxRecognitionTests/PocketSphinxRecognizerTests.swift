import SpeechPipeline
import Testing
import VoiceCore

@testable import PocketSphinxRecognition

struct PocketSphinxRecognizerTests {
  private func recognizer() throws -> any Recognizer {
    try PocketSphinxEngine().makeRecognizer()
  }

  @discardableResult
  private func hear(_ samples: [Int16], with recognizer: any Recognizer, block: Int = 1600) throws -> [Bool?]
  {
    var speech: [Bool?] = []
    for start in stride(from: 0, to: samples.count, by: block) {
      try samples[start..<min(start + block, samples.count)].withUnsafeBufferPointer {
        speech.append(try recognizer.process($0))
      }
    }
    return speech
  }

  private func texts(_ result: RecognitionResult) -> [String] { result.words.map(\.text) }

  @Test func stepsOutOfOrderFail() throws {
    let recognizer = try recognizer()
    #expect(throws: VoiceFailure.self) { try self.hear([1, 2, 3], with: recognizer) }
    #expect(throws: VoiceFailure.self) { try recognizer.finish(alternatives: 0) }
    recognizer.cancel()
    #expect(recognizer.hypothesis().isEmpty)
    try recognizer.begin(adaptation: nil)
    try recognizer.begin(adaptation: nil)
    #expect(try recognizer.finish(alternatives: 0).words.isEmpty)
    #expect(throws: VoiceFailure.self) { try recognizer.finish(alternatives: 0) }
  }

  @Test func garbageInPlaceOfAnAdaptationIsRejectedAndForgotten() throws {
    let recognizer = try recognizer()
    let garbage = RecognizerAdaptation(bytes: Array(repeating: 255, count: 118))
    #expect(throws: VoiceFailure.self) { try recognizer.begin(adaptation: garbage) }
    try recognizer.begin(adaptation: nil)
    try hear(Recording.goForward.samples, with: recognizer)
    #expect(try texts(recognizer.finish(alternatives: 0)) == Recording.goForward.words)
  }

  @Test func extremeAdaptationsDoNoHarm() throws {
    let recognizer = try recognizer()
    for value in [Float](arrayLiteral: 10_000, -10_000, 0, .leastNonzeroMagnitude) {
      for frames in [Int32(0), 1, 2000] {
        let level = max(0, value).bitPattern
        let words =
          [UInt32(bitPattern: frames)] + Array(repeating: value.bitPattern, count: 26) + [level, level]
        let bytes: [UInt8] =
          [1, 13] + words.flatMap { word in [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: word >> $0) } }
        do throws(VoiceFailure) {
          try recognizer.begin(adaptation: RecognizerAdaptation(bytes: bytes))
        } catch {
          #expect(error.code == .requestInvalid)
          continue
        }
        try hear(Recording.goForward.samples, with: recognizer)
        _ = try recognizer.finish(alternatives: 3)
      }
    }
    try recognizer.begin(adaptation: nil)
    try hear(Recording.goForward.samples, with: recognizer)
    #expect(try texts(recognizer.finish(alternatives: 0)) == Recording.goForward.words)
  }

  @Test(arguments: [0, 1, 159, 409, 410, 411, 1600, 32_000])
  func silenceHasNoWords(length: Int) throws {
    let recognizer = try recognizer()
    try recognizer.begin(adaptation: nil)
    let speech = try hear([Int16](repeating: 0, count: length), with: recognizer)
    #expect(speech.allSatisfy { $0 == false })
    #expect(recognizer.hypothesis().isEmpty)
    #expect(try recognizer.finish(alternatives: 5) == RecognitionResult(words: []))
  }

  @Test func loudNonsenseDoesNoHarm() throws {
    let recognizer = try recognizer()
    let extremes: [[Int16]] = [
      Array(repeating: .max, count: 16_000), Array(repeating: .min, count: 16_000),
      (0..<16_000).map { $0 % 2 == 0 ? .max : .min }, (0..<16_000).map { $0 % 80 < 40 ? 12_000 : -12_000 },
      Speech.room(16_000).map { $0 &* 2000 },
    ]
    for samples in extremes {
      try recognizer.begin(adaptation: nil)
      try hear(samples, with: recognizer)
      _ = try recognizer.finish(alternatives: 3)
    }
  }

  @Test func recognisesACommandWithTimesAndConfidence() throws {
    let recognizer = try recognizer()
    try recognizer.begin(adaptation: nil)
    try hear(Recording.goForward.samples, with: recognizer)
    #expect(recognizer.hypothesis().map(\.text).prefix(2) == ["go", "forward"])
    let result = try recognizer.finish(alternatives: 0)
    #expect(texts(result) == ["go", "forward", "ten", "meters"])
    for word in result.words {
      #expect(word.start < word.end)
      #expect((0...1).contains(word.confidence ?? -1))
    }
    #expect(abs(result.words[0].start.milliseconds - 460) <= 50)
    #expect(abs(result.words[3].end.milliseconds - 2120) <= 50)
  }

  @Test func timesAreRightBehindALongPause() throws {
    let recognizer = try recognizer()
    let audio = Recording.goForward.samples
    try recognizer.begin(adaptation: nil)
    try hear(audio, with: recognizer)
    let alone = try recognizer.finish(alternatives: 0)
    try recognizer.begin(adaptation: nil)
    let gap = 48_000
    try hear(audio + Speech.room(gap) + audio, with: recognizer)
    let both = try recognizer.finish(alternatives: 0)
    let second = try #require(both.words.last { $0.text == "go" })
    let expected = alone.words[0].start.milliseconds + (audio.count + gap) / 16
    #expect(abs(second.start.milliseconds - expected) <= 60)
  }

  @Test func tellsSpeechFromSilence() throws {
    let recognizer = try recognizer()
    #expect(recognizer.activityHangover == .milliseconds(500))
    try recognizer.begin(adaptation: nil)
    let speech = try hear(Recording.goForward.samples + Speech.room(24_000), with: recognizer).compactMap(
      \.self)
    let first = try #require(speech.firstIndex(of: true))
    let last = try #require(speech.lastIndex(of: true))
    // The first word starts at 0.46 s and the last ends at 2.12 s.
    #expect(first <= 7)
    #expect((21...30).contains(last))
    #expect(!speech[(last + 1)...].contains(true))
  }

  @Test func takesKnownNoiseForSilenceFromTheStart() throws {
    let recognizer = try recognizer()
    try recognizer.begin(adaptation: nil)
    try hear(Recording.goForward.samples + Speech.room(24_000), with: recognizer)
    _ = try recognizer.finish(alternatives: 0)
    let learned = recognizer.adaptation
    try recognizer.begin(adaptation: learned)
    let room = try hear(Speech.room(48_000), with: recognizer)
    #expect(!room.contains(true))
    // And speech that starts at once is still speech.
    try recognizer.begin(adaptation: learned)
    try hear(Array(Recording.goForward.samples[7000...]) + Speech.room(16_000), with: recognizer)
    #expect(try texts(recognizer.finish(alternatives: 0)) == Recording.goForward.words)
  }

  @Test func theSameAudioGivesTheSameResultWhateverWasHeardBefore() throws {
    let recognizer = try recognizer()
    let other = try self.recognizer()
    func result(_ recognizer: any Recognizer, _ adaptation: RecognizerAdaptation?) throws -> (
      RecognitionResult, RecognizerAdaptation?
    ) {
      try recognizer.begin(adaptation: adaptation)
      try self.hear(Recording.librivox[1].samples, with: recognizer)
      return (try recognizer.finish(alternatives: 3), recognizer.adaptation)
    }
    let cold = try result(recognizer, nil)
    try recognizer.begin(adaptation: nil)
    try hear(Recording.something.samples, with: recognizer)
    _ = try recognizer.finish(alternatives: 0)
    let learned = recognizer.adaptation
    #expect(learned != nil)
    let warm = try result(recognizer, learned)
    let again = try result(recognizer, nil)
    let elsewhere = try result(other, learned)
    #expect(again == cold)
    #expect(elsewhere == warm)
    #expect(warm.1 != cold.1)
  }

  @Test func givesDistinctAlternatives() throws {
    let recognizer = try recognizer()
    try recognizer.begin(adaptation: nil)
    try hear(Recording.goForward.samples, with: recognizer)
    let result = try recognizer.finish(alternatives: 4)
    let others = result.alternatives.map { $0.map(\.text) }
    #expect((1...4).contains(others.count))
    #expect(Set(others).count == others.count)
    #expect(!others.contains(texts(result)))
    #expect(others.joined().allSatisfy { !$0.contains("(") && !$0.contains("<") && !$0.contains("[") })
  }

  @Test func aDroppedUtteranceLeavesNothingBehind() throws {
    let recognizer = try recognizer()
    try recognizer.begin(adaptation: nil)
    try hear(Array(Recording.something.samples.prefix(30_000)), with: recognizer)
    recognizer.cancel()
    try recognizer.begin(adaptation: nil)
    try hear(Recording.goForward.samples, with: recognizer)
    #expect(try texts(recognizer.finish(alternatives: 0)) == Recording.goForward.words)
  }

  @Test(arguments: [(true, true), (true, false), (false, false)])
  func everyKindOfSearchWorks(searchesTwice: Bool, usesBestPath: Bool) throws {
    var configuration = try PocketSphinxEngine().configuration
    configuration.searchesTwice = searchesTwice
    configuration.usesBestPath = usesBestPath
    let engine = PocketSphinxEngine(configuration: configuration)
    #expect(engine.capabilities.reportsConfidence == usesBestPath)
    let recognizer = try engine.makeRecognizer()
    for _ in 0..<3 {
      try recognizer.begin(adaptation: nil)
      try hear(Recording.goForward.samples, with: recognizer)
      let result = try recognizer.finish(alternatives: 2)
      #expect(texts(result) == Recording.goForward.words)
      #expect(result.words.filter { $0.confidence == nil }.isEmpty == usesBestPath)
    }
  }
}

extension Duration {
  /// Whole milliseconds.
  var milliseconds: Int {
    Int(self.components.seconds) * 1000 + Int(self.components.attoseconds / 1_000_000_000_000_000)
  }
}
