import Foundation
import RealtimeMedia

/// The values of one stream, under the names of W3C webrtc-stats.
struct StreamStatistics: Hashable, Sendable {
  enum Value: Hashable, Sendable {
    case count(Int64)
    case measure(Double)
  }

  private(set) var values: [String: Value] = [:]

  mutating func note(_ name: String, _ count: Int64) { self.values[name] = .count(count) }

  mutating func note(_ name: String, _ measure: Double) {
    if measure.isFinite { self.values[name] = .measure(measure) }
  }

  /// The numbers as `NSNumber`, of which an app can ask any type of number, as it can of those of Google's framework.
  var dictionary: [String: Any] {
    var dictionary: [String: Any] = ["kind": "audio"]
    for (name, value) in self.values {
      switch value {
      case .count(let count): dictionary[name] = NSNumber(value: count)
      case .measure(let measure): dictionary[name] = NSNumber(value: measure)
      }
    }
    return dictionary
  }
}

/// The four documented dictionaries (telnyx.md section 1.7), with what is known of W3C webrtc-stats under its names.
///
/// The values are `NSNumber`s, and `kind` is `audio`. Times are in seconds, counts are those since the beginning.
extension CallQualityMetrics {
  /// What comes from the other side (`inbound-rtp`); `nil` before the first packet.
  ///
  /// It has `packetsReceived`, `packetsLost`, `packetsDiscarded`, `bytesReceived`, `jitter`, `audioLevel`,
  /// `totalSamplesReceived`, `concealedSamples`, `concealmentEvents`, `removedSamplesForAcceleration` and `insertedSamplesForDeceleration`.
  public var inboundAudio: [String: Any]? { self.inbound?.dictionary }

  /// What this side sends (`outbound-rtp`): `packetsSent` and `bytesSent`; `nil` before there is a codec.
  public var outboundAudio: [String: Any]? { self.outbound?.dictionary }

  /// What the other side reports of this side's packets (`remote-inbound-rtp`); `nil` before its first report.
  ///
  /// It has what the reports allow to know of `roundTripTime`, `jitter`, `fractionLost` and `packetsLost`.
  public var remoteInboundAudio: [String: Any]? { self.remoteInbound?.dictionary }

  /// What the other side reports to have sent (`remote-outbound-rtp`): `packetsSent` and `bytesSent`; `nil` before it
  /// reports that.
  public var remoteOutboundAudio: [String: Any]? { self.remoteOutbound?.dictionary }

  mutating func noteStreams(_ statistics: MediaStatistics) {
    self.inbound = Self.inbound(statistics)
    self.outbound = Self.outbound(statistics)
    self.remoteInbound = Self.remoteInbound(statistics.reports)
    self.remoteOutbound = Self.remoteOutbound(statistics.reports)
  }

  private static func inbound(_ statistics: MediaStatistics) -> StreamStatistics? {
    let (reports, receiver) = (statistics.reports, statistics.receiver)
    guard reports.packetsReceived > 0 else { return nil }
    var stream = StreamStatistics()
    stream.note("packetsReceived", reports.packetsReceived)
    stream.note("packetsLost", reports.packetsLost)
    // Those that were too late for their time as well (webrtc-stats, packetsDiscarded).
    let (discarded, overflow) = receiver.packetsDiscarded.addingReportingOverflow(
      receiver.packetsLate)
    stream.note("packetsDiscarded", overflow ? .max : Int64(discarded))
    stream.note("bytesReceived", reports.bytesReceived)
    stream.note("jitter", reports.jitter.seconds)
    stream.note("audioLevel", receiver.level)
    stream.note("totalSamplesReceived", receiver.played)
    stream.note("concealedSamples", receiver.concealed)
    stream.note("concealmentEvents", Int64(receiver.concealments))
    stream.note("removedSamplesForAcceleration", receiver.removed)
    stream.note("insertedSamplesForDeceleration", receiver.inserted)
    return stream
  }

  private static func outbound(_ statistics: MediaStatistics) -> StreamStatistics? {
    guard statistics.codec != nil || statistics.reports.packetsSent > 0 else { return nil }
    var stream = StreamStatistics()
    stream.note("packetsSent", statistics.reports.packetsSent)
    stream.note("bytesSent", statistics.reports.bytesSent)
    return stream
  }

  private static func remoteInbound(_ reports: RTCPSchedule.Statistics) -> StreamStatistics? {
    var stream = StreamStatistics()
    if let roundTrip = reports.roundTrip { stream.note("roundTripTime", roundTrip.seconds) }
    if let jitter = reports.remoteJitter { stream.note("jitter", jitter.seconds) }
    if let loss = reports.remoteLoss { stream.note("fractionLost", loss) }
    if let lost = reports.remoteLost { stream.note("packetsLost", Int64(lost)) }
    return stream.values.isEmpty ? nil : stream
  }

  private static func remoteOutbound(_ reports: RTCPSchedule.Statistics) -> StreamStatistics? {
    var stream = StreamStatistics()
    if let packets = reports.remotePacketsSent { stream.note("packetsSent", packets) }
    if let bytes = reports.remoteBytesSent { stream.note("bytesSent", bytes) }
    return stream.values.isEmpty ? nil : stream
  }
}
