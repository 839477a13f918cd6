public import VoiceCore

/// What is known of the audio of a call.
public struct MediaStatistics: Hashable, Sendable {
  /// The codec that is sent.
  public var codec: AudioCodec.Key?
  /// The pair of addresses in use.
  public var pair: ICEAgent.CandidatePair?
  /// The way there and back: by reports if there were any, else by checks of ICE.
  public var roundTrip: Duration?
  /// What both sides reported, since the beginning.
  public var reports = RTCPSchedule.Statistics()
  /// What was played, since the beginning.
  public var receiver = AudioReceiver.Statistics()
  /// What was sent, since the beginning.
  public var sender = AudioSender.Statistics()
  /// What ICE counted.
  public var ice = ICEAgent.Counts()
  /// Packets of media that could not prove to come from the other side, or were replayed, and those of a handshake from where the
  /// other side was never seen.
  public var packetsRefused = 0
  /// Packets of media and reports that could not be encrypted; nothing was sent in their place.
  public var packetsNotProtected = 0
  /// Samples at 48 kHz of a live source that were not sent because they came faster than the call takes them; counted by who
  /// brings the samples.
  public var liveSamplesDropped: Int64 = 0
  /// Times 20 ms that were neither sent nor played because the machine or its thread for media had too much to do; counted by
  /// who keeps the time.
  public var stepsSkipped = 0
  /// The last window: loss, concealment, bitrates, levels, and what people would think of it.
  public var window: CallQualityMonitor.Report?
  /// What is wrong now.
  public var warnings: Set<CallQualityMonitor.Warning> = []

  /// Creates statistics that are empty.
  public init() {}
}

extension AudioConnection {
  /// What is known by now.
  public var statistics: MediaStatistics {
    var statistics = MediaStatistics()
    statistics.codec = self.sender?.codec.key
    statistics.pair = self.ice.selectedPair
    statistics.reports = self.reports?.statistics ?? .init()
    statistics.roundTrip = statistics.reports.roundTrip ?? statistics.pair?.roundTrip
    statistics.receiver = self.receiver.statistics
    statistics.sender = self.sender?.statistics ?? .init()
    statistics.ice = self.ice.counts
    statistics.packetsRefused = self.packetsRefused
    statistics.packetsNotProtected = self.packetsNotProtected
    statistics.window = self.window
    statistics.warnings = self.quality.warnings
    return statistics
  }

  /// Ends a window of the measurement and begins the next one; once a second is a good pace.
  ///
  /// - Parameter isMuted: Whether this side is silent because it wants to.
  public func measure(isMuted: Bool, at now: VoiceInstant) {
    guard case .secured = self.keys else { return }
    let known = self.statistics
    var snapshot = known.snapshot(at: now)
    snapshot.packetTime = self.sender?.packetTime ?? .milliseconds(20)
    let direction = self.negotiator.agreed?.direction ?? .sendAndReceive
    snapshot.expectsInbound = direction.receives
    snapshot.expectsOutbound = direction.sends && !isMuted
    self.window = self.quality.add(snapshot) ?? self.window
    while let change = self.quality.poll() { self.tell(.qualityChanged(change)) }
  }
}

extension MediaStatistics {
  /// What the monitor of quality has to know of this; who expects audio is the caller's to say.
  package func snapshot(at now: VoiceInstant) -> CallQualityMonitor.Snapshot {
    var snapshot = CallQualityMonitor.Snapshot(at: now)
    snapshot.roundTrip = self.roundTrip
    snapshot.jitter = self.reports.jitter
    snapshot.playoutDelay = self.receiver.delay
    snapshot.packetsReceived = self.reports.packetsReceived
    snapshot.packetsLost = self.reports.packetsLost
    snapshot.samplesPlayed = self.receiver.played
    snapshot.samplesConcealed = self.receiver.concealed
    snapshot.bytesReceived = self.reports.bytesReceived
    snapshot.bytesSent = self.reports.bytesSent
    snapshot.inboundLevel = self.receiver.level
    snapshot.outboundLevel = self.sender.level
    snapshot.impairment = self.codec?.encoding == "opus" ? .opus : .g711
    return snapshot
  }
}
