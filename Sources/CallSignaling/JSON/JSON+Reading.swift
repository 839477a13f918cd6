extension JSON {
  /// How much one text may hold, so that no sender can use up stack or memory.
  public struct Limits: Hashable, Sendable {
    /// The longest text, in bytes.
    public var bytes: Int
    /// How deep arrays and objects may be nested; also bounds the reader's stack, so at most 512 counts.
    public var depth: Int
    /// How many values there may be, names of members not counted.
    public var values: Int

    /// Creates limits; the default holds the largest frames of the protocol many times over.
    public init(bytes: Int = 1 << 20, depth: Int = 64, values: Int = 50_000) {
      self.bytes = bytes
      self.depth = min(depth, 512)
      self.values = values
    }
  }

  /// Reads a text as RFC 8259 has it, in UTF-8.
  ///
  /// A lone half of a surrogate pair, escaped, becomes U+FFFD: programs that cut a name in the middle of an emoji send
  /// it, and a call is worth more than the emoji.
  ///
  /// - Throws: ``JSONError``.
  public static func read(_ bytes: [UInt8], limits: Limits = Limits()) throws(JSONError) -> JSON {
    guard bytes.count <= limits.bytes else {
      throw JSONError(.tooLarge(bytes: bytes.count), offset: limits.bytes)
    }
    var reader = JSONReader(bytes: bytes, limits: limits)
    return try reader.readDocument()
  }

  /// Reads a text as RFC 8259 has it.
  ///
  /// - Throws: ``JSONError``.
  public static func read(_ text: String, limits: Limits = Limits()) throws(JSONError) -> JSON {
    try self.read(Array(text.utf8), limits: limits)
  }
}

/// Reads by recursive descent; the depth limit bounds the recursion.
struct JSONReader {
  private let bytes: [UInt8]
  private let limits: JSON.Limits
  private var index = 0
  private var values = 0

  init(bytes: [UInt8], limits: JSON.Limits) {
    self.bytes = bytes
    self.limits = limits
  }

  mutating func readDocument() throws(JSONError) -> JSON {
    let value = try self.readValue(depth: 0)
    self.skipSpace()
    guard self.index == self.bytes.count else { throw self.error(.trailingBytes) }
    return value
  }

  private var current: UInt8? { self.index < self.bytes.count ? self.bytes[self.index] : nil }

  private func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason, offset: self.index) }

  /// The error for a byte that cannot stand here, or for the end of the text.
  private var unexpected: JSONError {
    self.error(self.current.map { .unexpectedByte($0) } ?? .unexpectedEnd)
  }

  private mutating func skipSpace() {
    while let byte = self.current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      self.index += 1
    }
  }

  private mutating func readValue(depth: Int) throws(JSONError) -> JSON {
    self.skipSpace()
    self.values += 1
    guard self.values <= self.limits.values else { throw self.error(.tooManyValues) }
    guard let byte = self.current else { throw self.error(.unexpectedEnd) }
    switch byte {
    case UInt8(ascii: "{"): return .object(try self.readObject(depth: depth + 1))
    case UInt8(ascii: "["): return .array(try self.readArray(depth: depth + 1))
    case UInt8(ascii: "\""): return .string(try self.readString())
    case UInt8(ascii: "t"): return try self.readWord("true", .bool(true))
    case UInt8(ascii: "f"): return try self.readWord("false", .bool(false))
    case UInt8(ascii: "n"): return try self.readWord("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try self.readNumber())
    default: throw self.unexpected
    }
  }

  private mutating func readWord(_ word: String, _ value: JSON) throws(JSONError) -> JSON {
    for expected in word.utf8 {
      guard self.current == expected else { throw self.unexpected }
      self.index += 1
    }
    return value
  }

  private mutating func readArray(depth: Int) throws(JSONError) -> [JSON] {
    guard depth <= self.limits.depth else { throw self.error(.tooDeep) }
    self.index += 1
    self.skipSpace()
    if self.current == UInt8(ascii: "]") {
      self.index += 1
      return []
    }
    var elements: [JSON] = []
    while true {
      do {
        elements.append(try self.readValue(depth: depth))
      } catch {
        throw error.inside(.index(elements.count))
      }
      self.skipSpace()
      switch self.current {
      case UInt8(ascii: ","): self.index += 1
      case UInt8(ascii: "]"):
        self.index += 1
        return elements
      default: throw self.unexpected
      }
    }
  }

  private mutating func readObject(depth: Int) throws(JSONError) -> JSONObject {
    guard depth <= self.limits.depth else { throw self.error(.tooDeep) }
    self.index += 1
    self.skipSpace()
    if self.current == UInt8(ascii: "}") {
      self.index += 1
      return JSONObject()
    }
    var members: [JSONObject.Member] = []
    // Used only for large objects, where looking at every name would take quadratic time.
    var names: Set<String> = []
    while true {
      self.skipSpace()
      guard self.current == UInt8(ascii: "\"") else { throw self.unexpected }
      let start = self.index
      let name = try self.readString()
      if members.count == 16 { names = Set(members.map(\.name)) }
      let isKnown = members.count < 16 ? members.contains { $0.name == name } : !names.insert(name).inserted
      guard !isKnown else {
        throw JSONError(.duplicateName, offset: start, path: JSONPath([.name(name)]))
      }
      self.skipSpace()
      guard self.current == UInt8(ascii: ":") else { throw self.unexpected.inside(.name(name)) }
      self.index += 1
      do {
        members.append(JSONObject.Member(name: name, value: try self.readValue(depth: depth)))
      } catch {
        throw error.inside(.name(name))
      }
      self.skipSpace()
      switch self.current {
      case UInt8(ascii: ","): self.index += 1
      case UInt8(ascii: "}"):
        self.index += 1
        return JSONObject(distinct: members)
      default: throw self.unexpected
      }
    }
  }

  private mutating func readNumber() throws(JSONError) -> JSONNumber {
    let start = self.index
    if self.current == UInt8(ascii: "-") { self.index += 1 }
    if self.current == UInt8(ascii: "0") {
      self.index += 1
    } else {
      try self.readDigits()
    }
    if self.current == UInt8(ascii: ".") {
      self.index += 1
      try self.readDigits()
    }
    if self.current == UInt8(ascii: "e") || self.current == UInt8(ascii: "E") {
      self.index += 1
      if self.current == UInt8(ascii: "+") || self.current == UInt8(ascii: "-") { self.index += 1 }
      try self.readDigits()
    }
    if let byte = self.current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
      throw self.error(.invalidNumber)
    }
    return JSONNumber(checked: String(decoding: self.bytes[start..<self.index], as: UTF8.self))
  }

  private mutating func readDigits() throws(JSONError) {
    let start = self.index
    while let byte = self.current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
      self.index += 1
    }
    guard self.index > start else { throw self.error(self.current == nil ? .unexpectedEnd : .invalidNumber) }
  }

  private mutating func readString() throws(JSONError) -> String {
    self.index += 1
    let start = self.index
    while let byte = self.current {
      switch byte {
      case UInt8(ascii: "\""):
        let text = try self.checked(self.bytes[start..<self.index])
        self.index += 1
        return text
      case UInt8(ascii: "\\"): return try self.readEscapedString(from: start)
      case 0..<0x20: throw self.error(.controlCharacter(byte))
      default: self.index += 1
      }
    }
    throw self.error(.unexpectedEnd)
  }

  /// Goes on with a string at its first backslash.
  private mutating func readEscapedString(from start: Int) throws(JSONError) -> String {
    var text = Array(self.bytes[start..<self.index])
    while let byte = self.current {
      switch byte {
      case UInt8(ascii: "\""):
        let result = try self.checked(text[...])
        self.index += 1
        return result
      case UInt8(ascii: "\\"): try self.readEscape(into: &text)
      case 0..<0x20: throw self.error(.controlCharacter(byte))
      default:
        text.append(byte)
        self.index += 1
      }
    }
    throw self.error(.unexpectedEnd)
  }

  private func checked(_ bytes: ArraySlice<UInt8>) throws(JSONError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw self.error(.invalidUTF8) }
    return text
  }

  private mutating func readEscape(into text: inout [UInt8]) throws(JSONError) {
    self.index += 1
    guard let byte = self.current else { throw self.error(.unexpectedEnd) }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      self.index += 1
      text.append(contentsOf: Array(String(Character(try self.readEscapedScalar())).utf8))
      return
    default: throw self.error(.invalidEscape)
    }
    self.index += 1
  }

  /// Reads the four digits after `\u`, and a second escape if they are the first half of a pair.
  private mutating func readEscapedScalar() throws(JSONError) -> Unicode.Scalar {
    let first = try self.readHexadecimal()
    if let scalar = Unicode.Scalar(first) { return scalar }
    let mark = self.index
    guard (0xD800..<0xDC00).contains(first), self.current == UInt8(ascii: "\\") else { return "\u{FFFD}" }
    self.index += 1
    guard self.current == UInt8(ascii: "u") else {
      self.index = mark
      return "\u{FFFD}"
    }
    self.index += 1
    let second = try self.readHexadecimal()
    guard (0xDC00..<0xE000).contains(second) else {
      self.index = mark
      return "\u{FFFD}"
    }
    let combined = 0x10000 + ((UInt32(first) - 0xD800) << 10) + (UInt32(second) - 0xDC00)
    return Unicode.Scalar(combined) ?? "\u{FFFD}"
  }

  private mutating func readHexadecimal() throws(JSONError) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = self.current else { throw self.error(.unexpectedEnd) }
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: throw self.error(.invalidEscape)
      }
      value = value << 4 | UInt16(digit)
      self.index += 1
    }
    return value
  }
}

extension JSONError {
  /// The same error, seen from one level further up.
  fileprivate func inside(_ step: JSONPath.Step) -> JSONError {
    var copy = self
    copy.path.steps.insert(step, at: 0)
    return copy
  }
}
