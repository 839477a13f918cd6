import Foundation
import SpeechPipeline
import Synchronization
import Testing
import VoiceAudio
import VoiceCore
import VoicePlatform
import VoiceTesting

@testable import SpeechRecognition

/// Requests, in every order, and what is told of them.
@Suite(.timeLimit(.minutes(4)))
struct SpeechRecognitionUtilityTests {
  private let source = ManualAudioSource()

  private func engine(_ text: String = "one two three", gate: EngineGate? = nil) -> ScriptedEngine {
    ScriptedEngine(words: ScriptedEngine.Word.sentence(text, at: .zero), gate: gate)
  }

  private func utility(
    _ engine: ScriptedEngine? = nil, change: (inout Configuration) -> Void = { _ in }
  ) -> SpeechRecognitionUtility {
    var configuration = Configuration.test(engine ?? self.engine(), self.source)
    change(&configuration)
    return SpeechRecognitionUtility(configuration: configuration)
  }

  // MARK: Ends

  @Test func finishTellsTheLastWordsAsAFinalOutput() async throws {
    let utility = self.utility()
    var listener = Listener(utility)
    try await utility.start()
    self.source.send(silence(.milliseconds(600)))
    let result = await utility.finish()
    await listener.readToStop()
    #expect(result?.text == "one two three")
    #expect(listener.all.finalTexts == ["one two three"])
    #expect(!utility.isSpeechRecognitionOn)
    #expect(!self.source.isCapturing)
  }

  @Test func stopTellsTheLastWordsButNotAsAFinalOutput() async throws {
    let utility = self.utility()
    var listener = Listener(utility)
    try await utility.start()
    self.source.send(silence(.milliseconds(600)))
    utility.stop()
    #expect(!utility.isSpeechRecognitionOn)
    await listener.readToStop()
    #expect(listener.all.states.last == .speechRecognitionStopped("one two three"))
    #expect(listener.all.finalTexts == [])
    #expect(listener.all.finalResults.map(\.text) == ["one two three"])
  }

  @Test func cancelDropsWhatWasSaid() async throws {
    let utility = self.utility()
    var listener = Listener(utility)
    try await utility.start()
    self.source.send(silence(.milliseconds(600)))
    await listener.read { $0.result != nil }
    utility.cancel()
    await listener.read(to: .recognitionTaskCancelled)
    #expect(await utility.finish() == nil)
    try await utility.start()
    await listener.read(to: .audioEngineStart)
    let states = listener.all.states.drop { $0 != .audioEngineStop }
    #expect(Array(states) == [.audioEngineStop, .recognitionTaskCancelled, .audioEngineStart])
    #expect(listener.all.finalResults == [])
  }

  @Test func waitingTellsTheResultWhenTheSourceHasEnded() async throws {
    let utility = self.utility()
    try await utility.start()
    async let waited = utility.waitUntilStopped()
    self.source.send(silence(.milliseconds(600)))
    self.source.end()
    #expect(await waited?.text == "one two three")
    #expect(await utility.waitUntilStopped()?.text == "one two three")
  }

  @Test func waitingEndsAfterAnActivityWithoutWords() async throws {
    let source = SamplesSource(samples: silence(.seconds(1)))
    let utility = SpeechRecognitionUtility(configuration: .test(ScriptedEngine(words: []), source))
    try await utility.start()
    #expect(await utility.waitUntilStopped() == nil)
  }

  @Test func cancellingWhoWaitsCancelsTheActivity() async throws {
    let utility = self.utility()
    try await utility.start()
    self.source.send(silence(.milliseconds(600)))
    let task = Task { await utility.waitUntilStopped() }
    task.cancel()
    #expect(await task.value == nil)
    #expect(!self.source.isCapturing)
  }

  @Test func nothingIsRecognisedWithoutSpeech() async throws {
    let utility = self.utility(ScriptedEngine(words: []))
    var listener = Listener(utility)
    try await utility.start()
    self.source.send(silence(.seconds(3)))
    #expect(await utility.finish() == nil)
    await listener.readToStop()
    #expect(
      listener.all.states == [
        .authorized, .audioEngineStart, .audioEngineStop, .speechNotRecognized, .speechRecognitionStopped(""),
      ])
  }

  @Test func aHypothesisThatComesToNothingIsTakenBack() async throws {
    let words = [ScriptedEngine.Word("cough", start: .zero, end: .milliseconds(300), isPhantom: true)]
    let utility = self.utility(ScriptedEngine(words: words))
    var listener = Listener(utility)
    try await utility.start()
    self.source.send(silence(.milliseconds(200)))
    await listener.read(to: .speechRecognised("cough"))
    self.source.send(silence(.milliseconds(600)))
    await listener.read(to: .speechNotRecognized)
    #expect(listener.all.states.suffix(2) == [.speechRecognised("cough"), .speechNotRecognized])
    #expect(listener.all.results.last?.text == "")
  }

  // MARK: Order of requests

  @Test func startingTwiceOpensTheSourceOnce() async throws {
    let utility = self.utility()
    try await utility.start()
    try utility.startSpeechRecognition()
    try await utility.start()
    #expect(utility.isSpeechRecognitionOn)
    #expect(self.source.captureCount == 1)
  }

  @Test func stoppingWhatDoesNotRunIsNothing() async {
    let utility = self.utility()
    utility.stop()
    utility.cancel()
    #expect(await utility.finish() == nil)
    #expect(!utility.isSpeechRecognitionOn)
  }

  @Test func aToggleWhileTheLastWordsAreRecognisedStartsAgainAfterThem() async throws {
    let gate = EngineGate()
    let utility = self.utility(self.engine(gate: gate))
    var listener = Listener(utility)
    try await utility.start()
    self.source.send(silence(.milliseconds(600)))
    await gate.reached(1)
    utility.stop()
    try utility.toggleSpeechRecognitionActivity()
    #expect(utility.isSpeechRecognitionOn)
    gate.open()
    await listener.readToStop()
    await listener.read(to: .audioEngineStart)
    let states = listener.all.states.drop { $0 != .audioEngineStop }
    #expect(
      states.filter { if case .speechRecognised = $0 { false } else { true } } == [
        .audioEngineStop, .speechRecognitionStopped("one two three"), .audioEngineStart,
      ])
    #expect(self.source.captureCount == 2)
  }

  @Test func twoTogglesWhileTheLastWordsAreRecognisedLeaveItStopped() async throws {
    let gate = EngineGate()
    let utility = self.utility(self.engine(gate: gate))
    var listener = Listener(utility)
    try await utility.start()
    self.source.send(silence(.milliseconds(600)))
    await gate.reached(1)
    utility.stop()
    try utility.toggleSpeechRecognitionActivity()
    try utility.toggleSpeechRecognitionActivity()
    gate.open()
    await listener.readToStop()
    #expect(!utility.isSpeechRecognitionOn)
    #expect(self.source.captureCount == 1)
  }

  @Test func cancelWhileTheLastWordsAreRecognisedDropsThem() async throws {
    let gate = EngineGate()
    let utility = self.utility(self.engine(gate: gate))
    var listener = Listener(utility)
    try await utility.start()
    self.source.send(silence(.milliseconds(600)))
    await gate.reached(1)
    utility.finish() as Void
    utility.cancel()
    await listener.read(to: .recognitionTaskCancelled)
    async let end = utility.finish()
    gate.open()
    #expect(await end == nil)
    #expect(listener.all.results == [])
  }

  @Test func stoppingBeforeTheSourceIsOpenNeverListens() async throws {
    let authorizer = ManualAuthorizer()
    let (isReady, ready) = AsyncStream.makeStream(of: Void.self)
    let utility = self.utility {
      $0.authorizer = authorizer
      $0.source = HeldSource(source: self.source, isReady: isReady)
    }
    authorizer.answer(.authorized)
    await utility.authorize()
    var listener = Listener(utility)
    try utility.startSpeechRecognition()
    utility.stop()
    ready.finish()
    await listener.readToStop()
    #expect(!listener.all.states.contains(.audioEngineStop))
    #expect(!self.source.isCapturing)
  }

  // MARK: Final outputs and toggles

  /// The published example toggles when it is told a final output; that must end the activity in both modes.
  @Test(arguments: SpeechRecognitionUtility.Mode.allCases)
  func anAppMayToggleInReactionToAFinalOutput(mode: SpeechRecognitionUtility.Mode) async throws {
    let holder = Holder()
    let states = Recorder<State>()
    var configuration = Configuration.test(self.engine(), self.source)
    configuration.mode = mode
    let (stream, ends) = AsyncStream.makeStream(of: Void.self)
    let utility = SpeechRecognitionUtility(
      configuration: configuration,
      speechRecognitionAuthorizedBlock: { holder.toggle() },
      stateUpdateBlock: { state, finalOutput in
        states.append(state)
        if finalOutput { holder.toggle() }
        if case .speechRecognitionStopped = state { ends.yield() }
      })
    holder.hold(utility)
    await self.source.captureStarted()
    self.source.send(silence(.seconds(4)))
    for await _ in stream { break }
    #expect(!utility.isSpeechRecognitionOn)
    #expect(self.source.captureCount == 1)
    #expect(
      states.values.suffix(3) == [
        .speechRecognised("one two three"), .audioEngineStop, .speechRecognitionStopped("one two three"),
      ])
    #expect(states.values.first == .authorized)
    #expect(holder.failures == 0)
  }

  /// `finish()` tells a final output when it does not listen any more: a toggle there must not start again.
  @Test func aToggleInReactionToTheFinalOutputOfFinishDoesNotStartAgain() async throws {
    let holder = Holder()
    let (stream, ends) = AsyncStream.makeStream(of: Void.self)
    let utility = SpeechRecognitionUtility(
      configuration: Configuration.test(self.engine(), self.source),
      speechRecognitionAuthorizedBlock: {},
      stateUpdateBlock: { state, finalOutput in
        if finalOutput { holder.toggle() }
        if case .speechRecognitionStopped = state { ends.yield() }
      })
    holder.hold(utility)
    try await utility.start()
    self.source.send(silence(.milliseconds(500)))
    await utility.finish()
    for await _ in stream { break }
    #expect(!utility.isSpeechRecognitionOn)
    #expect(self.source.captureCount == 1)
  }

  // MARK: Blocks

  @Test func resultsComeBeforeTheStateThatTellsTheirText() async throws {
    let told = Recorder<String>()
    let (stream, ends) = AsyncStream.makeStream(of: Void.self)
    let utility = SpeechRecognitionUtility(
      configuration: Configuration.test(self.engine("one"), self.source),
      speechRecognitionAuthorizedBlock: {},
      stateUpdateBlock: { state, finalOutput in
        switch state {
        case .speechRecognised(let text): told.append("state \(text) \(finalOutput)")
        case .speechRecognitionStopped: ends.yield()
        default: break
        }
      })
    utility.onResult { told.append("result \($0.text) \($0.isFinal)") }
    try await utility.start()
    self.source.send(silence(.milliseconds(500)))
    await utility.finish()
    for await _ in stream { break }
    #expect(told.values == ["result one false", "state one false", "result one true", "state one true"])
  }

  @Test func releasingItWhileItListensLeavesNothingAndTellsNothing() async throws {
    let leaks = LeakCheck()
    let gate = EngineGate()
    let told = Recorder<State>()
    let queue = DispatchQueue(label: "test callbacks")
    do {
      let token = leaks.token(for: "state block")
      var configuration = Configuration.test(self.engine(gate: gate), self.source)
      configuration.callbackQueue = queue
      let utility = SpeechRecognitionUtility(
        configuration: configuration,
        speechRecognitionAuthorizedBlock: {},
        stateUpdateBlock: { state, _ in
          withExtendedLifetime(token) { told.append(state) }
        })
      leaks.track(utility)
      leaks.track(utility.driver)
      try await utility.start()
      self.source.send(silence(.milliseconds(600)))
      await gate.reached(1)
      // A utility that is released tells nothing any more.
      queue.sync {}
    }
    queue.sync {}
    let count = told.values.count
    gate.open()
    let left = await leaks.waitForRelease()
    #expect(left == [])
    #expect(!self.source.isCapturing)
    queue.sync {}
    #expect(told.values.count == count)
    #expect(told.values == [.authorized, .audioEngineStart])
  }

  @Test func sequencesEndWhenTheUtilityIsGone() async throws {
    var utility: SpeechRecognitionUtility? = self.utility()
    let states = try #require(utility?.states)
    let results = try #require(utility?.results)
    let failures = try #require(utility?.failures)
    utility = nil
    for await _ in states { Issue.record("No state was expected.") }
    for await _ in results { Issue.record("No result was expected.") }
    for await _ in failures { Issue.record("No failure was expected.") }
  }

  @Test func aTaskThatIsCancelledWhileItStartsCancelsTheActivity() async throws {
    let authorizer = ManualAuthorizer()
    let utility = self.utility { $0.authorizer = authorizer }
    let task = Task { try await utility.start() }
    task.cancel()
    authorizer.answer(.authorized)
    _ = await task.result
    await utility.finish()
    #expect(!utility.isSpeechRecognitionOn)
    #expect(!self.source.isCapturing)
  }

  /// That existing code compiles: both documented initialisers, from the main actor, with all their spellings.
  @MainActor @Test func documentedInitialisersTakeDocumentedBlocks() {
    var text = ""
    let first = SpeechRecognitionUtility(
      speechRecognitionAuthorizedBlock: {},
      stateUpdateBlock: { state, finalOutput in
        if case .speechRecognised(let recognised) = state, finalOutput { text = recognised }
      }, timeoutPeriod: 1.5)
    let second = SpeechRecognitionUtility(
      speechRecognitionAuthorizedBlock: { text = "" },
      stateUpdateBlock: { state in
        switch state {
        case .authorized, .audioEngineStart, .audioEngineStop, .recognitionTaskCancelled,
          .speechNotRecognized:
          break
        case .availabilityChanged(let isAvailable): text = "\(isAvailable)"
        case .speechRecognised(let recognised), .speechRecognitionStopped(let recognised): text = recognised
        }
      })
    #expect(!first.isSpeechRecognitionOn)
    #expect(!second.isSpeechRecognitionOn)
    #expect(text == "")
  }

  @Test(arguments: [
    (1.5, 1500), (0, 0), (-3, 0), (Double.nan, 1500), (0.0004, 0), (2.2, 2200),
  ]) func secondsBecomeAPause(seconds: Double, milliseconds: Int) {
    #expect(Configuration.pause(seconds) == .milliseconds(milliseconds))
  }

  @Test func anEndlessTimeoutIsNone() {
    #expect(Configuration.pause(.infinity) == nil)
    #expect(Configuration.pause(1e300) == nil)
  }
}

/// What an app's view controller is to a utility.
private final class Holder: Sendable {
  private struct State {
    weak var utility: SpeechRecognitionUtility?
    var wantsToToggle = false
    var failures = 0
  }

  private let state = Mutex(State())

  var failures: Int { self.state.withLock { $0.failures } }

  func hold(_ utility: SpeechRecognitionUtility) {
    let wantsToToggle = self.state.withLock { state in
      state.utility = utility
      return state.wantsToToggle
    }
    if wantsToToggle { self.toggle() }
  }

  func toggle() {
    let utility = self.state.withLock { state in
      state.wantsToToggle = state.utility == nil
      return state.utility
    }
    do {
      try utility?.toggleSpeechRecognitionActivity()
    } catch {
      self.state.withLock { $0.failures += 1 }
    }
  }
}

/// A source that takes its time to open.
private struct HeldSource: AudioSource {
  let source: ManualAudioSource
  let isReady: AsyncStream<Void>

  func capture() async throws(VoiceFailure) -> AudioCapture {
    for await _ in self.isReady {}
    return try await self.source.capture()
  }
}
