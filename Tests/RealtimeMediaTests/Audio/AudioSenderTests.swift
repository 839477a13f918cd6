import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

/// Bad input first.
@Suite struct AudioSenderTests {
  static func at(_ milliseconds: Int) -> VoiceInstant { VoiceInstant(offset: .milliseconds(milliseconds)) }

  /// Sends frames of 20 ms and gives what came of each.
  static func packets(
    _ sender: AudioSender, _ count: Int, from start: Int = 0, _ sound: (Int) -> [Int16]?
  ) throws -> [RTPPacket?] {
    var bytes: [UInt8] = []
    return try (start..<start + count).map { index in
      guard sender.send(sound(index)?[...], at: Self.at(index * 20), into: &bytes) else { return nil }
      return try RTPPacket(parsing: bytes[...])
    }
  }

  static func tone(_ index: Int) -> [Int16] { Sound.tone(440, from: index * 960, count: 960) }

  @Test func refusesCodecsThatItDoesNotKnow() throws {
    for key in [
      AudioCodec.Key("g722", clockRate: 8000), .init("pcmu", clockRate: 16000),
      .init("opus", clockRate: 48000),
    ] {
      #expect(throws: AudioSenderError.codecNotSupported(key)) {
        _ = try AudioWorld.sender(AudioWorld.codec(key, 9))
      }
    }
    let sender = try AudioWorld.sender()
    let key = AudioCodec.Key("x", clockRate: 8000)
    #expect(throws: AudioSenderError.codecNotSupported(key)) {
      try sender.change(codec: AudioWorld.codec(key, 9))
    }
    #expect(sender.codec == AudioWorld.pcmu)
  }

  /// A packet holds 60 ms at most, so more would wait longer with each call.
  @Test func whatIsLongerThanAPacketIsCut() throws {
    let sender = try AudioWorld.sender()
    var bytes: [UInt8] = []
    let frame = Sound.tone(440, from: 0, count: 5760)
    for index in 0..<50 {
      let isPacket = sender.send(frame[...], at: Self.at(index * 120), into: &bytes)
      #expect(isPacket)
    }
    #expect(sender.statistics.samples == 50 * 2880)
    let isPacket = sender.send(nil, at: Self.at(50 * 120), into: &bytes)
    #expect(isPacket && bytes.count == 12 + 480)
  }

  @Test func framesOfAnyLengthDoNoHarm() throws {
    var random = SeededGenerator(seed: 2)
    for codec in [AudioWorld.pcmu, AudioWorld.opus] {
      let sender = try AudioWorld.sender(codec)
      var bytes: [UInt8] = []
      for _ in 0..<300 {
        let count = Int.random(in: 0...8000, using: &random)
        let samples = (0..<count).map { _ in Int16.random(in: .min ... .max, using: &random) }
        if sender.send(samples[...], at: Self.at(Int.random(in: 0...100_000, using: &random)), into: &bytes) {
          #expect(bytes.count > 12 && bytes.count < 1400)
        }
        sender.expectedLoss = .nan
      }
      #expect(sender.expectedLoss == 0 && sender.statistics.packetsFailed == 0)
    }
  }

  @Test func numbersAndTimesFollowEachOtherAndOnlyTheFirstIsMarked() throws {
    for (codec, step) in [(AudioWorld.pcmu, 160), (AudioWorld.opus, 960)] {
      let packets = try Self.packets(try AudioWorld.sender(codec), 20) { Self.tone($0) }.compactMap { $0 }
      #expect(packets.count == 20 && packets.map(\.marker) == [true] + [Bool](repeating: false, count: 19))
      for (last, next) in zip(packets, packets.dropFirst()) {
        #expect(next.sequenceNumber == last.sequenceNumber &+ 1)
        #expect(next.timestamp == last.timestamp &+ UInt32(step))
        #expect(next.ssrc == 7 && next.payloadType == codec.sends)
      }
    }
  }

  @Test(arguments: [(10, 1, 160), (20, 1, 160), (30, 2, 320), (40, 2, 320), (60, 3, 480)])
  func packetsHaveTheTimeThatWasAgreedOn(time: Int, frames: Int, bytes: Int) throws {
    let sender = try AudioWorld.sender(packetTime: time)
    let packets = try Self.packets(sender, 12) { Self.tone($0) }
    #expect(packets.compactMap { $0 }.allSatisfy { $0.payload.count == bytes })
    #expect(packets.compactMap { $0 }.count == 12 / frames)
    let opus = try Self.packets(try AudioWorld.sender(AudioWorld.opus, packetTime: time), 12) {
      Self.tone($0)
    }
    for packet in opus.compactMap({ $0 }) {
      let duration = OpusPacket.duration(of: packet.payload)
      #expect(duration == (time == 60 ? 2880 : time == 40 ? 1920 : 960))
    }
  }

  /// RFC 8866 section 6.4: unlike `ptime`, which is a wish, `maxptime` is a limit.
  @Test(arguments: [(10, 2, 480), (20, 1, 960), (5, 2, 480)])
  func noPacketIsLongerThanTheOtherSideTakes(maximum: Int, packets: Int, samples: Int) throws {
    var random = SeededGenerator(seed: 1)
    let sender = try AudioSender(
      ssrc: 1, codec: AudioWorld.opus, packetTime: .milliseconds(60),
      maximumPacketTime: .milliseconds(maximum), random: &random)
    var timestamps: [UInt32] = []
    var bytes: [UInt8] = []
    for index in 0..<10 {
      var isPacket = sender.send(Self.tone(index)[...], at: Self.at(index * 20), into: &bytes)
      while isPacket {
        let packet = try RTPPacket(parsing: bytes[...])
        #expect(OpusPacket.duration(of: packet.payload) == samples)
        timestamps.append(packet.timestamp)
        isPacket = sender.hasRest && sender.sendRest(into: &bytes)
      }
    }
    #expect(timestamps.count == 10 * packets)
    #expect(zip(timestamps, timestamps.dropFirst()).allSatisfy { $1 &- $0 == UInt32(samples) })
  }

  @Test func aFrameOf10MillisecondsMakesAPacketOf10() throws {
    let sender = try AudioWorld.sender(AudioWorld.opus, packetTime: 10)
    var bytes: [UInt8] = []
    for index in 0..<10 {
      #expect(
        sender.send(
          Sound.tone(440, from: index * 480, count: 480)[...], at: Self.at(index * 10), into: &bytes))
      #expect(OpusPacket.duration(of: bytes[12...]) == 480)
    }
  }

  @Test func aMutedMicrophoneSendsSilenceThatBeginsWithoutAClick() throws {
    let sender = try AudioWorld.sender()
    let packets = try Self.packets(sender, 30) { $0 < 10 ? Self.tone($0) : nil }.compactMap { $0 }
    #expect(packets.count == 30, "G.711 sends it all")
    var heard: [Int16] = []
    for packet in packets { G711.decodeMuLaw(packet.payload, into: &heard) }
    #expect(heard[(11 * 160 + 60)...].allSatisfy { abs(Int($0)) < 10 })
    let opus = try AudioWorld.sender(AudioWorld.opus)
    let sparse = try Self.packets(opus, 200) { $0 < 50 ? Self.tone($0) : nil }
    #expect(sparse[..<50].allSatisfy { $0 != nil })
    #expect((4...30).contains(sparse[100...].compactMap { $0 }.count), "one each 400 ms at least, and few")
    #expect(opus.statistics.packetsLeftOut > 50 && opus.statistics.level < 0.01)
    let again = try Self.packets(opus, 5, from: 200) { Self.tone($0) }
    #expect(again.allSatisfy { $0 != nil })
  }

  @Test func aPauseIsTimeForTheOtherSide() throws {
    let sender = try AudioWorld.sender()
    let before = try Self.packets(sender, 5) { Self.tone($0) }
    let after = try Self.packets(sender, 5, from: 505) { Self.tone($0) }
    let (last, next) = (try #require(before.last ?? nil), try #require(after.first ?? nil))
    #expect(next.marker && next.sequenceNumber == last.sequenceNumber &+ 1)
    #expect(next.timestamp == last.timestamp &+ 501 * 160)
  }

  /// What is left out counts once, although the pause in the calls is long enough to be noticed by itself.
  @Test func timeThatIsLeftOutIsTimeForTheOtherSide() throws {
    let sender = try AudioWorld.sender()
    sender.skip(.seconds(1))
    let before = try Self.packets(sender, 5) { Self.tone($0) }
    sender.skip(.milliseconds(300))
    let after = try Self.packets(sender, 5, from: 20) { Self.tone($0) }
    let (last, next) = (try #require(before.last ?? nil), try #require(after.first ?? nil))
    #expect(next.marker && next.sequenceNumber == last.sequenceNumber &+ 1)
    #expect(next.timestamp == last.timestamp &+ 16 * 160)
  }

  @Test func aChangeOfTheCodecGoesOn() throws {
    let sender = try AudioWorld.sender(AudioWorld.opus)
    let first = try Self.packets(sender, 5) { Self.tone($0) }
    try sender.change(codec: AudioWorld.pcma, telephoneEvent: AudioWorld.keys8, packetTime: .milliseconds(40))
    let second = try Self.packets(sender, 4, from: 5) { Self.tone($0) }.compactMap { $0 }
    let last = try #require(first.last ?? nil)
    #expect(second.map(\.payloadType) == [8, 8] && second.map(\.ssrc) == [7, 7])
    #expect(second.first?.sequenceNumber == last.sequenceNumber &+ 1)
    #expect(second.first?.timestamp == last.timestamp &+ 960)
    #expect(second.last?.timestamp == last.timestamp &+ 960 &+ 320)
  }

  @Test func keysNeedAFormatAndRoom() throws {
    var random = SeededGenerator(seed: 1)
    let without = try AudioSender(ssrc: 1, codec: AudioWorld.pcmu, random: &random)
    #expect(!without.press([.one]) && !without.isSendingKeys)
    let sender = try AudioWorld.sender()
    #expect(!sender.press([TelephoneEvent.Key](repeating: .one, count: 65)))
    #expect(!sender.isSendingKeys, "all or nothing")
  }

  @Test func aKeyTakesThePlaceOfAudio() throws {
    let sender = try AudioWorld.sender()
    #expect(sender.press([.five]))
    let packets = try Self.packets(sender, 12) { Self.tone($0) }.compactMap { $0 }
    #expect(packets.count == 12)
    #expect(packets.map(\.payloadType) == [UInt8](repeating: 126, count: 7) + [0, 0, 0, 0, 0])
    #expect(packets.prefix(7).allSatisfy { $0.timestamp == packets[0].timestamp })
    #expect(
      packets.map(\.marker) == [true] + [Bool](repeating: false, count: 6) + [
        true, false, false, false, false,
      ])
    #expect(packets[7].timestamp == packets[0].timestamp &+ 7 * 160)
    #expect(zip(packets, packets.dropFirst()).allSatisfy { $1.sequenceNumber == $0.sequenceNumber &+ 1 })
    #expect(TelephoneEvent(parsing: packets[6].payload) == .init(code: 5, isEnd: true, duration: 800))
  }

  @Test func keysThatWaitSurviveAChangeOfTheClock() throws {
    let sender = try AudioWorld.sender(AudioWorld.opus)
    #expect(sender.press([.one, .two]))
    let first = try Self.packets(sender, 2) { Self.tone($0) }
    try sender.change(codec: AudioWorld.pcmu, telephoneEvent: AudioWorld.keys8)
    let second = try Self.packets(sender, 40, from: 2) { Self.tone($0) }
    let types = (first + second).compactMap { $0?.payloadType }
    #expect(types.filter { $0 == 110 }.count == 7 && types.filter { $0 == 126 }.count == 7)
    #expect(!types.suffix(10).contains { $0 != 0 })
  }
}
