/// How often and how long something is tried again, for every part of the toolkit.
///
/// The n-th wait is a random time between zero and `min(cap, base * 2^(n-1))` ("full jitter"), so that clients
/// which lost the same server do not come back together. A server that names a time is obeyed.
public struct RetryPolicy: Hashable, Sendable {
  /// The upper bound of the first wait.
  public var base: Duration

  /// The upper bound of every wait.
  public var cap: Duration

  /// How many times it is tried again, or `nil` for no limit.
  public var attempts: Int?

  /// How long after the first failure it is tried again, or `nil` for no limit.
  public var budget: Duration?

  /// How long a connection must hold before the count starts anew.
  public var stableAfter: Duration

  /// Creates a policy.
  public init(
    base: Duration = .milliseconds(250),
    cap: Duration = .seconds(5),
    attempts: Int? = nil,
    budget: Duration? = .seconds(60),
    stableAfter: Duration = .seconds(10)
  ) {
    self.base = base
    self.cap = cap
    self.attempts = attempts
    self.budget = budget
    self.stableAfter = stableAfter
  }

  /// A policy that never tries again.
  public static let never = RetryPolicy(attempts: 0, budget: nil)

  /// The upper bound of the wait before try `attempt` (from 1); never negative, and never above ``cap``.
  public func bound(ofAttempt attempt: Int) -> Duration {
    var bound = min(self.base, self.cap)
    guard bound > .zero else { return .zero }
    var doublings = max(1, attempt) - 1
    while doublings > 0, bound < self.cap {
      bound = bound > self.cap / 2 ? self.cap : bound * 2
      doublings -= 1
    }
    return bound
  }
}

/// The state of one series of tries: a value that a machine owns.
///
/// States: *settled* (no failure yet, or stable since), *failing* (n failures since `firstFailure`), and
/// *connected* (waiting to be stable). ``failed(at:pushBack:using:)`` decides; the driver waits.
public struct RetrySchedule: Sendable {
  /// What to do after a failure.
  public enum Decision: Hashable, Sendable {
    /// Try again at the instant; the state is for the app.
    case retry(at: VoiceInstant, RetryState)
    /// The number of tries or the time for them is used up.
    case giveUp
  }

  /// The policy in force.
  public let policy: RetryPolicy
  private var failures = 0
  private var firstFailure: VoiceInstant?
  private var connectedSince: VoiceInstant?
  /// Before this instant the server does not want to see us.
  private var pushedBackUntil: VoiceInstant?

  /// Creates a schedule without failures.
  public init(policy: RetryPolicy) {
    self.policy = policy
  }

  /// Tells that what was tried has worked; the count is reset only once that has lasted.
  ///
  /// Telling it again while connected changes nothing.
  public mutating func connected(at now: VoiceInstant) {
    self.connectedSince = self.connectedSince ?? now
    self.pushedBackUntil = nil
  }

  /// Tells that a try failed, or that a connection was lost.
  ///
  /// - Parameters:
  ///   - now: The time of the failure.
  ///   - pushBack: How long the server asked us to wait, if it did.
  ///   - generator: The source of the jitter.
  public mutating func failed(
    at now: VoiceInstant,
    pushBack: Duration? = nil,
    using generator: inout some RandomNumberGenerator
  ) -> Decision {
    self.settleIfStable(at: now)
    self.connectedSince = nil
    self.failures += 1
    let first = self.firstFailure ?? now
    self.firstFailure = first
    self.pushedBackUntil = pushBack.map { now.advanced(by: max(.zero, $0)) }

    if let limit = self.policy.attempts, self.failures > limit {
      return .giveUp
    }
    let jittered = Self.random(upTo: self.policy.bound(ofAttempt: self.failures), using: &generator)
    return self.retry(at: max(now.advanced(by: jittered), self.pushedBackUntil ?? now), now: now)
  }

  /// Tells that the operating system reported a new network path: the next try is due at once, or at the time that the
  /// server named.
  ///
  /// The count and the budget go on, so that a flapping network does not try for ever.
  public mutating func pathChanged(at now: VoiceInstant) -> Decision {
    self.settleIfStable(at: now)
    if let limit = self.policy.attempts, max(1, self.failures) > limit {
      return .giveUp
    }
    return self.retry(at: max(now, self.pushedBackUntil ?? now), now: now)
  }

  private mutating func settleIfStable(at now: VoiceInstant) {
    guard let since = self.connectedSince, since.duration(to: now) >= self.policy.stableAfter else { return }
    self.failures = 0
    self.firstFailure = nil
  }

  /// The decision to try at `instant`, unless the budget is over by then.
  private func retry(at instant: VoiceInstant, now: VoiceInstant) -> Decision {
    let deadline = self.policy.budget.flatMap { budget in
      self.firstFailure.map { $0.advanced(by: budget) }
    }
    if let deadline, instant > deadline {
      return .giveUp
    }
    let state = RetryState(
      attempt: max(1, self.failures), limit: self.policy.attempts, delay: now.duration(to: instant),
      deadline: deadline)
    return .retry(at: instant, state)
  }
  /// A time between zero and `bound`, both included, from exactly one number: the ranges of the standard library draw again
  /// until a number suits them, which with a constant generator is never.
  private static func random(
    upTo bound: Duration, using generator: inout some RandomNumberGenerator
  ) -> Duration {
    let fraction = Double(generator.next() >> 11) / Double((1 << 53) - 1)
    let highest = Double(bound.attoseconds)
    let drawn = highest * fraction
    // The conversion may have rounded the bound up; everything below it converts back to at most the bound.
    return drawn < highest ? Duration(attoseconds: Int128(drawn)) : bound
  }
}
