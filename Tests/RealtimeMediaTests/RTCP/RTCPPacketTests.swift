import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

/// RFC 3550 section 6 and RFC 4585; bad input first.
@Suite struct RTCPPacketTests {
  static func error(_ bytes: [UInt8]) -> RTPError? {
    do {
      _ = try RTCPPacket.parse(bytes[...])
      return nil
    } catch {
      return error
    }
  }

  static let samples: [RTCPPacket] = [
    .senderReport(
      ssrc: 1, .init(ntp: NTPTimestamp(value: 0x1234_5678_9abc_def0), rtpTimestamp: 2, packets: 3, bytes: 4),
      [
        .init(
          ssrc: 5, fractionLost: 6, cumulativeLost: -7, highestSequence: 8, jitter: 9, lastSenderReport: 10,
          delaySinceLastSenderReport: 11)
      ]),
    .receiverReport(
      ssrc: 1, [.init(ssrc: 2, cumulativeLost: 0x7f_ffff), .init(ssrc: 3, cumulativeLost: -0x80_0000)]),
    .receiverReport(ssrc: 1, []),
    .sourceDescription([
      .init(ssrc: 1, items: [.init(type: 1, text: "name"), .init(type: 2, text: "")]),
      .init(ssrc: 2, items: []),
      .init(ssrc: 3, items: [.init(type: 1, text: "ab")]),
    ]),
    .bye(ssrcs: [1, 2], reason: "über"), .bye(ssrcs: [], reason: nil), .bye(ssrcs: [1], reason: ""),
    .feedback(type: 206, format: 1, sender: 1, media: 2, information: []),
    .feedback(type: 205, format: 1, sender: 1, media: 2, information: [1, 2, 3, 4]),
    .other(type: 204, count: 3, body: [0, 0, 0, 1, 65, 66, 67, 68]), .other(type: 210, count: 0, body: []),
  ]

  @Test func refusesWhatIsNoPacket() {
    #expect(Self.error([]) == .truncated)
    #expect(Self.error([0x80, 201, 0, 1]) == .truncated)
    #expect(Self.error([0x40, 201, 0, 1, 0, 0, 0, 0]) == .wrongVersion)
    #expect(Self.error([0x81, 201, 0, 1, 0, 0, 0, 0]) == .malformed, "a block is missing")
    #expect(Self.error([0x80, 201, 0, 0]) == .malformed)
    #expect(Self.error([0xa0, 201, 0, 1, 0, 0, 0, 0]) == .wrongPadding)
    #expect(Self.error([0xa0, 201, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3]) == .wrongPadding)
    #expect(Self.error([0x81, 202, 0, 2, 0, 0, 0, 0, 1, 9, 65, 66]) == .malformed)
    #expect(Self.error([0x81, 202, 0, 2, 0, 0, 0, 0, 1, 2, 65, 66]) == .malformed, "no end of the items")
    #expect(Self.error([0x81, 203, 0, 2, 0, 0, 0, 0, 9, 65, 66, 67]) == .malformed)
    #expect(Self.error([0x81, 206, 0, 1, 0, 0, 0, 0]) == .malformed)
    #expect(Self.error([0x80, 201, 0, 1, 0, 0, 0, 0, 0x80]) == .truncated)
  }

  @Test func packetsAreReadAsTheyAreWritten() throws {
    var all: [UInt8] = []
    for sample in Self.samples {
      var bytes: [UInt8] = []
      sample.append(to: &bytes)
      #expect(bytes.count % 4 == 0)
      #expect(try RTCPPacket.parse(bytes[...]) == [sample])
      all += bytes
    }
    #expect(try RTCPPacket.parse(all[...]) == Self.samples)
    #expect(
      try RTCPPacket.parse((all + [0xa0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4])[...]).count == Self.samples.count
        + 1)
  }

  @Test func mutilatedPacketsAreReadOrRefused() {
    var random = SeededGenerator(seed: 4585)
    var all: [UInt8] = []
    for sample in Self.samples { sample.append(to: &all) }
    for _ in 0..<5000 {
      var bytes = Array(all.prefix(Int.random(in: 0...all.count, using: &random)))
      for _ in 0..<3 where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = try? RTCPPacket.parse(bytes[...])
    }
  }

  @Test func textsThatAreTooLongAreCutBetweenCharacters() throws {
    var bytes: [UInt8] = []
    RTCPPacket.bye(ssrcs: [1], reason: String(repeating: "ü", count: 300)).append(to: &bytes)
    #expect(
      try RTCPPacket.parse(bytes[...]) == [.bye(ssrcs: [1], reason: String(repeating: "ü", count: 127))])
  }
}

/// RFC 3550 appendices A.3 and A.8.
@Suite struct RTPStatisticsTests {
  static func at(_ milliseconds: Int) -> VoiceInstant { VoiceInstant(offset: .milliseconds(milliseconds)) }

  @Test func countsWhatIsLostAcrossTheWrap() {
    var statistics = RTPReceiverStatistics(ssrc: 1, clockRate: 8000)
    #expect(statistics.makeReport(at: Self.at(0)).fractionLost == 0, "nothing came yet")
    var time = 0
    for number in 65500..<65600 where number % 4 != 0 {
      statistics.received(
        sequenceNumber: UInt16(truncatingIfNeeded: number), timestamp: UInt32(number * 160),
        payloadBytes: 160,
        at: Self.at(time))
      time += 20
    }
    #expect(statistics.expected == 99 && statistics.lost == 24)
    let report = statistics.makeReport(at: Self.at(time))
    #expect(report.fractionLost == UInt8(24 * 256 / 99))
    #expect(report.cumulativeLost == 24)
    #expect(report.highestSequence == 65599)
    #expect(statistics.makeReport(at: Self.at(time)).fractionLost == 0, "a new interval")
  }

  @Test func packetsThatComeTwiceMakeTheLossNegative() {
    var statistics = RTPReceiverStatistics(ssrc: 1, clockRate: 8000)
    for _ in 0..<3 { statistics.received(sequenceNumber: 1, timestamp: 0, payloadBytes: 1, at: Self.at(0)) }
    let report = statistics.makeReport(at: Self.at(0))
    #expect(report.cumulativeLost == -2 && report.fractionLost == 0)
  }

  @Test func theJitterIsThatOfTheRFC() {
    var statistics = RTPReceiverStatistics(ssrc: 1, clockRate: 48000)
    for index in 0..<1000 {
      // Every second packet is 5 ms late: |D| is 240 units, and J converges to it.
      statistics.received(
        sequenceNumber: UInt16(index), timestamp: UInt32(index * 960), payloadBytes: 1,
        at: Self.at(index * 20 + index % 2 * 5))
    }
    #expect((235...240).contains(statistics.jitterUnits))
    #expect(abs((statistics.jitter - .milliseconds(5)) / .microseconds(1)) < 150)
  }

  @Test func theRoundTripComesFromTheReports() {
    var sender = RTPSenderStatistics(ssrc: 1, clockRate: 8000)
    #expect(sender.makeReport(ntp: NTPTimestamp(value: 0), at: Self.at(0)) == nil)
    sender.sent(timestamp: 100, payloadBytes: 160, at: Self.at(0))
    // 2025 is 125 years after 1900, beyond the reach of 31 bits.
    let epoch = Duration.seconds(3_944_678_400)
    let info = sender.makeReport(ntp: NTPTimestamp(since1900: epoch + .milliseconds(500)), at: Self.at(500))
    #expect(info?.rtpTimestamp == 100 + 4000 && info?.packets == 1 && info?.bytes == 160)
    var receiver = RTPReceiverStatistics(ssrc: 1, clockRate: 8000)
    // The clocks of both sides have nothing in common.
    if let info { receiver.received(info, at: Self.at(90_030)) }
    let report = receiver.makeReport(at: Self.at(92_030))
    #expect(report.delaySinceLastSenderReport == 2 * 65536)
    sender.received(report, ntp: NTPTimestamp(since1900: epoch + .milliseconds(2560)))
    #expect(sender.roundTrip.map { abs(($0 - .milliseconds(60)) / .microseconds(1)) < 50 } == true)
    sender.received(report, ntp: NTPTimestamp(since1900: epoch))
    #expect(sender.roundTrip.map { $0 < .milliseconds(61) } == true, "a time that cannot be is ignored")
  }

  @Test func theMiddleOfATimestampHasSixteenBitsOfEach() {
    #expect(NTPTimestamp(since1900: .seconds(0x1_0002) + .milliseconds(500)).middle == 0x0002_8000)
    #expect(NTPTimestamp(value: 0x1234_5678_9abc_def0).middle == 0x5678_9abc)
  }
}
