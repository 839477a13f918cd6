import RealtimeMedia
import Testing
import VoiceTesting

/// RFC 3711, RFC 7714, RFC 3550; bad input first.
@Suite struct SRTPContextTests {
  /// Two ends that know each other's keys.
  static func pair(_ profile: SRTPProfile) throws -> (one: SRTPContext, other: SRTPContext) {
    let count = profile.keyCount
    let first = SRTPMasterKey(
      key: Array(repeating: 1, count: count), salt: Array(repeating: 2, count: profile.saltCount))
    let second = SRTPMasterKey(
      key: Array(repeating: 3, count: count), salt: Array(repeating: 4, count: profile.saltCount))
    return (
      try SRTPContext(keys: SRTPKeys(profile: profile, local: first, remote: second)),
      try SRTPContext(keys: SRTPKeys(profile: profile, local: second, remote: first))
    )
  }

  static func packet(_ number: Int, ssrc: UInt32 = 7, payload: [UInt8] = [1, 2, 3, 4, 5]) -> [UInt8] {
    var bytes: [UInt8] = []
    let packet = RTPPacket(
      payloadType: 111, sequenceNumber: UInt16(truncatingIfNeeded: number), timestamp: 9, ssrc: ssrc,
      payload: payload[...])
    packet.append(to: &bytes)
    return bytes
  }

  static let report: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 7]

  static func protected(_ context: SRTPContext, _ packet: [UInt8]) throws -> [UInt8] {
    var packet = packet
    try context.protect(&packet)
    return packet
  }

  static func error(_ body: () throws(SRTPError) -> Void) -> SRTPError? {
    do {
      try body()
      return nil
    } catch {
      return error
    }
  }

  static func unprotectionError(_ context: SRTPContext, _ packet: [UInt8]) -> SRTPError? {
    var packet = packet
    let error = Self.error { () throws(SRTPError) in try context.unprotect(&packet) }
    #expect(error == nil || packet.isEmpty, "nothing is left of a packet that is not accepted")
    return error
  }

  // MARK: What is refused

  @Test func refusesKeysOfAnotherLength() {
    for profile in SRTPProfile.allCases {
      let right = SRTPMasterKey(
        key: Array(repeating: 1, count: profile.keyCount), salt: Array(repeating: 1, count: profile.saltCount)
      )
      for wrong in [
        SRTPMasterKey(key: [], salt: []), SRTPMasterKey(key: [1, 2, 3], salt: [4]),
        SRTPMasterKey(
          key: Array(repeating: 1, count: profile.keyCount),
          salt: Array(repeating: 1, count: profile.saltCount + 1)),
      ] {
        #expect(throws: SRTPError.wrongKeyLength) {
          try SRTPKeys(profile: profile, local: right, remote: wrong)
        }
        #expect(throws: SRTPError.wrongKeyLength) {
          try SRTPKeys(profile: profile, local: wrong, remote: right)
        }
      }
    }
  }

  @Test(arguments: SRTPProfile.allCases) func refusesWhatIsNoPacket(profile: SRTPProfile) throws {
    let (one, other) = try Self.pair(profile)
    let sealed = try Self.protected(one, Self.packet(1))
    for count in 0..<sealed.count {
      let error = Self.unprotectionError(other, Array(sealed.prefix(count)))
      #expect(error == (count < 12 + profile.tagCount ? .malformed : .authentication))
    }
    var control = Self.report
    try one.protectRTCP(&control)
    #expect(control.count == Self.report.count + profile.tagCount + 4)
    for count in 0..<control.count {
      var packet = Array(control.prefix(count))
      #expect(Self.error { () throws(SRTPError) in try other.unprotectRTCP(&packet) } == .malformed)
    }
    let broken: [[UInt8]] = [
      [], [0x80], [UInt8](repeating: 0, count: 40), [0x8f] + Array(Self.packet(1).dropFirst()),
      [0x90] + Array(Self.packet(1).dropFirst()),
      [0x90] + Array(Self.packet(1)[1..<12]) + [0xbe, 0xde, 0xff, 0xff, 1, 2, 3, 4],
    ]
    for bad in broken {
      var packet = bad
      #expect(Self.error { () throws(SRTPError) in try one.protect(&packet) } == .malformed)
      #expect(packet.isEmpty)
      packet = bad
      #expect(Self.error { () throws(SRTPError) in try other.unprotect(&packet) } == .malformed)
    }
    var huge = Self.packet(1, payload: Array(repeating: 0, count: 70_000))
    #expect(Self.error { () throws(SRTPError) in try one.protect(&huge) } == .malformed)
    #expect(Self.unprotectionError(other, sealed) == nil, "the right one still is accepted")
  }

  @Test(arguments: SRTPProfile.allCases) func refusesEveryChangedBit(profile: SRTPProfile) throws {
    let (one, other) = try Self.pair(profile)
    let sealed = try Self.protected(one, Self.packet(1))
    for bit in 0..<sealed.count * 8 {
      var changed = sealed
      changed[bit / 8] ^= 1 << (bit % 8)
      let error = Self.unprotectionError(other, changed)
      #expect(error == .authentication || (bit < 8 && error == .malformed), "bit \(bit)")
    }
    #expect(Self.unprotectionError(other, sealed) == nil)
  }

  @Test(arguments: SRTPProfile.allCases) func refusesOwnPacketsAndOthersKeys(profile: SRTPProfile) throws {
    let (one, other) = try Self.pair(profile)
    let sealed = try Self.protected(one, Self.packet(1))
    #expect(Self.unprotectionError(one, sealed) == .authentication, "what comes back from a mirror")
    let stranger = SRTPMasterKey(
      key: Array(repeating: 9, count: profile.keyCount), salt: Array(repeating: 9, count: profile.saltCount))
    let context = try SRTPContext(keys: SRTPKeys(profile: profile, local: stranger, remote: stranger))
    #expect(Self.unprotectionError(context, sealed) == .authentication)
    var control = sealed
    #expect(Self.error { () throws(SRTPError) in try other.unprotectRTCP(&control) } == .authentication)
    #expect(Self.unprotectionError(other, sealed) == nil)
  }

  @Test(arguments: SRTPProfile.allCases) func refusesReplayedAndOldPackets(profile: SRTPProfile) throws {
    let (one, other) = try Self.pair(profile)
    var sealed: [[UInt8]] = []
    for number in 0..<SRTPContext.replayWindow + 200 {
      sealed.append(try Self.protected(one, Self.packet(number)))
    }
    let newest = sealed.count - 1
    #expect(Self.unprotectionError(other, sealed[newest]) == nil)
    #expect(Self.unprotectionError(other, sealed[newest]) == .replayed)
    let oldest = newest - SRTPContext.replayWindow + 1
    #expect(Self.unprotectionError(other, sealed[oldest]) == nil, "late, and within the window")
    #expect(Self.unprotectionError(other, sealed[oldest]) == .replayed)
    #expect(Self.unprotectionError(other, sealed[oldest - 1]) == .old)
    #expect(Self.unprotectionError(other, sealed[0]) == .old)
    for number in stride(from: newest - 1, to: newest - 100, by: -1) {
      #expect(Self.unprotectionError(other, sealed[number]) == nil)
      #expect(Self.unprotectionError(other, sealed[number]) == .replayed)
    }
  }

  @Test(arguments: SRTPProfile.allCases) func refusesReplayedReports(profile: SRTPProfile) throws {
    let (one, other) = try Self.pair(profile)
    var sealed: [[UInt8]] = []
    for _ in 0..<200 {
      var packet = Self.report
      try one.protectRTCP(&packet)
      sealed.append(packet)
    }
    for (index, error) in [(199, nil), (199, .replayed), (150, nil), (150, .replayed), (0, .old)]
      as [(Int, SRTPError?)]
    {
      var packet = sealed[index]
      #expect(Self.error { () throws(SRTPError) in try other.unprotectRTCP(&packet) } == error)
      if error == nil { #expect(packet == Self.report) }
    }
  }

  @Test func aSequenceNumberIsNotUsedTwice() throws {
    let (one, _) = try Self.pair(.aeadAES128GCM)
    _ = try Self.protected(one, Self.packet(1))
    var again = Self.packet(1, payload: [9, 9, 9])
    #expect(Self.error { () throws(SRTPError) in try one.protect(&again) } == .replayed)
    #expect(again.isEmpty, "in Galois/counter mode the second one would reveal both")
  }

  @Test func onlyAuthenticSourcesCount() throws {
    let (one, other) = try Self.pair(.aeadAES128GCM)
    for ssrc in 0..<1000 as Range<UInt32> {
      var forged = Self.packet(1, ssrc: ssrc) + [UInt8](repeating: 0, count: 16)
      #expect(Self.error { () throws(SRTPError) in try other.unprotect(&forged) } == .authentication)
    }
    for ssrc in 0..<UInt32(SRTPContext.mostSources) {
      #expect(Self.unprotectionError(other, try Self.protected(one, Self.packet(1, ssrc: ssrc))) == nil)
    }
    var further = Self.packet(1, ssrc: 5000)
    #expect(Self.error { () throws(SRTPError) in try one.protect(&further) } == .tooManySources)
    #expect(Self.unprotectionError(other, try Self.protected(one, Self.packet(2, ssrc: 3))) == nil)
  }

  @Test(arguments: SRTPProfile.allCases) func randomBytesAreRefused(profile: SRTPProfile) throws {
    let (one, other) = try Self.pair(profile)
    var random = SeededGenerator(seed: 3711)
    for _ in 1...3000 {
      var bytes = (0..<Int.random(in: 0..<80, using: &random)).map { _ in
        UInt8.random(in: .min ... .max, using: &random)
      }
      if !bytes.isEmpty { bytes[0] = bytes[0] & 0x3f | 0x80 }
      var copy = bytes
      let error = Self.error { () throws(SRTPError) in try other.unprotect(&bytes) }
      #expect(error == .malformed || error == .authentication)
      let controlError = Self.error { () throws(SRTPError) in try other.unprotectRTCP(&copy) }
      #expect(controlError == .malformed || controlError == .authentication)
    }
    #expect(Self.unprotectionError(other, try Self.protected(one, Self.packet(1))) == nil)
  }

  // MARK: What works

  @Test(arguments: SRTPProfile.allCases) func sequenceNumbersWrap(profile: SRTPProfile) throws {
    let (one, other) = try Self.pair(profile)
    var random = SeededGenerator(seed: 65536)
    var late: [(Int, [UInt8])] = []
    // Twice around, with loss and with packets that come late over the wraps.
    for number in 30_000..<200_000 where number % 50 == 0 || number % 65536 < 40 || number % 65536 > 65500 {
      let sealed = try Self.protected(one, Self.packet(number))
      switch Int.random(in: 0..<10, using: &random) {
      case 0: continue
      case 1: late.append((number, sealed))
      default: #expect(Self.unprotectionError(other, sealed) == nil, "\(number)")
      }
      while let (first, sealed) = late.first, number - first >= 30 {
        #expect(Self.unprotectionError(other, sealed) == nil, "late \(first)")
        late.removeFirst()
      }
    }
  }

  @Test(arguments: SRTPProfile.allCases) func sourcesChangeAndComeBack(profile: SRTPProfile) throws {
    let (one, other) = try Self.pair(profile)
    for (number, ssrc) in [(100, 1), (40_000, 2), (101, 1), (5, 3), (40_001, 2), (102, 1)] as [(Int, UInt32)]
    {
      var packet = try Self.protected(one, Self.packet(number, ssrc: ssrc))
      try other.unprotect(&packet)
      #expect(packet == Self.packet(number, ssrc: ssrc))
      #expect(Self.unprotectionError(other, packet) != nil)
    }
  }

  @Test(arguments: SRTPProfile.allCases) func packetsWithExtensionsAndContributorsPass(profile: SRTPProfile)
    throws
  {
    let (one, other) = try Self.pair(profile)
    let header: [UInt8] = [
      0x92, 111, 0, 1, 0, 0, 0, 9, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 2, 0xbe, 0xde, 0, 1, 0x10, 5, 0, 0,
    ]
    let plain = header + [1, 2, 3]
    var packet = plain
    try one.protect(&packet)
    #expect(Array(packet.prefix(header.count)) == header && packet[header.count...].prefix(3) != [1, 2, 3])
    try other.unprotect(&packet)
    #expect(packet == plain)
  }

  @Test(arguments: SRTPProfile.allCases) func nothingIsAllocatedWhereThereIsRoom(profile: SRTPProfile) throws
  {
    let (one, other) = try Self.pair(profile)
    var packet: [UInt8] = []
    packet.reserveCapacity(1500)
    packet.append(contentsOf: Self.packet(1, payload: Array(repeating: 7, count: 160)))
    let place = packet.withUnsafeBufferPointer { $0.baseAddress }
    try one.protect(&packet)
    #expect(packet.withUnsafeBufferPointer { $0.baseAddress } == place)
    try other.unprotect(&packet)
    #expect(packet.withUnsafeBufferPointer { $0.baseAddress } == place)
  }
}
