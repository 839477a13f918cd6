import SpeechPipeline
import Synchronization
import Testing
import VoiceAudio
import VoiceCore

@testable import AppleSpeechRecognition

/// A service that tells what a test says, and notes what it was given.
private final class FakeService: SpeechService {
  typealias Tell = @Sendable (SpeechRequestMachine.TaskEvent) -> Void

  var requests: [SpeechServiceRequest] = []
  var tells: [Tell] = []
  /// The samples of each task.
  var heard: [[Int16]] = []
  var calls: [String] = []
  var failure: VoiceFailure?
  /// What is told as soon as no more audio comes.
  var answer: SpeechRequestMachine.TaskEvent?

  func start(_ request: SpeechServiceRequest, tell: @escaping Tell) throws(VoiceFailure) {
    if let failure = self.failure { throw failure }
    self.requests.append(request)
    self.tells.append(tell)
    self.heard.append([])
    self.calls.append("start")
  }

  func append(_ samples: UnsafeBufferPointer<Int16>) {
    guard !self.heard.isEmpty else { return }
    self.heard[self.heard.count - 1] += Array(samples)
  }

  func endAudio() {
    self.calls.append("end")
    if let answer = self.answer { self.tells.last?(answer) }
  }

  func cancel() { self.calls.append("cancel") }
}

struct SpeechServiceRecognizerTests {
  private let service = FakeService()

  private func recognizer(patience: Duration = .zero) -> SpeechServiceRecognizer {
    SpeechServiceRecognizer(
      service: self.service, settings: SpeechRequestMachine.Settings(finalPatience: patience))
  }

  private func hear(_ recognizer: SpeechServiceRecognizer, _ range: Range<Int16>) throws {
    _ = try Array(range).withUnsafeBufferPointer { try recognizer.process($0) }
  }

  private func words(_ text: String) -> [HeardTranscription] {
    [
      HeardTranscription(
        segments: text.split(separator: " ").map {
          .init(text: String($0), start: 0.0, duration: 0.0, confidence: 0)
        })
    ]
  }

  @Test func nothingCanBeHeardOrFinishedBeforeItBegins() throws {
    let recognizer = recognizer()
    #expect(throws: VoiceFailure.self) { try hear(recognizer, 0..<10) }
    #expect(throws: VoiceFailure.self) { try recognizer.finish(alternatives: 0) }
    #expect(recognizer.hypothesis().isEmpty)
    recognizer.cancel()
    #expect(service.calls.isEmpty)
  }

  @Test func aServiceThatCannotBeUsedIsAFailure() throws {
    service.failure = VoiceFailure(.serverUnreachable)
    let recognizer = recognizer()
    try recognizer.begin(RecognitionTask())
    #expect(throws: VoiceFailure(.serverUnreachable)) { try hear(recognizer, 0..<10) }
    #expect(throws: VoiceFailure.self) { try recognizer.finish(alternatives: 0) }
    service.failure = nil
    try recognizer.begin(RecognitionTask())
    try hear(recognizer, 0..<10)
    #expect(service.heard == [Array(0..<10)])
  }

  @Test func beginningStartsNothingBeforeThereIsAudio() throws {
    let recognizer = recognizer()
    try recognizer.begin(RecognitionTask(vocabulary: ["Kitchen"]))
    #expect(service.calls.isEmpty)
    #expect(try recognizer.finish(alternatives: 3).words.isEmpty)
    #expect(service.calls.isEmpty)
  }

  @Test func hypothesesAreTakenOverBetweenBlocks() throws {
    let recognizer = recognizer()
    try recognizer.begin(RecognitionTask(vocabulary: ["Kitchen"]))
    try hear(recognizer, 0..<1600)
    #expect(service.requests.first?.contextualStrings == ["Kitchen"])
    service.tells[0](.hypothesis(words("turn")))
    try hear(recognizer, 0..<1600)
    #expect(recognizer.hypothesis().map(\.text) == ["turn"])
    #expect(service.heard[0].count == 3200)
  }

  @Test func aFailureOfTheServiceIsThrown() throws {
    let recognizer = recognizer()
    try recognizer.begin(RecognitionTask())
    try hear(recognizer, 0..<1600)
    service.tells[0](.ended(.failed(VoiceFailure(.modelMissing))))
    #expect(throws: VoiceFailure(.modelMissing)) { try hear(recognizer, 0..<1600) }
  }

  @Test func finishingWaitsForWhatTheServiceTellsOnAnotherThread() async throws {
    let recognizer = recognizer(patience: .seconds(60))
    try recognizer.begin(RecognitionTask())
    try hear(recognizer, 0..<1600)
    let tell = service.tells[0]
    let final = words("yes")
    async let told: Void = Task.detached { tell(.final(final)) }.value
    let result = try recognizer.finish(alternatives: 0)
    await told
    #expect(result.words.map(\.text) == ["yes"])
  }

  @Test func finishingWithoutAFinalResultGivesTheLastHypothesis() throws {
    let recognizer = recognizer()
    try recognizer.begin(RecognitionTask())
    try hear(recognizer, 0..<1600)
    service.tells[0](.hypothesis(words("yes")))
    #expect(try recognizer.finish(alternatives: 0).words.map(\.text) == ["yes"])
    #expect(service.calls == ["start", "end", "cancel"])
  }

  @Test func theNextTaskGetsTheSamplesThatTheOneBeforeDidNotRecognise() throws {
    let recognizer = recognizer()
    try recognizer.begin(RecognitionTask())
    for _ in 0..<20 { try hear(recognizer, 0..<1600) }
    let segment = HeardTranscription.Segment(text: "yes", start: 0.5, duration: 1.0, confidence: 1)
    service.tells[0](.final([HeardTranscription(segments: [segment])]))
    try hear(recognizer, 5000..<5001)
    #expect(service.heard[1].count == 8000 + 1)
    #expect(service.heard[1].last == 5000)
  }

  @Test func theNextTaskGetsTheRightSamplesAfterOldOnesWereDropped() throws {
    let recognizer = SpeechServiceRecognizer(
      service: service,
      settings: SpeechRequestMachine.Settings(finalPatience: .zero, replayLimit: .seconds(2)))
    try recognizer.begin(RecognitionTask())
    for block in 0..<200 { try hear(recognizer, Int16(block)..<Int16(block + 1600)) }
    let segment = HeardTranscription.Segment(text: "yes", start: 18.0, duration: 1.0, confidence: 1)
    service.tells[0](.final([HeardTranscription(segments: [segment])]))
    try hear(recognizer, 9000..<9001)
    #expect(service.heard[1].count == 16_000 + 1)
    #expect(service.heard[1].first == 190)
  }

  @Test func lateResultsOfACancelledUtteranceReachNobody() throws {
    let recognizer = recognizer()
    try recognizer.begin(RecognitionTask())
    try hear(recognizer, 0..<1600)
    recognizer.cancel()
    #expect(service.calls == ["start", "cancel"])
    try recognizer.begin(RecognitionTask())
    try hear(recognizer, 0..<1600)
    service.tells[0](.final(words("late")))
    #expect(try recognizer.finish(alternatives: 0).words.isEmpty)
  }

  @Test func alternativesAreAsManyAsWanted() throws {
    let recognizer = recognizer()
    service.answer = .final(["a", "b", "c", "d"].flatMap { words($0) })
    for count in [0, 2, 9] {
      try recognizer.begin(RecognitionTask())
      try hear(recognizer, 0..<1600)
      #expect(try recognizer.finish(alternatives: count).alternatives.count == min(3, count))
    }
  }

  @Test func aRecognizerThatIsGoneDropsItsTask() throws {
    do {
      let recognizer = recognizer()
      try recognizer.begin(RecognitionTask())
      try hear(recognizer, 0..<1600)
    }
    #expect(service.calls == ["start", "cancel"])
  }
}

struct SpeechServiceRequestTests {
  @Test func phrasesAreTakenOnceAndNotMoreThanTheServiceTakes() {
    let request = SpeechServiceRequest(
      vocabulary: ["  New  York ", "new york", "", " ", "Kitchen"], bias: 0.5)
    #expect(request.contextualStrings == ["New York", "Kitchen"])
    #expect(SpeechServiceRequest(vocabulary: ["a"], bias: 0).contextualStrings.isEmpty)
    #expect(SpeechServiceRequest(vocabulary: ["a"], bias: -1).contextualStrings.isEmpty)
    let many = (0..<130).map { "phrase \($0)" }
    #expect(SpeechServiceRequest(vocabulary: many, bias: 1).contextualStrings.count == 100)
    #expect(
      SpeechServiceRequest.problems(ofVocabulary: many).first?.message.contains("30 were left out") == true)
    #expect(SpeechServiceRequest.problems(ofVocabulary: Array(many.prefix(100)) + [""]).isEmpty)
  }
}
