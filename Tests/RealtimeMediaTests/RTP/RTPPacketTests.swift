import RealtimeMedia
import Testing
import VoiceTesting

/// RFC 3550 section 5, RFC 8285, RFC 7983; bad input first.
@Suite struct RTPPacketTests {
  static func error(_ bytes: [UInt8]) -> RTPError? {
    do {
      _ = try RTPPacket(parsing: bytes[...])
      return nil
    } catch {
      return error
    }
  }

  static let header: [UInt8] = [0x80, 0x80 | 111, 1, 2, 0, 0, 0, 9, 0, 0, 0, 7]

  @Test func refusesWhatIsNoPacket() {
    #expect(Self.error([]) == .truncated)
    for count in 0..<12 { #expect(Self.error(Array(Self.header.prefix(count))) == .truncated) }
    #expect(Self.error([0x40] + Self.header.dropFirst()) == .wrongVersion)
    #expect(Self.error([0x8f] + Self.header.dropFirst()) == .truncated, "contributors are missing")
    #expect(Self.error([0x90] + Self.header.dropFirst() + [0xbe, 0xde, 0xff, 0xff]) == .truncated)
    #expect(Self.error([0xa0] + Self.header.dropFirst()) == .wrongPadding)
    #expect(Self.error([0xa0] + Self.header.dropFirst() + [1, 0]) == .wrongPadding)
    #expect(Self.error([0xa0] + Self.header.dropFirst() + [1, 3]) == .wrongPadding)
  }

  @Test func readsAPacketInTheMiddleOfABuffer() throws {
    let bytes: [UInt8] = [9, 9] + [0xa0] + Self.header.dropFirst() + [1, 2, 3, 0, 2] + [9]
    let packet = try RTPPacket(parsing: bytes[2..<19])
    #expect(packet.marker && packet.payloadType == 111 && packet.sequenceNumber == 0x102)
    #expect(packet.timestamp == 9 && packet.ssrc == 7)
    #expect(Array(packet.payload) == [1, 2, 3], "padding is no payload")
    #expect(packet.payload.startIndex == 14, "the bytes are shared")
  }

  @Test func packetsAreReadAsTheyAreWritten() throws {
    var random = SeededGenerator(seed: 3550)
    for _ in 0..<1000 {
      let elements = (0..<Int.random(in: 0...3, using: &random)).map { index in
        RTPHeaderExtension.Element(
          id: UInt8(index + 1) * (Bool.random(using: &random) ? 1 : 20),
          value: Array(repeating: UInt8(index), count: Int.random(in: 1...20, using: &random))[...])
      }
      let packet = RTPPacket(
        marker: Bool.random(using: &random), payloadType: UInt8.random(in: 0...127, using: &random),
        sequenceNumber: UInt16.random(in: 0...65535, using: &random), timestamp: random.next(),
        ssrc: random.next(),
        contributors: (0..<Int.random(in: 0...15, using: &random)).map { _ in random.next() },
        headerExtension: elements.isEmpty ? nil : RTPHeaderExtension(elements: elements),
        payload: Array(repeating: 1, count: Int.random(in: 0...20, using: &random))[...])
      var bytes: [UInt8] = []
      packet.append(to: &bytes)
      let read = try RTPPacket(parsing: bytes[...])
      #expect(read == packet)
      #expect(read.headerExtension?.elements ?? [] == elements)
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = random.next()
      _ = try? RTPPacket(parsing: bytes[...]).headerExtension?.elements
    }
  }

  @Test func brokenExtensionsGiveWhatCanBeRead() {
    let data: [UInt8] = [0x10, 5, 0, 0x2f, 1]
    #expect(RTPHeaderExtension(profile: 0xbede, data: data[...]).elements == [.init(id: 1, value: [5])])
    #expect(RTPHeaderExtension(profile: 0xbede, data: [0xf0, 1, 0x10, 1]).elements.isEmpty)
    #expect(RTPHeaderExtension(profile: 0x1000, data: [1, 200, 0, 0]).elements.isEmpty)
    #expect(RTPHeaderExtension(profile: 0x1234, data: [0x10, 5, 0, 0]).elements.isEmpty)
  }

  @Test func datagramsAreToldApartByTheirFirstBytes() {
    let expected: [(ClosedRange<UInt8>, DatagramKind)] = [
      (0...3, .stun), (4...19, .unknown), (20...63, .dtls), (64...79, .turnChannel), (80...127, .unknown),
      (128...191, .rtp), (192...255, .unknown),
    ]
    for (range, kind) in expected {
      for first in range { #expect(DatagramKind([first, 0]) == kind, "\(first)") }
    }
    for second: UInt8 in 0...255 {
      #expect(DatagramKind([0x80, second]) == ((192...223).contains(second) ? .rtcp : .rtp))
    }
    #expect(DatagramKind([]) == .unknown && DatagramKind([0x80]) == .unknown)
  }

  @Test func numbersAreCountedOnAcrossTheirWrap() {
    var sequence = SequenceUnwrapper()
    let numbers = [65534, 65535, 1, 0, 65533, 2].map { sequence.unwrap($0) }
    #expect(numbers == [65534, 65535, 65537, 65536, 65533, 65538])
    var unwrapper = TimestampUnwrapper()
    let times = [0xffff_ff00, 0x10, 0xffff_fff0].map { unwrapper.unwrap($0) }
    #expect(times == [0xffff_ff00, 0x1_0000_0010, 0xffff_fff0])
  }

  /// RFC 6716 section 3.1, table 2.
  @Test func knowsHowLongAnOpusPacketIs() {
    #expect(OpusPacket.duration(of: [0x78]) == 960, "CELT-like hybrid, 20 ms")
    #expect(OpusPacket.duration(of: [0xf8]) == 960)
    #expect(OpusPacket.duration(of: [0xe0]) == 120)
    #expect(OpusPacket.duration(of: [0x18]) == 2880)
    #expect(OpusPacket.duration(of: [0x19, 0]) == 5760)
    #expect(OpusPacket.duration(of: [0x1b, 3]) == nil, "more than 120 ms")
    #expect(OpusPacket.duration(of: [0x03, 0]) == nil)
    #expect(OpusPacket.duration(of: [0x03]) == nil)
    #expect(OpusPacket.duration(of: []) == nil)
  }
}
