/// A point on a monotonic clock.
///
/// Machines take instants and never read a clock, so a test can say what time it is.
public struct VoiceInstant: InstantProtocol, Hashable, Sendable {
  /// The time since the clock's origin, which has no meaning outside the process.
  public var offset: Duration

  /// Creates an instant.
  public init(offset: Duration = .zero) {
    self.offset = offset
  }

  public func advanced(by duration: Duration) -> VoiceInstant {
    VoiceInstant(offset: self.offset + duration)
  }

  public func duration(to other: VoiceInstant) -> Duration {
    other.offset - self.offset
  }

  public static func < (left: VoiceInstant, right: VoiceInstant) -> Bool {
    left.offset < right.offset
  }
}

/// The time a driver runs on: ``MonotonicClock`` in an app, `TestClock` (in `VoiceTesting`) in a test.
public protocol VoiceClock: Clock, Sendable where Instant == VoiceInstant, Duration == Swift.Duration {}

/// The system's continuous clock.
public struct MonotonicClock: VoiceClock {
  private static let origin = ContinuousClock.now

  /// Creates the clock; all instances share one origin.
  public init() {}

  public var now: VoiceInstant {
    VoiceInstant(offset: Self.origin.duration(to: ContinuousClock.now))
  }

  public var minimumResolution: Duration { ContinuousClock().minimumResolution }

  public func sleep(until deadline: VoiceInstant, tolerance: Duration?) async throws {
    try await ContinuousClock().sleep(
      until: Self.origin.advanced(by: deadline.offset), tolerance: tolerance)
  }
}
