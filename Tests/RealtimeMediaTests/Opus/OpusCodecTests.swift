import RealtimeMedia
import Testing
import VoiceTesting

/// RFC 6716, RFC 7587; bad input first.
@Suite struct OpusCodecTests {
  // MARK: What is refused

  @Test func refusesLengthsThatOpusDoesNotHave() throws {
    let encoder = try OpusEncoder()
    let decoder = try OpusDecoder()
    var payload: [UInt8] = [1, 2, 3]
    for count in [0, 1, 119, 121, 479, 961, 3840, 5760, 48_000] {
      #expect(throws: OpusError.wrongLength(count)) {
        try encoder.encode(Array(repeating: 0, count: count)[...], into: &payload)
      }
    }
    #expect(payload == [1, 2, 3])
    var samples: [Int16] = [4]
    for count in [-120, 0, 1, 119, 5761, 5880, .max, .min] {
      #expect(throws: OpusError.wrongLength(count)) { try decoder.conceal(count, into: &samples) }
      #expect(throws: OpusError.wrongLength(count)) {
        try decoder.recover(count, from: [0x78, 1, 2, 3], into: &samples)
      }
    }
    #expect(samples == [4])
  }

  @Test func refusesWhatIsNoPacket() throws {
    let decoder = try OpusDecoder()
    var samples: [Int16] = [4]
    let bad: [[UInt8]] = [
      [],  // Nothing is no packet; libopus would take it for a lost one.
      [0x7b],  // A number of frames is announced and missing.
      [0x7b, 0],  // No frames.
      [0x7b, 0x3f] + Array(repeating: 1, count: 100),  // 63 frames of 20 ms.
      [0x79, 1, 2, 3],  // Two frames of the same length in three bytes.
      [0x7a],  // Two frames of different lengths, and no length.
      [0x7a, 200, 1],  // The first frame is longer than the packet.
      [0x78] + Array(repeating: 1, count: 1276),  // A frame of more than 1,275 bytes.
    ]
    for payload in bad {
      #expect(throws: OpusError.malformedPacket, "\(payload.prefix(4))") {
        try decoder.decode(payload[...], into: &samples)
      }
      // What a packet says of the one before it is not looked for in the same depth.
      try? decoder.recover(960, from: payload[...], into: &samples)
      #expect(samples == [4] || samples.count == 961)
      samples = [4]
    }
  }

  @Test func randomAndChangedPacketsNeverDoMoreThanSound() throws {
    let decoder = try OpusDecoder()
    var random = SeededGenerator(seed: 6716)
    let good = try OpusSignals.packets(OpusSignals.voice(count: 48_000), by: OpusEncoder(expectedLoss: 0.2))
    var decoded = 0
    for _ in 0..<3000 {
      var payload: [UInt8]
      if Bool.random(using: &random), let packet = good.randomElement(using: &random) {
        payload = packet
        for _ in 0..<3 where !payload.isEmpty {
          payload[Int.random(in: 0..<payload.count, using: &random)] = .random(
            in: .min ... .max, using: &random)
        }
      } else {
        payload = (0..<Int.random(in: 0..<200, using: &random)).map { _ in
          .random(in: .min ... .max, using: &random)
        }
      }
      var samples: [Int16] = []
      do throws(OpusError) {
        let count = try decoder.decode(payload[...], into: &samples)
        #expect(count == samples.count && count == OpusPacket.duration(of: payload[...]))
        decoded += 1
      } catch {
        #expect(error == .malformedPacket && samples.isEmpty)
      }
      try? decoder.recover(960, from: payload[...], into: &samples)
    }
    #expect(decoded > 500)
    var samples: [Int16] = []
    decoder.reset()
    for packet in good { _ = try decoder.decode(packet[...], into: &samples) }
    #expect(OpusSignals.power(samples[9600...]) > 10_000, "it still decodes")
  }

  @Test func settingsBeyondTheirRangesAreTheNearestOnes() throws {
    let encoder = try OpusEncoder(bitrate: .max, expectedLoss: .infinity, complexity: 99)
    encoder.bitrate = .min
    encoder.expectedLoss = -.nan
    encoder.bitrate = 1
    let tone = OpusSignals.tone(440, count: 9600)
    let packets = try OpusSignals.packets(tone, by: encoder)
    #expect(packets.allSatisfy { !$0.isEmpty && $0.count < 40 })
  }

  // MARK: What is heard

  @Test(arguments: [480, 960, 1920, 2880]) func aToneKeepsItsFrequencyAndLevel(frame: Int) throws {
    let encoder = try OpusEncoder(bitrate: 32_000)
    let decoder = try OpusDecoder()
    let packets = try OpusSignals.packets(OpusSignals.tone(440, count: 48_000), frame: frame, by: encoder)
    var samples: [Int16] = []
    for packet in packets {
      #expect(OpusPacket.duration(of: packet[...]) == frame)
      #expect(try decoder.decode(packet[...], into: &samples) == frame)
    }
    // The first 100 ms are the codec's beginning.
    let heard = OpusSignals.share(of: 440, in: samples[4800..<43_200])
    #expect(heard.share > 0.98, "\(heard)")
    #expect((9000...11_000).contains(heard.level), "\(heard)")
  }

  @Test func bytesOfAPacketStandBehindWhatWasThere() throws {
    let encoder = try OpusEncoder()
    var packet: [UInt8] = [1, 2, 3]
    packet.reserveCapacity(2000)
    let place = packet.withUnsafeBufferPointer { $0.baseAddress }
    let count = try encoder.encode(OpusSignals.tone(440, count: 960)[...], into: &packet)
    #expect(packet.count == 3 + count && packet.prefix(3) == [1, 2, 3])
    #expect(packet.withUnsafeBufferPointer { $0.baseAddress } == place, "nothing is allocated")
    var samples: [Int16] = [7]
    #expect(try OpusDecoder().decode(packet[3...], into: &samples) == 960)
    #expect(samples.count == 961 && samples[0] == 7)
  }

  @Test func bothChannelsOfAPacketAreHeard() throws {
    let packets = OpusSignals.stereoPackets(
      left: OpusSignals.tone(440, count: 48_000), right: OpusSignals.tone(1000, count: 48_000))
    let decoder = try OpusDecoder()
    var samples: [Int16] = []
    for packet in packets {
      #expect((packet.first ?? 0) & 4 == 4, "two channels")
      #expect(try decoder.decode(packet[...], into: &samples) == 960)
    }
    let left = OpusSignals.share(of: 440, in: samples[4800..<43_200])
    let right = OpusSignals.share(of: 1000, in: samples[4800..<43_200])
    #expect((4500...5500).contains(left.level) && (4500...5500).contains(right.level), "\(left) \(right)")
    #expect(left.share + right.share > 0.97)
  }

  @Test func moreBitsSoundBetterAndLossTakesSome() throws {
    let voice = OpusSignals.voice(count: 96_000)
    let bytes = { (encoder: OpusEncoder) in
      try OpusSignals.packets(voice, by: encoder).reduce(0) { $0 + $1.count }
    }
    let low = try bytes(OpusEncoder(bitrate: 12_000))
    let high = try bytes(OpusEncoder(bitrate: 40_000))
    #expect(
      (2200...4000).contains(low) && (8000...12_000).contains(high), "of 3,000 and 10,000: \(low) \(high)")
    let encoder = try OpusEncoder(bitrate: 12_000)
    _ = try OpusSignals.packets(voice, by: encoder)
    encoder.bitrate = 40_000
    #expect(try bytes(encoder) > 2 * low, "a change counts from the next packet")
  }

  // MARK: What is lost

  /// Every fifth packet is lost. Returns the power of the difference to what would have been heard, in the lost parts.
  static func error(
    of packets: [[UInt8]], _ replace: (OpusDecoder, Int, inout [Int16]) throws -> Void
  ) throws -> Double {
    let whole = try OpusDecoder()
    let lossy = try OpusDecoder()
    var error = 0.0
    for (index, packet) in packets.enumerated() {
      var expected: [Int16] = []
      var heard: [Int16] = []
      _ = try whole.decode(packet[...], into: &expected)
      if index % 5 == 4, index + 1 < packets.count {
        try replace(lossy, index, &heard)
        let difference = zip(expected, heard).map { Double($0) - Double($1) }
        error += difference.reduce(0) { $0 + $1 * $1 }
      } else {
        _ = try lossy.decode(packet[...], into: &heard)
      }
      #expect(heard.count == 960)
    }
    return error
  }

  @Test func recoveryIsBetterThanConcealmentAndThatThanSilence() throws {
    let voice = OpusSignals.voice(count: 48_000 * 4)
    let encoder = try OpusEncoder(bitrate: 24_000, expectedLoss: 0.2, inbandFEC: true)
    let packets = try OpusSignals.packets(voice, by: encoder)
    let recovered = try Self.error(of: packets) { decoder, index, samples in
      try decoder.recover(960, from: packets[index + 1][...], into: &samples)
    }
    let concealed = try Self.error(of: packets) { decoder, _, samples in
      try decoder.conceal(960, into: &samples)
    }
    let silent = try Self.error(of: packets) { decoder, _, samples in
      try decoder.conceal(960, into: &samples)
      samples = Array(repeating: 0, count: 960)
    }
    #expect(recovered < 0.5 * concealed, "\(recovered / concealed)")
    #expect(concealed < silent, "\(concealed / silent)")
  }

  @Test func withoutRedundancyRecoveryIsConcealment() throws {
    let voice = OpusSignals.voice(count: 48_000)
    let packets = try OpusSignals.packets(voice, by: OpusEncoder(bitrate: 24_000, inbandFEC: false))
    let one = try OpusDecoder()
    let other = try OpusDecoder()
    var recovered: [Int16] = []
    var concealed: [Int16] = []
    for packet in packets.prefix(20) {
      _ = try one.decode(packet[...], into: &recovered)
      _ = try other.decode(packet[...], into: &concealed)
    }
    try one.recover(960, from: packets[21][...], into: &recovered)
    try other.conceal(960, into: &concealed)
    #expect(recovered == concealed && recovered.count == 21 * 960)
  }

  @Test func longLossFadesToNoise() throws {
    let decoder = try OpusDecoder()
    var samples: [Int16] = []
    for packet in try OpusSignals.packets(OpusSignals.voice(count: 48_000), by: OpusEncoder()) {
      _ = try decoder.decode(packet[...], into: &samples)
    }
    let before = OpusSignals.power(samples.suffix(9600))
    for _ in 0..<50 { try decoder.conceal(960, into: &samples) }
    #expect(samples.count == 100 * 960)
    #expect(OpusSignals.power(samples.suffix(9600)) < before / 10)
  }

  // MARK: Silence

  @Test func silenceNeedsNotBeSent() throws {
    let encoder = try OpusEncoder(dtx: true)
    let voice = OpusSignals.voice(count: 48_000)
    let packets = try OpusSignals.packets(voice + Array(repeating: 0, count: 96_000), by: encoder)
    #expect(packets.prefix(50).allSatisfy { $0.count > 2 }, "a voice is sent")
    let silent = packets.dropFirst(75)
    #expect(silent.count { $0.count <= 2 } > silent.count * 3 / 4)
    #expect(silent.contains { $0.count > 2 }, "now and then the noise is described anew")
    encoder.dtx = false
    #expect(
      try OpusSignals.packets(Array(repeating: 0, count: 48_000), by: encoder).allSatisfy { $0.count > 2 })
  }

  @Test func afterResetTheSameSoundGivesTheSamePackets() throws {
    let encoder = try OpusEncoder(bitrate: 20_000)
    let voice = OpusSignals.voice(count: 9600)
    let first = try OpusSignals.packets(voice, by: encoder)
    #expect(try OpusSignals.packets(voice, by: encoder) != first)
    encoder.reset()
    #expect(try OpusSignals.packets(voice, by: encoder) == first)
  }
}
