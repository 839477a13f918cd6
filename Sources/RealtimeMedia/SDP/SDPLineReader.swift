/// Reads the words of one line, and knows where it is.
struct SDPLineReader {
  let line: Int
  /// The column of the first byte.
  private let firstColumn: Int
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  init(_ bytes: ArraySlice<UInt8>, line: Int, column: Int) {
    self.bytes = bytes
    self.line = line
    self.firstColumn = column
    self.position = bytes.startIndex
  }

  var column: Int { self.firstColumn + self.position - self.bytes.startIndex }
  var remaining: ArraySlice<UInt8> { self.bytes[self.position...] }
  var isAtEnd: Bool { self.position >= self.bytes.endIndex }

  func error(_ kind: SDPError.Kind, _ what: String, write suggestion: String, column: Int? = nil) -> SDPError
  {
    SDPError(kind, line: self.line, column: column ?? self.column, what, write: suggestion)
  }

  /// Checks a text that did not come through the reader of whole descriptions.
  func validateText(limit: Int) throws(SDPError) {
    guard self.bytes.count <= limit else {
      throw self.error(.tooLarge, "text", write: "at most \(limit) bytes")
    }
    if let index = self.bytes.firstIndex(where: { $0 < 0x20 || $0 == 0x7f }) {
      let column = self.firstColumn + index - self.bytes.startIndex
      throw self.error(.controlCharacter, "control character", write: "text", column: column)
    }
  }

  @discardableResult
  mutating func skip(_ text: String) -> Bool {
    guard self.bytes[self.position...].starts(with: text.utf8) else { return false }
    self.position += text.utf8.count
    return true
  }

  /// The bytes up to a separator or the end, at least one; the separator is skipped, and something must follow it.
  private mutating func part(
    _ what: String, _ suggestion: String, upTo separator: UInt8
  ) throws(SDPError) -> ArraySlice<UInt8> {
    let end = self.bytes[self.position...].firstIndex(of: separator) ?? self.bytes.endIndex
    let part = self.bytes[self.position..<end]
    guard !part.isEmpty else { throw self.error(.malformed, what, write: suggestion) }
    if end < self.bytes.endIndex {
      self.position = end + 1
      guard !self.isAtEnd else {
        throw self.error(.malformed, "nothing after a separator", write: "a value, or no separator")
      }
    } else {
      self.position = end
    }
    return part
  }

  /// The next word.
  mutating func word(
    _ what: String, write suggestion: String, upTo separator: UInt8 = UInt8(ascii: " "),
    where isValid: (ArraySlice<UInt8>) -> Bool = { _ in true }
  ) throws(SDPError) -> String {
    let start = self.column
    let part = try self.part(what, suggestion, upTo: separator)
    guard isValid(part) else { throw self.error(.malformed, what, write: suggestion, column: start) }
    return String(decoding: part, as: UTF8.self)
  }

  /// The next word as a decimal number.
  mutating func number(
    _ what: String, _ range: ClosedRange<UInt64>, upTo separator: UInt8 = UInt8(ascii: " ")
  ) throws(SDPError) -> UInt64 {
    let start = self.column
    let suggestion = "a number from \(range.lowerBound) to \(range.upperBound)"
    let part = try self.part(what, suggestion, upTo: separator)
    guard part.allSatisfy(\.isDigit) else {
      throw self.error(.malformed, what, write: suggestion, column: start)
    }
    guard let value = UInt64(String(decoding: part, as: UTF8.self)), range.contains(value) else {
      throw self.error(.outOfRange, what, write: suggestion, column: start)
    }
    return value
  }

  /// A word that must stand here.
  mutating func keyword(_ word: String) throws(SDPError) {
    let start = self.column
    guard try self.word(word, write: word) == word else {
      throw self.error(.malformed, word, write: word, column: start)
    }
  }

  /// Whether a byte stands in what is left.
  func contains(_ byte: UInt8) -> Bool { self.bytes[self.position...].contains(byte) }

  /// Everything that is left.
  mutating func rest() -> String {
    let rest = self.bytes[self.position...]
    self.position = self.bytes.endIndex
    return String(decoding: rest, as: UTF8.self)
  }

  /// Everything that is left, at least one byte.
  mutating func text(_ what: String, write suggestion: String) throws(SDPError) -> String {
    guard !self.isAtEnd else { throw self.error(.malformed, what, write: suggestion) }
    return self.rest()
  }

  /// The words that are left.
  mutating func words(
    _ what: String, write suggestion: String, where isValid: (ArraySlice<UInt8>) -> Bool = { _ in true }
  ) throws(SDPError) -> [String] {
    var words: [String] = []
    while !self.isAtEnd { words.append(try self.word(what, write: suggestion, where: isValid)) }
    return words
  }

  /// Nothing may be left.
  func finish(_ what: String) throws(SDPError) {
    guard self.isAtEnd else { throw self.error(.malformed, "more after the \(what)", write: "nothing there") }
  }
}
