import Calls
import RealtimeMedia
import Testing
import VoiceCore

/// The four documented dictionaries of a measurement (telnyx.md section 1.7).
struct CallQualityMetricsStreamsTests {
  private static var usual: MediaStatistics {
    var statistics = MediaStatistics()
    statistics.codec = AudioCodec.Key("opus", clockRate: 48_000, channels: 2)
    statistics.roundTrip = .milliseconds(80)
    statistics.reports.packetsReceived = 1000
    statistics.reports.packetsLost = 12
    statistics.reports.bytesReceived = 80_000
    statistics.reports.jitter = .milliseconds(4)
    statistics.reports.packetsSent = 990
    statistics.reports.bytesSent = 79_200
    statistics.reports.roundTrip = .milliseconds(80)
    statistics.reports.remoteJitter = .milliseconds(7)
    statistics.reports.remoteLoss = 0.25
    statistics.reports.remoteLost = 3
    statistics.reports.remotePacketsSent = 1010
    statistics.reports.remoteBytesSent = 80_800
    statistics.receiver.level = 0.5
    statistics.receiver.played = 960_000
    statistics.receiver.concealed = 9600
    statistics.receiver.concealments = 5
    statistics.receiver.packetsDiscarded = 2
    statistics.receiver.packetsLate = 4
    statistics.receiver.removed = 480
    statistics.receiver.inserted = 960
    return statistics
  }

  private static func numbers(_ dictionary: [String: Any]?) -> [String: Double] {
    (dictionary ?? [:]).compactMapValues { $0 as? Double }
  }

  @Test func beforeAnythingCameThereAreNone() {
    for metrics in [CallQualityMetrics.empty, CallQualityMetrics(MediaStatistics())] {
      #expect(metrics.inboundAudio == nil)
      #expect(metrics.outboundAudio == nil)
      #expect(metrics.remoteInboundAudio == nil)
      #expect(metrics.remoteOutboundAudio == nil)
    }
  }

  @Test func numbersThatAreNoneAreLeftOut() {
    var statistics = Self.usual
    statistics.receiver.level = .nan
    statistics.reports.remoteLoss = .infinity
    statistics.receiver.packetsDiscarded = .max
    let metrics = CallQualityMetrics(statistics)
    #expect(metrics.inboundAudio?["audioLevel"] == nil)
    #expect(metrics.remoteInboundAudio?["fractionLost"] == nil)
    #expect(metrics.inboundAudio?["packetsDiscarded"] as? Int64 == .max)
  }

  @Test func haveTheNamesAndUnitsOfTheStandard() {
    let metrics = CallQualityMetrics(Self.usual)
    #expect(
      Self.numbers(metrics.inboundAudio) == [
        "packetsReceived": 1000, "packetsLost": 12, "packetsDiscarded": 6, "bytesReceived": 80_000,
        "jitter": 0.004, "audioLevel": 0.5, "totalSamplesReceived": 960_000,
        "concealedSamples": 9600,
        "concealmentEvents": 5, "removedSamplesForAcceleration": 480,
        "insertedSamplesForDeceleration": 960,
      ])
    #expect(Self.numbers(metrics.outboundAudio) == ["packetsSent": 990, "bytesSent": 79_200])
    #expect(
      Self.numbers(metrics.remoteInboundAudio) == [
        "roundTripTime": 0.08, "jitter": 0.007, "fractionLost": 0.25, "packetsLost": 3,
      ])
    #expect(
      Self.numbers(metrics.remoteOutboundAudio) == ["packetsSent": 1010, "bytesSent": 80_800])
    for dictionary in [
      metrics.inboundAudio, metrics.outboundAudio, metrics.remoteInboundAudio,
      metrics.remoteOutboundAudio,
    ] {
      #expect(dictionary?["kind"] as? String == "audio")
    }
  }

  /// Apps ask for the type that they like.
  @Test func numbersCanBeHadAsAnyType() {
    let packets = CallQualityMetrics(Self.usual).inboundAudio?["packetsReceived"]
    #expect(packets as? Int == 1000)
    #expect(packets as? UInt64 == 1000)
    #expect(packets as? Float == 1000)
    #expect(packets as? String == nil)
  }

  /// A round trip that only checks of ICE know is not the other side's report.
  @Test func haveOnlyWhatTheOtherSideReported() {
    var statistics = Self.usual
    statistics.reports.roundTrip = nil
    statistics.reports.remoteLost = nil
    statistics.reports.remotePacketsSent = nil
    statistics.reports.remoteBytesSent = nil
    let metrics = CallQualityMetrics(statistics)
    #expect(metrics.rtt == 0.08)
    #expect(Self.numbers(metrics.remoteInboundAudio) == ["jitter": 0.007, "fractionLost": 0.25])
    #expect(metrics.remoteOutboundAudio == nil)
  }

  @Test func measurementsAreEqualIfTheirStreamsAre() {
    var other = Self.usual
    #expect(CallQualityMetrics(other) == CallQualityMetrics(Self.usual))
    other.reports.remoteLost = 4
    #expect(CallQualityMetrics(other) != CallQualityMetrics(Self.usual))
  }
}
