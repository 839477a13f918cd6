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

  /// A measurement of quality.
  public struct Measurement: Hashable, Sendable {
    /// What was measured.
    public var metrics: CallQualityMetrics
    /// How long after the call began.
    public var after: Duration
  }

  /// A line of the client's log; none holds a password, a token, a session description or a number.
  public struct Entry: Hashable, Sendable {
    /// How much it matters.
    public var level: LogLevel
    /// What it says.
    public var message: String
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
  /// Measurements of quality, one per `callReportInterval`; the latest 360.
  public var measurements: [Measurement] = []
  /// The log of the call from `callReportLogLevel` on; the latest `callReportMaxLogEntries`.
  public var entries: [Entry] = []

  /// How long after its beginning the call was answered; `nil` if it was not.
  public var answeredAfter: Duration? { self.states.first { $0.state == .ACTIVE }?.after }
}
