/// A message of STUN (RFC 8489) or TURN (RFC 8656).
///
/// ```swift
/// let check = STUNMessage(.request, .binding, transaction: id, attributes: [.username("there:here")])
/// let bytes = check.encoded(integrity: .sha1(key), fingerprint: true)
/// ```
public struct STUNMessage: Hashable, Sendable {
  /// What a message is (RFC 8489 section 5).
  public enum Class: UInt16, Hashable, Sendable, CaseIterable {
    case request = 0b00
    case indication = 0b01
    case success = 0b10
    case error = 0b11
  }

  /// What a message is about: 12 bits.
  public struct Method: Hashable, Sendable {
    /// The number, from 0 to 4095.
    public let rawValue: UInt16

    /// Creates a method; bits above the twelfth are dropped.
    public init(rawValue: UInt16) {
      self.rawValue = rawValue & 0xfff
    }

    /// RFC 8489 section 18.2.
    public static let binding = Self(rawValue: 0x001)
    /// RFC 8656 section 17.
    public static let allocate = Self(rawValue: 0x003)
    /// RFC 8656 section 17.
    public static let refresh = Self(rawValue: 0x004)
    /// RFC 8656 section 17.
    public static let send = Self(rawValue: 0x006)
    /// RFC 8656 section 17.
    public static let data = Self(rawValue: 0x007)
    /// RFC 8656 section 17.
    public static let createPermission = Self(rawValue: 0x008)
    /// RFC 8656 section 17.
    public static let channelBind = Self(rawValue: 0x009)
  }

  /// What joins an answer to its request: 96 random bits (RFC 8489 section 5).
  public struct TransactionID: Hashable, Sendable {
    /// The first 32 bits.
    public let high: UInt32
    /// The other 64 bits.
    public let low: UInt64

    /// Creates an id.
    public init(high: UInt32, low: UInt64) {
      self.high = high
      self.low = low
    }

    /// Draws an id; the generator has to be fit for secrets outside of tests.
    public init(using random: inout some RandomNumberGenerator) {
      self.init(high: random.next(), low: random.next())
    }

    /// The twelve bytes in network order.
    public var bytes: [UInt8] { UInt64(self.high).bigEndianBytes.suffix(4) + self.low.bigEndianBytes }
  }

  /// What proves who sent a message.
  public enum Integrity: Hashable, Sendable {
    /// MESSAGE-INTEGRITY, HMAC-SHA1 with this key (RFC 8489 section 14.5).
    case sha1([UInt8])
    /// MESSAGE-INTEGRITY-SHA256 with this key (RFC 8489 section 14.6).
    case sha256([UInt8])
  }

  /// Request, indication, success or error.
  public var kind: Class
  /// What it is about.
  public var method: Method
  /// What joins an answer to its request.
  public var transaction: TransactionID
  /// The attributes in their order, but for those of integrity and the fingerprint.
  public var attributes: [STUNAttribute]

  /// Creates a message.
  public init(
    _ kind: Class, _ method: Method, transaction: TransactionID, attributes: [STUNAttribute] = []
  ) {
    self.kind = kind
    self.method = method
    self.transaction = transaction
    self.attributes = attributes
  }

  /// An answer to this message.
  public func answer(_ kind: Class, attributes: [STUNAttribute] = []) -> STUNMessage {
    STUNMessage(kind, self.method, transaction: self.transaction, attributes: attributes)
  }

  /// The key of short-term credentials, as ICE has them (RFC 8489 section 9.1.1).
  ///
  /// - Parameter password: A text that SASLprep does not change, as passwords of ICE are.
  public static func shortTermKey(password: String) -> [UInt8] { Array(password.utf8) }

  static let cookie: UInt32 = 0x2112_a442
  static let fingerprintMask: UInt32 = 0x5354_554e
  static let headerLength = 20
}

/// Why bytes are no STUN message that can be used (RFC 8489 section 6.3).
public enum STUNError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There are fewer bytes than the header or the length says, or more.
  case wrongLength
  /// The first two bits are not zero, or the magic cookie is missing.
  case notSTUN
  /// An attribute goes beyond the end, at this byte.
  case truncatedAttribute(offset: Int)
  /// A known attribute has a value that it cannot have, at this byte.
  case malformedAttribute(type: UInt16, offset: Int)
  /// The fingerprint is wrong: it is something else, or broken.
  case wrongFingerprint

  public var description: String {
    switch self {
    case .wrongLength: "The length is wrong."
    case .notSTUN: "It is not STUN."
    case .truncatedAttribute(let offset): "The attribute at byte \(offset) goes beyond the end."
    case .malformedAttribute(let type, let offset):
      "The attribute 0x\(String(type, radix: 16)) at byte \(offset) has a wrong value."
    case .wrongFingerprint: "The fingerprint is wrong."
    }
  }
}
