public import CallSignaling
public import VoiceCore

/// What happened in a call: a value that stays in the process unless the app sends it somewhere.
public struct CallReport: Hashable, Sendable {
  /// A state that the call reached.
  public struct Step: Hashable, Sendable {
    /// The state.
    public var state: CallState
    /// How long after the call began.
    public var after: Duration
  }

  /// The call's id on the wire.
  public var callID: String
  /// Who began the call.
  public var direction: CallMachine.Direction
  /// Why it ended.
  public var reason: CallTerminationReason
  /// The states in order, the first at zero.
  public var states: [Step]
  /// How long the call was, from its beginning to its end.
  public var duration: Duration
  /// How often the connection to the gateway was lost meanwhile.
  public var outages: Int
  /// What failed in it and did not end it.
  public var failures: [VoiceFailure]

  /// How long after its beginning the call was answered; `nil` if it was not.
  public var answeredAfter: Duration? { self.states.first { $0.state == .ACTIVE }?.after }
}
