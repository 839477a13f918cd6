extension SALParser {
  /// Reads `[…]`, or the brackets of `![…]`, from the opening bracket on; `nil` if it is unusable.
  mutating func list(isPermutation: Bool, from start: SALLexer.Place? = nil) -> SALItem? {
    let open = self.lexer.place
    let start = start ?? open
    guard self.enter() else { return nil }
    defer { self.depth -= 1 }
    self.lexer.advanceOverSymbol()
    if !isPermutation, let (first, last) = self.lexer.numberRange() {
      self.lexer.advanceOverSymbol()
      return self.numbers(first, last, at: self.range(from: start))
    }
    let isUnclosed = self.unclosed.contains(open.offset)
    if isUnclosed {
      self.reportUnclosed("[", "]", from: start)
    }
    let errors = self.diagnostics.count
    let (alternatives, leftOut) = self.alternatives(isPermutation: isPermutation, isUnclosed: isUnclosed)
    let range = self.range(from: start)
    guard !alternatives.isEmpty else {
      if leftOut > 0 {
        self.report(
          .error, "sal.weight.all-zero", "All items of this list have the weight 0, so nothing is left.",
          suggestion: "give at least one a positive weight", at: range)
      } else if self.diagnostics.count == errors, !isUnclosed {
        self.report(
          .error, "sal.list.empty", "There is nothing between the brackets.",
          suggestion: isPermutation ? "![first | second]" : "[first | second]", at: range)
      }
      return nil
    }
    if isPermutation {
      self.checkPermutation(alternatives.count, at: range)
      return SALItem(.permutation(alternatives.map(\.expression)), at: range)
    }
    return SALItem(.list(alternatives), at: range)
  }

  /// Reads the items of a list and its closing bracket.
  private mutating func alternatives(isPermutation: Bool, isUnclosed: Bool) -> (
    [SALAlternative], leftOut: Int
  ) {
    var alternatives: [SALAlternative] = []
    var leftOut = 0
    var hasItemSinceBar = false
    while true {
      self.lexer.skipBlanks()
      let start = self.lexer.place
      let weight = self.lexer.weight()
      let weightRange = self.range(from: start)
      let items = self.items(in: isUnclosed ? .unclosed(isList: true) : .list)
      if weight != nil || !items.isEmpty {
        hasItemSinceBar = true
        let value = self.weight(weight, isPermutation: isPermutation, at: weightRange)
        if let value, value > 0 {
          if !items.isEmpty || !isPermutation {
            alternatives.append(SALAlternative(SALExpression(items), weight: value))
          }
        } else {
          leftOut += 1
        }
      }
      switch self.lexer.symbol {
      case .bar:
        let bar = self.lexer.place
        self.lexer.advanceOverSymbol()
        if !hasItemSinceBar {
          self.report(
            .warning, "sal.list.empty-item", "There is nothing before this \"|\"; the empty item is ignored.",
            suggestion: "remove the \"|\", or {[one | other]} if nothing may be said",
            at: self.range(from: bar))
        }
        hasItemSinceBar = false
      case .newline:
        if isUnclosed { return (alternatives, leftOut) }
        self.lexer.advanceOverSymbol()
      case .closeBracket:
        if !isUnclosed { self.lexer.advanceOverSymbol() }
        return (alternatives, leftOut)
      case .end, .closeBrace, .openBracket, .openBrace, .openParenthesis, .closeParenthesis, .star, .dollar,
        .exclamation, .text:
        return (alternatives, leftOut)
      }
    }
  }

  /// The weight of an item; `nil` if it is to be left out.
  private mutating func weight(_ text: String?, isPermutation: Bool, at range: SALRange) -> Double? {
    guard let text else { return 1 }
    if isPermutation {
      self.report(
        .warning, "sal.permutation.weight",
        "All orders of a permutation are equally likely; the weight is ignored.",
        suggestion: "remove \"\(text):\"",
        at: range)
      return 1
    }
    guard let value = Double(text), value.isFinite else {
      self.report(
        .error, "sal.weight.number", "\"\(text)\" cannot be read as a number.", suggestion: "2: or 0.5:",
        at: range)
      return 1
    }
    if value < 0 || text.hasPrefix("-") {
      self.report(
        .error, "sal.weight.negative", "A weight cannot be negative.", suggestion: "a number above 0",
        at: range)
      return 1
    }
    if value == 0 {
      self.report(
        .warning, "sal.weight.zero", "An item of weight 0 is never said; it is left out.",
        suggestion: "remove the item", at: range)
      return nil
    }
    return value
  }

  private mutating func checkPermutation(_ count: Int, at range: SALRange) {
    if count == 1 {
      self.report(
        .warning, "sal.permutation.single", "A permutation of one item has only one order.",
        suggestion: "leave out ![ and ], or separate the items by \"|\"", at: range)
    } else if count > Self.permutationLimit {
      self.report(
        .error, "sal.permutation.long",
        "A permutation has at most \(Self.permutationLimit) items; this one has \(count).",
        suggestion: "permute the most important ones only", at: range)
    }
  }

  /// How many items a permutation may have: compiled, it takes two to the power of that many states.
  public static let permutationLimit = 10

  mutating func permutation() -> SALItem? {
    let start = self.lexer.place
    self.lexer.advanceOverSymbol()
    guard self.lexer.symbol == .openBracket else {
      self.report(
        .error, "sal.exclamation.stray", "\"!\" starts a permutation and must be followed by a bracket.",
        suggestion: "![first | second], or \\! for the character itself", at: self.range(from: start))
      return nil
    }
    return self.list(isPermutation: true, from: start)
  }

  mutating func optional() -> SALItem? {
    let start = self.lexer.place
    guard self.enter() else { return nil }
    defer { self.depth -= 1 }
    self.lexer.advanceOverSymbol()
    let isUnclosed = self.unclosed.contains(start.offset)
    if isUnclosed {
      self.reportUnclosed("{", "}", from: start)
    }
    self.lexer.skipBlanks()
    while !isUnclosed, self.lexer.symbol == .newline {
      self.lexer.advanceOverSymbol()
      self.lexer.skipBlanks()
    }
    let weightStart = self.lexer.place
    let weight = self.lexer.weight()
    let weightRange = self.range(from: weightStart)
    let errors = self.diagnostics.count
    let items = self.items(in: isUnclosed ? .unclosed(isList: false) : .optional)
    if !isUnclosed, self.lexer.symbol == .closeBrace { self.lexer.advanceOverSymbol() }
    let probability = self.probability(weight, at: weightRange)
    let range = self.range(from: start)
    guard !items.isEmpty else {
      if self.diagnostics.count == errors, !isUnclosed {
        self.report(
          .error, "sal.optional.empty", "There is nothing between the braces.", suggestion: "{maybe this}",
          at: range)
      }
      return nil
    }
    return SALItem(.optional(SALExpression(items), probability: probability), at: range)
  }

  private mutating func probability(_ text: String?, at range: SALRange) -> Double {
    guard let text else { return 0.5 }
    guard let value = Double(text), value.isFinite, value >= 0, value <= 1, !text.hasPrefix("-") else {
      let better = Double(text).flatMap { $0 >= 2 && $0 <= 100 ? SALPrinter.decimal($0 / 100) : nil }
      self.report(
        .error, "sal.optional.probability", "A probability is a number from 0 to 1, not \(text).",
        suggestion: better.map { "\($0):" } ?? "0.5:", at: range)
      return 0.5
    }
    if value == 0 || value == 1 {
      self.report(
        .warning, "sal.optional.certain",
        value == 0
          ? "With the probability 0 this is never said." : "With the probability 1 this is always said.",
        suggestion: value == 0 ? "remove it" : "leave out the braces", at: range)
    }
    return value
  }

  private mutating func numbers(_ first: String, _ last: String, at range: SALRange) -> SALItem? {
    guard let lower = Int(first), let upper = Int(last) else {
      self.report(
        .error, "sal.range.overflow", "These numbers are too large to be said.", suggestion: "[1..100]",
        at: range)
      return nil
    }
    guard lower <= upper else {
      self.report(
        .error, "sal.range.reversed", "The range ends before it starts.", suggestion: "[\(upper)..\(lower)]",
        at: range)
      return SALItem(.numbers(upper...lower), at: range)
    }
    let (width, overflow) = upper.subtractingReportingOverflow(lower)
    if overflow || width >= SALNumbers.rangeLimit {
      self.report(
        .error, "sal.range.huge", "A range has at most \(SALNumbers.rangeLimit) numbers.",
        suggestion: "$SPEECHLY.NUMBER for any number", at: range)
      return SALItem(.numbers(lower...lower), at: range)
    }
    return SALItem(.numbers(lower...upper), at: range)
  }

  // MARK: Depth and recovery

  /// Counts one bracket more; at the limit it complains and skips the bracket with all that it holds.
  private mutating func enter() -> Bool {
    guard self.depth >= Self.nestingLimit else {
      self.depth += 1
      return true
    }
    let start = self.lexer.place
    self.lexer.advanceOverSymbol()
    self.report(
      .error, "sal.nesting.deep", "Brackets are nested more than \(Self.nestingLimit) deep.",
      suggestion: "give the inner part a name: name = […], and use $name", at: self.range(from: start))
    if self.unclosed.contains(start.offset) {
      self.lexer.skipLine()
      return false
    }
    var open = 1
    while open > 0 {
      self.lexer.skipBlanks()
      let symbol = self.lexer.symbol
      switch symbol {
      case .end: return false
      case .openBracket, .openBrace:
        if !self.unclosed.contains(self.lexer.place.offset) { open += 1 }
        self.lexer.advanceOverSymbol()
      case .closeBracket, .closeBrace:
        open -= 1
        self.lexer.advanceOverSymbol()
      case .text: _ = self.lexer.word()
      case .newline, .openParenthesis, .closeParenthesis, .bar, .star, .dollar, .exclamation:
        self.lexer.advanceOverSymbol()
      }
    }
    return false
  }

  private mutating func reportUnclosed(_ open: String, _ close: String, from start: SALLexer.Place) {
    var end = start
    end.column += 1
    end.offset += 1
    self.report(
      .error, "sal.bracket.unclosed", "There is no \"\(close)\" for this \"\(open)\".",
      suggestion: "add \"\(close)\", or \\\(open) for the character itself",
      at: self.positions.range(from: start, to: end))
    self.lostItems = true
  }
}

/// Numbers and blanks in the text of SAL.
enum SALNumbers {
  /// How many numbers a range may have.
  static let rangeLimit = 1_000_000

  /// The ends of what looks like a range but is none, such as `1..10` outside brackets or `1...10`.
  static func malformedRange(_ word: String) -> (first: Substring, last: Substring)? {
    guard word.utf8.count <= 64, let dot = word.firstIndex(of: "."), let lastDot = word.lastIndex(of: ".")
    else {
      return nil
    }
    let first = word[..<dot]
    let last = word[word.index(after: lastDot)...]
    let middle = word[dot...lastDot]
    guard middle.utf8.count >= 2, middle.allSatisfy({ $0 == "." }), Int(first) != nil, Int(last) != nil else {
      return nil
    }
    return (first, last)
  }

  static func trimmed(_ text: String) -> String {
    guard let first = text.firstIndex(where: { !$0.isWhitespace }),
      let last = text.lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return String(text[first...last])
  }
}
