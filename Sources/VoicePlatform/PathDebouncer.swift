import VoiceCore

/// Decides when a change of the network is told: once things have been quiet for a while, and only if something is
/// different then.
///
/// States: *settled*, and *changing* (a timer runs). A network that keeps changing is told at the latest after
/// ``Configuration/longest``.
struct PathDebouncer {
  struct Configuration: Hashable, Sendable {
    /// How long nothing may change before a change is told.
    var quiet: Duration = .milliseconds(250)
    /// How long a change is kept back at most.
    var longest: Duration = .seconds(2)
  }

  enum ChangeAction: Hashable {
    /// Call ``timerFired(at:)`` at the instant.
    case startTimer(VoiceInstant)
    /// A timer runs already, or nothing has changed.
    case none
  }

  enum TimerAction: Hashable {
    case startTimer(VoiceInstant)
    case publish(NetworkPath)
    case none
  }

  private enum State: Hashable {
    case settled
    case changing(NetworkPath, since: VoiceInstant, last: VoiceInstant)
  }

  private let configuration: Configuration
  private var state = State.settled

  /// The path that was told last, or with which everything began.
  private(set) var published: NetworkPath?

  init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  /// The system reported a path.
  mutating func changed(to path: NetworkPath, at now: VoiceInstant) -> ChangeAction {
    guard self.published != nil else {
      self.published = path
      return .none
    }
    switch self.state {
    case .settled:
      guard path != self.published else { return .none }
      self.state = .changing(path, since: now, last: now)
      return .startTimer(now.advanced(by: min(self.configuration.quiet, self.configuration.longest)))
    case .changing(_, let since, _):
      self.state = .changing(path, since: since, last: now)
      return .none
    }
  }

  /// The timer ended.
  mutating func timerFired(at now: VoiceInstant) -> TimerAction {
    switch self.state {
    case .settled:
      return .none
    case .changing(let path, let since, let last):
      let due = min(
        last.advanced(by: self.configuration.quiet), since.advanced(by: self.configuration.longest))
      if now < due { return .startTimer(due) }
      self.state = .settled
      guard path != self.published else { return .none }
      self.published = path
      return .publish(path)
    }
  }
}
