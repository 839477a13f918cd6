public import VoiceCore

/// What a receiver knows of one source (RFC 3550 sections 6.4.1, A.1, A.3 and A.8).
///
/// Time comes in as instants, so it needs no clock; numbers that wrap are counted on.
public struct RTPReceiverStatistics: Hashable, Sendable {
  /// The source.
  public let ssrc: UInt32
  /// Units of the timestamp per second.
  public private(set) var clockRate: Int
  /// Packets that came, with those that came twice.
  public private(set) var received: Int64 = 0
  /// Bytes of payload that came.
  public private(set) var receivedBytes: Int64 = 0
  private var base: Int64 = 0
  private var highest: Int64 = 0
  private var unwrapper = SequenceUnwrapper()
  private var timestamps = TimestampUnwrapper()
  private var receivedPrior: Int64 = 0
  private var expectedPrior: Int64 = 0
  /// The jitter times 16, as in RFC 3550 section A.8.
  private var scaledJitter: Int64 = 0
  private var lastTransit: Int64?
  private var lastReport: LastReport?

  private struct LastReport: Hashable, Sendable {
    var middle: UInt32
    var at: VoiceInstant
  }

  /// Creates statistics that are empty.
  public init(ssrc: UInt32, clockRate: Int) {
    self.ssrc = ssrc
    self.clockRate = max(1, clockRate)
  }

  /// Goes on with another clock, as after a change of the codec.
  public mutating func change(clockRate: Int) {
    let rate = max(1, clockRate)
    guard rate != self.clockRate else { return }
    self.scaledJitter = self.scaledJitter &* Int64(rate) / Int64(self.clockRate)
    self.clockRate = rate
    self.timestamps = TimestampUnwrapper()
    self.lastTransit = nil
  }

  /// Takes a packet of this source.
  ///
  /// - Parameter timestamp: `nil` if it does not say when the packet was sent, as with the packets of a key, which
  ///   all have the time of its beginning.
  public mutating func received(
    sequenceNumber: UInt16, timestamp: UInt32?, payloadBytes: Int, at now: VoiceInstant
  ) {
    let sequence = self.unwrapper.unwrap(sequenceNumber)
    if self.received == 0 {
      self.base = sequence
      self.highest = sequence
    }
    self.base = min(self.base, sequence)
    self.highest = max(self.highest, sequence)
    self.received += 1
    self.receivedBytes += Int64(payloadBytes)
    guard let timestamp else { return }
    // RFC 3550 section A.8, in units of the timestamp.
    let transit = now.units(of: self.clockRate) &- self.timestamps.unwrap(timestamp)
    if let last = self.lastTransit {
      let difference = Int64(min((transit &- last).magnitude, UInt64(self.clockRate) * 60))
      self.scaledJitter += difference - ((self.scaledJitter + 8) >> 4)
    }
    self.lastTransit = transit
  }

  /// Takes a sender report of this source.
  public mutating func received(_ info: RTCPPacket.SenderInfo, at now: VoiceInstant) {
    self.lastReport = LastReport(middle: info.ntp.middle, at: now)
  }

  /// Packets that should have come.
  public var expected: Int64 { self.received == 0 ? 0 : self.highest - self.base + 1 }

  /// Packets that did not come; negative if more came twice than were lost.
  public var lost: Int64 { self.expected - self.received }

  /// The jitter in units of the timestamp.
  public var jitterUnits: UInt32 { UInt32(clamping: self.scaledJitter >> 4) }

  /// The jitter.
  public var jitter: Duration {
    .nanoseconds(Int64(self.jitterUnits) * 1_000_000_000 / Int64(self.clockRate))
  }

  /// Makes the block of the next report, and begins a new interval.
  public mutating func makeReport(at now: VoiceInstant) -> RTCPPacket.ReportBlock {
    let expected = self.expected - self.expectedPrior
    let received = self.received - self.receivedPrior
    self.expectedPrior = self.expected
    self.receivedPrior = self.received
    let lost = expected - received
    let fraction = expected <= 0 || lost <= 0 ? 0 : min(255, lost * 256 / expected)
    let delay = self.lastReport.map { $0.at.duration(to: now).units(of: 65536) } ?? 0
    return RTCPPacket.ReportBlock(
      ssrc: self.ssrc, fractionLost: UInt8(fraction),
      cumulativeLost: Int32(max(-0x80_0000, min(0x7f_ffff, self.lost))),
      highestSequence: UInt32(truncatingIfNeeded: self.highest), jitter: self.jitterUnits,
      lastSenderReport: self.lastReport?.middle ?? 0, delaySinceLastSenderReport: UInt32(clamping: delay))
  }
}

/// What a sender counts, and what the other side reports of it (RFC 3550 section 6.4.1).
public struct RTPSenderStatistics: Hashable, Sendable {
  /// The source.
  public let ssrc: UInt32
  /// Units of the timestamp per second.
  public private(set) var clockRate: Int
  /// Packets that were sent.
  public private(set) var packets: UInt32 = 0
  /// Bytes of payload that were sent.
  public private(set) var bytes: UInt32 = 0
  /// The last report of the other side.
  public private(set) var lastReport: RTCPPacket.ReportBlock?
  /// The way there and back, by the last report that allows to know.
  public private(set) var roundTrip: Duration?
  private var last: Last?

  private struct Last: Hashable, Sendable {
    var timestamp: UInt32
    var at: VoiceInstant
  }

  /// Creates statistics that are empty.
  public init(ssrc: UInt32, clockRate: Int) {
    self.ssrc = ssrc
    self.clockRate = max(1, clockRate)
  }

  /// Goes on with another clock, as after a change of the codec.
  public mutating func change(clockRate: Int) {
    self.clockRate = max(1, clockRate)
  }

  /// Counts a packet; the counters wrap as those of the report do.
  public mutating func sent(timestamp: UInt32, payloadBytes: Int, at now: VoiceInstant) {
    self.packets &+= 1
    self.bytes &+= UInt32(truncatingIfNeeded: payloadBytes)
    self.last = Last(timestamp: timestamp, at: now)
  }

  /// Makes the sender's part of a report; `nil` before the first packet.
  public func makeReport(ntp: NTPTimestamp, at now: VoiceInstant) -> RTCPPacket.SenderInfo? {
    guard let last = self.last else { return nil }
    let since = last.at.duration(to: now).units(of: self.clockRate)
    return RTCPPacket.SenderInfo(
      ntp: ntp, rtpTimestamp: last.timestamp &+ UInt32(truncatingIfNeeded: since), packets: self.packets,
      bytes: self.bytes)
  }

  /// Takes a report on this source.
  ///
  /// - Parameter ntp: When it came, by the clock that ``makeReport(ntp:at:)`` got.
  public mutating func received(_ report: RTCPPacket.ReportBlock, ntp: NTPTimestamp) {
    guard report.ssrc == self.ssrc else { return }
    self.lastReport = report
    guard report.lastSenderReport != 0 else { return }
    let units = ntp.middle &- report.lastSenderReport &- report.delaySinceLastSenderReport
    // Clocks that do not agree, or a report that was made up, give a time that cannot be.
    guard units < 60 << 16 else { return }
    self.roundTrip = .nanoseconds(Int64(units) * 1_000_000_000 / 65536)
  }
}

extension Duration {
  /// Whole units of a clock, rounded down; times beyond all reason are cut.
  func units(of rate: Int) -> Int64 {
    let (seconds, attoseconds) = self.components
    let seconds64 = max(-1 << 40, min(1 << 40, seconds))
    return seconds64 &* Int64(rate) &+ attoseconds / 1_000_000_000 &* Int64(rate) / 1_000_000_000
  }

  /// The time of a number of units of a clock.
  static func units(_ count: Int64, of rate: Int) -> Duration {
    let rate = Int64(max(1, rate))
    let (seconds, rest) = count.quotientAndRemainder(dividingBy: rate)
    return .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / rate)
  }
}

extension VoiceInstant {
  func units(of rate: Int) -> Int64 { self.offset.units(of: rate) }
}
