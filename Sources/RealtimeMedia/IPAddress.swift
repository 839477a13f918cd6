/// An address of IPv4 or IPv6, without a port or a zone.
public enum IPAddress: Hashable, Sendable, CustomStringConvertible {
  /// Four bytes, the first one highest.
  case v4(UInt32)
  /// Sixteen bytes, the first one highest.
  case v6(high: UInt64, low: UInt64)

  /// Creates an address from 4 or 16 bytes in network order; `nil` for any other number.
  public init?(bytes: some Collection<UInt8>) {
    switch bytes.count {
    case 4: self = .v4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
    case 16:
      self = .v6(
        high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
        low: bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) })
    default: return nil
    }
  }

  /// Reads an address: four decimal numbers without leading zeros, or RFC 4291 section 2.2.
  public init?(_ text: String) {
    if let address = Self.parseV4(Array(text.utf8)[...]) {
      self = .v4(address)
    } else if let groups = Self.parseV6(Array(text.utf8)) {
      self = .v6(
        high: groups.prefix(4).reduce(0) { $0 << 16 | UInt64($1) },
        low: groups.dropFirst(4).reduce(0) { $0 << 16 | UInt64($1) })
    } else {
      return nil
    }
  }

  /// The bytes in network order.
  public var bytes: [UInt8] {
    switch self {
    case .v4(let value): (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    case .v6(let high, let low):
      [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
    }
  }

  /// Whether it is IPv6.
  public var isV6: Bool { if case .v6 = self { true } else { false } }

  /// Whether it is 127.0.0.0/8 or ::1.
  public var isLoopback: Bool {
    switch self {
    case .v4(let value): value >> 24 == 127
    case .v6(let high, let low): high == 0 && low == 1
    }
  }

  /// Whether it is valid on one link only: 169.254.0.0/16 or fe80::/10.
  public var isLinkLocal: Bool {
    switch self {
    case .v4(let value): value >> 16 == 0xa9fe
    case .v6(let high, _): high >> 54 == 0x3fa
    }
  }

  /// The address as RFC 5952 recommends.
  public var description: String {
    switch self {
    case .v4: return self.bytes.map(String.init).joined(separator: ".")
    case .v6(let high, let low):
      let groups = [high, low].flatMap { half in
        (0..<4).map { UInt16(truncatingIfNeeded: half >> (48 - 16 * $0)) }
      }
      var best = 0..<0
      var start = 0
      for index in 0...8 where index == 8 || groups[index] != 0 {
        if index - start > max(1, best.count) { best = start..<index }
        start = index + 1
      }
      let texts = groups.map { String($0, radix: 16) }
      guard !best.isEmpty else { return texts.joined(separator: ":") }
      return texts[..<best.lowerBound].joined(separator: ":") + "::"
        + texts[best.upperBound...].joined(separator: ":")
    }
  }

  private static func parseV4(_ text: ArraySlice<UInt8>) -> UInt32? {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var value: UInt32 = 0
    for part in parts {
      guard (1...3).contains(part.count), part.allSatisfy(\.isDigit) else { return nil }
      guard part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
      let number = part.reduce(0) { $0 * 10 + UInt32($1 - UInt8(ascii: "0")) }
      guard number < 256 else { return nil }
      value = value << 8 | number
    }
    return value
  }

  private static func parseV6(_ text: [UInt8]) -> [UInt16]? {
    guard (2...45).contains(text.count) else { return nil }
    let colon = UInt8(ascii: ":")
    // The place of "::", of which there is at most one.
    let gap = zip(text, text.dropFirst()).enumerated().first { $0.element == (colon, colon) }?.offset
    guard let gap else {
      guard let groups = Self.groups(text[...]), groups.count == 8 else { return nil }
      return groups
    }
    guard let head = gap == 0 ? [] : Self.groups(text[..<gap], mayEndInV4: false),
      let tail = gap + 2 == text.count ? [] : Self.groups(text[(gap + 2)...]), head.count + tail.count < 8
    else { return nil }
    return head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
  }

  private static func groups(_ text: ArraySlice<UInt8>, mayEndInV4: Bool = true) -> [UInt16]? {
    let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    var groups: [UInt16] = []
    for (index, part) in parts.enumerated() {
      if mayEndInV4, index == parts.count - 1, let address = Self.parseV4(part) {
        groups += [UInt16(address >> 16), UInt16(address & 0xffff)]
        continue
      }
      guard (1...4).contains(part.count), part.allSatisfy(\.isHexDigit),
        let group = UInt16(String(decoding: part, as: UTF8.self), radix: 16)
      else { return nil }
      groups.append(group)
    }
    return groups
  }
}

/// An address with a port: one end of a path.
public struct TransportAddress: Hashable, Sendable, CustomStringConvertible {
  /// The address.
  public var ip: IPAddress
  /// The port.
  public var port: UInt16

  /// Creates an address.
  public init(_ ip: IPAddress, port: UInt16) {
    self.ip = ip
    self.port = port
  }

  public var description: String { self.ip.isV6 ? "[\(self.ip)]:\(self.port)" : "\(self.ip):\(self.port)" }
}

extension UInt8 {
  var isDigit: Bool { UInt8(ascii: "0") <= self && self <= UInt8(ascii: "9") }
  var isLetter: Bool { UInt8(ascii: "a") <= self | 0x20 && self | 0x20 <= UInt8(ascii: "z") }
  var isAlphanumeric: Bool { self.isDigit || self.isLetter }
  var isHexDigit: Bool {
    self.isDigit || UInt8(ascii: "a") <= self | 0x20 && self | 0x20 <= UInt8(ascii: "f")
  }
  /// RFC 8839 section 5.1: ice-char.
  var isICECharacter: Bool { self.isAlphanumeric || self == UInt8(ascii: "+") || self == UInt8(ascii: "/") }
  /// RFC 8866 section 9: token-char.
  var isTokenCharacter: Bool {
    switch self {
    case 0x21, 0x23...0x27, 0x2a...0x2b, 0x2d...0x2e, 0x30...0x39, 0x41...0x5a, 0x5e...0x7e: true
    default: false
    }
  }
}
