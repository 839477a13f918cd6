import VoiceCore

/// Says when the other side's media are missing, long before ICE would notice that a way is broken (RFC 7675 asks every 5 s).
///
/// States: *idle*, nothing is expected; *waiting*, the first packet is; *flowing*, packets come; *silent*, none came for a while and
/// a check was asked for, again each second. A check costs little, so one too many does no harm: other reasons for silence are a
/// network that stalls, and a side that sends nothing while nobody speaks. Where none comes for seconds although the way is good,
/// that is told once; time in which the way was broken does not count, as the other side may find it good a little later than this one.
struct SilenceWatch: Hashable, Sendable {
  /// Twelve packets of 20 ms; networks stall for less.
  static let limit = Duration.milliseconds(250)
  /// For packets with longer times and pauses of Opus, which sends at least every 400 ms (RFC 7587 section 3.1.3).
  static let pauseLimit = Duration.milliseconds(500)
  /// A gap beyond this tells that there are pauses.
  private static let longGap = Duration.milliseconds(130)
  static let repetition = Duration.seconds(1)
  /// Ten pauses of Opus: the other side sends nothing at all.
  static let missingLimit = Duration.seconds(4)

  /// What follows from the silence.
  enum Finding: Hashable, Sendable {
    case nothing
    /// The way should be checked now.
    case check
    /// Media are missing, although the way is good.
    case missing
  }

  private enum State: Hashable {
    case idle
    case waiting(since: VoiceInstant, isTold: Bool)
    case flowing(last: VoiceInstant)
    /// The silence counts from `since`, which is later than the last packet if nothing was expected in between.
    case silent(last: VoiceInstant, since: VoiceInstant, asked: VoiceInstant, isTold: Bool)
  }

  private var state = State.idle
  /// Packets in a row that came in time after one that did not.
  private var regular = 0
  private var hasPauses = false

  /// A packet of media that is authentic came.
  mutating func received(at now: VoiceInstant) {
    switch self.state {
    case .idle, .waiting: break
    case .flowing(let last), .silent(let last, _, _, _):
      if last.duration(to: now) > Self.longGap {
        self.hasPauses = true
        self.regular = 0
      } else {
        self.regular += 1
        if self.regular >= 10 { self.hasPauses = false }
      }
    }
    self.state = .flowing(last: now)
  }

  /// Nothing is expected until the next packet: the other side is on hold, or all was agreed on anew.
  mutating func reset() { self = SilenceWatch() }

  /// Looks at how long nothing has come.
  ///
  /// - Parameters:
  ///   - isExpected: Whether audio can flow and the other side has agreed to send.
  ///   - isWayGood: Whether the last check of the way was answered: a broken one is told as such.
  mutating func poll(isExpected: Bool, isWayGood: Bool, at now: VoiceInstant) -> Finding {
    switch self.state {
    case .idle:
      if isExpected { self.state = .waiting(since: now, isTold: false) }
    case .waiting(let since, let isTold):
      guard isExpected else {
        self.state = .idle
        return .nothing
      }
      guard isWayGood, !isTold, since.duration(to: now) >= Self.missingLimit else { return .nothing }
      self.state = .waiting(since: since, isTold: true)
      return .missing
    case .flowing(let last):
      guard last.duration(to: now) >= (self.hasPauses ? Self.pauseLimit : Self.limit) else { return .nothing }
      self.state = .silent(last: last, since: last, asked: now, isTold: false)
      return .check
    case .silent(let last, let before, let asked, let isTold):
      let since = isExpected ? before : now
      if isExpected, isWayGood, !isTold, since.duration(to: now) >= Self.missingLimit {
        self.state = .silent(last: last, since: since, asked: asked, isTold: true)
        return .missing
      }
      let isDue = asked.duration(to: now) >= Self.repetition
      self.state = .silent(last: last, since: since, asked: isDue ? now : asked, isTold: isTold)
      return isDue ? .check : .nothing
    }
    return .nothing
  }
}
