public import RealtimeMedia
public import VoiceCore

/// What a test call showed; see ``TxClient/preflight(_:)``.
public struct PreflightReport: Hashable, Sendable {
  /// The least, the mean and the greatest of what was measured.
  public struct Range: Hashable, Sendable {
    /// The least.
    public var minimum: Double
    /// The mean.
    public var average: Double
    /// The greatest.
    public var maximum: Double

    /// Sums numbers up; `nil` without any that is finite.
    public init?(_ values: [Double]) {
      let finite = values.filter(\.isFinite)
      guard let least = finite.min(), let greatest = finite.max() else { return nil }
      self.minimum = least
      self.maximum = greatest
      self.average = finite.reduce(0, +) / Double(finite.count)
    }
  }

  /// How long the client took to be registered; `nil` if it was already.
  public var registeredAfter: Duration?
  /// From the invite until the other side rang; `nil` if it answered at once.
  public var ringingAfter: Duration?
  /// From the invite to the answer.
  public var answeredAfter: Duration?
  /// From the invite until the way for audio was found and secured; `nil` if the media peer brings no audio.
  public var connectedAfter: Duration?
  /// From the invite until the test signal was heard; `nil` if it was not.
  public var firstAudioAfter: Duration?
  /// How this side's address was found.
  public var localCandidate: ICECandidate.Kind?
  /// How the other side's address was found.
  public var remoteCandidate: ICECandidate.Kind?
  /// The way there and back, in seconds.
  public var roundTrip: Range
  /// The jitter, in seconds.
  public var jitter: Range
  /// The mean opinion score, from 1 to 5, by the documented formula (``MOSCalculator``).
  public var mos: Range
  /// Packets that came.
  public var packetsReceived: Int64?
  /// Packets that did not come.
  public var packetsLost: Int64?
  /// The verdict: the word for the mean score.
  public var quality: CallQuality
  /// What failed and did not end the test, such as a relay that refused the password.
  public var failures: [VoiceFailure]

  /// The share of packets that did not come, from 0 to 1.
  public var loss: Double? {
    guard let received = self.packetsReceived, let lost = self.packetsLost else { return nil }
    let (came, missing) = (Double(max(0, received)), Double(max(0, lost)))
    return came + missing > 0 ? missing / (came + missing) : nil
  }
}

/// How a test call is made.
public struct PreflightSettings: Hashable, Sendable {
  /// Who is called: a service that sends back what it hears.
  public var destination: String
  /// How long is measured, once audio flows.
  public var duration: Duration
  /// How long the call may take until audio flows.
  public var setupTimeout: Duration

  /// Creates settings.
  public init(
    destination: String = "echo", duration: Duration = .seconds(5), setupTimeout: Duration = .seconds(20)
  ) {
    self.destination = destination
    self.duration = duration
    self.setupTimeout = setupTimeout
  }
}
