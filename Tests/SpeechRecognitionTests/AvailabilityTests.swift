import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import Synchronization
import Testing
import VoiceAudio
import VoiceCore
import VoicePlatform
import VoiceTesting

@testable import SpeechRecognition

/// What forbids listening, and how it is told.
@Suite(.timeLimit(.minutes(4)))
struct AvailabilityTests {
  private let source = ManualAudioSource()
  private let engine = ScriptedEngine(words: ScriptedEngine.Word.sentence("one two three", at: .zero))

  private func failure(of utility: SpeechRecognitionUtility) async -> VoiceFailure? {
    do throws(VoiceFailure) {
      try await utility.start()
      return nil
    } catch {
      return error
    }
  }

  // MARK: Rights

  @Test(arguments: [
    (SpeechAuthorization.denied, SpeechRecognitionOperationError.denied, VoiceFailure.Code.recognitionDenied),
    (.restricted, .restricted, .recognitionRestricted),
    (.notDetermined, .notDetermined, .recognitionUndecided),
  ])
  func withoutTheRightNothingStarts(
    authorization: SpeechAuthorization, error: SpeechRecognitionOperationError, code: VoiceFailure.Code
  ) async {
    let utility = SpeechRecognitionUtility(
      configuration: .test(self.engine, self.source, authorization: authorization))
    #expect(await utility.authorize() == authorization)
    var listener = Listener(utility)
    #expect(throws: error) { try utility.startSpeechRecognition() }
    #expect(throws: error) { try utility.toggleSpeechRecognitionActivity() }
    await listener.read { $0.failure?.code == code }
    #expect(await self.failure(of: utility)?.code == code)
    #expect(self.source.captureCount == 0)
  }

  @Test func beforeTheAnswerStartingIsNotDetermined() async throws {
    let authorizer = ManualAuthorizer()
    let authorized = Recorder<Bool>()
    let (stream, calls) = AsyncStream.makeStream(of: Void.self)
    var configuration = Configuration.test(self.engine, self.source)
    configuration.authorizer = authorizer
    let utility = SpeechRecognitionUtility(
      configuration: configuration,
      speechRecognitionAuthorizedBlock: {
        authorized.append(true)
        calls.yield()
      }, stateUpdateBlock: { _, _ in })
    #expect(throws: SpeechRecognitionOperationError.notDetermined) { try utility.startSpeechRecognition() }
    authorizer.answer(.authorized)
    for await _ in stream { break }
    try utility.startSpeechRecognition()
    await self.source.captureStarted()
    #expect(await utility.authorize() == .authorized)
    #expect(authorized.values.count == 1)
  }

  @Test func aRightThatIsGivenLaterServesTheNextStart() async throws {
    let authorizer = ManualAuthorizer()
    authorizer.answer(.denied)
    var configuration = Configuration.test(self.engine, self.source)
    configuration.authorizer = authorizer
    let utility = SpeechRecognitionUtility(configuration: configuration)
    #expect(await self.failure(of: utility)?.code == .recognitionDenied)
    // The start has asked as well; its question is answered by now.
    #expect(await utility.authorize() == .denied)
    authorizer.answer(.authorized)
    #expect(await self.failure(of: utility) == nil)
  }

  // MARK: Source

  @Test func withoutAMicrophoneStartingThrowsAndAvailabilityIsTold() async throws {
    self.source.failToOpen(VoiceFailure(.noInputDevice))
    let monitor = ManualAvailabilityMonitor()
    let clock = TestClock()
    var configuration = Configuration.test(self.engine, self.source)
    configuration.availability = monitor
    configuration.clock = clock
    let utility = SpeechRecognitionUtility(configuration: configuration)
    var listener = Listener(utility)
    await utility.authorize()
    await listener.read(to: .authorized)
    #expect(listener.all.states == [.availabilityChanged(false), .authorized])
    #expect(listener.all.failures.map(\.code) == [.noInputDevice])
    #expect(throws: SpeechRecognitionOperationError.inputNodeUnavailable) {
      try utility.startSpeechRecognition()
    }

    self.source.failToOpen(nil)
    monitor.change()
    await clock.waitForTimer(at: clock.now.advanced(by: .milliseconds(250)))
    clock.advance(by: .milliseconds(250))
    await listener.read(to: .availabilityChanged(true))
    #expect(await self.failure(of: utility) == nil)
  }

  @Test func whatIsMissingIsLookedForAgainAfterAWhile() async throws {
    self.source.failToOpen(VoiceFailure(.inputDeviceBusy))
    let clock = TestClock()
    var configuration = Configuration.test(self.engine, self.source)
    configuration.clock = clock
    let utility = SpeechRecognitionUtility(configuration: configuration)
    var listener = Listener(utility)
    await utility.authorize()
    #expect(throws: SpeechRecognitionOperationError.audioSessionUnavailable) {
      try utility.startSpeechRecognition()
    }
    await clock.waitForTimer(at: VoiceInstant(offset: .seconds(5)))
    self.source.failToOpen(nil)
    clock.advance(by: .seconds(5))
    await listener.read(to: .availabilityChanged(true))
  }

  @Test func unpluggingTellsTheWordsThenThatItIsGone() async throws {
    let clock = TestClock()
    var configuration = Configuration.test(self.engine, self.source)
    configuration.clock = clock
    let utility = SpeechRecognitionUtility(configuration: configuration)
    var listener = Listener(utility)
    try await utility.start()
    self.source.send(silence(.milliseconds(600)))
    self.source.failToOpen(VoiceFailure(.noInputDevice))
    self.source.fail(VoiceFailure(.inputDeviceLost))
    await listener.readToStop()
    #expect(listener.all.failures.map(\.code) == [.inputDeviceLost])
    #expect(listener.all.finalTexts == ["one two three"])
    #expect(listener.all.states.contains(.availabilityChanged(false)))
    #expect(listener.all.states.contains(.audioEngineStop))
    #expect(throws: SpeechRecognitionOperationError.inputNodeUnavailable) {
      try utility.startSpeechRecognition()
    }
    self.source.failToOpen(nil)
    await clock.waitForTimers(count: 1)
    clock.advance(by: .seconds(5))
    await listener.read(to: .availabilityChanged(true))
    #expect(await self.failure(of: utility) == nil)
  }

  @Test func aSourceThatFailsToOpenAfterTheCheckIsToldAsAFailure() async throws {
    let utility = SpeechRecognitionUtility(configuration: .test(self.engine, self.source))
    await utility.authorize()
    var listener = Listener(utility)
    self.source.failToOpen(VoiceFailure(.inputDeviceBusy))
    try utility.startSpeechRecognition()
    await listener.readToStop()
    #expect(listener.all.failures.map(\.code) == [.inputDeviceBusy])
    #expect(listener.all.states == [.availabilityChanged(false), .speechRecognitionStopped("")])
    #expect(!utility.isSpeechRecognitionOn)
  }

  @Test func lostAudioKeepsTimesLinear() async throws {
    let engine = ScriptedEngine(words: [
      .init("before", at: .zero), .init("after", at: .milliseconds(1000)),
    ])
    let utility = SpeechRecognitionUtility(configuration: .test(engine, self.source))
    var listener = Listener(utility)
    try await utility.start()
    self.source.send(silence(.milliseconds(300)))
    self.source.skip(9_600, notice: VoiceFailure(.inputOverrun))
    self.source.send(silence(.milliseconds(500)))
    let result = await utility.finish()
    #expect(result?.engineBest.segments.map(\.timestamp) == [.zero, .milliseconds(1000)])
    await listener.readToStop()
    #expect(listener.all.failures.map(\.code) == [.inputOverrun])
  }

  // MARK: Engine

  @Test func aMissingModelIsToldAndItsReturnToo() async throws {
    try await withTemporaryFolder { folder in
      let models = folder.appending(path: "models")
      let clock = TestClock()
      var configuration = Configuration.test(self.engine, self.source)
      let engine = self.engine
      configuration.engine = .making(watching: [models.path]) { _ throws(VoiceFailure) in
        guard FileManager.default.fileExists(atPath: models.path) else { throw VoiceFailure(.modelMissing) }
        return engine
      }
      configuration.availability = nil
      configuration.clock = clock
      let utility = SpeechRecognitionUtility(configuration: configuration)
      var listener = Listener(utility)
      await utility.authorize()
      await listener.read(to: .availabilityChanged(false))
      #expect(throws: SpeechRecognitionOperationError.audioEngineUnavailable) {
        try utility.startSpeechRecognition()
      }
      await clock.waitForTimers(count: 1)

      try FileManager.default.createDirectory(at: models, withIntermediateDirectories: true)
      await clock.waitForTimer(at: VoiceInstant(offset: .milliseconds(250)))
      clock.advance(by: .milliseconds(250))
      await listener.read(to: .availabilityChanged(true))

      try FileManager.default.removeItem(at: models)
      await clock.waitForTimer(at: VoiceInstant(offset: .milliseconds(500)))
      clock.advance(by: .milliseconds(250))
      await listener.read(to: .availabilityChanged(false))
      #expect(listener.all.failures.map(\.code).allSatisfy { $0 == .modelMissing })
    }
  }

  @Test func aRecogniserThatCannotBeMadeIsToldAndTriedAgain() async throws {
    let engine = ScriptedEngine(
      words: ScriptedEngine.Word.sentence("one", at: .zero), faults: [.init(.load, code: .modelInvalid)])
    let clock = TestClock()
    var configuration = Configuration.test(engine, self.source)
    configuration.clock = clock
    let utility = SpeechRecognitionUtility(configuration: configuration)
    var listener = Listener(utility)
    try await utility.start()
    await listener.readToStop()
    #expect(listener.all.failures.map(\.code) == [.modelInvalid])
    #expect(listener.all.states.contains(.availabilityChanged(false)))
    await clock.waitForTimer(at: VoiceInstant(offset: .seconds(5)))
    clock.advance(by: .seconds(5))
    await listener.read(to: .availabilityChanged(true))
    #expect(engine.recognizersMade == 1)
  }

  @Test func anEngineThatFailsIsReplacedAndNothingElseIsLost() async throws {
    var audio = MarkerAudio()
    for number in 1...6 {
      audio.pause(length: 16_000)
      audio.say(number, length: 8000)
    }
    audio.pause(length: 32_000)
    // In the third word: what was heard of it is told.
    for reportsPartialResults in [true, false] {
      var configuration = Configuration.test(
        FailingEngine(failures: [43]), SamplesSource(samples: audio.samples))
      configuration.reportsPartialResults = reportsPartialResults
      configuration.timeoutPeriod = .milliseconds(800)
      let utility = SpeechRecognitionUtility(configuration: configuration)
      var listener = Listener(utility)
      try await utility.start()
      await listener.readToStop()
      let segments = listener.all.finalResults.flatMap(\.engineBest.segments)
      #expect(segments.map { $0.text.prefix { $0 != "x" } } == ["1", "2", "3", "3", "4", "5", "6"])
      #expect(segments.suffix(3).map(\.timestamp) == audio.words.suffix(3).map(\.start))
      #expect(zip(segments, segments.dropFirst()).allSatisfy { $0.timestamp + $0.duration <= $1.timestamp })
      #expect(listener.all.failures == [VoiceFailure(.engineFailed, recovery: Recovery.none)])
      #expect(!listener.all.states.contains(.availabilityChanged(false)))
    }
  }

  @Test func anEngineThatFailsAgainAtOnceEndsTheActivity() async throws {
    var audio = MarkerAudio()
    audio.say(1, length: 80_000)
    let configuration = Configuration.test(
      FailingEngine(failures: [20, 25]), SamplesSource(samples: audio.samples))
    let utility = SpeechRecognitionUtility(configuration: configuration)
    var listener = Listener(utility)
    try await utility.start()
    await listener.readToStop()
    #expect(listener.all.failures.map(\.code) == [.engineFailed, .engineFailed])
    #expect(listener.all.failures.map(\.recovery) == [Recovery.none, .retry])
    #expect(!utility.isSpeechRecognitionOn)
    #expect(await self.failure(of: utility) == nil)
  }

  @Test func anUnknownLocaleIsAnInvalidRequest() async throws {
    var configuration = Configuration.test(self.engine, self.source)
    configuration.locale = Locale(identifier: "fi_FI")
    let utility = SpeechRecognitionUtility(configuration: configuration)
    await utility.authorize()
    #expect(throws: SpeechRecognitionOperationError.invalidRecognitionRequest) {
      try utility.startSpeechRecognition()
    }
    let failure = await self.failure(of: utility)
    #expect(failure?.code == .engineLanguageMissing)
    #expect(failure?.message.contains("en-US") == true)
  }

  @Test func theSystemEngineKnowsNoKlingon() async throws {
    var configuration = Configuration.test(self.engine, self.source)
    configuration.engine = .system
    configuration.locale = Locale(identifier: "tlh")
    let utility = SpeechRecognitionUtility(configuration: configuration)
    #expect(await self.failure(of: utility)?.code == .engineLanguageMissing)
  }

  @Test func anEngineThatNeedsTheNetworkIsRefusedIfAudioMustStay() async throws {
    let engine = ScriptedEngine(
      words: [], capabilities: RecognitionCapabilities(languages: ["en-US"], needsNetwork: true))
    var configuration = Configuration.test(engine, self.source)
    #expect(await self.failure(of: SpeechRecognitionUtility(configuration: configuration)) == nil)
    configuration.requiresOnDeviceRecognition = true
    let failure = await self.failure(of: SpeechRecognitionUtility(configuration: configuration))
    #expect(failure?.code == .recognitionNotOnDevice)
    #expect(failure.map(SpeechRecognitionOperationError.init) == .invalidRecognitionRequest)
  }

  @Test func unknownWordsInTheContextualStringsAreNamed() async throws {
    var configuration = Configuration.test(self.engine, self.source)
    configuration.engine = .system
    configuration.contextualStrings = ["kitchen", "zyxxyz the qwrtz"]
    let utility = SpeechRecognitionUtility(configuration: configuration)
    var listener = Listener(utility)
    await utility.authorize()
    await listener.read { $0.failure != nil }
    let failure = try #require(listener.all.failures.first)
    #expect(failure.code == .vocabularyUnknown)
    #expect(failure.message.contains("“qwrtz”, “zyxxyz”"))
    #expect(!failure.message.contains("kitchen"))
  }

  @Test func contextualStringsReachTheEngine() async throws {
    var configuration = Configuration.test(self.engine, self.source)
    configuration.contextualStrings = ["alpha"]
    configuration.contextualBias = 0.9
    let utility = SpeechRecognitionUtility(configuration: configuration)
    try await utility.start()
    self.source.send(silence(.milliseconds(200)))
    await utility.finish()
    #expect(self.engine.lastTask?.vocabulary == ["alpha"])
    #expect(self.engine.lastTask?.vocabularyBias == 0.9)
  }

  @Test func everyFailureOfTheCatalogueHasADocumentedError() {
    for definition in FailureCatalogue.areas.flatMap(\.definitions) {
      let error = SpeechRecognitionOperationError(VoiceFailure(definition.code))
      #expect(SpeechRecognitionOperationError.allCases.contains(error))
    }
    #expect(SpeechRecognitionOperationError(VoiceFailure(.inputDeviceBusy)) == .audioSessionUnavailable)
    #expect(SpeechRecognitionOperationError(VoiceFailure(.modelMissing)) == .audioEngineUnavailable)
    #expect(SpeechRecognitionOperationError(VoiceFailure(.grammarTooLarge)) == .invalidRecognitionRequest)
  }
}

/// Hears markers, and fails at the given blocks of all that its recognisers hear.
private final class FailingEngine: RecognitionEngine {
  let name = "Failing"
  private let engine = MarkerEngine()
  private let failures: Set<Int>
  private let blocks = Mutex(0)

  init(failures: Set<Int>) {
    self.failures = failures
  }

  var capabilities: RecognitionCapabilities { self.engine.capabilities }

  func makeRecognizer() throws(VoiceFailure) -> any Recognizer {
    FailingRecognizer(base: try self.engine.makeRecognizer(), engine: self)
  }

  fileprivate var isDue: Bool {
    self.failures.contains(
      self.blocks.withLock { blocks in
        blocks += 1
        return blocks
      })
  }
}

private final class FailingRecognizer: Recognizer {
  private let base: any Recognizer
  private let engine: FailingEngine

  init(base: any Recognizer, engine: FailingEngine) {
    self.base = base
    self.engine = engine
  }

  var adaptation: RecognizerAdaptation? { self.base.adaptation }
  var activityHangover: Duration { self.base.activityHangover }

  func begin(_ task: RecognitionTask) throws(VoiceFailure) { try self.base.begin(task) }
  func hypothesis() -> [RecognizedWord] { self.base.hypothesis() }
  func cancel() { self.base.cancel() }

  func finish(alternatives: Int) throws(VoiceFailure) -> RecognitionResult {
    try self.base.finish(alternatives: alternatives)
  }

  func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool? {
    if self.engine.isDue { throw VoiceFailure(.engineFailed) }
    return try self.base.process(samples)
  }
}
