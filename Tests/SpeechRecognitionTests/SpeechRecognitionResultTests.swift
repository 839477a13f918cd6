import SpeechPipeline
import Testing
import VoiceAudio
import VoiceCore
import VoiceTesting

@testable import SpeechRecognition

@Suite(.timeLimit(.minutes(4)))
struct SpeechRecognitionResultTests {
  private func transcription(_ words: [(String, Double?)]) -> SpeechTranscription {
    SpeechTranscription(
      segments: words.enumerated().map { index, word in
        .init(
          text: word.0, timestamp: .seconds(index), duration: .milliseconds(500), confidence: word.1)
      })
  }

  @Test func theBestHasTheHighestSumOfConfidences() {
    let engineBest = self.transcription([("recognise", 0.9), ("speech", 0.8)])
    let longer = self.transcription([("wreck", 0.5), ("a", 0.6), ("nice", 0.4), ("beach", 0.5)])
    let result = SpeechRecognitionResult(isFinal: true, transcriptions: [engineBest, longer])
    #expect(result.bestTranscription == longer)
    #expect(result.engineBest == engineBest)
    #expect(result.text == "wreck a nice beach")
  }

  @Test func valuesOfLaterPartsAreCountedOverAllWords() {
    let words = self.transcription([("turn", 1), ("on", 1), ("kitchen", 1), ("lights", 1)])
    let result = SpeechRecognitionResult(
      isFinal: false, transcriptions: [words],
      meanings: [
        SpeechMeaning(text: "turn on"),
        SpeechMeaning(
          text: "kitchen lights", entities: [RecognizedEntity(type: "device", value: "lights", words: 1..<2)],
          isFinal: false),
      ])
    #expect(
      result.transcriptEntities == [
        TranscriptEntity(type: "device", value: "lights", words: 3..<4, isFinal: false)
      ])
    #expect(result.transcriptWords.map(\.text) == ["turn", "on", "kitchen", "lights"])
  }

  @Test func equalSumsLeaveTheEnginesBest() {
    let first = self.transcription([("a", 0.5)])
    let second = self.transcription([("b", 0.25), ("c", 0.25)])
    #expect(
      SpeechRecognitionResult(isFinal: true, transcriptions: [first, second]).bestTranscription == first)
  }

  @Test func missingConfidencesCountNothing() {
    let first = self.transcription([("a", nil)])
    let second = self.transcription([("b", nil), ("c", 0.1)])
    let result = SpeechRecognitionResult(isFinal: true, transcriptions: [first, second])
    #expect(result.bestTranscription == second)
    #expect(first.summedConfidence == 0)
  }

  @Test func anEmptyResultHasAnEmptyText() {
    #expect(SpeechRecognitionResult(isFinal: true, transcriptions: []).text == "")
  }

  /// The engine finds two words best; its other transcription has more words, whose confidences add up to more.
  @Test func bothRulesAreVisibleInWhatIsTold() async throws {
    let engine = AlternativesEngine(
      best: [("recognise", 0.9), ("speech", 0.7)], others: [[("wreck", 0.6), ("a", 0.5), ("beach", 0.6)]])
    var configuration = Configuration.test(engine, SamplesSource(samples: silence(.seconds(1))))
    configuration.maximumTranscriptions = 3
    let utility = SpeechRecognitionUtility(configuration: configuration)
    var listener = Listener(utility)
    try await utility.start()
    let events = await listener.readToStop()
    let result = try #require(events.finalResults.first)
    #expect(result.transcriptions.map(\.formattedString) == ["recognise speech", "wreck a beach"])
    #expect(result.engineBest.formattedString == "recognise speech")
    #expect(result.bestTranscription.formattedString == "wreck a beach")
    #expect(events.finalTexts == ["wreck a beach"])
    #expect(result.engineBest.segments.map(\.confidence) == [0.9, 0.7])
    #expect(result.engineBest.segments.map(\.timestamp) == [.zero, .milliseconds(200)])
  }

  @Test func noMoreTranscriptionsAreToldThanAreWanted() async throws {
    let engine = AlternativesEngine(best: [("a", 1)], others: [[("b", 0.1)], [("c", 0.1)]])
    var configuration = Configuration.test(engine, SamplesSource(samples: silence(.seconds(1))))
    configuration.maximumTranscriptions = 2
    let utility = SpeechRecognitionUtility(configuration: configuration)
    var listener = Listener(utility)
    try await utility.start()
    let events = await listener.readToStop()
    #expect(events.finalResults.map(\.transcriptions.count) == [2])
  }
}

/// Hears the same in every utterance, with alternatives that have confidences.
struct AlternativesEngine: RecognitionEngine {
  let name = "Alternatives"
  let best: [(String, Double)]
  let others: [[(String, Double)]]
  let capabilities = RecognitionCapabilities(
    languages: ["en-US"], reportsConfidence: true, maximumAlternatives: 10, detectsVoiceActivity: true)

  func makeRecognizer() throws(VoiceFailure) -> any Recognizer { AlternativesRecognizer(engine: self) }

  fileprivate static func words(_ texts: [(String, Double)]) -> [RecognizedWord] {
    texts.enumerated().map { index, word in
      RecognizedWord(
        text: word.0, start: .milliseconds(200) * index, end: .milliseconds(200) * (index + 1),
        confidence: word.1)
    }
  }
}

private final class AlternativesRecognizer: Recognizer {
  private let engine: AlternativesEngine
  var adaptation: RecognizerAdaptation? { nil }
  var activityHangover: Duration { .zero }

  init(engine: AlternativesEngine) { self.engine = engine }

  func begin(_ task: RecognitionTask) throws(VoiceFailure) {}
  func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool? { true }
  func hypothesis() -> [RecognizedWord] { [] }
  func cancel() {}

  func finish(alternatives: Int) throws(VoiceFailure) -> RecognitionResult {
    RecognitionResult(
      words: AlternativesEngine.words(self.engine.best),
      alternatives: self.engine.others.prefix(alternatives).map(AlternativesEngine.words))
  }
}
