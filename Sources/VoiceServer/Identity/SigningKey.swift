import Foundation
import VoiceCore

/// The secret that the server signs tokens with: 32 random bytes, kept in the data folder.
///
/// The file `signing-key` has mode 0600 and holds 64 hexadecimal digits and a line feed. It is made once, at the
/// first start. A file that holds anything else is reported and never replaced: a new key would reject every token
/// in use.
struct SigningKey: Hashable, Sendable {
  static let byteCount = 32
  static let fileName = "signing-key"

  let bytes: [UInt8]

  /// Makes a new key.
  init(using generator: inout some RandomNumberGenerator) {
    self.bytes = (0..<Self.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  /// Reads a key from the content of its file.
  init?(fileContent: [UInt8]) {
    var digits = fileContent[...]
    if digits.last == UInt8(ascii: "\n") { digits.removeLast() }
    guard digits.count == Self.byteCount * 2 else { return nil }
    var bytes: [UInt8] = []
    while let high = digits.popFirst(), let low = digits.popFirst() {
      guard let high = Self.value(ofDigit: high), let low = Self.value(ofDigit: low) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    // A file of zeros is what some file systems leave after a power cut.
    guard Set(bytes).count > 1 else { return nil }
    self.bytes = bytes
  }

  var fileContent: [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return self.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] } + [UInt8(ascii: "\n")]
  }

  private static func value(ofDigit digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible {
  var description: String { "a signing key" }
  var debugDescription: String { self.description }
}
