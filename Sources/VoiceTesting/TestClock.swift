import Synchronization
public import VoiceCore

/// A clock that stands still until a test moves it.
///
/// Code under test sleeps on the clock; the test waits until it does, and then moves the time:
///
/// ```swift
/// let clock = TestClock()
/// async let result = client.connect(clock: clock)
/// let deadline = await clock.nextTimer()
/// clock.advance(to: deadline)
/// ```
///
/// A *timer* is a call of `sleep` that really waits: one whose deadline is over returns at once and is never reported, and one
/// that was woken or cancelled is a timer no longer. Nothing here polls, yields or waits in real time. Moving the clock does
/// not wait for the woken tasks to do something: wait for what they do, or for their next timer.
public final class TestClock: VoiceClock {
  struct Sleeper {
    let deadline: VoiceInstant
    var isReported = false
    let continuation: CheckedContinuation<Void, any Error>
  }

  /// Somebody who waits for timers to be set.
  struct Observer {
    enum Interest {
      case nextTimer
      case timer(at: VoiceInstant)
      case count(Int)
    }

    let interest: Interest
    let continuation: CheckedContinuation<VoiceInstant, Never>
  }

  struct State {
    var now: VoiceInstant
    var nextID = 0
    /// Rising ids, so that the order is that of registration.
    var sleepers: [(id: Int, sleeper: Sleeper)] = []
    var observers: [(id: Int, observer: Observer)] = []

    mutating func makeID() -> Int {
      self.nextID += 1
      return self.nextID
    }
  }

  private let state: Mutex<State>

  /// Creates a clock that shows the given time.
  public init(now: VoiceInstant = VoiceInstant()) {
    self.state = Mutex(State(now: now))
  }

  public var now: VoiceInstant { self.state.withLock { $0.now } }

  public var minimumResolution: Duration { .nanoseconds(1) }

  /// The deadlines of all timers, earliest first.
  public var timers: [VoiceInstant] {
    self.state.withLock { $0.sleepers.map(\.sleeper.deadline).sorted() }
  }

  // MARK: Code under test

  /// Waits until the clock shows the deadline.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled, also when it was cancelled before.
  public func sleep(until deadline: VoiceInstant, tolerance: Duration? = nil) async throws {
    let id = self.state.withLock { $0.makeID() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        enum Outcome {
          case sleep([(CheckedContinuation<VoiceInstant, Never>, VoiceInstant)])
          case wake
          case cancel
        }
        let outcome = self.state.withLock { state -> Outcome in
          // The handler below takes the lock as well, so either it finds the sleeper or this sees the cancellation.
          if Task.isCancelled { return .cancel }
          if deadline <= state.now { return .wake }
          state.sleepers.append((id, Sleeper(deadline: deadline, continuation: continuation)))
          return .sleep(state.satisfyObservers())
        }
        switch outcome {
        case .sleep(let observers):
          for (observer, reported) in observers { observer.resume(returning: reported) }
        case .wake: continuation.resume()
        case .cancel: continuation.resume(throwing: CancellationError())
        }
      }
    } onCancel: {
      let sleeper = self.state.withLock { state in
        state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0).sleeper }
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  // MARK: Test

  /// Waits for a timer that no earlier call has reported, and reports its deadline.
  ///
  /// Timers are reported in the order in which they were set. Several waiting callers get one timer each, first come first
  /// served. If the calling task is cancelled, the time of the clock is returned.
  @discardableResult
  public func nextTimer() async -> VoiceInstant {
    await self.observe(.nextTimer)
  }

  /// Waits until there is a timer with exactly this deadline; such a timer counts as reported.
  ///
  /// Use it where other timers may come and go. Returns early if the calling task is cancelled.
  public func waitForTimer(at deadline: VoiceInstant) async {
    _ = await self.observe(.timer(at: deadline))
  }

  /// Waits until at least `count` timers are set at the same time, whether they have been reported or not.
  ///
  /// Returns early if the calling task is cancelled.
  public func waitForTimers(count: Int) async {
    _ = await self.observe(.count(count))
  }

  /// Moves the clock and wakes the timers that are due, earliest deadline first, equal ones in the order they were set.
  ///
  /// All woken tasks see the new time. One that has set its timer and is still on the way into its suspension goes on at once,
  /// so it may be ahead of earlier ones. A time that is over does nothing: the clock never goes back.
  public func advance(to instant: VoiceInstant) {
    let due = self.state.withLock { state -> [Sleeper] in
      guard instant > state.now else { return [] }
      state.now = instant
      let due = state.sleepers.filter { $0.sleeper.deadline <= instant }
      state.sleepers.removeAll { $0.sleeper.deadline <= instant }
      return due.sorted { ($0.sleeper.deadline, $0.id) < ($1.sleeper.deadline, $1.id) }.map(\.sleeper)
    }
    for sleeper in due {
      sleeper.continuation.resume()
    }
  }

  /// Moves the clock by a duration; see ``advance(to:)``.
  public func advance(by duration: Duration) {
    self.advance(to: self.now.advanced(by: duration))
  }

  private func observe(_ interest: Observer.Interest) async -> VoiceInstant {
    let id = self.state.withLock { $0.makeID() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let satisfied = self.state.withLock { state in
          if Task.isCancelled { return [(continuation, state.now)] }
          state.observers.append((id, Observer(interest: interest, continuation: continuation)))
          return state.satisfyObservers()
        }
        for (observer, reported) in satisfied { observer.resume(returning: reported) }
      }
    } onCancel: {
      let cancelled = self.state.withLock { state in
        state.observers.firstIndex { $0.id == id }.map {
          (state.observers.remove(at: $0).observer.continuation, state.now)
        }
      }
      cancelled?.0.resume(returning: cancelled?.1 ?? VoiceInstant())
    }
  }
}

extension TestClock.State {
  /// Takes out the observers whose timers are set, with what each is told.
  mutating func satisfyObservers() -> [(CheckedContinuation<VoiceInstant, Never>, VoiceInstant)] {
    var satisfied: [(CheckedContinuation<VoiceInstant, Never>, VoiceInstant)] = []
    var waiting: [(id: Int, observer: TestClock.Observer)] = []
    for entry in self.observers {
      if let reported = self.report(to: entry.observer.interest) {
        satisfied.append((entry.observer.continuation, reported))
      } else {
        waiting.append(entry)
      }
    }
    self.observers = waiting
    return satisfied
  }

  private mutating func report(to interest: TestClock.Observer.Interest) -> VoiceInstant? {
    switch interest {
    case .nextTimer:
      return self.reportFirst { !$0.isReported }
    case .timer(let deadline):
      return self.reportFirst { $0.deadline == deadline }
    case .count(let count):
      return self.sleepers.count >= count ? self.now : nil
    }
  }

  private mutating func reportFirst(where matches: (TestClock.Sleeper) -> Bool) -> VoiceInstant? {
    guard let index = self.sleepers.firstIndex(where: { matches($0.sleeper) }) else { return nil }
    self.sleepers[index].sleeper.isReported = true
    return self.sleepers[index].sleeper.deadline
  }
}
