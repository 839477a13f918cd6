public import VoiceCore

/// Decides when a client connects, and connects again: the signalling axis of recovery, one for all calls of a client.
///
/// States: *offline* (nobody wants a connection); *connecting* (socket, login and registration under way); *up*;
/// *waiting* (for the next try); *noPath* (the system has no network; tried rarely); *gaveUp* (until asked again).
///
/// | event | offline | connecting | up | waiting | noPath | gaveUp |
/// |---|---|---|---|---|---|---|
/// | connectRequested | dial, → connecting | – | – | dial, → connecting | dial, → connecting | dial, → connecting |
/// | registered | – | → up | – | – | – | – |
/// | failed, to be retried | – | → waiting¹ | link lost, → waiting¹ | – | – | – |
/// | failed, not to be retried | – | → gaveUp | link lost, → gaveUp | → gaveUp | → gaveUp | – |
/// | reattachRequested | – | – | link lost, drop, dial, → connecting | – | – | – |
/// | pathChanged, there is one | – | drop, dial | link lost, drop, dial, → connecting | dial, → connecting | dial, → connecting | – |
/// | pathChanged, none | – | drop, → noPath | link lost, drop, → noPath | → noPath | – | – |
/// | disconnectRequested | – | → offline | → offline | → offline | → offline | → offline |
/// | timePassed | – | – | – | dial, → connecting | dial, → connecting | – |
///
/// ¹ → gaveUp when the policy's tries or time are used up.
///
/// The waits are those of ``VoiceCore/RetrySchedule``: at once on a new path, else with full jitter; the count starts
/// anew only after the client was registered for a while. Failures of credentials and settings are never retried
/// (design of the toolkit: one retry policy). A call's media axis is in ``CallMachine``.
public struct RecoveryMachine: Sendable {
  /// Where the client stands.
  public enum State: Hashable, Sendable {
    case offline
    case connecting
    case up
    case waiting(until: VoiceInstant, RetryState)
    case noPath(until: VoiceInstant)
    case gaveUp
  }

  /// What happened.
  public enum Event: Hashable, Sendable {
    /// The app wants a connection.
    case connectRequested
    /// The app wants none.
    case disconnectRequested
    /// The registration is there.
    case registered
    /// The socket could not be opened or ended, or the registration failed.
    case failed(VoiceFailure)
    /// A call could not repair its media otherwise.
    case reattachRequested
    /// The system reports another network path, or that there is none.
    case pathChanged(isSatisfied: Bool)
    case timePassed
  }

  /// What to do.
  public enum Action: Hashable, Sendable {
    /// Open a socket, log in, register.
    case dial
    /// Abandon the present socket.
    case drop
    /// Tell every call.
    case linkLost(CallState.Reason)
    /// Tell every call, with whether the server still knows it.
    case linkRestored
    /// Tell every call that there will be no connection.
    case linkAbandoned(VoiceFailure)
    /// Tell the app; the recovery says when it is tried again.
    case report(VoiceFailure)
    case ignore(IgnoredReason)
  }

  /// The policy of a client: without limit, since an idle client has to come back after a night.
  public static let defaultPolicy = RetryPolicy(
    base: .milliseconds(250), cap: .seconds(15), attempts: nil, budget: nil, stableAfter: .seconds(10))

  /// Where the client stands.
  public private(set) var state = State.offline
  private var schedule: RetrySchedule

  /// Creates a machine of a client that is not connected.
  public init(policy: RetryPolicy = Self.defaultPolicy) {
    self.schedule = RetrySchedule(policy: policy)
  }

  /// When the machine wants to be told that time passed.
  public var deadline: VoiceInstant? {
    switch self.state {
    case .offline, .connecting, .up, .gaveUp: nil
    case .waiting(let until, _), .noPath(let until): until
    }
  }

  /// Takes an event in; `generator` is the source of the jitter.
  public mutating func handle(
    _ event: Event, at now: VoiceInstant, using generator: inout some RandomNumberGenerator
  ) -> [Action] {
    switch event {
    case .connectRequested: return self.connectRequested()
    case .disconnectRequested: return self.disconnectRequested()
    case .registered: return self.registered(at: now)
    case .failed(let failure): return self.failed(failure, at: now, using: &generator)
    case .reattachRequested: return self.reattachRequested()
    case .pathChanged(let isSatisfied):
      return isSatisfied ? self.pathFound(at: now) : self.pathLost(at: now, using: &generator)
    case .timePassed: return self.timePassed(at: now)
    }
  }

  private mutating func connectRequested() -> [Action] {
    switch self.state {
    case .offline, .gaveUp:
      self.schedule = RetrySchedule(policy: self.schedule.policy)
      self.state = .connecting
      return [.dial]
    case .waiting, .noPath:
      self.state = .connecting
      return [.dial]
    case .connecting, .up: return [.ignore(.outOfOrder)]
    }
  }

  private mutating func disconnectRequested() -> [Action] {
    switch self.state {
    case .offline: return [.ignore(.outOfOrder)]
    case .connecting, .up, .waiting, .noPath, .gaveUp:
      self.state = .offline
      return []
    }
  }

  private mutating func registered(at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .connecting:
      self.state = .up
      self.schedule.connected(at: now)
      return [.linkRestored]
    case .offline, .up, .waiting, .noPath, .gaveUp: return [.ignore(.outOfOrder)]
    }
  }

  private mutating func failed(
    _ failure: VoiceFailure, at now: VoiceInstant, using generator: inout some RandomNumberGenerator
  ) -> [Action] {
    var actions: [Action] = []
    switch self.state {
    case .offline, .gaveUp: return [.ignore(.outOfOrder)]
    case .waiting, .noPath:
      // The socket of this failure was given up before; only what no new try can repair counts.
      guard !Self.isRetried(failure) else { return [.ignore(.stale)] }
    case .connecting: break
    case .up: actions = [.linkLost(.networkSwitch)]
    }
    guard Self.isRetried(failure) else { return actions + self.giveUp(failure) }
    switch self.schedule.failed(at: now, using: &generator) {
    case .retry(let instant, let retry):
      self.state = .waiting(until: instant, retry)
      return actions + [.report(failure.with(recovery: .automatic(retry)))]
    case .giveUp:
      return actions + self.giveUp(self.end(with: failure))
    }
  }

  /// Whether a new try can repair it.
  private static func isRetried(_ failure: VoiceFailure) -> Bool {
    switch failure.recovery {
    case .automatic, .retry: true
    case .signIn, .grantPermission, .changeConfiguration, .none: false
    }
  }

  private mutating func reattachRequested() -> [Action] {
    switch self.state {
    case .up:
      self.state = .connecting
      return [.linkLost(.networkSwitch), .drop, .dial]
    // It comes anyway.
    case .connecting, .waiting, .noPath: return []
    case .offline, .gaveUp: return [.ignore(.outOfOrder)]
    }
  }

  private mutating func pathFound(at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .offline, .gaveUp: return []
    case .connecting: return self.redial([.drop], at: now)
    case .up: return self.redial([.linkLost(.networkSwitch), .drop], at: now)
    case .waiting: return self.redial([], at: now)
    // From "no network" to "being repaired".
    case .noPath: return self.redial([.linkLost(.networkSwitch)], at: now)
    }
  }

  private mutating func redial(_ actions: [Action], at now: VoiceInstant) -> [Action] {
    switch self.schedule.pathChanged(at: now) {
    case .retry(let instant, _) where instant <= now:
      self.state = .connecting
      return actions + [.dial]
    case .retry(let instant, let retry):
      self.state = .waiting(until: instant, retry)
      return actions
    case .giveUp:
      return actions + self.giveUp(VoiceFailure(.retriesExhausted))
    }
  }

  private mutating func pathLost(
    at now: VoiceInstant, using generator: inout some RandomNumberGenerator
  ) -> [Action] {
    var actions: [Action] = []
    switch self.state {
    case .offline, .gaveUp: return []
    case .noPath: return [.ignore(.outOfOrder)]
    case .connecting: actions = [.linkLost(.networkLost), .drop]
    case .up: actions = [.linkLost(.networkLost), .drop]
    case .waiting: actions = [.linkLost(.networkLost)]
    }
    switch self.schedule.failed(at: now, using: &generator) {
    case .retry(_, let retry):
      // Waiting for the path; a try now and then finds a system that forgot to tell.
      let until = now.advanced(by: max(self.schedule.policy.cap, .seconds(1)))
      self.state = .noPath(until: until)
      return actions + [.report(VoiceFailure(.callConnectionLost, recovery: .automatic(retry)))]
    case .giveUp:
      return actions + self.giveUp(self.end(with: VoiceFailure(.callConnectionLost)))
    }
  }

  /// Who may not try again is told what happened, not that tries are used up which there never were.
  private func end(with failure: VoiceFailure) -> VoiceFailure {
    self.schedule.policy.attempts == 0
      ? failure.with(recovery: .retry) : VoiceFailure(.retriesExhausted, cause: failure)
  }

  private mutating func timePassed(at now: VoiceInstant) -> [Action] {
    guard let deadline = self.deadline, now >= deadline else { return [] }
    switch self.state {
    case .waiting, .noPath:
      self.state = .connecting
      return [.dial]
    case .offline, .connecting, .up, .gaveUp: return []
    }
  }

  private mutating func giveUp(_ failure: VoiceFailure) -> [Action] {
    self.state = .gaveUp
    return [.linkAbandoned(failure), .report(failure)]
  }
}
