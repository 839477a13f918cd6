import Synchronization
import VoiceCore

/// A clock on which waiting takes no time: a sleep moves the clock to its deadline and returns.
final class LeapingClock: VoiceClock {
  private let instant = Mutex(VoiceInstant())

  var now: VoiceInstant { self.instant.withLock { $0 } }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: VoiceInstant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    self.instant.withLock { $0 = max($0, deadline) }
  }
}
