import RealtimeMedia
import Testing
import VoiceTesting

/// RFC 8489 and RFC 8656, with the vectors of RFC 5769; bad input first.
@Suite struct STUNMessageTests {
  static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.filter { !$0.isWhitespace }
    return stride(from: 0, to: digits.count, by: 2).compactMap { offset in
      UInt8(digits.dropFirst(offset).prefix(2), radix: 16)
    }
  }

  static let password = "VOkJxbRl1RmTxUk/WvJxBt"
  /// RFC 5769 section 2.1.
  static let request = bytes(
    """
    00010058 2112a442 b7e7a701 bc34d686 fa87dfae
    80220010 5354554e 20746573 7420636c 69656e74
    00240004 6e0001ff 80290008 932ff9b1 51263b36
    00060009 6576746a 3a683676 59202020
    00080014 9aeaa70c bfd8cb56 781ef2b5 b2d3f249 c1b571a2 80280004 e57a3bcf
    """)
  /// RFC 5769 section 2.2.
  static let responseV4 = bytes(
    """
    0101003c 2112a442 b7e7a701 bc34d686 fa87dfae
    8022000b 74657374 20766563 746f7220 00200008 0001a147 e112a643
    00080014 2b91f599 fd9e90c3 8c7489f9 2af9ba53 f06be7d7 80280004 c07d4c96
    """)
  /// RFC 5769 section 2.3.
  static let responseV6 = bytes(
    """
    01010048 2112a442 b7e7a701 bc34d686 fa87dfae
    8022000b 74657374 20766563 746f7220
    00200014 0002a147 0113a9fa a5d3f179 bc25f4b5 bed2b9d9
    00080014 a382954e 4be67bf1 1784c97c 8292c275 bfe3ed41 80280004 c8fb0b4c
    """)
  /// RFC 5769 section 2.4.
  static let longTerm = bytes(
    """
    00010060 2112a442 78ad3433 c6ad72c0 29da412e
    00060012 e3839ee3 8388e383 aae38383 e382afe3 82b90000
    0015001c 662f2f34 39396b39 35346436 4f4c3334 6f4c3946 53547679 36347341
    0014000b 6578616d 706c652e 6f726700
    00080014 f6702465 6dd64a3e 02b8e071 2e85c9a2 8ca89666
    """)

  static func error(_ bytes: [UInt8]) -> STUNError? {
    do {
      _ = try ReceivedSTUNMessage(parsing: bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test func refusesWhatIsNoMessage() {
    #expect(Self.error([]) == .wrongLength)
    #expect(Self.error([0, 1]) == .wrongLength)
    #expect(Self.error(Array(repeating: 0x80, count: 40)) == .notSTUN)
    #expect(Self.error(Array(repeating: 0, count: 20)) == .notSTUN, "no cookie")
    for count in 0..<Self.request.count { #expect(Self.error(Array(Self.request.prefix(count))) != nil) }
    #expect(Self.error(Self.request + [0, 0, 0, 0]) == .wrongLength)
    var long = Self.request
    long[23] = 0xff
    #expect(Self.error(long) == .truncatedAttribute(offset: 20))
    var short = Self.request
    short[39] = 0
    #expect(Self.error(short) != nil)
  }

  @Test func everyChangedBitIsNoticed() throws {
    let key = STUNMessage.shortTermKey(password: Self.password)
    for bit in 0..<(Self.request.count * 8) {
      var bytes = Self.request
      bytes[bit / 8] ^= 1 << (bit % 8)
      guard let message = try? ReceivedSTUNMessage(parsing: bytes) else { continue }
      #expect(!message.hasFingerprint || !message.isAuthentic(.sha1(key)), "bit \(bit)")
    }
  }

  @Test func wrongValuesOfKnownAttributesAreRefused() {
    let head = Self.bytes("0001000c 2112a442 00000000 00000000 00000000")
    for value in [
      "00240008 00000000 00000000", "80290004 00000000 80220000", "00200008 00030000 00000000",
      "00090004 00000200 80220000", "00060001 ff000000 80220000",
    ] {
      guard case .malformedAttribute? = Self.error(head + Self.bytes(value)) else {
        Issue.record("\(value): \(String(describing: Self.error(head + Self.bytes(value))))")
        continue
      }
    }
  }

  @Test func attributesAfterTheIntegrityAreIgnored() throws {
    let id = STUNMessage.TransactionID(high: 1, low: 2)
    var bytes = STUNMessage(.request, .binding, transaction: id).encoded(integrity: .sha1([1, 2, 3]))
    bytes += Self.bytes("00250000")
    bytes[3] += 4
    let message = try ReceivedSTUNMessage(parsing: bytes)
    #expect(message.message.attributes.isEmpty, "nobody vouches for USE-CANDIDATE")
    #expect(message.isAuthentic(.sha1([1, 2, 3])))
    #expect(!message.isAuthentic(.sha1([1, 2, 4])))
    #expect(!message.isAuthentic(.sha256([1, 2, 3])))
  }

  @Test func reportsWhatDemandsToBeUnderstood() throws {
    let id = STUNMessage.TransactionID(high: 1, low: 2)
    let message = STUNMessage(
      .request, .binding, transaction: id,
      attributes: [.unknown(type: 0x7777, value: [1]), .unknown(type: 0x9999, value: [])])
    let read = try ReceivedSTUNMessage(parsing: message.encoded())
    #expect(read.unknownRequired == [0x7777])
    #expect(read.message == message)
    #expect(!read.hasIntegrity && !read.hasFingerprint)
  }

  @Test func readsTheRequestOfRFC5769() throws {
    let read = try ReceivedSTUNMessage(parsing: Self.request)
    #expect(
      read.message.attributes == [
        .software("STUN test client"), .priority(0x6e00_01ff), .iceControlled(0x932f_f9b1_5126_3b36),
        .username("evtj:h6vY"),
      ])
    #expect(read.message.kind == .request && read.message.method == .binding)
    #expect(read.hasFingerprint)
    #expect(read.isAuthentic(.sha1(STUNMessage.shortTermKey(password: Self.password))))
    #expect(!read.isAuthentic(.sha1(STUNMessage.shortTermKey(password: "wrong"))))
  }

  @Test(arguments: [
    (responseV4, "192.0.2.1:32853"), (responseV6, "[2001:db8:1234:5678:11:2233:4455:6677]:32853"),
  ])
  func readsTheResponsesOfRFC5769(bytes: [UInt8], address: String) throws {
    let read = try ReceivedSTUNMessage(parsing: bytes)
    guard case .xorMappedAddress(let mapped)? = read.message.attributes.last else {
      Issue.record("no address")
      return
    }
    #expect(mapped.description == address)
    #expect(read.message.kind == .success)
    #expect(read.isAuthentic(.sha1(STUNMessage.shortTermKey(password: Self.password))))
  }

  @Test func readsAndWritesTheLongTermRequestOfRFC5769() throws {
    let key = STUNMessage.longTermKey(username: "マトリックス", realm: "example.org", password: "TheMatrIX")
    let read = try ReceivedSTUNMessage(parsing: Self.longTerm)
    #expect(read.isAuthentic(.sha1(key)))
    #expect(read.message.encoded(integrity: .sha1(key)) == Self.longTerm)
  }

  @Test func allAttributesAreReadAsTheyAreWritten() throws {
    let addresses = [
      TransportAddress(.v4(0xc000_0201), port: 1), TransportAddress(.v6(high: 1 << 60, low: 7), port: 65535),
    ]
    var attributes: [STUNAttribute] = [
      .username("a:b"), .realm("r"), .nonce("n"), .software("s"), .errorCode(487, reason: "Role Conflict"),
      .unknownAttributes([1, 2, 3]), .priority(1), .useCandidate, .iceControlled(.max), .iceControlling(0),
      .channelNumber(0x4000), .lifetime(.seconds(600)), .data([1, 2, 3, 4, 5]),
      .requestedAddressFamily(isV6: true), .evenPort(reservesNext: true), .requestedTransport(17),
      .dontFragment, .reservationToken(9),
    ]
    for address in addresses {
      attributes += [
        .mappedAddress(address), .xorMappedAddress(address), .alternateServer(address),
        .xorPeerAddress(address),
        .xorRelayedAddress(address),
      ]
    }
    for kind in STUNMessage.Class.allCases {
      for method: UInt16 in [1, 0x80, 0xfff] {
        let message = STUNMessage(
          kind, .init(rawValue: method), transaction: .init(high: 5, low: 6), attributes: attributes)
        for integrity in [nil, STUNMessage.Integrity.sha1([1]), .sha256([2])] {
          let read = try ReceivedSTUNMessage(
            parsing: message.encoded(integrity: integrity, fingerprint: true))
          #expect(read.message == message)
          #expect(read.hasFingerprint)
          if let integrity { #expect(read.isAuthentic(integrity)) }
        }
      }
    }
  }

  @Test func whatIsTooLongForTheLengthIsLeftOut() throws {
    let message = STUNMessage(
      .indication, .send, transaction: .init(high: 0, low: 0),
      attributes: [.data(Array(repeating: 1, count: 70_000)), .priority(5)])
    #expect(try ReceivedSTUNMessage(parsing: message.encoded()).message.attributes == [.priority(5)])
  }

  @Test func mutilatedMessagesAreReadOrRefused() {
    var random = SeededGenerator(seed: 5769)
    for source in [Self.request, Self.responseV4, Self.responseV6, Self.longTerm] {
      for _ in 0..<2000 {
        var bytes = source
        for _ in 0..<Int.random(in: 1...5, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        guard let read = try? ReceivedSTUNMessage(parsing: bytes) else { continue }
        _ = read.isAuthentic(.sha1([0]))
        _ = read.isAuthentic(.sha256([0]))
        #expect((try? ReceivedSTUNMessage(parsing: read.message.encoded()))?.message == read.message)
      }
    }
  }

  @Test func channelDataIsReadAsItIsWritten() {
    var bytes: [UInt8] = []
    #expect(ChannelData.append(channel: 0x4001, [1, 2, 3], isStream: true, to: &bytes))
    #expect(bytes == [0x40, 1, 0, 3, 1, 2, 3, 0])
    #expect(ChannelData.parse(bytes[...])?.data == [1, 2, 3])
    #expect(ChannelData.parse(bytes.prefix(6)) == nil)
    #expect(ChannelData.parse([0x50, 0, 0, 0]) == nil)
  }
}
