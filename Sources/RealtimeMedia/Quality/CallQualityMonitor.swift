public import VoiceCore

/// Watches a call: makes windows of what was counted, rates them, and raises and clears warnings.
///
/// Whoever has the call gives a ``Snapshot`` about once a second; each one but the first gives a ``Report`` on the time
/// since the one before. A warning is raised once its value was bad for some windows in a row, and cleared once it was
/// clearly better for some; in between it stays as it is. The report has the raw values, from which other scores are made.
///
/// ```swift
/// if let report = monitor.add(snapshot) { show(report) }
/// while let change = monitor.poll() { … }
/// ```
public struct CallQualityMonitor: Sendable {
  /// What was counted and measured so far; counters are those since the beginning.
  public struct Snapshot: Hashable, Sendable {
    /// When it was taken.
    public var at: VoiceInstant
    /// The way there and back, if it is known.
    public var roundTrip: Duration?
    /// The jitter of what comes, or what the other side reports of it.
    public var jitter: Duration?
    /// How long audio waits to be played.
    public var playoutDelay = Duration.zero
    /// How much audio a packet has, which is delay as well.
    public var packetTime = Duration.milliseconds(20)
    /// Packets that came.
    public var packetsReceived: Int64 = 0
    /// Packets that did not; it may sink when late ones come.
    public var packetsLost: Int64 = 0
    /// Samples that were played.
    public var samplesPlayed: Int64 = 0
    /// Samples that were made up.
    public var samplesConcealed: Int64 = 0
    /// Bytes that came.
    public var bytesReceived: Int64 = 0
    /// Bytes that were sent.
    public var bytesSent: Int64 = 0
    /// How loud the other side is, from 0 to 1.
    public var inboundLevel = 0.0
    /// How loud this side is, from 0 to 1.
    public var outboundLevel = 0.0
    /// Whether the other side is expected to be heard: not while it is held.
    public var expectsInbound = true
    /// Whether this side is expected to be heard: not while it is muted or held.
    public var expectsOutbound = true
    /// How the codec suffers.
    public var impairment = EModel.Impairment.opus

    /// Creates a snapshot of nothing.
    public init(at: VoiceInstant) {
      self.at = at
    }
  }

  /// A window.
  public struct Report: Hashable, Sendable {
    /// When it ended.
    public var at: VoiceInstant
    /// How long it was.
    public var length: Duration
    /// The way there and back, if it is known.
    public var roundTrip: Duration?
    /// The jitter, if it is known.
    public var jitter: Duration?
    /// Packets that came in the window.
    public var packetsReceived: Int
    /// Packets that did not come in the window.
    public var packetsLost: Int
    /// The share of packets that did not come, from 0 to 1.
    public var loss: Double
    /// The share of the audio that was made up, from 0 to 1.
    public var concealment: Double
    /// Bits per second that came.
    public var inboundBitrate: Int
    /// Bits per second that were sent.
    public var outboundBitrate: Int
    /// How loud the other side is, from 0 to 1.
    public var inboundLevel: Double
    /// How loud this side is, from 0 to 1.
    public var outboundLevel: Double
    /// The rating by the E-model, from 0 to 93.2; `nil` while the round trip is not known.
    public var rating: Double?
    /// The mean opinion score of that, from 1 to 4.5.
    public var score: Double?
  }

  /// What may be wrong; the numbers are those of the vendor's warnings (telnyx.md section 5.4).
  public enum Warning: Int, Hashable, Sendable, CaseIterable {
    case highRoundTrip = 31001
    case highJitter = 31002
    case highLoss = 31003
    case lowScore = 31004
    /// This side is not heard though it is not muted.
    case silentOutput = 31005
    /// The other side is not heard.
    case silentInput = 31006
  }

  /// A warning that came or went.
  public enum Change: Hashable, Sendable {
    case raised(Warning)
    case cleared(Warning)
  }

  /// A value that is warned of, and the better one at which the warning is cleared.
  public struct Limit<Value: Comparable & Hashable & Sendable>: Hashable, Sendable {
    /// Beyond this it is bad.
    public var raised: Value
    /// Beyond this, on the other side, it is good again.
    public var cleared: Value

    /// Creates a limit.
    public init(raised: Value, cleared: Value) {
      self.raised = raised
      self.cleared = cleared
    }
  }

  /// Beyond which values to warn, and from which on not any more.
  public struct Limits: Hashable, Sendable {
    /// Warned of above, cleared below.
    public var roundTrip = Limit(raised: Duration.milliseconds(400), cleared: .milliseconds(350))
    /// Warned of above, cleared below.
    public var jitter = Limit(raised: Duration.milliseconds(30), cleared: .milliseconds(25))
    /// Shares from 0 to 1; warned of above, cleared below.
    public var loss = Limit(raised: 0.05, cleared: 0.03)
    /// Warned of below, cleared above.
    public var score = Limit(raised: 3.5, cleared: 3.7)
    /// Levels from 0 to 1; warned of below, cleared above.
    public var level = Limit(raised: 0.001, cleared: 0.003)
    /// Windows in a row that must be bad.
    public var windows = 3
    /// Windows in a row in which nothing must be heard.
    public var silentWindows = 10
    /// Windows in a row that must be good again.
    public var goodWindows = 3

    /// The usual limits: a round trip of 400 ms and a jitter of 30 ms (telnyx.md section 5.4), the others are our own.
    public init() {}
  }

  private struct Watch: Hashable, Sendable {
    var isRaised = false
    var bad = 0
    var good = 0
  }

  /// The limits.
  public let limits: Limits
  private var last: Snapshot?
  private var watches: [Warning: Watch] = [:]
  private var changes: [Change] = []

  /// Creates a monitor.
  public init(limits: Limits = .init()) {
    self.limits = limits
  }

  /// What is wrong now.
  public var warnings: Set<Warning> { Set(self.watches.filter(\.value.isRaised).keys) }

  /// What came or went, in order.
  public mutating func poll() -> Change? {
    self.changes.isEmpty ? nil : self.changes.removeFirst()
  }

  /// Ends a window and begins the next one.
  ///
  /// - Returns: The window; `nil` for the first snapshot, and for one that is not later than the one before.
  public mutating func add(_ snapshot: Snapshot) -> Report? {
    guard let last = self.last else {
      self.last = snapshot
      return nil
    }
    let length = last.at.duration(to: snapshot.at)
    guard length > .zero else { return nil }
    self.last = snapshot
    let report = Self.report(from: last, to: snapshot, length: length)
    self.judge(report, snapshot)
    return report
  }

  private static func report(from last: Snapshot, to snapshot: Snapshot, length: Duration) -> Report {
    let received = Self.step(last.packetsReceived, snapshot.packetsReceived)
    let lost = Self.step(last.packetsLost, snapshot.packetsLost)
    let played = Self.step(last.samplesPlayed, snapshot.samplesPlayed)
    let concealed = Self.step(last.samplesConcealed, snapshot.samplesConcealed)
    let concealment = played > 0 ? min(1, Double(concealed) / Double(played)) : 0
    var report = Report(
      at: snapshot.at, length: length, roundTrip: snapshot.roundTrip, jitter: snapshot.jitter,
      packetsReceived: received, packetsLost: lost,
      loss: received + lost > 0 ? Double(lost) / Double(received + lost) : 0, concealment: concealment,
      inboundBitrate: Self.bitrate(last.bytesReceived, snapshot.bytesReceived, length),
      outboundBitrate: Self.bitrate(last.bytesSent, snapshot.bytesSent, length),
      inboundLevel: Self.level(snapshot.inboundLevel), outboundLevel: Self.level(snapshot.outboundLevel))
    if let roundTrip = snapshot.roundTrip {
      let delay = roundTrip / 2 + snapshot.playoutDelay + snapshot.packetTime
      // What was recovered is not lost to the ear, so the share that was made up counts.
      let rating = EModel.rating(
        delay: Double(delay.units(of: 1000)), loss: concealment, impairment: snapshot.impairment)
      if rating.isFinite {
        report.rating = rating
        report.score = EModel.score(rating: rating)
      }
    }
    return report
  }

  /// How much a counter grew; a counter that began anew, or sank, did not.
  private static func step(_ from: Int64, _ to: Int64) -> Int {
    let (difference, overflow) = to.subtractingReportingOverflow(from)
    return overflow ? 0 : Int(clamping: max(0, min(1 << 40, difference)))
  }

  private static func bitrate(_ from: Int64, _ to: Int64, _ length: Duration) -> Int {
    let milliseconds = max(1, length.units(of: 1000))
    return Int(clamping: Int64(Self.step(from, to)) * 8000 / milliseconds)
  }

  private static func level(_ level: Double) -> Double { level.isFinite ? max(0, min(1, level)) : 0 }

  private mutating func judge(_ report: Report, _ snapshot: Snapshot) {
    let limits = self.limits
    if let roundTrip = report.roundTrip {
      self.watch(
        .highRoundTrip, isBad: roundTrip > limits.roundTrip.raised,
        isGood: roundTrip < limits.roundTrip.cleared)
    }
    if let jitter = report.jitter {
      self.watch(.highJitter, isBad: jitter > limits.jitter.raised, isGood: jitter < limits.jitter.cleared)
    }
    if report.packetsReceived + report.packetsLost > 0 {
      self.watch(
        .highLoss, isBad: report.loss > limits.loss.raised, isGood: report.loss < limits.loss.cleared)
    }
    if let score = report.score {
      self.watch(.lowScore, isBad: score < limits.score.raised, isGood: score > limits.score.cleared)
    }
    // Who is not expected to be heard is not missed.
    let (inbound, outbound) = (report.inboundLevel, report.outboundLevel)
    self.watch(
      .silentInput, isBad: snapshot.expectsInbound && inbound < limits.level.raised,
      isGood: !snapshot.expectsInbound || inbound > limits.level.cleared, windows: limits.silentWindows)
    self.watch(
      .silentOutput, isBad: snapshot.expectsOutbound && outbound < limits.level.raised,
      isGood: !snapshot.expectsOutbound || outbound > limits.level.cleared, windows: limits.silentWindows)
  }

  private mutating func watch(_ warning: Warning, isBad: Bool, isGood: Bool, windows: Int? = nil) {
    var watch = self.watches[warning] ?? Watch()
    watch.bad = isBad ? watch.bad + 1 : 0
    watch.good = isGood ? watch.good + 1 : 0
    if !watch.isRaised, watch.bad >= max(1, windows ?? self.limits.windows) {
      watch.isRaised = true
      self.changes.append(.raised(warning))
    } else if watch.isRaised, watch.good >= (windows == nil ? max(1, self.limits.goodWindows) : 1) {
      watch.isRaised = false
      self.changes.append(.cleared(warning))
    }
    self.watches[warning] = watch
  }
}
