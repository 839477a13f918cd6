import Dispatch
public import Foundation
public import VoiceCore
public import VoicePlatform

/// Turns what somebody says into text, on the device.
///
/// ```swift
/// let utility = SpeechRecognitionUtility(
///   speechRecognitionAuthorizedBlock: { [weak self] in self?.toggle() },
///   stateUpdateBlock: { [weak self] state, finalOutput in
///     if case .speechRecognised(let text) = state { self?.show(text, isComplete: finalOutput) }
///   })
/// ```
///
/// **Texts.** While somebody speaks, the text grows. A pause longer than the time-out period completes it: it is told once more,
/// whole, with `finalOutput` true. In mode ``Mode/continuous``, that of the documented initialisers, the next word begins the next
/// text; in mode ``Mode/oneUtterance`` the utility stops. The pause is measured in the audio, so that a slow machine cuts
/// nobody off.
///
/// **Ends.** ``finish()`` tells the last words as a final output. ``stop()``, and with it
/// ``toggleSpeechRecognitionActivity()``, tells them too, but as ``SpeechRecognitionOperationState/speechRecognitionStopped(_:)``
/// and never as a final output, so that an app may toggle in reaction to one. ``cancel()`` drops them.
///
/// **Three faces.** The blocks; the asynchronous sequences ``events``, ``states``, ``results`` and ``failures``;
/// ``SpeechRecognitionModel`` for user interfaces. What fails is always told as a ``VoiceFailure``.
///
/// All methods may be called on any thread and return at once. Blocks are called on the callback queue, which is the main queue
/// unless a ``Configuration`` names another. When the last reference to a utility is gone, it stops, and no block is called any more.
public final class SpeechRecognitionUtility: Sendable {
  let driver: RecognitionDriver

  // MARK: Creating

  /// Creates a utility on the microphone, as documented; asks for the right to record at once.
  ///
  /// Listens in mode ``Mode/continuous`` with the default ``Configuration``.
  ///
  /// - Parameters:
  ///   - speechRecognitionAuthorizedBlock: Called once, on the main queue, when speech may be recognised; not called if not.
  ///   - stateUpdateBlock: Called on the main queue with each state; the flag is `finalOutput`: the text is complete.
  ///   - timeoutPeriod: How long a pause must be to complete a text, in seconds of audio.
  public convenience init(
    speechRecognitionAuthorizedBlock: @escaping @MainActor () -> Void,
    stateUpdateBlock: @escaping @MainActor (SpeechRecognitionOperationState, Bool) -> Void,
    timeoutPeriod: TimeInterval = 1.5
  ) {
    var configuration = Configuration()
    configuration.timeoutPeriod = Configuration.pause(timeoutPeriod)
    // The main queue is where the main actor runs.
    self.init(
      configuration: configuration,
      speechRecognitionAuthorizedBlock: { MainActor.assumeIsolated { speechRecognitionAuthorizedBlock() } },
      stateUpdateBlock: { state, isFinal in MainActor.assumeIsolated { stateUpdateBlock(state, isFinal) } })
  }

  /// Creates a utility on the microphone, as documented, whose block gets the state alone.
  ///
  /// - Parameters: As above.
  public convenience init(
    speechRecognitionAuthorizedBlock: @escaping @MainActor () -> Void,
    stateUpdateBlock: @escaping @MainActor (SpeechRecognitionOperationState) -> Void,
    timeoutPeriod: TimeInterval = 1.5
  ) {
    self.init(
      speechRecognitionAuthorizedBlock: speechRecognitionAuthorizedBlock,
      stateUpdateBlock: { state, _ in stateUpdateBlock(state) }, timeoutPeriod: timeoutPeriod)
  }

  /// Creates a utility with settings and blocks; asks for the right to record at once.
  ///
  /// - Parameters:
  ///   - configuration: What is listened to, what recognises it, and when it is told.
  ///   - speechRecognitionAuthorizedBlock: Called once, on the callback queue, when speech may be recognised.
  ///   - stateUpdateBlock: Called on the callback queue with each state and the flag `finalOutput`.
  public convenience init(
    configuration: Configuration,
    speechRecognitionAuthorizedBlock: @escaping @Sendable () -> Void,
    stateUpdateBlock: @escaping @Sendable (SpeechRecognitionOperationState, Bool) -> Void
  ) {
    self.init(
      configuration: configuration,
      blocks: CallbackDispatcher.Blocks(
        authorized: speechRecognitionAuthorizedBlock, state: stateUpdateBlock))
    self.driver.beginAuthorizing()
  }

  /// Creates a utility that does nothing until ``authorize()`` or ``start()`` is called.
  ///
  /// - Parameter configuration: What is listened to, what recognises it, and when it is told.
  public convenience init(configuration: Configuration) {
    self.init(configuration: configuration, blocks: CallbackDispatcher.Blocks())
  }

  init(configuration: Configuration, blocks: CallbackDispatcher.Blocks) {
    self.driver = RecognitionDriver(configuration: configuration, blocks: blocks)
  }

  deinit { self.driver.close() }

  /// Sets the block that is told every failure, on the callback queue; replaces the one before.
  public func onFailure(_ block: @escaping @Sendable (VoiceFailure) -> Void) {
    self.driver.dispatcher.change { $0.failure = block }
  }

  /// Sets the block that is told every result with all its transcriptions, on the callback queue, before the state block gets its
  /// text; replaces the one before.
  public func onResult(_ block: @escaping @Sendable (SpeechRecognitionResult) -> Void) {
    self.driver.dispatcher.change { $0.result = block }
  }

  // MARK: Documented

  /// Whether it is listening, or will be without a further request.
  public var isSpeechRecognitionOn: Bool { self.driver.isOn }

  /// Begins to listen; does nothing if it is listening. While an earlier activity is being finished, the new one begins after it.
  ///
  /// The microphone is opened after this has returned: ``SpeechRecognitionOperationState/audioEngineStart`` says that it is open,
  /// and what fails then is told as a failure.
  ///
  /// - Throws: ``SpeechRecognitionOperationError``, for what is known when it is called: ``SpeechRecognitionOperationError/denied``,
  ///   ``SpeechRecognitionOperationError/restricted`` or ``SpeechRecognitionOperationError/notDetermined`` (before the block for the
  ///   authorisation was called); and if the last look at engine and microphone found them missing, the error for that.
  ///   Throwing looks again, so a later call knows more. Everything thrown is told as a ``VoiceFailure`` too.
  public func startSpeechRecognition() throws {
    do throws(VoiceFailure) {
      try self.driver.start()
    } catch {
      throw SpeechRecognitionOperationError(error)
    }
  }

  /// Stops if it is listening, else starts.
  ///
  /// Within the state block that is told a final output it only ever stops: an app that toggles there ends the activity,
  /// whatever mode it is in.
  ///
  /// - Throws: As ``startSpeechRecognition()``.
  public func toggleSpeechRecognitionActivity() throws {
    if self.isSpeechRecognitionOn || self.driver.dispatcher.isTellingFinalOutput {
      self.stop()
    } else {
      try self.startSpeechRecognition()
    }
  }

  /// Stops listening at once. What was said is still recognised and told, with the flag `finalOutput` false; the text comes with
  /// ``SpeechRecognitionOperationState/speechRecognitionStopped(_:)``.
  public func stop() {
    self.driver.end(.stopped)
  }

  /// Stops listening at once, and tells the last words as a final output.
  public func finish() {
    self.driver.end(.finished)
  }

  /// Stops listening, and drops what was not told yet.
  public func cancel() {
    self.driver.end(.cancelled)
  }

  // MARK: Asynchronous

  /// Asks for the right to record, looks whether microphone and engine are there, and returns what was decided.
  @discardableResult
  public func authorize() async -> SpeechAuthorization {
    await self.driver.authorize()
  }

  /// Asks for the right to record if need be, begins to listen, and returns when the source is open.
  ///
  /// Cancelling the task cancels the activity.
  ///
  /// - Throws: ``VoiceFailure`` with a code of `speech.recognition.permission-*`, `audio.*` or `speech.engine.*`.
  public func start() async throws(VoiceFailure) {
    if !self.driver.isAuthorized { _ = await self.driver.authorize() }
    try await self.driver.startAndWait()
  }

  /// Stops listening at once, and returns when the last words are recognised.
  ///
  /// - Returns: The result of the text that was recognised last; `nil` if there was none, or nothing was listening.
  @discardableResult
  public func finish() async -> SpeechRecognitionResult? {
    await self.driver.waitForEnd(after: .finished)
  }

  /// Returns when the activity that runs is over: at the end of a file, after the first text in mode ``Mode/oneUtterance``, after a
  /// failure, or when somebody stops it. Cancelling the task cancels the activity.
  ///
  /// - Returns: The result of the text that was recognised last; `nil` if there was none, or the activity was cancelled. If nothing
  ///   runs, that of the activity before.
  @discardableResult
  public func waitUntilStopped() async -> SpeechRecognitionResult? {
    await withTaskCancellationHandler {
      await self.driver.waitForEnd(after: nil)
    } onCancel: {
      self.cancel()
    }
  }

  /// Everything that is told from now on, for one reader; each access is a new reader.
  ///
  /// A reader that falls more than `Configuration.eventCapacity` events behind loses the oldest and is told how many
  /// (`client.events.dropped`). The sequence ends when the utility is gone.
  public var events: EventBroadcaster<SpeechRecognitionEvent>.Subscription {
    self.driver.broadcaster.subscribe()
  }

  /// The states among ``events``.
  public var states: some AsyncSequence<SpeechRecognitionOperationState, Never> & Sendable {
    self.events.compactMap { if case .state(let state, _) = $0 { state } else { nil } }
  }

  /// The results among ``events``: one for each change of a text, and a final one when it is complete.
  ///
  /// The sequence goes on over activities; ``waitUntilStopped()`` tells when one is over.
  public var results: some AsyncSequence<SpeechRecognitionResult, Never> & Sendable {
    self.events.compactMap { if case .result(let result) = $0 { result } else { nil } }
  }

  /// The failures among ``events``.
  public var failures: some AsyncSequence<VoiceFailure, Never> & Sendable {
    self.events.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
  }
}
