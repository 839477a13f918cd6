import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

/// Bad input first.
@Suite struct RTCPScheduleTests {
  static func at(_ milliseconds: Int) -> VoiceInstant { VoiceInstant(offset: .milliseconds(milliseconds)) }

  static func schedule(_ ssrc: UInt32 = 1, seed: UInt64 = 1, reduced: Bool = false) -> RTCPSchedule {
    RTCPSchedule(
      ssrc: ssrc, name: "abc", clockRate: 48000, allowsReducedSize: reduced,
      random: SeededGenerator(seed: seed), at: Self.at(0))
  }

  static func bytes(_ packets: RTCPPacket...) -> [UInt8] {
    var bytes: [UInt8] = []
    for packet in packets { packet.append(to: &bytes) }
    return bytes
  }

  static func packet(_ ssrc: UInt32, _ sequence: Int) -> RTPPacket {
    RTPPacket(
      payloadType: 111, sequenceNumber: UInt16(truncatingIfNeeded: sequence),
      timestamp: UInt32(truncatingIfNeeded: sequence * 960), ssrc: ssrc, payload: [1, 2, 3, 4])
  }

  @Test func refusesWhatIsNoCompound() {
    var schedule = Self.schedule()
    let name = RTCPPacket.sourceDescription([.init(ssrc: 2, items: [.init(type: 1, text: "x")])])
    var padded = Self.bytes(.receiverReport(ssrc: 2, []))
    padded[0] |= 0x20
    padded[3] += 1
    padded += [0, 0, 0, 4]
    let broken: [([UInt8], RTPError)] = [
      ([], .truncated), ([0x80], .truncated), (Self.bytes(name), .malformed),
      (Self.bytes(.bye(ssrcs: [2], reason: nil)), .malformed), (padded, .wrongPadding),
      (Self.bytes(.receiverReport(ssrc: 2, []), name).dropLast(), .truncated),
    ]
    for (bytes, expected) in broken {
      #expect(throws: expected) { _ = try schedule.received(bytes[...], at: Self.at(1)) }
    }
    #expect(schedule.statistics.reportsReceived == 0)
    var random = SeededGenerator(seed: 3)
    for _ in 0..<2000 {
      let wild =
        [0x80, 200] + (0..<Int.random(in: 0...60, using: &random)).map { _ in random.next() as UInt8 }
      _ = try? schedule.received(wild[...], at: Self.at(1))
    }
    var reduced = Self.schedule(reduced: true)
    #expect(throws: Never.self) { _ = try reduced.received(Self.bytes(name)[...], at: Self.at(1)) }
  }

  @Test func reportsAboutOthersSayNothing() throws {
    var schedule = Self.schedule(1)
    schedule.sent(timestamp: 0, payloadBytes: 10, at: Self.at(0))
    let report = Self.bytes(.receiverReport(ssrc: 2, [.init(ssrc: 99, fractionLost: 128, jitter: 4800)]))
    #expect(try schedule.received(report[...], at: Self.at(1)) == .report)
    #expect(schedule.statistics.remoteLoss == nil && schedule.statistics.roundTrip == nil)
    let bye = Self.bytes(.receiverReport(ssrc: 2, []), .bye(ssrcs: [99], reason: nil))
    #expect(try schedule.received(bye[...], at: Self.at(1)) == .report, "nobody that is heard")
  }

  @Test func intervalsAreShortAtFirstAndAreNotAllAlike() {
    var lengths: [[Double]] = []
    for seed: UInt64 in 0..<50 {
      var schedule = Self.schedule(seed: seed)
      var bytes: [UInt8] = []
      var last = Self.at(0)
      var course: [Double] = []
      for _ in 0..<20 {
        guard let due = schedule.nextWake else { break }
        #expect(!schedule.poll(at: due.advanced(by: .milliseconds(-1)), into: &bytes) && bytes.isEmpty)
        #expect(schedule.poll(at: due, into: &bytes) && !bytes.isEmpty)
        course.append(last.duration(to: due) / .seconds(1))
        last = due
      }
      lengths.append(course)
    }
    let early = lengths.flatMap { $0.prefix(3) }
    let later = lengths.flatMap { $0.dropFirst(3) }
    #expect(early.allSatisfy { $0 >= 0.5 && $0 <= 1.5 })
    #expect(later.allSatisfy { $0 >= 1.25 && $0 <= 3.75 })
    #expect(abs(later.reduce(0, +) / Double(later.count) - 2.5) < 0.1)
    #expect(Set(later).count > later.count / 2)
  }

  @Test func littleBandwidthMakesReportsRare() throws {
    var schedule = RTCPSchedule(
      ssrc: 1, name: "abc", clockRate: 8000, bandwidth: 8000, random: SeededGenerator(seed: 1), at: Self.at(0)
    )
    var bytes: [UInt8] = []
    // Long compounds of the other side raise the average size.
    let long = Self.bytes(
      .receiverReport(ssrc: 2, []),
      .sourceDescription([.init(ssrc: 2, items: [.init(type: 7, text: String(repeating: "x", count: 250))])]))
    for _ in 0..<100 { _ = try schedule.received(long[...], at: Self.at(0)) }
    let due = try #require(schedule.nextWake)
    #expect(schedule.poll(at: due, into: &bytes))
    let next = try #require(schedule.nextWake)
    #expect(due.duration(to: next) > .seconds(5), "2 × 300 bytes at 50 bytes per second")
  }

  @Test func aReportIsByteForByteWhatTheStandardSays() throws {
    var schedule = RTCPSchedule(
      ssrc: 0x0102_0304, name: "abc", clockRate: 48000, wallClock: .seconds(0x8000_0000),
      random: SeededGenerator(seed: 1), at: Self.at(0))
    var bytes: [UInt8] = []
    #expect(schedule.poll(at: Self.at(2000), into: &bytes))
    let description: [UInt8] = [0x81, 202, 0, 3, 1, 2, 3, 4, 1, 3, 0x61, 0x62, 0x63, 0, 0, 0]
    #expect(bytes == [0x80, 201, 0, 1, 1, 2, 3, 4] + description, "nothing was sent or came")
    schedule.sent(timestamp: 0x1000, payloadBytes: 80, at: Self.at(3000))
    schedule.received(Self.packet(0x0a0b_0c0d, 7), clockRate: 48000, at: Self.at(3000))
    schedule.received(Self.packet(0x0a0b_0c0d, 10), clockRate: 48000, at: Self.at(3060))
    // The other side's clock shows 0x00010002.8000 in the middle of its time.
    let theirs = RTCPPacket.SenderInfo(
      ntp: NTPTimestamp(value: 0x0001_0002_8000_0000), rtpTimestamp: 0, packets: 0, bytes: 0)
    _ = try schedule.received(
      Self.bytes(.senderReport(ssrc: 0x0a0b_0c0d, theirs, []))[...], at: Self.at(3500))
    #expect(schedule.poll(at: Self.at(4000), into: &bytes))
    let header: [UInt8] = [0x81, 200, 0, 12, 1, 2, 3, 4]
    // 4 s after 2³¹ s, and one second of samples after the packet.
    let info: [UInt8] = [0x80, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0xcb, 0x80, 0, 0, 0, 1, 0, 0, 0, 80]
    // Two of four are lost; half a second since the report.
    let block: [UInt8] = [
      0x0a, 0x0b, 0x0c, 0x0d, 128, 0, 0, 2, 0, 0, 0, 10, 0, 0, 0, 0, 0, 2, 0x80, 0, 0, 0, 0x80, 0,
    ]
    #expect(bytes == header + info + block + description)
    #expect(schedule.leave(reason: nil, at: Self.at(4000), into: &bytes))
    #expect(bytes.suffix(8) == [0x81, 203, 0, 1, 1, 2, 3, 4])
    #expect(schedule.nextWake == nil)
    #expect(!schedule.leave(at: Self.at(4000), into: &bytes) && bytes.isEmpty)
  }

  @Test func twoSidesLearnTheWayAndTheLosses() throws {
    var (left, right) = (Self.schedule(1, seed: 1), Self.schedule(2, seed: 2))
    var flying: [(at: Int, toRight: Bool, bytes: [UInt8])] = []
    var bytes: [UInt8] = []
    for now in 0..<20_000 {
      if now % 20 == 0 {
        left.sent(timestamp: UInt32(now * 48), payloadBytes: 80, at: Self.at(now))
        // Every tenth packet is lost.
        if now % 200 != 0 { right.received(Self.packet(1, now / 20), clockRate: 48000, at: Self.at(now)) }
      }
      if left.poll(at: Self.at(now), into: &bytes) { flying.append((now + 70, true, bytes)) }
      if right.poll(at: Self.at(now), into: &bytes) { flying.append((now + 30, false, bytes)) }
      for item in flying where item.at == now {
        if item.toRight {
          _ = try right.received(item.bytes[...], at: Self.at(now))
        } else {
          _ = try left.received(item.bytes[...], at: Self.at(now))
        }
      }
      flying.removeAll { $0.at <= now }
    }
    let statistics = left.statistics
    let roundTrip = try #require(statistics.roundTrip)
    #expect(roundTrip > .milliseconds(99) && roundTrip < .milliseconds(101), "\(roundTrip)")
    #expect(abs((statistics.remoteLoss ?? 0) - 0.1) < 0.03)
    #expect((statistics.remoteLost ?? 0) >= 85)
    #expect(statistics.remoteJitter == .zero && statistics.packetsSent == 1000)
    #expect(right.statistics.roundTrip == nil, "who only receives does not learn it")
    #expect(right.statistics.packetsLost >= 98)
    // By the last report that came, at most some seconds before the end.
    let sent = try #require(right.statistics.remotePacketsSent)
    #expect(sent > 700 && sent <= 1000, "\(sent)")
    #expect(right.statistics.remoteBytesSent == sent * 80)
    #expect(left.statistics.remotePacketsSent == nil, "who only receives has nothing to report of it")
    // Another source has sent nothing yet that is known.
    right.received(Self.packet(9, 1), clockRate: 48000, at: Self.at(20_000))
    #expect(right.statistics.remotePacketsSent == nil && right.statistics.remoteBytesSent == nil)
  }

  @Test func theCountsGoOnOverANewSourceAndAnotherClock() {
    var schedule = Self.schedule(1)
    for sequence in 0..<10 {
      schedule.received(Self.packet(5, sequence), clockRate: 48000, at: Self.at(sequence * 20))
    }
    let narrow = RTPPacket(payloadType: 0, sequenceNumber: 10, timestamp: 77, ssrc: 5, payload: [1])
    schedule.received(narrow, clockRate: 8000, at: Self.at(200))
    #expect(schedule.statistics.jitter == .zero, "another clock is no jitter")
    let key = RTPPacket(
      payloadType: 126, sequenceNumber: 11, timestamp: 9999, ssrc: 5, payload: [1, 2, 3, 4])
    schedule.received(key, clockRate: 8000, isKey: true, at: Self.at(220))
    #expect(schedule.statistics.jitter == .zero)
    schedule.received(Self.packet(6, 500), clockRate: 48000, at: Self.at(240))
    schedule.received(Self.packet(6, 502), clockRate: 48000, at: Self.at(280))
    #expect(schedule.statistics.packetsReceived == 14 && schedule.statistics.packetsLost == 1)
    schedule.received(Self.packet(1, 1), clockRate: 48000, at: Self.at(300))
    #expect(schedule.statistics.packetsReceived == 14, "the own source")
  }

  @Test func theOtherSideMayLeave() throws {
    var schedule = Self.schedule(1)
    schedule.received(Self.packet(2, 1), clockRate: 48000, at: Self.at(0))
    let bye = Self.bytes(.receiverReport(ssrc: 2, []), .bye(ssrcs: [2], reason: "done"))
    #expect(try schedule.received(bye[...], at: Self.at(1)) == .bye(reason: "done"))
  }
}
