import Foundation
import Synchronization
public import VoiceAudio
public import VoiceCore

/// A fixed number of loaded recognisers, shared by any number of audio contexts.
///
/// Each recogniser has a serial queue of its own: decoding never runs on the threads of Swift's concurrency, and
/// one slow context never stalls another. Whoever asks first is served first. A recogniser that fails is replaced.
///
/// ```swift
/// let pool = RecognizerPool(engine: try PocketSphinxEngine(), size: 4)
/// try await pool.load { loaded, total in print("\(loaded) of \(total)") }
/// let context = try await pool.beginContext(ContextOptions(), patience: .seconds(5))
/// var events = try await context.append(samples)
/// events += try await context.finish()
/// ```
public final class RecognizerPool: Sendable {
  /// How a pool is doing.
  public struct Status: Hashable, Sendable {
    /// How many recognisers the pool should have.
    public var total: Int
    /// How many are loaded.
    public var loaded: Int
    /// How many of the loaded ones belong to a context.
    public var busy: Int
    /// How many requests for a context wait.
    public var waiting: Int

    /// Creates a status.
    public init(total: Int, loaded: Int, busy: Int, waiting: Int) {
      self.total = total
      self.loaded = loaded
      self.busy = busy
      self.waiting = waiting
    }
  }

  private struct State: Sendable {
    var machine: PoolMachine
    var nextRequest = 0
    var waiters: [Int: Waiter] = [:]
    var isStopped = false
  }

  /// A request on its way from being made to being answered; the answer may come before anybody waits for it.
  private enum Waiter: Sendable {
    case expected
    case waiting(CheckedContinuation<Outcome, Never>)
    case answered(Outcome)
  }

  private enum Outcome: Sendable {
    case granted(slot: Int)
    case failed(VoiceFailure)
  }

  /// The engine that makes the recognisers.
  public let engine: any RecognitionEngine
  private let clock: any VoiceClock
  private let settings: PipelineSettings
  private let replacementFailed: @Sendable (VoiceFailure) -> Void
  private let workers: [RecognizerWorker]
  private let state: Mutex<State>

  /// Creates a pool; nothing is loaded before ``load(progress:)`` or the first context.
  ///
  /// - Parameters:
  ///   - engine: Makes the recognisers.
  ///   - size: How many contexts can be recognised at a time, at least 1.
  ///   - clock: The clock on which patience is measured.
  ///   - replacementFailed: Hears, on any thread, why a recogniser could not be loaded outside ``load(progress:)``, as in place
  ///     of a broken one; no context is told as long as others work. It is tried again whenever somebody waits.
  public convenience init(
    engine: any RecognitionEngine, size: Int, clock: any VoiceClock = MonotonicClock(),
    replacementFailed: @escaping @Sendable (VoiceFailure) -> Void = { _ in }
  ) {
    self.init(
      engine: engine, size: size, clock: clock, detector: nil, settings: .standard,
      replacementFailed: replacementFailed)
  }

  /// Creates a pool with a detector of voice activity in place of the engine's own.
  ///
  /// - Parameter detector: Makes one detector for each recogniser, on the recogniser's thread.
  public convenience init(
    engine: any RecognitionEngine, size: Int, clock: any VoiceClock = MonotonicClock(),
    detector: (@Sendable () throws(VoiceFailure) -> any VoiceActivityDetector)?
  ) {
    self.init(engine: engine, size: size, clock: clock, detector: detector, settings: .standard)
  }

  init(
    engine: any RecognitionEngine, size: Int, clock: any VoiceClock,
    detector: (@Sendable () throws(VoiceFailure) -> any VoiceActivityDetector)?,
    settings: PipelineSettings, replacementFailed: @escaping @Sendable (VoiceFailure) -> Void = { _ in }
  ) {
    self.engine = engine
    self.replacementFailed = replacementFailed
    self.clock = clock
    self.settings = settings
    let makeDetector: (@Sendable () throws(VoiceFailure) -> any VoiceActivityDetector)? =
      if detector == nil, !engine.capabilities.detectsVoiceActivity {
        { () throws(VoiceFailure) in EnergyActivityDetector() }
      } else {
        detector
      }
    self.workers = (0..<max(1, size)).map { index in
      RecognizerWorker(index: index, engine: engine, makeDetector: makeDetector)
    }
    self.state = Mutex(State(machine: PoolMachine(size: size)))
  }

  /// How the pool is doing.
  public var status: Status { self.state.withLock { $0.machine.status } }

  /// Loads the recognisers that are not loaded yet, several at a time.
  ///
  /// - Parameter progress: Called after each with how many are loaded, from one task at a time.
  /// - Throws: The first ``VoiceFailure`` with a `speech.engine.*` code; the others are loaded all the same.
  public func load(
    progress: @Sendable (_ loaded: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws(VoiceFailure) {
    let actions = self.state.withLock { $0.machine.loadAll() }
    let slots = actions.compactMap { action in
      if case .load(let slot) = action { slot } else { nil }
    }
    let total = self.workers.count
    progress(self.status.loaded, total)
    let failure = await withTaskGroup(of: VoiceFailure?.self) { group in
      // Loading is mostly work of the processor: more at a time than there are cores would not be faster.
      var rest = slots[...]
      for slot in rest.prefix(Self.loadsAtATime) {
        group.addTask { await self.load(slot) }
      }
      rest = rest.dropFirst(Self.loadsAtATime)
      var first: VoiceFailure?
      while let failure = await group.next() {
        first = first ?? failure
        progress(self.status.loaded, total)
        if let slot = rest.popFirst() {
          group.addTask { await self.load(slot) }
        }
      }
      return first
    }
    if let failure { throw failure }
  }

  /// Waits for a free recogniser and begins an audio context with it.
  ///
  /// Requests are served in the order in which they came.
  ///
  /// - Parameters:
  ///   - options: What the context asks of recognition.
  ///   - patience: How long to wait, on the pool's clock.
  /// - Throws: ``VoiceFailure`` with code `speech.stream.server-overloaded` (recovery `.retry`) if none became
  ///   free in time or the task was cancelled, `speech.stream.server-stopping` after ``shutdown()``, or a
  ///   `speech.engine.*` code if the engine cannot work.
  public func beginContext(
    _ options: ContextOptions, patience: Duration
  ) async throws(VoiceFailure) -> RecognitionContext {
    let slot = try await self.acquire(patience: patience)
    let worker = self.workers[slot]
    switch await worker.begin(options, settings: self.settings) {
    case .success(let number):
      return RecognitionContext(worker: worker, number: number) { [weak self] isBroken in
        self?.release(slot, isBroken: isBroken)
      }
    case .failure(let failure):
      // An adaptation that the engine rejects is the caller's fault; a failing engine means a broken recogniser.
      self.release(slot, isBroken: failure.code == .engineFailed)
      throw failure
    }
  }

  /// Fails those who wait, lets running contexts end as they will, and frees the recognisers that are idle.
  public func shutdown() async {
    let actions = self.state.withLock { state in
      state.isStopped = true
      return state.machine.stopped()
    }
    self.perform(actions)
    for slot in self.workers.indices {
      await self.workers[slot].unloadIfIdle()
    }
  }

  private static let loadsAtATime = max(1, ProcessInfo.processInfo.activeProcessorCount)

  private func acquire(patience: Duration) async throws(VoiceFailure) -> Int {
    if let slot = self.state.withLock({ $0.machine.acquiredIdle() }) { return slot }
    let (request, actions) = self.state.withLock { state in
      state.nextRequest += 1
      state.waiters[state.nextRequest] = .expected
      return (state.nextRequest, state.machine.requested(state.nextRequest))
    }
    self.perform(actions)
    let deadline = self.clock.now.advanced(by: patience)
    let outcome = await withTaskGroup(of: Outcome?.self) { group in
      group.addTask { await self.wait(for: request) }
      group.addTask { [clock = self.clock] in
        try? await clock.sleep(until: deadline, tolerance: nil)
        self.withdraw(request)
        return nil
      }
      var outcome: Outcome?
      for await result in group {
        guard let result else { continue }
        outcome = result
        group.cancelAll()
      }
      return outcome
    }
    switch outcome {
    case .granted(let slot): return slot
    case .failed(let failure): throw failure
    case nil: throw Self.overloaded
    }
  }

  private func wait(for request: Int) async -> Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome = self.state.withLock { state -> Outcome? in
          switch state.waiters[request] {
          case .expected:
            state.waiters[request] = .waiting(continuation)
            return nil
          case .answered(let outcome):
            state.waiters[request] = nil
            return outcome
          case .waiting, nil:
            return .failed(Self.overloaded)
          }
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      self.withdraw(request)
    }
  }

  private func withdraw(_ request: Int) {
    if self.state.withLock({ $0.machine.withdrawn(request) }) {
      self.answer(request, .failed(Self.overloaded))
    }
  }

  private func answer(_ request: Int, _ outcome: Outcome) {
    let continuation = self.state.withLock { state -> CheckedContinuation<Outcome, Never>? in
      switch state.waiters[request] {
      case .expected:
        state.waiters[request] = .answered(outcome)
        return nil
      case .waiting(let continuation):
        state.waiters[request] = nil
        return continuation
      case .answered, nil:
        return nil
      }
    }
    continuation?.resume(returning: outcome)
  }

  private func release(_ slot: Int, isBroken: Bool) {
    let (actions, isStopped) = self.state.withLock { state in
      (state.machine.released(slot, isBroken: isBroken), state.isStopped)
    }
    self.perform(actions)
    if isStopped {
      let worker = self.workers[slot]
      // Nobody is left to wait for it: the task ends when the memory is free.
      Task { await worker.unloadIfIdle() }
    }
  }

  private func perform(_ actions: [PoolMachine.Action]) {
    for action in actions {
      switch action {
      case .grant(let request, let slot):
        self.answer(request, .granted(slot: slot))
      case .fail(let request, let box):
        self.answer(request, .failed(box.failure))
      case .load(let slot):
        // Nobody waits for it, because who caused it has its answer already: the task ends with the load.
        Task {
          if let failure = await self.load(slot) { self.replacementFailed(failure) }
        }
      }
    }
  }

  private func load(_ slot: Int) async -> VoiceFailure? {
    let failure = await self.workers[slot].load()
    let actions = self.state.withLock { state in
      if let failure { state.machine.loadFailed(slot, failure) } else { state.machine.loaded(slot) }
    }
    self.perform(actions)
    return failure
  }

  private static var overloaded: VoiceFailure {
    VoiceFailure(.serverOverloaded, message: "No recogniser became free in time.", recovery: .retry)
  }
}
