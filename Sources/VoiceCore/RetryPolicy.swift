/// How often and how long something is tried again, for every part of the toolkit.
///
/// The n-th wait is a random time between zero and `min(cap, base * 2^(n-1))` ("full jitter"), so that clients
/// which lost the same server do not come back together. A server that names a time is obeyed.
public struct RetryPolicy: Hashable, Sendable {
  /// The upper bound of the first wait.
  public var base: Duration

  /// The upper bound of every wait.
  public var cap: Duration

  /// How many tries are made, or `nil` for no limit.
  public var attempts: Int?

  /// How long tries are made after the first failure, or `nil` for no limit.
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

  /// The upper bound of the wait before try `attempt` (from 1).
  public func bound(ofAttempt attempt: Int) -> Duration {
    var bound = max(.zero, min(self.base, self.cap))
    for _ in 1..<max(1, min(attempt, 64)) where bound < self.cap {
      bound = min(self.cap, bound * 2)
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

  /// Creates a schedule without failures.
  public init(policy: RetryPolicy) {
    self.policy = policy
  }

  /// Tells that what was tried has worked; the count is reset only once that has lasted.
  public mutating func connected(at now: VoiceInstant) {
    self.connectedSince = now
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
    if let since = self.connectedSince, since.duration(to: now) >= self.policy.stableAfter {
      self.failures = 0
      self.firstFailure = nil
    }
    self.connectedSince = nil
    self.failures += 1
    let first = self.firstFailure ?? now
    self.firstFailure = first

    if let limit = self.policy.attempts, self.failures > limit {
      return .giveUp
    }
    let jittered = Self.random(upTo: self.policy.bound(ofAttempt: self.failures), using: &generator)
    let delay = max(.zero, pushBack.map { max($0, jittered) } ?? jittered)
    let deadline = self.policy.budget.map { first.advanced(by: $0) }
    if let deadline, now.advanced(by: delay) > deadline {
      return .giveUp
    }
    let state = RetryState(
      attempt: self.failures, limit: self.policy.attempts, delay: delay, deadline: deadline)
    return .retry(at: now.advanced(by: delay), state)
  }

  /// Tells that the operating system reported a new network path: the next try is due at once.
  ///
  /// The count goes on, so that a flapping network still meets the budget.
  public mutating func pathChanged(at now: VoiceInstant) -> Decision {
    if let limit = self.policy.attempts, self.failures > limit {
      return .giveUp
    }
    let deadline = self.policy.budget.flatMap { budget in
      self.firstFailure.map { $0.advanced(by: budget) }
    }
    let state = RetryState(
      attempt: max(1, self.failures), limit: self.policy.attempts, delay: .zero, deadline: deadline)
    return .retry(at: now, state)
  }

  private static func random(
    upTo bound: Duration, using generator: inout some RandomNumberGenerator
  ) -> Duration {
    guard bound > .zero else { return .zero }
    return bound * Double.random(in: 0...1, using: &generator)
  }
}
