import RealtimeMedia
import Testing
import VoiceTesting

/// The vectors of RFC 3711 appendix B and RFC 7714 sections 16 and 17 hold for the reference, and libsrtp2 agrees with it.
@Suite struct SRTPVectorTests {
  static func bytes(_ text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  @Test func keysAreDerivedAsInRFC3711() throws {
    let keystream = try SRTPReference.keystream(
      key: Self.bytes("2B7E151628AED2A6ABF7158809CF4F3C"),
      initial: Self.bytes("F0F1F2F3F4F5F6F7F8F9FAFBFCFD0000"),
      count: 48)
    #expect(
      keystream
        == Self.bytes(
          "E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB 41E95B3BB0A2E8DD477901E4FCA894C0"
        ))
    let reference = SRTPReference(
      profile: .aes128CMSHA1_80, key: Self.bytes("E1F97A0D3E018BE0D64FA32C06DE4139"),
      salt: Self.bytes("0EC675AD498AFEEBB6960B3AABE6"))
    #expect(try reference.derive(.rtpKey, count: 16) == Self.bytes("C61E7A93744F39EE10734AFE3FF7A087"))
    #expect(try reference.derive(.rtpSalt, count: 14) == Self.bytes("30CBBC08863D8C85D49DB34A9AE1"))
    #expect(
      try reference.derive(.rtpAuthentication, count: 20)
        == Self.bytes("CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4"))
  }

  @Test func packetsAreSealedAsInRFC7714() throws {
    let salt = Self.bytes("517569642070726f2071756f")
    let packet = Self.bytes(
      """
      8040f17b 8041f8d3 5501a0b2 47616c6c 69612065 7374206f 6d6e6973 20646976 69736120 696e2070 61727465 73207472 6573
      """)
    let sealed = try SRTPReference.gcmPacket(
      key: Self.bytes("000102030405060708090a0b0c0d0e0f"), salt: salt, packet: packet, rollover: 0)
    #expect(
      sealed
        == Self.bytes(
          """
          8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b 36de3adf
          8833899d 7f27beb1 6a9152cf 765ee439 0cce
          """))
    let control = try SRTPReference.gcmControlPacket(
      key: Self.bytes("000102030405060708090a0b0c0d0e0f"), salt: salt,
      packet: Self.bytes(
        """
        81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef deadbeef
        deadbeef
        """), index: 0x5d4)
    #expect(
      control
        == Self.bytes(
          """
          81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46 86303ded
          0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4
          """))
  }

  @Test(arguments: SRTPProfile.allCases) func packetsAreThoseOfTheReference(profile: SRTPProfile) throws {
    var random = SeededGenerator(seed: 7714)
    for _ in 0..<20 {
      let bytes = { (count: Int) in (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) } }
      let reference = SRTPReference(
        profile: profile, key: bytes(profile.keyCount), salt: bytes(profile.saltCount))
      let key = SRTPMasterKey(key: reference.key, salt: reference.salt)
      let context = try SRTPContext(keys: SRTPKeys(profile: profile, local: key, remote: key))
      let payload = bytes(Int.random(in: 0..<300, using: &random))
      // Up to the first wrap of the sequence number and beyond.
      for (number, rollover) in [(0x7000, 0), (0x7001, 0), (0xf000, 0), (0xffff, 0), (0, 1), (0x8000, 1)]
        as [(UInt16, UInt32)]
      {
        let plain: [UInt8] =
          [0x80, 111, UInt8(number >> 8), UInt8(number & 0xff), 0, 0, 0, 9, 1, 2, 3, 4] + payload
        var packet = plain
        try context.protect(&packet)
        let expected = try reference.protect(plain, rollover: rollover)
        #expect(packet == expected)
        try context.unprotect(&packet)
        #expect(packet == plain)
      }
      for index in 1...3 as ClosedRange<UInt32> {
        let plain: [UInt8] = [0x80, 201, 0, 1, 1, 2, 3, 4] + bytes(4 * Int(index))
        var packet = plain
        try context.protectRTCP(&packet)
        let expected = try reference.protectRTCP(plain, index: index)
        #expect(packet == expected)
        try context.unprotectRTCP(&packet)
        #expect(packet == plain)
      }
    }
  }
}
