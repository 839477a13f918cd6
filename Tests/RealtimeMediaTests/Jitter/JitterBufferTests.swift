import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

/// The buffer on bad input, packet by packet, and on whole courses of a simulated network.
@Suite struct JitterBufferTests {
  static func packet(_ sequence: Int, timestamp: Int? = nil, ssrc: UInt32 = 1, payload: UInt8 = 0x78)
    -> RTPPacket
  {
    RTPPacket(
      payloadType: 111, sequenceNumber: UInt16(truncatingIfNeeded: sequence),
      timestamp: UInt32(truncatingIfNeeded: timestamp ?? sequence * 960), ssrc: ssrc,
      payload: [payload, 1, 2, 3])
  }

  static func at(_ milliseconds: Int) -> VoiceInstant { VoiceInstant(offset: .milliseconds(milliseconds)) }

  static func buffer(hasRedundancy: Bool = false) -> JitterBuffer {
    JitterBuffer(options: .init(clockRate: 48000, hasRedundancy: hasRedundancy))
  }

  @Test func nothingThatComesMakesItTrapOrGrowWithoutBound() {
    var random = SeededGenerator(seed: 4588)
    for _ in 0..<50 {
      var buffer = Self.buffer(hasRedundancy: true)
      for index in 0..<1500 {
        let isWild = Int.random(in: 0..<10, using: &random) == 0
        let packet = RTPPacket(
          payloadType: 0,
          sequenceNumber: isWild ? UInt16.random(in: 0...65535, using: &random) : UInt16(index),
          timestamp: isWild ? random.next() : UInt32(index * 960),
          ssrc: UInt32.random(in: 0...100, using: &random) / 100,
          payload: [UInt8.random(in: 0...255, using: &random)])
        let length = isWild ? Int.random(in: -5...100_000, using: &random) : 960
        let time = isWild ? Int.random(in: 0...1_000_000_000, using: &random) : index * 20
        _ = buffer.received(packet, length: length, at: Self.at(time))
        if Bool.random(using: &random) { _ = buffer.next(at: Self.at(time), unplayed: isWild ? .max : 0) }
      }
      #expect(buffer.count <= 1001)
    }
  }

  @Test func aLengthThatCannotBeIsIgnored() {
    var buffer = Self.buffer()
    for length in [0, -1, 48001, Int.max, Int.min] {
      let reception = buffer.received(Self.packet(1), length: length, at: Self.at(0))
      #expect(reception == .ignored)
    }
    let action = buffer.next(at: Self.at(1000))
    #expect(action == .rest(960))
  }

  /// What is done after packets that all came at once.
  static func actions(_ buffer: inout JitterBuffer, _ packets: [RTPPacket], count: Int) -> [String] {
    for packet in packets { _ = buffer.received(packet, length: 960, at: Self.at(0)) }
    return (0..<count).map { index in
      switch buffer.next(at: Self.at(100 + index * 20)) {
      case .play(let frame, _): "play \(frame.timestamp / 960)"
      case .recover(let frame, let samples): "recover \(samples) from \(frame.timestamp / 960)"
      case .conceal(let samples): "conceal \(samples)"
      case .rest(let samples): "rest \(samples)"
      }
    }
  }

  @Test func ordersWhatCameInTheWrongOrderAndDropsWhatCameTwice() {
    var buffer = Self.buffer()
    let actions = Self.actions(&buffer, [2, 1, 3, 2, 4, 1].map { Self.packet($0) }, count: 5)
    #expect(actions == ["play 1", "play 2", "play 3", "play 4", "conceal 960"])
    #expect(buffer.statistics.duplicates == 2)
  }

  @Test func concealsOrRecoversWhatIsLost() {
    var buffer = Self.buffer()
    let packets = [1, 4, 5].map { Self.packet($0) }
    #expect(
      Self.actions(&buffer, packets, count: 5) == [
        "play 1", "conceal 960", "conceal 960", "play 4", "play 5",
      ])
    #expect(buffer.statistics.concealments == 1 && buffer.statistics.concealed == 1920)
    let late = buffer.received(Self.packet(3), length: 960, at: Self.at(300))
    #expect(late == .late)
    buffer = Self.buffer(hasRedundancy: true)
    #expect(
      Self.actions(&buffer, packets, count: 4) == ["play 1", "conceal 960", "recover 960 from 4", "play 4"],
      "a packet holds the data of the one before")
    buffer = Self.buffer(hasRedundancy: true)
    let celt = [1, 3].map { Self.packet($0, payload: 0xf8) }
    #expect(Self.actions(&buffer, celt, count: 2) == ["play 1", "conceal 960"], "CELT has no redundancy")
  }

  @Test func aPacketThatWasOnlyLateIsStillPlayed() {
    var buffer = Self.buffer()
    #expect(Self.actions(&buffer, [Self.packet(1)], count: 3) == ["play 1", "conceal 960", "conceal 960"])
    #expect(Self.actions(&buffer, [Self.packet(2), Self.packet(3)], count: 2) == ["play 2", "play 3"])
    #expect(buffer.statistics.late == 0)
  }

  @Test func timeThatWasMadeUpIsNotMadeUpAgain() {
    var buffer = Self.buffer()
    #expect(Self.actions(&buffer, [Self.packet(1)], count: 3) == ["play 1", "conceal 960", "conceal 960"])
    #expect(Self.actions(&buffer, [Self.packet(4)], count: 1) == ["play 4"], "2 and 3 were lost")
  }

  @Test func silenceThatTheSenderLeftOutIsNoLoss() {
    var buffer = Self.buffer()
    let packets = [Self.packet(1), Self.packet(2, timestamp: 960 * 4)]
    #expect(
      Self.actions(&buffer, packets, count: 3) == ["play 1", "rest 960", "play 4"],
      "the delay is 20 ms too long, which nobody hears now")
    buffer = Self.buffer()
    let more = packets + [Self.packet(3, timestamp: 960 * 5)]
    #expect(Self.actions(&buffer, more, count: 3) == ["play 1", "play 4", "play 5"])
    #expect(buffer.statistics.concealed == 0 && buffer.statistics.removed == 1920)
  }

  @Test func aNewSourceBeginsANewStream() {
    var buffer = Self.buffer()
    #expect(Self.actions(&buffer, [Self.packet(1)], count: 1) == ["play 1"])
    let reception = buffer.received(Self.packet(500, timestamp: 7, ssrc: 2), length: 960, at: Self.at(200))
    #expect(reception == .restarted)
    let action = buffer.next(at: Self.at(400))
    guard case .play(let frame, .normal) = action else {
      Issue.record("\(action)")
      return
    }
    #expect(frame.timestamp == 7)
  }

  @Test func oneStrayPacketChangesNothingButTwoDo() {
    var buffer = Self.buffer()
    let receptions = [
      Self.packet(1), Self.packet(900, timestamp: 1 << 30), Self.packet(2),
      Self.packet(5000, timestamp: 1 << 31),
      Self.packet(5001, timestamp: 1 << 31 + 960),
    ].map { buffer.received($0, length: 960, at: Self.at(0)) }
    #expect(receptions == [.stored, .ignored, .stored, .ignored, .restarted])
  }

  @Test func aSenderThatComesBackAfterALongWhileIsPlayedFromItsFirstPacket() {
    var buffer = Self.buffer()
    #expect(Self.actions(&buffer, [Self.packet(1)], count: 14).last == "rest 960")
    let reception = buffer.received(Self.packet(2, timestamp: 48000 * 600), length: 960, at: Self.at(600_000))
    #expect(reception == .restarted)
    let action = buffer.next(at: Self.at(600_100))
    guard case .play = action else {
      Issue.record("\(action)")
      return
    }
  }

  @Test func aCleanNetworkIsPlayedWholeWithLittleDelay() {
    let course = JitterWorld.run(seconds: 60, seed: 1, .init())
    #expect(course.played.count >= 2990)
    #expect(zip(course.played, course.played.dropFirst()).allSatisfy { $1 - $0 == 960 }, "across both wraps")
    #expect(course.statistics.concealed == 0 && course.statistics.late == 0)
    #expect(course.largestDelay <= .milliseconds(70))
  }

  @Test(arguments: [20, 60, 120])
  func theDelayFollowsTheJitter(jitter: Int) {
    let course = JitterWorld.run(seconds: 120, seed: 2, .init(jitter: jitter))
    let concealed = Double(course.statistics.concealed) / Double(course.statistics.played)
    #expect(concealed < 0.03, "\(concealed)")
    #expect(course.statistics.targetDelay >= .milliseconds(jitter * 8 / 10))
    #expect(course.statistics.targetDelay <= .milliseconds(max(20, jitter) + 10))
    #expect(course.largestDelay <= .milliseconds(jitter * 2 + 100))
    #expect(zip(course.played, course.played.dropFirst()).allSatisfy { $1 > $0 }, "time never goes back")
  }

  @Test(arguments: [0.02, 0.05, 0.2])
  func whatIsLostIsConcealedAndNothingElse(loss: Double) {
    let course = JitterWorld.run(seconds: 120, seed: 3, .init(loss: loss, duplication: 0.05, jitter: 15))
    let concealed = Double(course.statistics.concealed) / Double(course.statistics.played)
    #expect(concealed > loss * 0.6 && concealed < loss * 1.3 + 0.02, "\(concealed)")
    let share = Double(course.statistics.late) / Double(course.statistics.received)
    #expect(share < 0.03, "\(share)")
  }

  @Test func recoversSingleLossesFromRedundancy() {
    let options = JitterBuffer.Options(clockRate: 48000, hasRedundancy: true)
    let course = JitterWorld.run(seconds: 120, seed: 4, options: options, .init(loss: 0.05, jitter: 40))
    #expect(course.statistics.recovered > 2 * course.statistics.concealed)
  }

  /// Three hours in which the clocks drift apart by more than three seconds, each way.
  @Test(arguments: [300.0, -300.0])
  func theDriftOfClocksIsAbsorbedForHours(drift: Double) {
    let course = JitterWorld.run(seconds: 3 * 3600, seed: 5, .init(jitter: 10, drift: drift))
    #expect(course.largestDelay < .milliseconds(120), "\(course.largestDelay)")
    #expect(course.statistics.discarded == 0 && course.statistics.restarts == 0)
    let concealed = Double(course.statistics.concealed) / Double(course.statistics.played)
    #expect(concealed < 0.002, "\(concealed)")
    let expected = Double(3 * 3600 * 48000) * drift / 1e6
    let balance = Double(course.statistics.removed - course.statistics.inserted - course.statistics.concealed)
    #expect(abs(balance - expected) < 48000, "\(balance) of \(expected)")
  }

  @Test func afterAnOutageTheDelayShrinksAgain() {
    let course = JitterWorld.run(
      seconds: 60, seed: 6, .init(jitter: 10, outages: [20_000..<22_000, 40_000..<40_300]))
    #expect(course.mostFrames <= 51, "old audio is dropped")
    #expect(course.statistics.delay < .milliseconds(150))
    #expect(course.played.count > 2700)
  }

  @Test func silenceOfTheSenderIsNotConcealedForLong() {
    // 2 s of speech, then 2 s in which a packet comes every 400 ms.
    let course = JitterWorld.run(
      seconds: 60, seed: 7, .init(jitter: 20, silence: { $0 / 100 % 2 == 1 && $0 % 20 != 0 }))
    let concealed = Double(course.statistics.concealed) / Double(course.statistics.played)
    #expect(concealed < 0.35, "\(concealed)")
    #expect(course.statistics.late == 0 && course.statistics.restarts == 0)
    #expect(course.statistics.delay < .milliseconds(150))
  }
}
