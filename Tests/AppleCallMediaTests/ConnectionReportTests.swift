import Calls
import RealtimeMedia
import Testing
import VoiceCore

@testable import AppleCallMedia

struct ConnectionReportTests {
  /// A report as the framework makes it, with the names of W3C webrtc-stats.
  static let usual = ConnectionReport(entries: [
    "T": .init(type: "transport", texts: ["selectedCandidatePairId": "P"]),
    "P": .init(
      type: "candidate-pair", numbers: ["currentRoundTripTime": 0.05, "nominated": 1],
      texts: ["localCandidateId": "L", "remoteCandidateId": "R"]),
    "L": .init(
      type: "local-candidate", numbers: ["port": 40000, "priority": 2_122_260_223],
      texts: ["address": "192.0.2.1", "protocol": "udp", "candidateType": "host"]),
    "R": .init(
      type: "remote-candidate", numbers: ["port": 50000, "priority": 1],
      texts: ["address": "2001:db8::1", "protocol": "udp", "candidateType": "relay"]),
    "C": .init(
      type: "codec", numbers: ["clockRate": 48000, "channels": 2], texts: ["mimeType": "audio/opus"]),
    "I": .init(
      type: "inbound-rtp",
      numbers: [
        "packetsReceived": 100, "packetsLost": 3, "jitter": 0.012, "bytesReceived": 8000, "audioLevel": 0.5,
        "totalSamplesReceived": 96_000, "concealedSamples": 960, "jitterBufferDelay": 4800,
        "jitterBufferEmittedCount": 96_000,
      ], texts: ["kind": "audio", "codecId": "C"]),
    "O": .init(
      type: "outbound-rtp", numbers: ["packetsSent": 101, "bytesSent": 8100],
      texts: ["kind": "audio", "codecId": "C"]),
    "V": .init(type: "outbound-rtp", numbers: ["packetsSent": 9], texts: ["kind": "video"]),
    "S": .init(type: "media-source", numbers: ["audioLevel": 0.25], texts: ["kind": "audio"]),
    "X": .init(
      type: "remote-inbound-rtp",
      numbers: ["roundTripTime": 0.08, "jitter": 0.004, "fractionLost": 0.02, "packetsLost": 2],
      texts: ["kind": "audio"]),
    "Y": .init(
      type: "remote-outbound-rtp", numbers: ["packetsSent": 104, "bytesSent": 8320], texts: ["kind": "audio"]),
  ])

  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300, -1])
  func numbersThatAreNoneDoNotTrap(_ number: Double) {
    var report = Self.usual
    for id in report.entries.keys {
      for name in report.entries[id]?.numbers.keys ?? [:].keys { report.entries[id]?.numbers[name] = number }
    }
    let statistics = report.statistics
    #expect(statistics.roundTrip == nil)
    #expect(statistics.reports.jitter == .zero)
    #expect(statistics.receiver.level >= 0 && statistics.receiver.level <= 1)
    #expect(statistics.receiver.delay == .zero || number == -1)
  }

  @Test func anEmptyReportSaysNothing() {
    #expect(ConnectionReport(entries: [:]).statistics == MediaStatistics())
  }

  @Test func entriesThatPointNowhereSayNothing() {
    var report = Self.usual
    report.entries["L"] = nil
    report.entries["C"] = nil
    #expect(report.statistics.pair == nil)
    #expect(report.statistics.codec == nil)
    #expect(report.statistics.reports.packetsReceived == 100)
  }

  @Test func saysWhatTheFrameworkCounted() throws {
    let statistics = Self.usual.statistics
    #expect(statistics.codec == AudioCodec.Key("opus", clockRate: 48_000, channels: 2))
    #expect(statistics.roundTrip == .milliseconds(80))
    #expect(statistics.reports.jitter == .milliseconds(12))
    #expect(statistics.reports.remoteJitter == .milliseconds(4))
    #expect(statistics.reports.remoteLoss == 0.02)
    #expect(statistics.reports.remoteLost == 2)
    #expect(statistics.reports.remotePacketsSent == 104)
    #expect(statistics.reports.remoteBytesSent == 8320)
    #expect(statistics.reports.packetsReceived == 100)
    #expect(statistics.reports.packetsLost == 3)
    #expect(statistics.reports.packetsSent == 101)
    #expect(statistics.receiver.played == 96_000)
    #expect(statistics.receiver.concealed == 960)
    #expect(statistics.receiver.delay == .milliseconds(50))
    #expect(statistics.receiver.level == 0.5)
    #expect(statistics.sender.level == 0.25)
    let pair = try #require(statistics.pair)
    #expect(pair.local.address == .ip(.v4(0xc000_0201)))
    #expect(pair.remote.kind == .relayed)
    #expect(pair.remote.port == 50000)
    #expect(pair.isNominated)
    #expect(pair.roundTrip == .milliseconds(50))
  }

  @Test func measurementsBecomeWindowsAndWarningsOfTheMonitor() {
    var machine = PeerMachine(tricklesCandidates: false, measuresQuality: true)
    let generation = machine.connectionMade()
    _ = machine.happened(.stateChanged(.connected), generation: generation, at: VoiceInstant())
    var report = Self.usual
    report.entries["X"]?.numbers["roundTripTime"] = 0.9
    var words: [String] = []
    for second in 1...6 {
      let now = VoiceInstant(offset: .seconds(second))
      words += machine.timePassed(at: now).words
      // While one is under way there is no other.
      #expect(machine.deadline == nil)
      words += machine.measured(report, generation: generation, at: now).words
    }
    #expect(words.filter { $0 == "measure" }.count == 6)
    #expect(words.filter { $0 == "measured" }.count == 5)
    #expect(words.contains("raised(RealtimeMedia.CallQualityMonitor.Warning.highRoundTrip)"))
    #expect(machine.statistics(report)?.warnings.contains(.highRoundTrip) == true)
    #expect(machine.statistics(report)?.window?.roundTrip == .milliseconds(900))
  }

  @Test func nothingIsKnownBeforeTheCallIsConnected() {
    var machine = PeerMachine(tricklesCandidates: false, measuresQuality: true)
    _ = machine.connectionMade()
    #expect(machine.statistics(Self.usual) == nil)
  }
}
