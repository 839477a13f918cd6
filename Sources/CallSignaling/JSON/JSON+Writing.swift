extension JSON {
  /// The value on one line, as RFC 8259 has it: the same value gives the same bytes.
  public var text: String { String(decoding: self.bytes, as: UTF8.self) }

  /// The value on one line, in UTF-8.
  public var bytes: [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(1024)
    self.write(to: &output)
    return output
  }

  /// Recursion is no danger here: what was read is bounded by ``Limits``, and what the SDK makes is flat.
  private func write(to output: inout [UInt8]) {
    switch self {
    case .null: output += "null".utf8
    case .bool(let value): output += (value ? "true" : "false").utf8
    case .number(let value): output += value.text.utf8
    case .string(let value): Self.write(value, to: &output)
    case .array(let values):
      output.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        value.write(to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .object(let object):
      output.append(UInt8(ascii: "{"))
      for (index, member) in object.members.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        Self.write(member.name, to: &output)
        output.append(UInt8(ascii: ":"))
        member.value.write(to: &output)
      }
      output.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ text: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { bytes in
      // Whole runs are copied: most texts have nothing to escape, and descriptions little.
      var start = bytes.startIndex
      for index in bytes.indices where Self.mustBeEscaped(bytes[index]) {
        output.append(contentsOf: bytes[start..<index])
        Self.escape(bytes[index], to: &output)
        start = index + 1
      }
      output.append(contentsOf: bytes[start...])
    }
    output.append(UInt8(ascii: "\""))
  }

  private static func mustBeEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func escape(_ byte: UInt8, to output: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""): output += "\\\"".utf8
    case UInt8(ascii: "\\"): output += "\\\\".utf8
    case 0x0A: output += "\\n".utf8
    case 0x0D: output += "\\r".utf8
    case 0x09: output += "\\t".utf8
    default:
      let digits = Array("0123456789abcdef".utf8)
      output += "\\u00".utf8
      output.append(digits[Int(byte >> 4 & 15)])
      output.append(digits[Int(byte & 15)])
    }
  }
}

extension JSON {
  /// Members whose values never reach a log: credentials, tokens, session descriptions and addresses of candidates.
  private static let secretNames: Set<String> = [
    "passwd", "password", "login_token", "token", "sdp", "candidate", "credential", "push_device_token",
    "answered_device_token", "iceservers", "dtmf", "body", "content", "delta", "output", "clientstate",
    "client_state", "uservariables",
  ]

  /// The value with every secret replaced by its length, for logs of frames.
  public var redacted: JSON {
    switch self {
    case .null, .bool, .number, .string: return self
    case .array(let values): return .array(values.map(\.redacted))
    case .object(let object):
      return .object(
        JSONObject(
          distinct: object.members.map { member in
            JSONObject.Member(
              name: member.name,
              value: Self.secretNames.contains(member.name.lowercased())
                ? .string("<\(member.value.bytes.count) bytes>") : member.value.redacted)
          }))
    }
  }
}
