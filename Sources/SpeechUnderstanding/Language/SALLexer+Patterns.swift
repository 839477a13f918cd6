/// What is more than one symbol long: starts of definitions, weights, ranges of numbers, pairs of brackets.
extension SALLexer {
  /// A name before an equals sign at the start of a line.
  struct DefinitionStart {
    var name: String
    var from: Place
    var to: Place
    /// After the equals sign.
    var end: Place
  }

  /// The definition that starts at the cursor, which stands at the first character of a line that is no blank.
  ///
  /// A name that is not allowed is returned all the same, so that it can be complained about.
  func definitionStart() -> DefinitionStart? {
    var cursor = self
    cursor.oddities = []
    var offset = self.place.offset
    while let (scalar, length) = self.scalar(at: offset),
      SALCharacters.isNameCharacter(scalar) || scalar == "-" || scalar == "." || scalar == "$"
    {
      offset += length
    }
    guard offset > self.place.offset else { return nil }
    let from = self.place
    cursor.advance(to: offset, isASCII: false)
    let to = cursor.place
    while let next = self.byte(at: offset), next == 0x20 || next == 0x09 { offset += 1 }
    guard self.byte(at: offset) == UInt8(ascii: "=") else { return nil }
    cursor.advance(to: offset + 1, isASCII: true)
    return DefinitionStart(
      name: self.text(from: from.offset, to: to.offset), from: from, to: to, end: cursor.place)
  }

  private func offsetAfterBlanks(_ start: Int) -> Int {
    var offset = start
    while let next = self.byte(at: offset), next == 0x20 || next == 0x09 { offset += 1 }
    return offset
  }

  private func offsetAfterDigits(_ start: Int) -> Int {
    var offset = start
    while let next = self.byte(at: offset), SALCharacters.isDigit(next) { offset += 1 }
    return offset
  }

  private func offsetAfterInteger(_ start: Int) -> Int? {
    let first = self.byte(at: start) == UInt8(ascii: "-") ? start + 1 : start
    let end = self.offsetAfterDigits(first)
    return end > first ? end : nil
  }

  /// Reads `1..10` up to the closing bracket, if that is all that stands between the brackets.
  mutating func numberRange() -> (first: String, last: String)? {
    let firstStart = self.offsetAfterBlanks(self.place.offset)
    guard let firstEnd = self.offsetAfterInteger(firstStart) else { return nil }
    let dots = self.offsetAfterBlanks(firstEnd)
    guard self.byte(at: dots) == UInt8(ascii: "."), self.byte(at: dots + 1) == UInt8(ascii: ".") else {
      return nil
    }
    let lastStart = self.offsetAfterBlanks(dots + 2)
    guard let lastEnd = self.offsetAfterInteger(lastStart) else { return nil }
    let close = self.offsetAfterBlanks(lastEnd)
    guard self.byte(at: close) == UInt8(ascii: "]") else { return nil }
    self.advance(to: close, isASCII: true)
    return (self.text(from: firstStart, to: firstEnd), self.text(from: lastStart, to: lastEnd))
  }

  /// Reads a weight and its colon, if there is one at the cursor.
  ///
  /// A colon right between digits is a time of day, as in `[10:30 | 11:00]`, and no weight.
  mutating func weight() -> String? {
    let start = self.place.offset
    var offset = start
    if let sign = self.byte(at: offset), sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
      offset += 1
    }
    let digits = offset
    offset = self.offsetAfterDigits(offset)
    var hasDigits = offset > digits
    if self.byte(at: offset) == UInt8(ascii: ".") {
      let fraction = offset + 1
      offset = self.offsetAfterDigits(fraction)
      hasDigits = hasDigits || offset > fraction
    }
    guard hasDigits else { return nil }
    let end = offset
    offset = self.offsetAfterBlanks(offset)
    guard self.byte(at: offset) == UInt8(ascii: ":") else { return nil }
    if offset == end, let next = self.byte(at: offset + 1), SALCharacters.isDigit(next) { return nil }
    self.advance(to: offset + 1, isASCII: true)
    return self.text(from: start, to: end)
  }

  /// The offsets of brackets and braces without a partner.
  ///
  /// Brackets do not reach over the start of a definition: so one that was forgotten does not hide the rest of the text.
  func unclosedBrackets() -> Set<Int> {
    var cursor = self
    var unclosed: Set<Int> = []
    var open: [(symbol: Symbol, offset: Int)] = []
    var isLineStart = true
    while true {
      cursor.skipBlanks()
      cursor.oddities.removeAll(keepingCapacity: true)
      let symbol = cursor.symbol
      if isLineStart, !open.isEmpty, symbol == .text, cursor.definitionStart() != nil {
        unclosed.formUnion(open.map(\.offset))
        open.removeAll()
      }
      isLineStart = false
      switch symbol {
      case .end:
        return unclosed.union(open.map(\.offset))
      case .newline:
        isLineStart = true
        cursor.advanceOverSymbol()
      case .openBracket, .openBrace:
        open.append((symbol, cursor.place.offset))
        cursor.advanceOverSymbol()
      case .closeBracket, .closeBrace:
        let partner: Symbol = symbol == .closeBracket ? .openBracket : .openBrace
        if open.last?.symbol == partner {
          open.removeLast()
        } else if let index = open.lastIndex(where: { $0.symbol == partner }) {
          unclosed.formUnion(open[(index + 1)...].map(\.offset))
          open.removeSubrange(index...)
        }
        cursor.advanceOverSymbol()
      case .text:
        _ = cursor.word()
      case .openParenthesis, .closeParenthesis, .bar, .star, .dollar, .exclamation:
        cursor.advanceOverSymbol()
      }
    }
  }
}
