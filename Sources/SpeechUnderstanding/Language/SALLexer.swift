/// A cursor over a text in SAL that knows characters, words and comments, but no structure.
///
/// It reads UTF-8 and counts lines and columns (in characters) on the way, so that a text of one long line costs no
/// more than one of many short lines.
struct SALLexer {
  /// A place in the text.
  struct Place: Hashable, Sendable {
    var offset: Int
    var line: Int
    var column: Int
  }

  /// What stands at the cursor.
  enum Symbol: Hashable {
    case end
    case newline
    case openBracket
    case closeBracket
    case openBrace
    case closeBrace
    case openParenthesis
    case closeParenthesis
    case bar
    case star
    case dollar
    case exclamation
    case text
  }

  /// A word, with what its author wrote.
  struct Word: Hashable {
    /// The word, without backslashes.
    var text: String
    /// Whether a backslash took the meaning from a character.
    var isEscaped: Bool
  }

  /// A character that the cursor went over and that its author should know of.
  enum Oddity: Hashable {
    /// A control character, which counts as a blank.
    case control(Unicode.Scalar)
    /// An invisible character, which counts as a blank.
    case invisible(Unicode.Scalar)
    /// A backslash before something that needs none.
    case escape(String)
  }

  let bytes: [UInt8]
  private(set) var place: Place
  /// What is odd in the text up to the cursor, in order.
  var oddities: [(oddity: Oddity, from: Place, to: Place)] = []

  init(_ text: String) {
    self.bytes = Array(text.utf8)
    self.place = Place(offset: 0, line: 1, column: 1)
    // A byte order mark belongs to the file, not to the text.
    if self.bytes.starts(with: [0xef, 0xbb, 0xbf]) { self.place.offset = 3 }
  }

  // MARK: Bytes and scalars

  func byte(at offset: Int) -> UInt8? {
    offset >= 0 && offset < self.bytes.count ? self.bytes[offset] : nil
  }

  /// The scalar at an offset and its length in bytes; the text is valid UTF-8.
  func scalar(at offset: Int) -> (scalar: Unicode.Scalar, length: Int)? {
    guard let first = self.byte(at: offset) else { return nil }
    if first < 0x80 { return (Unicode.Scalar(first), 1) }
    let length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
    var value = UInt32(first) & (length == 4 ? 0x07 : length == 3 ? 0x0f : 0x1f)
    for index in 1..<length {
      guard let next = self.byte(at: offset + index) else { return ("\u{fffd}", 1) }
      value = value << 6 | UInt32(next) & 0x3f
    }
    return (Unicode.Scalar(value) ?? "\u{fffd}", length)
  }

  func text(from start: Int, to end: Int) -> String {
    String(decoding: self.bytes[start..<max(start, end)], as: UTF8.self)
  }

  /// The length of the line break at an offset; 0 if there is none.
  private func lengthOfBreak(at offset: Int) -> Int {
    switch self.byte(at: offset) {
    case 0x0a: 1
    case 0x0d: self.byte(at: offset + 1) == 0x0a ? 2 : 1
    default: 0
    }
  }

  /// The length of the blank at an offset, with what is odd about it; `nil` if there is none.
  private func blank(at offset: Int) -> (length: Int, oddity: Oddity?)? {
    guard let first = self.byte(at: offset) else { return nil }
    switch first {
    case 0x20, 0x09, 0x0b, 0x0c: return (1, nil)
    case 0x0a, 0x0d: return nil
    case 0x00..<0x20, 0x7f: return (1, .control(Unicode.Scalar(first)))
    case 0x21..<0x80: return nil
    // All blanks and invisible characters beyond ASCII start with one of these bytes.
    case 0xc2, 0xe1, 0xe2, 0xe3, 0xef:
      guard let (scalar, length) = self.scalar(at: offset) else { return nil }
      if SALCharacters.isInvisible(scalar) { return (length, .invisible(scalar)) }
      if scalar.properties.isWhitespace { return (length, nil) }
      return scalar.value < 0xa0 ? (length, .control(scalar)) : nil
    default: return nil
    }
  }

  // MARK: Moving

  /// Goes to a place that this cursor was at before.
  mutating func move(to place: Place) {
    self.place = place
  }

  /// Goes over characters of the same line.
  mutating func advance(to offset: Int, isASCII: Bool) {
    let end = min(max(offset, self.place.offset), self.bytes.count)
    self.place.column +=
      isASCII ? end - self.place.offset : self.text(from: self.place.offset, to: end).count
    self.place.offset = end
  }

  /// Goes over one symbol that is not ``Symbol/text``.
  mutating func advanceOverSymbol() {
    let length = self.lengthOfBreak(at: self.place.offset)
    if length > 0 {
      self.place = Place(offset: self.place.offset + length, line: self.place.line + 1, column: 1)
    } else {
      self.advance(to: self.place.offset + 1, isASCII: true)
    }
  }

  /// Goes over blanks and a comment, but not over the end of the line.
  mutating func skipBlanks() {
    while true {
      if let (length, oddity) = self.blank(at: self.place.offset) {
        let start = self.place
        self.place.offset += length
        self.place.column += 1
        if let oddity { self.note(oddity, from: start, to: self.place) }
      } else if self.byte(at: self.place.offset) == UInt8(ascii: "#"), self.canStartComment {
        self.skipLine()
      } else {
        return
      }
    }
  }

  /// Goes to the end of the line.
  mutating func skipLine() {
    var end = self.place.offset
    while end < self.bytes.count, self.bytes[end] != 0x0a, self.bytes[end] != 0x0d { end += 1 }
    self.advance(to: end, isASCII: false)
  }

  /// A number sign after the end of a name or word belongs to what is said, as in `$key#`.
  private var canStartComment: Bool {
    guard let before = self.byte(at: self.place.offset - 1) else { return true }
    switch before {
    case 0x00...0x20, 0x7f, UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}"),
      UInt8(ascii: "|"), UInt8(ascii: ")"):
      return true
    default:
      return self.place.column == 1 || before >= 0x80
    }
  }

  // MARK: Reading

  /// What stands at the cursor.
  var symbol: Symbol {
    guard let first = self.byte(at: self.place.offset) else { return .end }
    return SALCharacters.symbol(of: first) ?? .text
  }

  /// Reads a word; empty if there is none at the cursor.
  mutating func word() -> Word {
    let start = self.place
    var offset = start.offset
    var isASCII = true
    var escapes: [Int] = []
    while let next = self.byte(at: offset) {
      if next == UInt8(ascii: "\\") {
        guard let escaped = self.byte(at: offset + 1), SALCharacters.canBeEscaped(escaped) else {
          self.noteEscape(at: offset, isASCII: isASCII)
          offset += 1
          continue
        }
        escapes.append(offset)
        offset += 2
      } else if next >= 0x80 {
        if self.blank(at: offset) != nil { break }
        isASCII = false
        offset += self.scalar(at: offset)?.length ?? 1
      } else if SALCharacters.symbol(of: next) != nil || self.blank(at: offset) != nil {
        break
      } else {
        offset += 1
      }
    }
    self.advance(to: offset, isASCII: isASCII)
    guard !escapes.isEmpty else {
      return Word(text: self.text(from: start.offset, to: offset), isEscaped: false)
    }
    var kept: [UInt8] = []
    var from = start.offset
    for escape in escapes {
      kept += self.bytes[from..<escape]
      from = escape + 1
    }
    kept += self.bytes[from..<offset]
    return Word(text: String(decoding: kept, as: UTF8.self), isEscaped: true)
  }

  private mutating func noteEscape(at offset: Int, isASCII: Bool) {
    var start = self.place
    start.column +=
      isASCII ? offset - start.offset : self.text(from: start.offset, to: offset).count
    start.offset = offset
    var end = start
    end.column += 1
    end.offset += 1
    let follower = self.scalar(at: offset + 1).map { String(Character($0.scalar)) } ?? ""
    self.note(.escape(follower), from: start, to: end)
  }

  private mutating func note(_ oddity: Oddity, from start: Place, to end: Place) {
    // A file that consists of them must not need many times its size.
    guard self.oddities.count < SALParser.diagnosticLimit else { return }
    self.oddities.append((oddity, start, end))
  }

  /// Reads letters, digits and underscores; for the reserved prefix also what follows its dot.
  mutating func variableName() -> String {
    let start = self.place
    self.readNameCharacters()
    if self.text(from: start.offset, to: self.place.offset) == "SPEECHLY",
      self.byte(at: self.place.offset) == UInt8(ascii: ".")
    {
      self.advance(to: self.place.offset + 1, isASCII: true)
      self.readNameCharacters()
    }
    return self.text(from: start.offset, to: self.place.offset)
  }

  private mutating func readNameCharacters() {
    var offset = self.place.offset
    var isASCII = true
    while let (scalar, length) = self.scalar(at: offset), SALCharacters.isNameCharacter(scalar) {
      isASCII = isASCII && length == 1
      offset += length
    }
    self.advance(to: offset, isASCII: isASCII)
  }

  /// Reads up to a closing parenthesis, another bracket or the end of the line.
  mutating func entityName() -> String {
    let start = self.place
    var offset = start.offset
    while let next = self.byte(at: offset) {
      switch SALCharacters.symbol(of: next) {
      case .newline, .openBracket, .closeBracket, .openBrace, .closeBrace, .openParenthesis,
        .closeParenthesis, .bar:
        self.advance(to: offset, isASCII: false)
        return self.text(from: start.offset, to: offset)
      case nil, .end, .star, .dollar, .exclamation, .text:
        offset += 1
      }
    }
    self.advance(to: offset, isASCII: false)
    return self.text(from: start.offset, to: offset)
  }

  /// Reads text as it is up to a closing bracket or the end of the line; a backslash takes meaning away.
  mutating func literal() -> String {
    var kept: [UInt8] = []
    var offset = self.place.offset
    while let next = self.byte(at: offset), next != 0x0a, next != 0x0d, next != UInt8(ascii: "]") {
      if next == UInt8(ascii: "\\"), let escaped = self.byte(at: offset + 1),
        SALCharacters.canBeEscaped(escaped)
      {
        offset += 1
        kept.append(escaped)
      } else {
        kept.append(next)
      }
      offset += 1
    }
    self.advance(to: offset, isASCII: false)
    return String(decoding: kept, as: UTF8.self)
  }
}
