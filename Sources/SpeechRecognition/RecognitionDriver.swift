import SpeechPipeline
import Synchronization
import VoiceAudio
import VoiceCore
import VoicePlatform

/// Performs what a ``RecognitionActivityMachine`` decides.
///
/// A request steps the machine on the caller's thread, so that starting can throw at once; its actions are put in a queue under
/// the same lock and performed outside of it by one thread at a time, so that everything is told in the order in which it
/// was decided.
final class RecognitionDriver: Sendable {
  private struct State {
    var machine: RecognitionActivityMachine
    var outbox: [RecognitionActivityMachine.Action] = []
    var isPerforming = false
    var isClosed = false
    var isAuthorizing = false
    var hasReportedProblems = false
    var activity: (number: Int, activity: RecognitionActivity, task: Task<Void, Never>)?
    /// Opening a source is done by one at a time: the last of them, for the next one to wait for.
    var deviceWork: Task<Void, Never>?
    var monitor: Task<Void, Never>?
    var timer: Task<Void, Never>?
    var settled: [CheckedContinuation<SpeechAuthorization, Never>] = []
    var opened: [Int: [CheckedContinuation<VoiceFailure?, Never>]] = [:]
    var ended: [Int: [CheckedContinuation<SpeechRecognitionResult?, Never>]] = [:]
  }

  private let configuration: SpeechRecognitionUtility.Configuration
  private let engines: EnginePool
  let dispatcher: CallbackDispatcher
  let broadcaster: EventBroadcaster<SpeechRecognitionEvent>
  private let state: Mutex<State>

  init(configuration: SpeechRecognitionUtility.Configuration, blocks: CallbackDispatcher.Blocks) {
    self.configuration = configuration
    self.engines = EnginePool(configuration: configuration)
    self.dispatcher = CallbackDispatcher(queue: configuration.callbackQueue, blocks: blocks)
    self.broadcaster = EventBroadcaster(capacity: configuration.eventCapacity) { count in
      .failed(
        VoiceFailure(
          .eventsDropped, message: "A reader of events was too slow: \(count) events were dropped."))
    }
    self.state = Mutex(State(machine: RecognitionActivityMachine(settings: configuration.machineSettings)))
  }

  // MARK: Requests

  var isOn: Bool { self.state.withLock { $0.machine.isOn } }

  /// Begins to ask for the right to record, if nobody is asking.
  func beginAuthorizing() {
    let mustAsk = self.state.withLock { state in
      guard !state.isAuthorizing, !state.isClosed else { return false }
      state.isAuthorizing = true
      return true
    }
    guard mustAsk else { return }
    let authorizer = self.configuration.effectiveAuthorizer
    // A person may take long to answer, and whoever asked need not wait: nobody owns the task, which ends with the answer.
    Task { [weak self] in
      let decision = await authorizer.request()
      self?.step { state in
        state.isAuthorizing = false
        return state.machine.decided(decision)
      }
    }
  }

  func authorize() async -> SpeechAuthorization {
    await withCheckedContinuation { continuation in
      let isClosed = self.state.withLock { state in
        if !state.isClosed { state.settled.append(continuation) }
        return state.isClosed
      }
      if isClosed { return continuation.resume(returning: .notDetermined) }
      self.beginAuthorizing()
    }
  }

  var isAuthorized: Bool { self.state.withLock { $0.machine.isAuthorized } }

  func start() throws(VoiceFailure) {
    var outcome: Result<Int, VoiceFailure> = .success(0)
    self.step { state in
      let (result, actions) = state.machine.startRequested()
      outcome = result
      return actions
    }
    _ = try outcome.get()
  }

  /// Starts, and waits until the source is open.
  func startAndWait() async throws(VoiceFailure) {
    let failure = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<VoiceFailure?, Never>) in
        var early: VoiceFailure??
        self.step { state in
          let wasOn = state.machine.isListening
          let (result, actions) = state.machine.startRequested()
          switch result {
          case .success where wasOn: early = .some(nil)
          case .success(let number): state.opened[number, default: []].append(continuation)
          case .failure(let failure): early = failure
          }
          return actions
        }
        if let early { continuation.resume(returning: early) }
      }
    } onCancel: {
      self.end(.cancelled)
    }
    if let failure { throw failure }
  }

  func end(_ ending: RecognitionActivityMachine.Ending) {
    self.step { $0.machine.endRequested(ending) }
  }

  /// Waits until the activity that runs is over, after a request to end it if one is given.
  func waitForEnd(after ending: RecognitionActivityMachine.Ending?) async -> SpeechRecognitionResult? {
    await withCheckedContinuation { continuation in
      var early: SpeechRecognitionResult??
      self.step { state in
        guard let number = state.machine.runningActivity else {
          early = .some(ending == nil ? state.machine.outcome : nil)
          return []
        }
        state.ended[number, default: []].append(continuation)
        return ending.map { state.machine.endRequested($0) } ?? []
      }
      if let early { continuation.resume(returning: early) }
    }
  }

  /// Stops for good: nothing is told any more.
  func close() {
    self.dispatcher.close()
    let (activity, tasks, settled, opened, ended) = self.state.withLock { state in
      state.isClosed = true
      state.outbox = []
      defer {
        (state.activity, state.monitor, state.timer, state.deviceWork) = (nil, nil, nil, nil)
        (state.settled, state.opened, state.ended) = ([], [:], [:])
      }
      return (
        state.activity, [state.monitor, state.timer], state.settled, state.opened.values.flatMap { $0 },
        state.ended.values.flatMap { $0 }
      )
    }
    activity?.activity.abandon()
    activity?.task.cancel()
    for task in tasks { task?.cancel() }
    for waiter in settled { waiter.resume(returning: .notDetermined) }
    for waiter in opened { waiter.resume(returning: VoiceFailure(.usage, message: "The utility is gone.")) }
    for waiter in ended { waiter.resume(returning: nil) }
    self.broadcaster.finish()
  }

  // MARK: Stepping

  private func step(_ body: (inout State) -> [RecognitionActivityMachine.Action]) {
    let mustPerform = self.state.withLock { state in
      guard !state.isClosed else { return false }
      state.outbox += body(&state)
      guard !state.isPerforming, !state.outbox.isEmpty else { return false }
      state.isPerforming = true
      return true
    }
    guard mustPerform else { return }
    while let action = self.nextAction() { self.perform(action) }
  }

  private func nextAction() -> RecognitionActivityMachine.Action? {
    self.state.withLock { state in
      guard !state.outbox.isEmpty else {
        state.isPerforming = false
        return nil
      }
      return state.outbox.removeFirst()
    }
  }

  private func perform(_ action: RecognitionActivityMachine.Action) {
    switch action {
    case .tell(let event):
      self.broadcaster.publish(event)
      self.dispatcher.tell(event)
    case .settle(let authorization):
      self.settled(authorization)
    case .tellAuthorized:
      self.dispatcher.tellAuthorized()
      self.watch()
    case .authorize:
      self.beginAuthorizing()
    case .begin(let number):
      self.begin(number)
    case .stopCapture(let number):
      self.activity(number)?.activity.stop()
    case .abandon(let number):
      let activity = self.activity(number)
      activity?.activity.abandon()
      activity?.task.cancel()
    case .check(let opensSource):
      self.check(opensSource: opensSource)
    case .scheduleCheck(let instant):
      self.scheduleCheck(at: instant)
    case .opened(let number):
      let waiters = self.state.withLock { $0.opened.removeValue(forKey: number) ?? [] }
      for waiter in waiters { waiter.resume(returning: nil) }
    case .ended(let number, let result, let failure):
      let (starters, waiters) = self.state.withLock { state in
        if state.activity?.number == number { state.activity = nil }
        return (state.opened.removeValue(forKey: number) ?? [], state.ended.removeValue(forKey: number) ?? [])
      }
      for waiter in starters {
        waiter.resume(
          returning: failure ?? VoiceFailure(.usage, message: "It was stopped before it had started."))
      }
      for waiter in waiters { waiter.resume(returning: result) }
    }
  }

  // MARK: Work

  private func activity(
    _ number: Int
  ) -> (number: Int, activity: RecognitionActivity, task: Task<Void, Never>)? {
    self.state.withLock { $0.activity?.number == number ? $0.activity : nil }
  }

  private func begin(_ number: Int) {
    let clock = self.configuration.clock
    let activity = RecognitionActivity(source: self.configuration.source, engines: self.engines) {
      [weak self] report in
      self?.step { state in
        switch report {
        case .opened: state.machine.captureOpened(number, at: clock.now)
        case .heard(let events): state.machine.heard(number, events)
        case .noticed(let failure): state.machine.noticed(number, failure)
        case .captureEnded(let failure): state.machine.captureEnded(number, failure, at: clock.now)
        case .recognizerFailed(let failure): state.machine.recognizerFailed(number, failure, at: clock.now)
        }
      }
    }
    self.state.withLock { state in
      guard !state.isClosed else { return }
      let previous = state.deviceWork
      // Requests return at once, so an activity cannot be a child of whoever made them; the driver cancels it.
      let task = Task { [weak self] in
        await previous?.value
        await activity.run()
        self?.step { $0.machine.activityEnded(number, at: clock.now) }
      }
      state.activity = (number, activity, task)
      state.deviceWork = task
    }
  }

  private func check(opensSource: Bool) {
    let source = self.configuration.source
    let clock = self.configuration.clock
    self.state.withLock { state in
      guard !state.isClosed else { return }
      let previous = opensSource ? state.deviceWork : nil
      let task = Task { [weak self, engines] in
        await previous?.value
        var found: VoiceFailure??
        if opensSource {
          do throws(VoiceFailure) {
            try await source.check()
            found = .some(nil)
          } catch {
            found = error
          }
        }
        let engine = await engines.check()
        self?.step { $0.machine.checked(source: found, engine: engine, at: clock.now) }
        if engine == nil { await self?.reportProblems() }
      }
      if opensSource { state.deviceWork = task }
    }
  }

  private func reportProblems() async {
    let isFirst = self.state.withLock { state in
      defer { state.hasReportedProblems = true }
      return !state.hasReportedProblems
    }
    guard isFirst else { return }
    let problems = await self.engines.problems()
    self.step { _ in problems.map { .tell(.failed($0)) } }
  }

  private func scheduleCheck(at instant: VoiceInstant) {
    let clock = self.configuration.clock
    // Nobody waits for the timer; the driver cancels it.
    let timer = Task { [weak self] in
      guard (try? await clock.sleep(until: instant, tolerance: nil)) != nil else { return }
      self?.step { $0.machine.somethingChanged(isScheduled: true) }
    }
    self.keep(timer) { $0.timer = timer }
  }

  private func settled(_ authorization: SpeechAuthorization) {
    let waiters = self.state.withLock { state in
      defer { state.settled = [] }
      return state.settled
    }
    for waiter in waiters { waiter.resume(returning: authorization) }
  }

  private func watch() {
    let changes = self.configuration.effectiveAvailability.changes()
    let clock = self.configuration.clock
    // The watch lasts as long as the utility, which cancels it.
    let monitor = Task { [weak self] in
      for await _ in changes {
        // A device appears as a series of files, the last of which counts.
        guard (try? await clock.sleep(until: clock.now.advanced(by: Self.settling), tolerance: nil)) != nil
        else { return }
        self?.step { $0.machine.somethingChanged() }
      }
    }
    self.keep(monitor) { $0.monitor = monitor }
  }

  private static let settling = Duration.milliseconds(250)

  private func keep(_ task: Task<Void, Never>, _ body: @Sendable (inout sending State) -> Void) {
    let isClosed = self.state.withLock { state in
      if !state.isClosed { body(&state) }
      return state.isClosed
    }
    if isClosed { task.cancel() }
  }
}
