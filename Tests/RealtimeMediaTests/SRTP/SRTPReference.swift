import Crypto
import CryptoExtras
import RealtimeMedia

/// SRTP by the RFCs' words and another library, to compare with.
struct SRTPReference {
  /// Labels of RFC 3711 section 4.3.2.
  enum Label: UInt8 {
    case rtpKey = 0
    case rtpAuthentication = 1
    case rtpSalt = 2
    case rtcpKey = 3
    case rtcpAuthentication = 4
    case rtcpSalt = 5
  }

  var profile: SRTPProfile
  var key: [UInt8]
  var salt: [UInt8]

  static func keystream(key: [UInt8], initial: [UInt8], count: Int) throws -> [UInt8] {
    let zeros = [UInt8](repeating: 0, count: count)
    let nonce = try AES._CTR.Nonce(nonceBytes: initial)
    return Array(try AES._CTR.encrypt(zeros, using: SymmetricKey(data: key), nonce: nonce))
  }

  /// RFC 3711 section 4.3.3 and B.3; salts of 12 bytes are continued by zeros (RFC 7714 section 11).
  func derive(_ label: Label, count: Int) throws -> [UInt8] {
    var input = self.salt + [UInt8](repeating: 0, count: 16 - self.salt.count)
    input[7] ^= label.rawValue
    return try Self.keystream(key: self.key, initial: input, count: count)
  }

  private static func xor(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] { zip(one, other).map { $0 ^ $1 } }

  private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  private static func seal(
    key: [UInt8], nonce: [UInt8], header: [UInt8], payload: [UInt8], with additional: [UInt8]
  ) throws -> [UInt8] {
    let box = try AES.GCM.seal(
      payload, using: SymmetricKey(data: key), nonce: AES.GCM.Nonce(data: nonce),
      authenticating: header + additional)
    return header + box.ciphertext + box.tag
  }

  /// RFC 7714 section 8, with session keys.
  static func gcmPacket(key: [UInt8], salt: [UInt8], packet: [UInt8], rollover: UInt32) throws -> [UInt8] {
    let nonce = Self.xor([0, 0] + packet[8..<12] + Self.bytes(rollover) + packet[2..<4], salt)
    return try Self.seal(
      key: key, nonce: nonce, header: Array(packet.prefix(12)), payload: Array(packet.dropFirst(12)), with: []
    )
  }

  /// RFC 7714 section 9, with session keys.
  static func gcmControlPacket(key: [UInt8], salt: [UInt8], packet: [UInt8], index: UInt32) throws -> [UInt8]
  {
    let nonce = Self.xor([0, 0] + packet[4..<8] + [0, 0] + Self.bytes(index), salt)
    let word = Self.bytes(index | 1 << 31)
    let sealed = try Self.seal(
      key: key, nonce: nonce, header: Array(packet.prefix(8)), payload: Array(packet.dropFirst(8)), with: word
    )
    return sealed + word
  }

  private static func counterMode(
    key: [UInt8], salt: [UInt8], ssrc: ArraySlice<UInt8>, index: UInt64, payload: [UInt8]
  )
    throws -> [UInt8]
  {
    let place = [0, 0, 0, 0] + Array(ssrc) + Self.bytes(index).suffix(6) + [0, 0]
    return Self.xor(
      payload, try Self.keystream(key: key, initial: Self.xor(salt + [0, 0], place), count: payload.count))
  }

  private static func tag(_ key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
    Array(HMAC<Insecure.SHA1>.authenticationCode(for: bytes, using: SymmetricKey(data: key)).prefix(10))
  }

  /// A packet with a header of 12 bytes.
  func protect(_ packet: [UInt8], rollover: UInt32) throws -> [UInt8] {
    let key = try self.derive(.rtpKey, count: self.profile.keyCount)
    let salt = try self.derive(.rtpSalt, count: self.profile.saltCount)
    guard self.profile == .aes128CMSHA1_80 else {
      return try Self.gcmPacket(key: key, salt: salt, packet: packet, rollover: rollover)
    }
    let index = UInt64(rollover) << 16 | UInt64(packet[2]) << 8 | UInt64(packet[3])
    let encrypted =
      try Array(packet.prefix(12))
      + Self.counterMode(
        key: key, salt: salt, ssrc: packet[8..<12], index: index, payload: Array(packet.dropFirst(12)))
    return encrypted
      + Self.tag(try self.derive(.rtpAuthentication, count: 20), encrypted + Self.bytes(rollover))
  }

  /// A compound packet.
  func protectRTCP(_ packet: [UInt8], index: UInt32) throws -> [UInt8] {
    let key = try self.derive(.rtcpKey, count: self.profile.keyCount)
    let salt = try self.derive(.rtcpSalt, count: self.profile.saltCount)
    guard self.profile == .aes128CMSHA1_80 else {
      return try Self.gcmControlPacket(key: key, salt: salt, packet: packet, index: index)
    }
    let encrypted =
      try Array(packet.prefix(8))
      + Self.counterMode(
        key: key, salt: salt, ssrc: packet[4..<8], index: UInt64(index), payload: Array(packet.dropFirst(8)))
      + Self.bytes(index | 1 << 31)
    return encrypted + Self.tag(try self.derive(.rtcpAuthentication, count: 20), encrypted)
  }
}
