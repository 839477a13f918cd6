/// The id of a call, chosen by whoever invites: a UUID by convention, in either case.
///
/// Clients say goodbye in lower case to a call that they invited in upper case (telnyx.md section 2.2, bye), so case
/// does not count in comparisons; the text is kept as it came.
public struct CallID: Hashable, Sendable, CustomStringConvertible {
  /// The id as it was sent.
  public let text: String
  private let folded: String

  /// Creates an id from its text.
  public init(_ text: String) {
    self.text = text
    self.folded = text.lowercased()
  }

  /// Makes a random UUID of version 4 (RFC 9562 section 5.4), in lower case.
  public init(using generator: inout some RandomNumberGenerator) {
    self.init(UUIDText.random(using: &generator))
  }

  public static func == (left: CallID, right: CallID) -> Bool { left.folded == right.folded }

  public func hash(into hasher: inout Hasher) { hasher.combine(self.folded) }

  public var description: String { self.text }
}

/// Makes identifiers without Foundation and with an injected source of chance.
public enum UUIDText {
  /// A random UUID of version 4 (RFC 9562 section 5.4), in lower case.
  public static func random(using generator: inout some RandomNumberGenerator) -> String {
    let high = generator.next() & ~0xF000 | 0x4000
    let low = generator.next() & ~(0b11 << 62) | (0b10 << 62)
    let text = Self.hexadecimal(high) + Self.hexadecimal(low)
    var result = ""
    for (index, character) in text.enumerated() {
      if index == 8 || index == 12 || index == 16 || index == 20 { result.append("-") }
      result.append(character)
    }
    return result
  }

  private static func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: max(0, 16 - digits.count)) + digits
  }
}

/// A password or a token: printed as its length.
public struct Secret: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The secret itself.
  public let value: String

  /// Creates a secret.
  public init(_ value: String) {
    self.value = value
  }

  public init(stringLiteral value: String) {
    self.init(value)
  }

  public var description: String { "<\(self.value.utf8.count) bytes>" }
}

/// A session description (RFC 8866) as text that this module carries but does not read; printed as its length, since it
/// holds addresses and keys.
public struct SDP: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The description.
  public let text: String

  /// Creates a description from its text.
  public init(_ text: String) {
    self.text = text
  }

  public init(stringLiteral value: String) {
    self.init(value)
  }

  public var description: String { "<\(self.text.utf8.count) bytes>" }
}

/// A header that the app adds to a call; its name starts with `X-` (telnyx.md section 1.5).
public struct CustomHeader: Hashable, Sendable {
  /// The name.
  public var name: String
  /// The value.
  public var value: String

  /// Creates a header.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// A codec that a caller would like best (`preferred_codecs`, telnyx.md section 1.5).
public struct CodecPreference: Hashable, Sendable {
  /// The type, such as `audio/opus`.
  public var mimeType: String
  /// Samples per second.
  public var clockRate: Int
  /// The number of channels, if the codec has a choice.
  public var channels: Int?
  /// Parameters of the codec (`a=fmtp`).
  public var sdpFmtpLine: String?

  /// Creates a preference.
  public init(mimeType: String, clockRate: Int, channels: Int? = nil, sdpFmtpLine: String? = nil) {
    self.mimeType = mimeType
    self.clockRate = clockRate
    self.channels = channels
    self.sdpFmtpLine = sdpFmtpLine
  }
}
