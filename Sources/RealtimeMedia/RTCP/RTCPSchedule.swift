public import VoiceCore

/// Says when reports are due between two parties, makes them, and reads those of the other side (RFC 3550 section 6).
///
/// The interval is `max(minimum, 2 · average size / bandwidth)` times a random factor from 0.5 to 1.5 (RFC 3550
/// section 6.3.1). The minimum is 1 s for the first three reports and 2.5 s from then on: the profile is SAVPF, which
/// does not ask for the 5 s of RFC 3550 (RFC 4585 section 3.4). There are two members at most, so the interval is
/// neither reconsidered nor corrected for it by e − 3/2.
///
/// States: *reporting*, *left* (after BYE). Every report is a compound of SR or RR and SDES with CNAME.
///
/// ```swift
/// schedule.sent(timestamp: …, payloadBytes: …, at: now)
/// if schedule.poll(at: now, into: &bytes) { try srtp.protectRTCP(&bytes) }
/// ```
public struct RTCPSchedule: Sendable {
  /// What is known by the reports of both sides.
  public struct Statistics: Hashable, Sendable {
    /// The way there and back, by the last report that allows to know.
    public var roundTrip: Duration?
    /// The share of this side's packets that were lost lately, as the other side reports, from 0 to 1.
    public var remoteLoss: Double?
    /// Packets of this side that were lost in all, as the other side reports.
    public var remoteLost: Int?
    /// The jitter of this side's packets, as the other side reports.
    public var remoteJitter: Duration?
    /// Packets that the other side's source has sent, as it reports.
    public var remotePacketsSent: Int64?
    /// Bytes of payload that the other side's source has sent, as it reports.
    public var remoteBytesSent: Int64?
    /// The jitter of the packets that come.
    public var jitter = Duration.zero
    /// Packets that came.
    public var packetsReceived: Int64 = 0
    /// Packets that did not come.
    public var packetsLost: Int64 = 0
    /// Bytes of payload that came.
    public var bytesReceived: Int64 = 0
    /// Packets that were sent.
    public var packetsSent: Int64 = 0
    /// Bytes of payload that were sent.
    public var bytesSent: Int64 = 0
    /// Reports that were sent.
    public var reportsSent = 0
    /// Reports that came.
    public var reportsReceived = 0

    /// Creates statistics that are empty.
    public init() {}
  }

  /// What a compound said beside numbers.
  public enum Reception: Hashable, Sendable {
    case report
    /// The source of the other side leaves.
    case bye(reason: String?)
  }

  private static let firstInterval = Duration.seconds(1)
  private static let interval = Duration.milliseconds(2500)
  private static let earlyReports = 3
  /// IPv4 and UDP (RFC 3550 section 6.2).
  private static let transportBytes = 28

  /// The source of this side.
  public let ssrc: UInt32
  private let name: String
  private let wallClock: Duration
  private let bytesPerSecond: Double
  private let allowsReducedSize: Bool
  private var random: any RandomNumberGenerator & Sendable
  private var sender: RTPSenderStatistics
  private var receiver: RTPReceiverStatistics?
  private var counters = Statistics()
  private var averageSize = 100.0
  private var due: VoiceInstant?
  /// Reports since this side sent a packet; a sender is who has sent in the last two (RFC 3550 section 6.3.8).
  private var reportsSincePacket = 2
  private var hasLeft = false

  /// Creates a schedule; the first report is due about a second later.
  ///
  /// - Parameters:
  ///   - ssrc: The source of this side.
  ///   - name: The CNAME: random and short-lived (RFC 7022 section 4.2), not a name of a person.
  ///   - clockRate: Units of the timestamps that are sent, per second.
  ///   - bandwidth: Bits per second of the media, of which 5 % are for reports.
  ///   - wallClock: The time since 1900 at the origin of the instants; without it reports have the time since then,
  ///     which is allowed (RFC 3550 section 6.4.1).
  ///   - allowsReducedSize: Whether compounds that begin with something else than a report are read (RFC 5506).
  public init(
    ssrc: UInt32, name: String, clockRate: Int, bandwidth: Int = 64000, wallClock: Duration = .zero,
    allowsReducedSize: Bool = false, random: any RandomNumberGenerator & Sendable, at now: VoiceInstant
  ) {
    self.ssrc = ssrc
    self.name = name
    self.wallClock = wallClock
    self.bytesPerSecond = Double(max(8000, min(10_000_000, bandwidth))) / 8 * 0.05
    self.allowsReducedSize = allowsReducedSize
    self.random = random
    self.sender = RTPSenderStatistics(ssrc: ssrc, clockRate: clockRate)
    self.schedule(at: now)
  }

  /// When a report is due; `nil` after BYE.
  public var nextWake: VoiceInstant? { self.due }

  /// What is known.
  public var statistics: Statistics {
    var statistics = self.counters
    statistics.roundTrip = self.sender.roundTrip
    if let report = self.sender.lastReport {
      statistics.remoteLoss = Double(report.fractionLost) / 256
      statistics.remoteLost = Int(report.cumulativeLost)
      statistics.remoteJitter = .units(Int64(report.jitter), of: self.sender.clockRate)
    }
    if let receiver = self.receiver {
      statistics.jitter = receiver.jitter
      statistics.packetsReceived += receiver.received
      statistics.packetsLost += receiver.lost
      statistics.bytesReceived += receiver.receivedBytes
    }
    return statistics
  }

  /// Goes on with another clock of the packets that are sent.
  public mutating func change(clockRate: Int) {
    self.sender.change(clockRate: clockRate)
  }

  /// Counts a packet that was sent.
  public mutating func sent(timestamp: UInt32, payloadBytes: Int, at now: VoiceInstant) {
    self.sender.sent(timestamp: timestamp, payloadBytes: payloadBytes, at: now)
    self.counters.packetsSent += 1
    self.counters.bytesSent += Int64(payloadBytes)
    self.reportsSincePacket = 0
  }

  /// Counts a packet that came; another source than before begins new counts, and what was counted is kept in the sums.
  ///
  /// - Parameters:
  ///   - clockRate: Units of its timestamp per second.
  ///   - isKey: Whether it is one of a key, whose timestamp does not say when it was sent.
  public mutating func received(
    _ packet: RTPPacket, clockRate: Int, isKey: Bool = false, at now: VoiceInstant
  ) {
    // A loop, or a collision that is not ours to solve (RFC 3550 section 8.2).
    guard packet.ssrc != self.ssrc else { return }
    if let receiver = self.receiver, receiver.ssrc != packet.ssrc {
      self.counters.packetsReceived += receiver.received
      self.counters.packetsLost += receiver.lost
      self.counters.bytesReceived += receiver.receivedBytes
      self.counters.remotePacketsSent = nil
      self.counters.remoteBytesSent = nil
      self.receiver = nil
    }
    var receiver = self.receiver ?? RTPReceiverStatistics(ssrc: packet.ssrc, clockRate: clockRate)
    if !isKey { receiver.change(clockRate: clockRate) }
    receiver.received(
      sequenceNumber: packet.sequenceNumber, timestamp: isKey ? nil : packet.timestamp,
      payloadBytes: packet.payload.count, at: now)
    self.receiver = receiver
  }

  /// Takes a compound, if it is one (RFC 3550 section A.2).
  ///
  /// - Throws: ``RTPError``; nothing of a compound that is broken counts.
  public mutating func received(_ bytes: ArraySlice<UInt8>, at now: VoiceInstant) throws(RTPError)
    -> Reception
  {
    let packets = try RTCPPacket.parse(bytes)
    guard let first = packets.first, let flags = bytes.first else { throw .truncated }
    switch first {
    case .senderReport, .receiverReport:
      guard flags & 0x20 == 0 || packets.count == 1 && self.allowsReducedSize else { throw .wrongPadding }
    case .sourceDescription, .bye, .feedback, .other:
      guard self.allowsReducedSize else { throw .malformed }
    }
    self.counters.reportsReceived += 1
    self.average(bytes.count)
    var reception = Reception.report
    for packet in packets {
      switch packet {
      case .senderReport(let ssrc, let info, let blocks):
        if ssrc == self.receiver?.ssrc {
          self.receiver?.received(info, at: now)
          self.counters.remotePacketsSent = Int64(info.packets)
          self.counters.remoteBytesSent = Int64(info.bytes)
        }
        self.take(blocks, at: now)
      case .receiverReport(_, let blocks): self.take(blocks, at: now)
      case .bye(let ssrcs, let reason):
        if let ssrc = self.receiver?.ssrc, ssrcs.contains(ssrc) { reception = .bye(reason: reason) }
      case .sourceDescription, .feedback, .other: break
      }
    }
    return reception
  }

  private mutating func take(_ blocks: [RTCPPacket.ReportBlock], at now: VoiceInstant) {
    for block in blocks where block.ssrc == self.ssrc {
      self.sender.received(block, ntp: self.ntp(at: now))
    }
  }

  /// Makes a report if one is due.
  ///
  /// - Parameter bytes: Holds the report and nothing else afterwards, or nothing.
  /// - Returns: Whether there is a report.
  public mutating func poll(at now: VoiceInstant, into bytes: inout [UInt8]) -> Bool {
    bytes.removeAll(keepingCapacity: true)
    guard let due = self.due, due <= now else { return false }
    self.appendReport(to: &bytes, at: now)
    self.reportsSincePacket += 1
    self.finish(bytes.count)
    self.schedule(at: now)
    return true
  }

  /// Makes the last report, which says that this side leaves; it is sent at once (RFC 3550 section 6.3.7).
  ///
  /// - Returns: False if that was said before.
  public mutating func leave(reason: String? = nil, at now: VoiceInstant, into bytes: inout [UInt8]) -> Bool {
    bytes.removeAll(keepingCapacity: true)
    guard !self.hasLeft else { return false }
    self.hasLeft = true
    self.due = nil
    self.appendReport(to: &bytes, at: now)
    RTCPPacket.bye(ssrcs: [self.ssrc], reason: reason).append(to: &bytes)
    self.finish(bytes.count)
    return true
  }

  private mutating func appendReport(to bytes: inout [UInt8], at now: VoiceInstant) {
    let blocks = (self.receiver?.makeReport(at: now)).map { [$0] } ?? []
    if self.reportsSincePacket < 2, let info = self.sender.makeReport(ntp: self.ntp(at: now), at: now) {
      RTCPPacket.senderReport(ssrc: self.ssrc, info, blocks).append(to: &bytes)
    } else {
      RTCPPacket.receiverReport(ssrc: self.ssrc, blocks).append(to: &bytes)
    }
    let item = RTCPPacket.SourceItem(type: 1, text: self.name)
    RTCPPacket.sourceDescription([.init(ssrc: self.ssrc, items: [item])]).append(to: &bytes)
  }

  private mutating func finish(_ count: Int) {
    self.counters.reportsSent += 1
    self.average(count)
  }

  /// RFC 3550 section 6.3.3.
  private mutating func average(_ count: Int) {
    self.averageSize += (Double(count + Self.transportBytes) - self.averageSize) / 16
  }

  private mutating func schedule(at now: VoiceInstant) {
    let isEarly = self.counters.reportsSent < Self.earlyReports
    let minimum = isEarly ? Self.firstInterval : Self.interval
    let byBandwidth = Duration.milliseconds(Int64(2 * self.averageSize / self.bytesPerSecond * 1000))
    let factor = Int64.random(in: 500...1500, using: &self.random)
    self.due = now.advanced(by: max(minimum, byBandwidth) * Int(factor) / 1000)
  }

  private func ntp(at now: VoiceInstant) -> NTPTimestamp {
    NTPTimestamp(since1900: self.wallClock + now.offset)
  }
}
