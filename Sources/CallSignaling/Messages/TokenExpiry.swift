/// When a login token ends, so that a client can warn before (telnyx.md section 1.9: 120 s).
public enum TokenExpiry {
  /// The end of a JSON web token (`exp`, RFC 7519 section 4.1.4), in seconds since 1970; `nil` if the token does not
  /// say or cannot be read. The signature is not checked: that is the gateway's concern.
  public static func secondsSince1970(of token: Secret) -> Int? {
    let parts = token.value.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = self.decode(parts[1]) else { return nil }
    guard let json = try? JSON.read(payload, limits: JSON.Limits(bytes: 64 << 10)) else { return nil }
    guard case .number(let number)? = json["exp"] else { return nil }
    if let value = number.integer { return value }
    guard let value = number.double, abs(value) < 1e15 else { return nil }
    return Int(value.rounded(.down))
  }

  /// Base 64 for URLs without padding (RFC 4648 section 5).
  private static func decode(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for byte in text.utf8 {
      let value: UInt8
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
      case UInt8(ascii: "-"), UInt8(ascii: "+"): value = 62
      case UInt8(ascii: "_"), UInt8(ascii: "/"): value = 63
      case UInt8(ascii: "="): continue
      default: return nil
      }
      bits = (bits << 6 | UInt32(value)) & 0xFFFFFF
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8((bits >> UInt32(count)) & 0xFF))
      }
    }
    return bytes
  }
}
