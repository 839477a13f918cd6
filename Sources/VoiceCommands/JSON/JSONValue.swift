/// A JSON value whose objects keep the order of their fields, so that printed lines can be compared and read.
indirect enum JSONValue: Hashable, Sendable {
  struct Field: Hashable, Sendable {
    var name: String
    var value: JSONValue
  }

  case null
  case bool(Bool)
  case integer(Int)
  /// A time in seconds or a probability: printed with at most three decimals.
  case decimal(Double)
  case string(String)
  case array([JSONValue])
  case object([Field])

  static func object(_ fields: KeyValuePairs<String, JSONValue>) -> JSONValue {
    .object(fields.map { Field(name: $0.key, value: $0.value) })
  }

  /// The value on one line, as RFC 8259 has it.
  var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .decimal(let value): Self.decimal(value)
    case .string(let value): Self.quoted(value)
    case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let fields):
      "{" + fields.map { Self.quoted($0.name) + ":" + $0.value.text }.joined(separator: ",") + "}"
    }
  }

  private static func decimal(_ value: Double) -> String {
    // JSON has no word for what is not a number.
    guard value.isFinite, abs(value) < 1e12 else { return "null" }
    let thousandths = (abs(value) * 1000).rounded()
    let (whole, rest) = Int64(thousandths).quotientAndRemainder(dividingBy: 1000)
    var text = value < 0 && thousandths > 0 ? "-\(whole)" : "\(whole)"
    if rest > 0 {
      text += "." + String(rest + 1000).dropFirst()
      while text.hasSuffix("0") { text.removeLast() }
    }
    return text
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      // Legal in JSON, but taken for the end of a line by some readers of lines.
      case "\u{2028}", "\u{2029}", "\u{85}": result += Self.escaped(scalar)
      case let scalar where scalar.value < 0x20 || scalar.value == 0x7F: result += Self.escaped(scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
