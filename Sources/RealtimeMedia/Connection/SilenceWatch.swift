import VoiceCore

/// Says when the other side's media are missing, long before ICE would notice that a way is broken (RFC 7675 asks every 5 s).
///
/// States: *idle*, nothing is expected; *flowing*, packets come; *silent*, none came for a while and a check was asked for, again
/// each second. A check costs little, so one too many does no harm: other reasons for silence are a network that stalls,
/// and a side that sends nothing while nobody speaks.
struct SilenceWatch: Hashable, Sendable {
  /// Twelve packets of 20 ms; networks stall for less.
  static let limit = Duration.milliseconds(250)
  /// For packets with longer times and pauses of Opus, which sends at least every 400 ms (RFC 7587 section 3.1.3).
  static let pauseLimit = Duration.milliseconds(500)
  /// A gap beyond this tells that there are pauses.
  private static let longGap = Duration.milliseconds(130)
  static let repetition = Duration.seconds(1)

  private enum State: Hashable {
    case idle
    case flowing(last: VoiceInstant)
    case silent(last: VoiceInstant, asked: VoiceInstant)
  }

  private var state = State.idle
  /// Packets in a row that came in time after one that did not.
  private var regular = 0
  private var hasPauses = false

  /// A packet of media that is authentic came.
  mutating func received(at now: VoiceInstant) {
    switch self.state {
    case .idle: break
    case .flowing(let last), .silent(let last, _):
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

  /// Whether the way should be checked now.
  mutating func poll(at now: VoiceInstant) -> Bool {
    switch self.state {
    case .idle: return false
    case .flowing(let last):
      guard last.duration(to: now) >= (self.hasPauses ? Self.pauseLimit : Self.limit) else { return false }
      self.state = .silent(last: last, asked: now)
    case .silent(let last, let asked):
      guard asked.duration(to: now) >= Self.repetition else { return false }
      self.state = .silent(last: last, asked: now)
    }
    return true
  }
}
