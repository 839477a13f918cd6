import Crypto

extension STUNMessage {
  /// The message as bytes.
  ///
  /// - Parameters:
  ///   - integrity: The key that proves who sent it, if it is to be proved.
  ///   - fingerprint: Whether to add FINGERPRINT, which ICE demands (RFC 8445 section 7.1).
  public func encoded(integrity: Integrity? = nil, fingerprint: Bool = false) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(128)
    let method = self.method.rawValue
    // The class has bits 4 and 8 (RFC 8489 section 5, figure 3).
    let type =
      method & 0xf | (method & 0x70) << 1 | (method & 0xf80) << 2
      | (self.kind.rawValue & 1) << 4 | (self.kind.rawValue & 2) << 7
    bytes.append(bigEndian: type)
    bytes.append(bigEndian: UInt16(0))
    bytes.append(bigEndian: Self.cookie)
    bytes.append(contentsOf: self.transaction.bytes)
    for attribute in self.attributes {
      let start = bytes.count
      bytes.append(bigEndian: attribute.type)
      bytes.append(bigEndian: UInt16(0))
      attribute.append(to: &bytes, transaction: self.transaction)
      let length = bytes.count - start - 4
      let padding = (4 - length % 4) % 4
      // What the 16 bits of the length cannot say is left out.
      guard bytes.count + padding + 64 <= 0xffff else {
        bytes.removeSubrange(start...)
        continue
      }
      bytes.set(bigEndian: UInt16(length), at: start + 2)
      bytes.append(contentsOf: repeatElement(0, count: padding))
    }
    switch integrity {
    case .sha1(let key):
      bytes.set(bigEndian: UInt16(bytes.count - Self.headerLength + 24), at: 2)
      let code = HMAC<Insecure.SHA1>.authenticationCode(for: bytes, using: SymmetricKey(data: key))
      bytes += [0x00, 0x08, 0, 20]
      bytes.append(contentsOf: code)
    case .sha256(let key):
      bytes.set(bigEndian: UInt16(bytes.count - Self.headerLength + 36), at: 2)
      let code = HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key))
      bytes += [0x00, 0x1c, 0, 32]
      bytes.append(contentsOf: code)
    case nil: break
    }
    if fingerprint {
      bytes.set(bigEndian: UInt16(bytes.count - Self.headerLength + 8), at: 2)
      let code = CRC32.checksum(bytes[...]) ^ Self.fingerprintMask
      bytes += [0x80, 0x28, 0, 4]
      bytes.append(bigEndian: code)
    }
    bytes.set(bigEndian: UInt16(bytes.count - Self.headerLength), at: 2)
    return bytes
  }

  /// The key of long-term credentials, as TURN has them: MD5 of `user:realm:password` (RFC 8489 section 9.2.2).
  ///
  /// The texts have to be such that SASLprep and OpaqueString do not change them.
  public static func longTermKey(username: String, realm: String, password: String) -> [UInt8] {
    Array(Insecure.MD5.hash(data: Array("\(username):\(realm):\(password)".utf8)))
  }
}

/// A message that came from outside, with what is needed to check who sent it.
public struct ReceivedSTUNMessage: Hashable, Sendable {
  /// The message.
  public let message: STUNMessage
  /// Types of attributes that demand to be understood and are not; a request with one is answered with 420
  /// (RFC 8489 section 6.3.1).
  public let unknownRequired: [UInt16]
  /// Whether a right FINGERPRINT was there.
  public let hasFingerprint: Bool
  private let bytes: [UInt8]
  private let sha1Offset: Int?
  private let sha256Offset: Int?

  /// Whether there is an attribute of integrity at all.
  public var hasIntegrity: Bool { self.sha1Offset != nil || self.sha256Offset != nil }

  /// Reads a datagram.
  ///
  /// Attributes after those of integrity are ignored, as RFC 8489 section 14.5 demands, since anybody could have
  /// added them.
  ///
  /// - Throws: ``STUNError``.
  public init(parsing bytes: [UInt8]) throws(STUNError) {
    guard let first = bytes.first else { throw .wrongLength }
    guard first < 0x40 else { throw .notSTUN }
    var reader = ByteReader(bytes[...])
    guard let type = reader.uint16(), let length = reader.uint16(), let cookie = reader.uint32(),
      let high = reader.uint32(), let low = reader.uint64()
    else { throw .wrongLength }
    guard cookie == STUNMessage.cookie else { throw .notSTUN }
    guard length % 4 == 0, Int(length) == reader.left else { throw .wrongLength }
    let transaction = STUNMessage.TransactionID(high: high, low: low)
    var attributes: [STUNAttribute] = []
    var unknown: [UInt16] = []
    var (sha1Offset, sha256Offset): (Int?, Int?) = (nil, nil)
    var hasFingerprint = false
    while !reader.isAtEnd {
      let offset = reader.position
      guard let type = reader.uint16(), let length = reader.uint16(), let value = reader.slice(Int(length)),
        reader.slice((4 - Int(length) % 4) % 4) != nil
      else { throw .truncatedAttribute(offset: offset) }
      guard !hasFingerprint else { continue }
      switch type {
      case 0x0008 where sha1Offset == nil && sha256Offset == nil:
        guard length == 20 else { throw .malformedAttribute(type: type, offset: offset) }
        sha1Offset = offset
      case 0x001c where sha256Offset == nil:
        guard length >= 16, length <= 32, length % 4 == 0 else {
          throw .malformedAttribute(type: type, offset: offset)
        }
        sha256Offset = offset
      case 0x8028:
        guard value.count == 4, reader.isAtEnd else {
          throw .malformedAttribute(type: type, offset: offset)
        }
        let code = value.reduce(0) { $0 << 8 | UInt32($1) }
        guard code == CRC32.checksum(bytes[..<offset]) ^ STUNMessage.fingerprintMask else {
          throw .wrongFingerprint
        }
        hasFingerprint = true
      case _ where sha1Offset != nil || sha256Offset != nil: continue
      default:
        guard let attribute = STUNAttribute(type: type, value: value, transaction: transaction) else {
          throw .malformedAttribute(type: type, offset: offset)
        }
        if case .unknown = attribute, attribute.isComprehensionRequired, !unknown.contains(type) {
          unknown.append(type)
        }
        attributes.append(attribute)
      }
    }
    let method = type & 0xf | type >> 1 & 0x70 | type >> 2 & 0xf80
    guard let kind = STUNMessage.Class(rawValue: type >> 4 & 1 | type >> 7 & 2) else { throw .notSTUN }
    self.message = STUNMessage(
      kind, .init(rawValue: method), transaction: transaction, attributes: attributes)
    self.unknownRequired = unknown
    self.hasFingerprint = hasFingerprint
    self.bytes = bytes
    self.sha1Offset = sha1Offset
    self.sha256Offset = sha256Offset
  }

  /// Whether the message was made with a key, and its attributes were not changed; in constant time.
  ///
  /// A message without an attribute of integrity of this kind is not authentic.
  public func isAuthentic(_ integrity: STUNMessage.Integrity) -> Bool {
    switch integrity {
    case .sha1(let key):
      guard let offset = self.sha1Offset else { return false }
      let (covered, code) = self.covered(upTo: offset, length: 20)
      return HMAC<Insecure.SHA1>.isValidAuthenticationCode(
        code, authenticating: covered, using: SymmetricKey(data: key))
    case .sha256(let key):
      guard let offset = self.sha256Offset else { return false }
      let length = Int(self.bytes[offset + 2]) << 8 | Int(self.bytes[offset + 3])
      let (covered, code) = self.covered(upTo: offset, length: length)
      let expected = HMAC<SHA256>.authenticationCode(for: covered, using: SymmetricKey(data: key))
      // A truncated code is compared to the beginning of the whole one (RFC 8489 section 14.6).
      return zip(code, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
  }

  /// What a code covers: all bytes before its attribute, with a length that ends after it; and the code.
  private func covered(upTo offset: Int, length: Int) -> ([UInt8], [UInt8]) {
    var covered = Array(self.bytes[..<offset])
    covered.set(bigEndian: UInt16(truncatingIfNeeded: offset + 4 + length - STUNMessage.headerLength), at: 2)
    return (covered, Array(self.bytes[(offset + 4)..<(offset + 4 + length)]))
  }
}

/// The checksum of ITU V.42, which FINGERPRINT uses (RFC 8489 section 14.7).
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 0 ? value >> 1 : 0xedb8_8320 ^ value >> 1 }
  }

  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    ~bytes.reduce(0xffff_ffff) { $0 >> 8 ^ Self.table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
  }
}

/// The first bytes of data on a channel of TURN (RFC 8656 section 12.4).
public enum ChannelData {
  /// Appends a header and data; over TCP and TLS it is padded to a multiple of four.
  ///
  /// - Returns: False, with nothing appended, if the data is longer than 65,535 bytes.
  public static func append(
    channel: UInt16, _ data: ArraySlice<UInt8>, isStream: Bool, to bytes: inout [UInt8]
  ) -> Bool {
    guard data.count <= 0xffff else { return false }
    bytes.append(bigEndian: channel)
    bytes.append(bigEndian: UInt16(data.count))
    bytes.append(contentsOf: data)
    if isStream { bytes.append(contentsOf: repeatElement(0, count: (4 - data.count % 4) % 4)) }
    return true
  }

  /// Reads a datagram: channel 0x4000 to 0x4fff, length, data and perhaps padding; `nil` if it is none.
  public static func parse(_ bytes: ArraySlice<UInt8>) -> (channel: UInt16, data: ArraySlice<UInt8>)? {
    var reader = ByteReader(bytes)
    guard let channel = reader.uint16(), (0x4000...0x4fff).contains(channel), let length = reader.uint16(),
      let data = reader.slice(Int(length))
    else { return nil }
    return (channel, data)
  }
}
