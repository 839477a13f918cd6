import Synchronization
import VoiceCore

/// A clock on which waiting takes no time: a sleep moves the clock to its deadline and returns.
final class LeapingClock: VoiceClock {
  private let state = Mutex((now: VoiceInstant(), deadlines: [VoiceInstant]()))

  var now: VoiceInstant { self.state.withLock { $0.now } }
  var minimumResolution: Duration { .nanoseconds(1) }

  /// When each sleep was to end.
  var deadlines: [VoiceInstant] { self.state.withLock { $0.deadlines } }

  func advance(by duration: Duration) {
    self.state.withLock { $0.now = $0.now.advanced(by: duration) }
  }

  func sleep(until deadline: VoiceInstant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    self.state.withLock { state in
      state.now = max(state.now, deadline)
      state.deadlines.append(deadline)
    }
  }
}

/// A clock that stands still: a sleep ends only when it is cancelled.
final class StandingClock: VoiceClock {
  private let state = Mutex((now: VoiceInstant(), sleepers: 0))
  private let fellAsleep = AsyncStream.makeStream(of: Void.self)

  var now: VoiceInstant { self.state.withLock { $0.now } }
  var minimumResolution: Duration { .nanoseconds(1) }

  func advance(by duration: Duration) {
    self.state.withLock { $0.now = $0.now.advanced(by: duration) }
  }

  /// Returns when somebody sleeps.
  func untilSomebodySleeps() async {
    for await _ in self.fellAsleep.stream { return }
  }

  func sleep(until deadline: VoiceInstant, tolerance: Duration?) async throws {
    let never = AsyncStream.makeStream(of: Void.self)
    self.fellAsleep.continuation.yield()
    for await _ in never.stream {}
    never.continuation.finish()
    throw CancellationError()
  }
}
