import AVFoundation
import AppleSpeechRecognition
import CoreMedia
import Foundation
import Speech
import SpeechPipeline
import SpeechRecognition
import Testing
import VoiceCore
import VoicePlatform

extension AdapterTests {
  struct SpeechTests {
    init() {
      StubSpeech.shared.reset()
      StubAnalyzer.reset()
      AVCaptureDevice.status = .authorized
      AVCaptureDevice.answer = .authorized
    }

    private func transcription(_ text: String, confidence: Float = 0.8) -> SFTranscription {
      SFTranscription(
        text.split(separator: " ").enumerated().map {
          SFTranscriptionSegment(
            String($1), timestamp: Double($0) * 0.1, duration: 0.1, confidence: confidence)
        })
    }

    private func hear(_ recognizer: any Recognizer, milliseconds: Int = 1000) throws {
      let samples = [Int16](repeating: 0, count: 16 * milliseconds)
      _ = try samples.withUnsafeBufferPointer { try recognizer.process($0) }
    }

    // MARK: SFSpeechRecognizer

    @Test func anUnknownLanguageHasNoEngine() {
      #expect(throws: VoiceFailure.self) { try SFSpeechEngine(language: "xx-XX") }
    }

    @Test func aLanguageThatIsNotOnTheDeviceCannotStayThere() throws {
      #expect(throws: VoiceFailure(.recognitionNotOnDevice)) {
        try SFSpeechEngine(language: "fi-FI", requiresOnDeviceRecognition: true)
      }
      #expect(try SFSpeechEngine(language: "fi-FI").capabilities.needsNetwork)
      #expect(try !SFSpeechEngine(requiresOnDeviceRecognition: true).capabilities.needsNetwork)
    }

    @Test func withoutPermissionOrServiceThereIsNoRecognizer() throws {
      let engine = try SFSpeechEngine()
      StubSpeech.shared.reset(status: .denied)
      #expect(throws: VoiceFailure(.recognitionDenied)) { try engine.makeRecognizer() }
      StubSpeech.shared.reset(isAvailable: false)
      #expect(throws: VoiceFailure.self) { try engine.makeRecognizer() }
    }

    @Test func aRequestHasWhatTheTaskWants() throws {
      let recognizer = try SFSpeechEngine(requiresOnDeviceRecognition: true).makeRecognizer()
      try recognizer.begin(RecognitionTask(vocabulary: ["Kitchen"]))
      try hear(recognizer)
      let request = try #require(
        StubSpeech.shared.running.first?.request as? SFSpeechAudioBufferRecognitionRequest)
      #expect(request.contextualStrings == ["Kitchen"])
      #expect(request.requiresOnDeviceRecognition)
      #expect(request.shouldReportPartialResults)
      #expect(request.frameCount == 16_000)
      #expect(StubSpeech.shared.newestRecognizer?.queue !== OperationQueue.main)
    }

    @Test func hypothesesAndAlternativesComeWithTimesAndConfidences() throws {
      let recognizer = try SFSpeechEngine().makeRecognizer()
      try recognizer.begin(RecognitionTask())
      try hear(recognizer)
      let task = try #require(StubSpeech.shared.running.first)
      task.handler(SFSpeechRecognitionResult([transcription("Turn on")], isFinal: false), nil)
      try hear(recognizer)
      #expect(recognizer.hypothesis().map(\.text) == ["turn", "on"])
      StubSpeech.shared.onEnd {
        let final = [transcription("Write it", confidence: 0.9), transcription("Right it", confidence: 0.5)]
        StubSpeech.shared.running.first?.handler(SFSpeechRecognitionResult(final, isFinal: true), nil)
      }
      let result = try recognizer.finish(alternatives: 3)
      #expect(result.words.map(\.text) == ["write", "it"])
      #expect(result.words.last?.start == .milliseconds(100))
      #expect(result.alternatives.map { $0.map(\.text) } == [["right", "it"]])
      #expect(result.alternatives.first?.compactMap(\.confidence) == [0.5, 0.5])
    }

    @Test func silenceIsAnEmptyResult() throws {
      let recognizer = try SFSpeechEngine().makeRecognizer()
      try recognizer.begin(RecognitionTask())
      try hear(recognizer)
      StubSpeech.shared.onEnd {
        StubSpeech.shared.running.last?.handler(nil, NSError(domain: "kAFAssistantErrorDomain", code: 1110))
      }
      #expect(try recognizer.finish(alternatives: 0).words.isEmpty)
    }

    @Test func aTaskThatApplesServiceEndsIsFollowedByAnother() throws {
      let recognizer = try SFSpeechEngine().makeRecognizer()
      try recognizer.begin(RecognitionTask())
      try hear(recognizer)
      StubSpeech.shared.running.first?.handler(
        SFSpeechRecognitionResult([transcription("one two")], isFinal: true), nil)
      try hear(recognizer)
      #expect(StubSpeech.shared.running.count == 2)
      let second = try #require(StubSpeech.shared.running.last)
      #expect((second.request as? SFSpeechAudioBufferRecognitionRequest)?.frameCount == 32_000 - 3_200)
      second.handler(SFSpeechRecognitionResult([transcription("three")], isFinal: false), nil)
      try hear(recognizer)
      #expect(recognizer.hypothesis().map(\.text) == ["one", "two", "three"])
      #expect(recognizer.hypothesis().last?.start == .milliseconds(200))
    }

    @Test func aFailureKeepsTheErrorForDevelopers() throws {
      let recognizer = try SFSpeechEngine().makeRecognizer()
      try recognizer.begin(RecognitionTask())
      try hear(recognizer)
      StubSpeech.shared.running.first?.handler(nil, NSError(domain: "kLSRErrorDomain", code: 201))
      let failure = #expect(throws: VoiceFailure.self) { try hear(recognizer) }
      #expect(failure?.code == .recognitionDenied)
      #expect((failure?.cause as? NSError)?.code == 201)
    }

    @Test func cancellingCancelsTheTask() throws {
      let recognizer = try SFSpeechEngine().makeRecognizer()
      try recognizer.begin(RecognitionTask())
      try hear(recognizer)
      recognizer.cancel()
      #expect(StubSpeech.shared.running.first?.task.isCancelled == true)
    }

    // MARK: Permission and availability

    @Test func bothPermissionsAreAskedFor() async {
      StubSpeech.shared.reset(status: .notDetermined)
      AVCaptureDevice.status = .notDetermined
      let authorizer = AppleSpeechAuthorizer()
      #expect(await authorizer.state() == .notDetermined)
      #expect(await authorizer.request() == .authorized)
      #expect(AVCaptureDevice.status == .authorized)
    }

    @Test func whoRefusesRecognitionIsNotAskedForTheMicrophone() async {
      StubSpeech.shared.reset(status: .notDetermined, answer: .denied)
      AVCaptureDevice.status = .notDetermined
      #expect(await AppleSpeechAuthorizer().request() == .denied)
      #expect(AVCaptureDevice.status == .notDetermined)
    }

    @Test func withoutAMicrophoneOnlyRecognitionIsAskedFor() async {
      StubSpeech.shared.reset(status: .notDetermined)
      AVCaptureDevice.status = .denied
      #expect(await AppleSpeechAuthorizer(microphone: nil).request() == .authorized)
    }

    @Test func aServiceThatComesAndGoesIsTold() async throws {
      let monitor = AppleSpeechAvailability(language: "en-US")
      var changes = monitor.changes().makeAsyncIterator()
      let recognizer = try #require(StubSpeech.shared.newestRecognizer)
      recognizer.delegate?.speechRecognizer(recognizer, availabilityDidChange: false)
      #expect(await changes.next() != nil)
    }

    @Test func theUtilityUsesItUnlessAnAppSaysOtherwise() async {
      StubSpeech.shared.reset(status: .denied)
      let utility = SpeechRecognitionUtility(configuration: SpeechRecognitionUtility.Configuration())
      #expect(await utility.authorize() == .denied)
    }

    // MARK: SpeechAnalyzer

    private func phrase(_ text: String, at start: Double) -> AttributedString {
      var phrase = AttributedString(text)
      phrase[AttributeScopes.SpeechAttributes.TimeRangeAttribute.self] = CMTimeRange(
        start: CMTime(seconds: start, preferredTimescale: 1000),
        duration: CMTime(seconds: 0.2, preferredTimescale: 1000))
      phrase[AttributeScopes.SpeechAttributes.ConfidenceAttribute.self] = 0.7
      return phrase
    }

    @Test func aLanguageThatIsMissingOrNotInstalledIsNamed() async throws {
      #expect(throws: VoiceFailure.self) { try SpeechAnalyzerEngine(language: "xx-XX").makeRecognizer() }
      StubAnalyzer.reset(isInstalled: false)
      let failure = #expect(throws: VoiceFailure.self) { try SpeechAnalyzerEngine().makeRecognizer() }
      #expect(failure?.code == .modelMissing)
      try await SpeechAnalyzerEngine.install(language: "en-US")
      _ = try SpeechAnalyzerEngine().makeRecognizer()
    }

    @Test func aFormatThatIsNotOursIsRefused() {
      StubAnalyzer.reset(sampleRate: 48_000)
      let failure = #expect(throws: VoiceFailure.self) { try SpeechAnalyzerEngine().makeRecognizer() }
      #expect(failure?.code == .formatNotSupported)
    }

    @Test func phrasesBecomeOneResult() throws {
      StubAnalyzer.reset(script: [
        SpeechTranscriber.Result([phrase("Turn of", at: 0)], isFinal: false),
        SpeechTranscriber.Result(
          [phrase("Turn", at: 0) + phrase(" on,", at: 0.2), phrase("Turn off", at: 0)], isFinal: true),
        SpeechTranscriber.Result([phrase(" the lights.", at: 0.5)], isFinal: true),
      ])
      let recognizer = try SpeechAnalyzerEngine().makeRecognizer()
      try recognizer.begin(RecognitionTask(vocabulary: ["lights"]))
      try hear(recognizer)
      let result = try recognizer.finish(alternatives: 2)
      #expect(result.words.map(\.text) == ["turn", "on", "the", "lights"])
      #expect(result.words[1].start == .milliseconds(200))
      #expect(result.words.allSatisfy { $0.confidence == 0.7 })
      #expect(result.alternatives.map { $0.map(\.text) } == [["turn", "off", "the", "lights"]])
      #expect(StubAnalyzer.context == ["lights"])
    }

    @Test func anErrorOfTheAnalyzerIsAFailure() throws {
      StubAnalyzer.reset(failure: NSError(domain: "SFSpeechErrorDomain", code: 1))
      let recognizer = try SpeechAnalyzerEngine().makeRecognizer()
      try recognizer.begin(RecognitionTask())
      try hear(recognizer)
      let failure = #expect(throws: VoiceFailure.self) { try recognizer.finish(alternatives: 0) }
      #expect(failure?.code == .engineFailed)
    }
  }
}
