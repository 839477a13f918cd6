import SpeechPipeline
import Testing
import VoiceAudio
import VoiceCore
import VoicePlatform
import VoiceTesting

@testable import SpeechRecognition

/// When a text is complete.
@Suite(.timeLimit(.minutes(4)))
struct PauseRuleTests {
  private typealias Word = ScriptedEngine.Word

  /// Two sentences of one second each with a pause between them, and the events of listening to them.
  private func listen(
    pause: Duration, timeout: Duration? = .milliseconds(1500),
    mode: SpeechRecognitionUtility.Mode = .continuous,
    reportsPartialResults: Bool = true, tail: Duration = .seconds(3)
  ) async throws -> [SpeechRecognitionEvent] {
    let words =
      Word.sentence("one two three four", at: .milliseconds(500))
      + Word.sentence("five six seven eight", at: .milliseconds(1500) + pause)
    let source = SamplesSource(samples: silence(.milliseconds(2500) + pause + tail))
    var configuration = Configuration.test(ScriptedEngine(words: words), source)
    configuration.timeoutPeriod = timeout
    configuration.mode = mode
    configuration.reportsPartialResults = reportsPartialResults
    let utility = SpeechRecognitionUtility(configuration: configuration)
    var listener = Listener(utility)
    try await utility.start()
    return await listener.readToStop()
  }

  @Test func textAccumulatesAndIsFinalOnceAfterThePause() async throws {
    let events = try await self.listen(pause: .milliseconds(1000))
    #expect(events.finalTexts == ["one two three four five six seven eight"])
    let texts = events.compactMap { event -> String? in
      if case .state(.speechRecognised(let text), finalOutput: false) = event { text } else { nil }
    }
    #expect(texts.first == "one")
    #expect(zip(texts, texts.dropFirst()).allSatisfy { $1.hasPrefix($0) })
    let final = try #require(events.firstIndex { $0.finalText != nil })
    let stop = try #require(events.firstIndex { $0.state == .audioEngineStop })
    #expect(final < stop, "The pause, not the end of the audio, completes the text.")
  }

  @Test func speechThatResumesTenMillisecondsBeforeTheTimeoutKeepsTheTextOpen() async throws {
    let events = try await self.listen(pause: .milliseconds(1490))
    #expect(events.finalTexts == ["one two three four five six seven eight"])
  }

  @Test func aPauseThatIsLongerBeginsTheNextText() async throws {
    let events = try await self.listen(pause: .milliseconds(1720))
    #expect(events.finalTexts == ["one two three four", "five six seven eight"])
    #expect(events.finalResults.map(\.index) == [0, 1])
    #expect(events.states.last == .speechRecognitionStopped("five six seven eight"))
  }

  @Test func timesOfTheNextTextGoOn() async throws {
    let events = try await self.listen(pause: .seconds(2))
    let starts = events.finalResults.map { $0.engineBest.segments.first?.timestamp }
    #expect(starts == [.milliseconds(500), .milliseconds(3500)])
  }

  @Test(arguments: [300, 3000]) func theTimeoutIsTheOneThatIsSet(milliseconds: Int) async throws {
    let timeout = Duration.milliseconds(milliseconds)
    let short = try await self.listen(
      pause: timeout - .milliseconds(50), timeout: timeout, tail: .milliseconds(200))
    let long = try await self.listen(
      pause: timeout + .milliseconds(250), timeout: timeout, tail: .milliseconds(200))
    #expect(short.finalTexts.count == 1)
    #expect(long.finalTexts.count == 2)
  }

  @Test func withoutATimeoutOnlyTheEndCompletesTheText() async throws {
    let events = try await self.listen(pause: .seconds(20), timeout: nil)
    #expect(events.finalTexts == ["one two three four five six seven eight"])
    #expect(events.states.dropLast().last == .speechRecognised("one two three four five six seven eight"))
  }

  @Test func oneUtteranceStopsAfterTheFirstText() async throws {
    let events = try await self.listen(pause: .seconds(2), mode: .oneUtterance)
    #expect(events.finalTexts == ["one two three four"])
    #expect(
      events.states.suffix(3) == [
        .speechRecognised("one two three four"), .audioEngineStop,
        .speechRecognitionStopped("one two three four"),
      ])
  }

  @Test func withoutPartialResultsThereIsOneResultAtTheEnd() async throws {
    let events = try await self.listen(pause: .seconds(2), reportsPartialResults: false)
    #expect(
      events.states == [
        .authorized, .audioEngineStart, .audioEngineStop,
        .speechRecognised("one two three four five six seven eight"),
        .speechRecognitionStopped("one two three four five six seven eight"),
      ])
    #expect(events.results.count == 1)
  }

  @Test func withoutPartialResultsOneUtteranceIsToldAtThePause() async throws {
    let events = try await self.listen(pause: .seconds(2), mode: .oneUtterance, reportsPartialResults: false)
    #expect(events.results.map(\.text) == ["one two three four"])
  }

  /// Somebody speaks, waits for half a second of audio while the machine takes an hour, and speaks on.
  @Test func aSlowMachineCutsNobodyOff() async throws {
    let clock = TestClock()
    let source = ManualAudioSource()
    let engine = ScriptedEngine(
      words: Word.sentence("one two", at: .zero) + Word.sentence("three four", at: .milliseconds(1000)))
    var configuration = Configuration.test(engine, source)
    configuration.clock = clock
    let utility = SpeechRecognitionUtility(configuration: configuration)
    var listener = Listener(utility)
    try await utility.start()
    source.send(silence(.milliseconds(900)))
    await listener.read { $0.result?.text == "one two" }
    clock.advance(by: .seconds(3600))
    source.send(silence(.milliseconds(700)))
    let result = await utility.finish()
    #expect(result?.text == "one two three four")
    await listener.readToStop()
    #expect(listener.all.finalTexts == ["one two three four"])
  }

  @Test func nothingIsToldBeforeFinishWithoutPartialResults() async throws {
    let source = ManualAudioSource()
    let engine = ScriptedEngine(words: Word.sentence("one two", at: .zero))
    var configuration = Configuration.test(engine, source)
    configuration.reportsPartialResults = false
    let utility = SpeechRecognitionUtility(configuration: configuration)
    var listener = Listener(utility)
    try await utility.start()
    source.send(silence(.seconds(5)))
    utility.driver.end(.finished)
    let events = await listener.readToStop()
    let stop = try #require(events.firstIndex { $0.state == .audioEngineStop })
    let results = events.indices.filter { events[$0].result != nil }
    #expect(results.count == 1)
    #expect(results.allSatisfy { $0 > stop })
    #expect(events.finalTexts == ["one two"])
  }
}
