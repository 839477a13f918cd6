import Foundation
import SpeechPipeline
import Testing
import VoiceCore

@testable import SherpaOnnxRecognition

struct SherpaOnnxRecognizerTests {
  private func recognizer(search: SherpaOnnxEngine.Search = .greedy) throws -> any Recognizer {
    try TinyModel.engine(search: search).makeRecognizer()
  }

  @Test func hearsWordsWithTheirTimes() throws {
    let words = try recognizer().recognize(
      TinyModel.speech(["one", "three", "two", "four", "five"], pause: 160))
    #expect(words.map(\.text) == ["one", "three", "two", "four", "five"])
    for (index, word) in words.enumerated() {
      let start = Duration.milliseconds(160 + 400 * index)
      #expect(word.start >= start - .milliseconds(40) && word.start <= start + .milliseconds(40))
      #expect(word.end > word.start && word.end <= start + .milliseconds(400))
    }
  }

  @Test func isSurerOfAWordThatSoundsLikeNoOther() throws {
    let words = try recognizer().recognize(TinyModel.speech(["one", "four"]))
    let confidences = words.compactMap(\.confidence)
    try #require(confidences.count == 2)
    #expect(confidences[0] > 0.8)
    #expect((0.3...0.7).contains(confidences[1]))
  }

  @Test func tellsWordsWhileTheyCome() throws {
    let recognizer = try recognizer()
    try recognizer.begin(RecognitionTask())
    #expect(recognizer.hypothesis().isEmpty)
    try recognizer.hear(TinyModel.speech(["one"]) + TinyModel.silence(200))
    #expect(recognizer.hypothesis().map(\.text) == ["one"])
    try recognizer.hear(TinyModel.speech(["two"]) + TinyModel.silence(200))
    #expect(recognizer.hypothesis().map(\.text) == ["one", "two"])
    #expect(try recognizer.finish(alternatives: 3).words.map(\.text) == ["one", "two"])
    #expect(recognizer.hypothesis().isEmpty)
  }

  @Test(arguments: [500, 700, 1000, 3840])
  func hearsTheLastWordWithoutSilenceBehindIt(length: Int) throws {
    let words = try recognizer().recognize(TinyModel.silence(160) + TinyModel.tone("three", count: length))
    #expect(words.map(\.text) == ["three"])
    let end = Duration.milliseconds(160) + .seconds(Double(length) / 16_000)
    #expect(words.allSatisfy { $0.start <= end && $0.end <= end })
  }

  @Test(arguments: [1, 7, 160, 1601, 4097, 100_000])
  func isTheSameWhateverTheBlocks(block: Int) throws {
    let samples = TinyModel.speech(["one", "three", "two"])
    #expect(try recognizer().recognize(samples, block: block) == recognizer().recognize(samples))
  }

  @Test func silenceAndNothingHaveNoWords() throws {
    let recognizer = try recognizer()
    #expect(try recognizer.recognize([]).isEmpty)
    #expect(try recognizer.recognize([5]).isEmpty)
    #expect(try recognizer.recognize(TinyModel.silence(3000)).isEmpty)
  }

  @Test func anUtteranceDependsOnNothingBeforeIt() throws {
    let recognizer = try recognizer()
    let samples = TinyModel.speech(["two", "five"])
    let first = try recognizer.recognize(samples)
    _ = try recognizer.recognize(TinyModel.tone("three", count: 500))
    #expect(try recognizer.recognize(samples) == first)
    #expect(recognizer.adaptation == nil)
  }

  @Test func cancelDropsTheUtterance() throws {
    let recognizer = try recognizer()
    try recognizer.begin(RecognitionTask())
    try recognizer.hear(TinyModel.speech(["one", "two"]))
    recognizer.cancel()
    recognizer.cancel()
    #expect(recognizer.hypothesis().isEmpty)
    #expect(failure { _ = try recognizer.finish(alternatives: 0) }?.code == .engineFailed)
    #expect(try recognizer.recognize(TinyModel.speech(["three"])).map(\.text) == ["three"])
  }

  @Test func callsOutOfOrderAreFailures() throws {
    let recognizer = try recognizer()
    #expect(failure { try recognizer.hear([1, 2, 3]) }?.code == .engineFailed)
    #expect(failure { _ = try recognizer.finish(alternatives: 0) }?.code == .engineFailed)
    try recognizer.begin(RecognitionTask())
    try recognizer.hear(TinyModel.speech(["one"]))
    try recognizer.begin(RecognitionTask())
    #expect(try recognizer.finish(alternatives: 0).words.isEmpty)
  }

  @Test func twoInTurnDoNotMix() throws {
    let engine = try TinyModel.engine()
    let (left, right) = (try engine.makeRecognizer(), try engine.makeRecognizer())
    try left.begin(RecognitionTask())
    try right.begin(RecognitionTask())
    for (one, other) in [("one", "five"), ("three", "two"), ("four", "three")] {
      try left.hear(TinyModel.speech([one]))
      try right.hear(TinyModel.speech([other], pause: 170))
    }
    #expect(try left.finish(alternatives: 0).words.map(\.text) == ["one", "three", "four"])
    #expect(try right.finish(alternatives: 0).words.map(\.text) == ["five", "two", "three"])
  }

  @Test func manyThreadsOnOneModelHearTheSameAsAlone() async throws {
    let engine = try TinyModel.engine()
    let said = [["one", "two"], ["three", "three"], ["five"], ["two", "four", "one"]]
    let alone = try said.map { try engine.makeRecognizer().recognize(TinyModel.speech($0)) }
    let together = try await withThrowingTaskGroup(of: (Int, [[RecognizedWord]]).self) { group in
      for (index, words) in said.enumerated() {
        group.addTask {
          let recognizer = try engine.makeRecognizer()
          return (index, try (0..<10).map { _ in try recognizer.recognize(TinyModel.speech(words)) })
        }
      }
      return try await group.reduce(into: [Int: [[RecognizedWord]]]()) { $0[$1.0] = $1.1 }
    }
    for (index, words) in alone.enumerated() {
      #expect(together[index] == [[RecognizedWord]](repeating: words, count: 10))
    }
  }

  @Test func aBeamSearchHearsTheSame() throws {
    let samples = TinyModel.speech(["one", "three", "four"])
    let words = try recognizer(search: .beam(width: 4)).recognize(samples)
    #expect(words.map(\.text) == ["one", "three", "four"])
  }

  @Test func aVocabularyIsPreferredInABeamSearch() throws {
    let samples = TinyModel.speech(["one", "four"])
    let task = RecognitionTask(vocabulary: ["for"], vocabularyBias: 0.5)
    #expect(
      try recognizer(search: .beam(width: 4)).recognize(samples, task: task).map(\.text) == ["one", "for"])
    #expect(try recognizer(search: .greedy).recognize(samples, task: task).map(\.text) == ["one", "four"])
    let none = RecognitionTask(vocabulary: ["for"], vocabularyBias: 0)
    #expect(
      try recognizer(search: .beam(width: 4)).recognize(samples, task: none).map(\.text) == ["one", "four"])
  }

  @Test(arguments: [":", "/", "#1", "@x", "one :99 two", "-", "\0", "☃", "", "   ", "a/b", "one:nan"])
  func aVocabularyOfOddTextsDoesNoHarm(text: String) throws {
    let task = RecognitionTask(vocabulary: [text, "two"])
    let words = try recognizer(search: .beam(width: 4)).recognize(
      TinyModel.speech(["one", "two"]), task: task)
    #expect(words.map(\.text) == ["one", "two"])
  }

  @Test func declaresWhatItCan() throws {
    let engine = try TinyModel.engine()
    #expect(engine.name == "sherpa-onnx model")
    #expect(engine.capabilities.languages == ["en-US"])
    #expect(engine.capabilities.maximumAlternatives == 1)
    #expect(!engine.capabilities.detectsVoiceActivity && !engine.capabilities.followsGrammars)
  }

  @Test func saysWhichWordsCannotBePreferred() throws {
    let beam = try TinyModel.engine(search: .beam(width: 4))
    #expect(beam.problems(ofVocabulary: ["for", "Three", ""]).isEmpty)
    #expect(beam.problems(ofVocabulary: ["for", "xylophone"]).map(\.code) == [.vocabularyUnknown])
    #expect(beam.problems(ofVocabulary: ["for", "xylophone"]).first?.message.contains("“xylophone”") == true)
    #expect(
      try TinyModel.engine().problems(ofVocabulary: ["for"]).first?.message.contains("beam search") == true)
  }
}
