/// The state of a call as apps see it, with the documented names (telnyx.md section 1.1).
///
/// It is computed from the machine's two axes, signalling and media, by
/// ``CallMachine/callState(phase:link:media:hold:)`` alone. Two `DONE` are equal whatever their reasons, as
/// documented.
public enum CallState: Sendable {
  /// The call was made and nothing was sent.
  case NEW
  /// The gateway was asked for the call, or the answer to it was sent.
  case CONNECTING
  /// The other side rings, or with an incoming call this side.
  case RINGING
  /// Both sides talk.
  case ACTIVE
  /// The gateway confirmed that the call is held.
  case HELD
  /// The call is over; final.
  case DONE(reason: CallTerminationReason?)
  /// The connection or the audio broke, and is being repaired.
  case RECONNECTING(reason: Reason)
  /// There is no network; the call goes on if it comes back in time.
  case DROPPED(reason: Reason)

  /// Why a call is not connected.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    case networkSwitch = "Network switched"
    case networkLost = "Network lost"
    case serverError = "Server error"
  }

  /// The bare name, such as `ACTIVE`.
  public var value: String {
    switch self {
    case .NEW: "NEW"
    case .CONNECTING: "CONNECTING"
    case .RINGING: "RINGING"
    case .ACTIVE: "ACTIVE"
    case .HELD: "HELD"
    case .DONE: "DONE"
    case .RECONNECTING: "RECONNECTING"
    case .DROPPED: "DROPPED"
    }
  }

  /// Whether the call is answered and connected: `ACTIVE` or `HELD`.
  public var isConsideredActive: Bool {
    switch self {
    case .ACTIVE, .HELD: true
    case .NEW, .CONNECTING, .RINGING, .DONE, .RECONNECTING, .DROPPED: false
    }
  }

  /// Why the call is not connected, as text; `nil` in all other states.
  public func getReason() -> String? {
    switch self {
    case .RECONNECTING(let reason), .DROPPED(let reason): reason.rawValue
    case .NEW, .CONNECTING, .RINGING, .ACTIVE, .HELD, .DONE: nil
    }
  }
}

extension CallState: Hashable {
  public static func == (left: CallState, right: CallState) -> Bool {
    left.value == right.value && left.getReason() == right.getReason()
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(self.value)
    hasher.combine(self.getReason())
  }
}

/// Why a machine did nothing with an event; drivers count them and may log them.
public enum IgnoredReason: String, Hashable, Sendable, CaseIterable {
  /// The event is about a connection of earlier.
  case stale
  /// The event comes at a time at which it means nothing.
  case outOfOrder
  /// Everything is over already.
  case ended
}
