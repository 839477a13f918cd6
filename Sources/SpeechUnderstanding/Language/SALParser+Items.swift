extension SALParser {
  /// What encloses the items that are being read, and so what ends them.
  enum Context {
    /// Nothing: they end with the line.
    case line
    /// The brackets of a list or permutation: they end with `|`, the line or the bracket.
    case list
    /// Braces: they end with the brace; line breaks are blanks.
    case optional
    /// A bracket or brace without a partner: they end with the line or any closing one.
    case unclosed(isList: Bool)

    var isLine: Bool {
      switch self {
      case .line: true
      case .list, .optional, .unclosed: false
      }
    }
  }

  /// Whether a name with a blank and an equals sign follows: YAML that folds lines (`templates: >`) puts definitions
  /// behind each other, and published configurations do.
  private var isDefinitionInsideLine: Bool {
    guard let definition = self.lexer.definitionStart() else { return false }
    return definition.to.offset + 1 < definition.end.offset
  }

  /// Reads items up to what ends them, which is left at the cursor.
  mutating func items(in context: Context) -> [SALItem] {
    var items: [SALItem] = []
    while true {
      self.lexer.skipBlanks()
      switch self.lexer.symbol {
      case .end:
        return items
      case .newline:
        guard case .optional = context else { return items }
        self.lexer.advanceOverSymbol()
      case .bar:
        switch context {
        case .list, .unclosed(isList: true): return items
        case .line, .optional, .unclosed(isList: false): self.strayBar(in: context)
        }
      case .closeBracket:
        switch context {
        case .list, .unclosed: return items
        case .line, .optional: self.strayClose("]", open: "[")
        }
      case .closeBrace:
        switch context {
        case .optional, .unclosed: return items
        case .line, .list: self.strayClose("}", open: "{")
        }
      case .openParenthesis:
        self.strayParenthesis(after: items.last)
      case .closeParenthesis:
        self.strayClose(")", open: "(")
      case .text where context.isLine && !items.isEmpty && self.isDefinitionInsideLine:
        return items
      case .openBracket, .openBrace, .star, .dollar, .exclamation, .text:
        if let item = self.item(after: items.last) { items.append(item) }
      }
    }
  }

  private mutating func item(after previous: SALItem?) -> SALItem? {
    switch self.lexer.symbol {
    case .openBracket: self.withEntityName(self.list(isPermutation: false))
    case .openBrace: self.optional()
    case .star: self.intent(after: previous)
    case .dollar: self.withEntityName(self.variable())
    case .exclamation: self.permutation()
    case .text: self.word()
    case .end, .newline, .closeBracket, .closeBrace, .openParenthesis, .closeParenthesis, .bar: nil
    }
  }

  func range(from start: SALLexer.Place) -> SALRange {
    self.positions.range(from: start, to: self.lexer.place)
  }

  // MARK: Words, intents, variables

  private mutating func word() -> SALItem? {
    let start = self.lexer.place
    let word = self.lexer.word()
    guard self.lexer.place.offset > start.offset else {
      // Nothing that can start a word is left out by the lexer; this keeps an unforeseen character from stopping us.
      self.lexer.advance(to: start.offset + 1, isASCII: true)
      return nil
    }
    let range = self.range(from: start)
    if !word.isEscaped {
      if let (first, last) = SALNumbers.malformedRange(word.text) {
        self.report(
          .error, "sal.range.malformed",
          "A range of numbers is two whole numbers with two dots, alone in brackets.",
          suggestion: "[\(first)..\(last)]", at: range)
      } else if !SALCharacters.canBeSaid(word.text) {
        self.report(
          .warning, "sal.word.unsayable", "Nobody says \"\(word.text)\", so this will never match.",
          suggestion: "write what is said, or remove it", at: range)
      }
    }
    return SALItem(.word(word.text), at: range)
  }

  private mutating func intent(after previous: SALItem?) -> SALItem? {
    let start = self.lexer.place
    self.lexer.advanceOverSymbol()
    let name = self.lexer.word().text
    let range = self.range(from: start)
    guard !name.isEmpty else {
      self.report(
        .error, "sal.intent.name-missing", "The name of the intent is missing after the star.",
        suggestion: "*name, without a blank between; \\* for the character itself", at: range)
      return nil
    }
    if let previous, case .word(let word) = previous.kind, previous.range.endLine == range.line,
      previous.range.endColumn == range.column
    {
      self.report(
        .warning, "sal.intent.inside-word", "The intent *\(name) starts in the middle of a word.",
        suggestion: "\(word) *\(name) with a blank, or \(word)\\*\(name) for the character itself", at: range)
    }
    return SALItem(.intent(self.identifier(name, kind: "an intent", prefix: "*", at: range)), at: range)
  }

  private mutating func identifier(_ name: String, kind: String, prefix: String, at range: SALRange) -> String
  {
    guard let problem = name.unicodeScalars.first(where: { !SALCharacters.isIdentifierCharacter($0) }) else {
      return name
    }
    let better = SALNames.identifier(from: name)
    self.report(
      .error, "sal.name.character",
      "The name of \(kind) has letters a-z, digits, - and _, not \(SALNames.quoted(problem)).",
      suggestion: prefix + better, at: range)
    return better
  }

  private mutating func variable() -> SALItem? {
    let start = self.lexer.place
    self.lexer.advanceOverSymbol()
    let name = self.lexer.variableName()
    guard !name.isEmpty else {
      self.report(
        .error, "sal.variable.name-missing", "The name of the variable is missing after the dollar sign.",
        suggestion: "$name; \\$ for the character itself", at: self.range(from: start))
      return nil
    }
    // `$sort-by` would otherwise be the variable `sort` and the word `-by`.
    if let next = self.lexer.byte(at: self.lexer.place.offset), next == UInt8(ascii: "-"),
      let (after, _) = self.lexer.scalar(at: self.lexer.place.offset + 1),
      SALCharacters.isNameCharacter(after)
    {
      let rest = self.lexer.word().text
      let range = self.range(from: start)
      let better = SALNames.variable(from: name + rest)
      self.report(
        .error, "sal.variable.name", "The name of a variable has letters, digits and underscores, not \"-\".",
        suggestion: "$\(better)", at: range)
      return SALItem(.variable(better), at: range)
    }
    return SALItem(.variable(name), at: self.range(from: start))
  }

  // MARK: Entities

  /// Reads the name of an entity behind the item that is its value.
  private mutating func withEntityName(_ value: SALItem?) -> SALItem? {
    guard let value else { return nil }
    let end = self.lexer.place
    var cursor = self.lexer
    cursor.skipBlanks()
    guard cursor.symbol == .openParenthesis else { return value }
    let isDetached = cursor.place != end
    self.lexer = cursor
    let start = self.lexer.place
    let name = self.parenthesised(after: value.range)
    let range = self.range(from: start)
    if isDetached {
      self.report(
        .warning, "sal.entity.detached", "There is a blank between the value and the name of its entity.",
        suggestion: "[value](\(name ?? "name")), without a blank", at: range)
    }
    guard let name else { return value }
    let whole = value.range.extended(to: range)
    return SALItem(.entity(value, name: name), at: whole)
  }

  /// Reads `(name)`, with complaints.
  private mutating func parenthesised(after value: SALRange) -> String? {
    let start = self.lexer.place
    self.lexer.advanceOverSymbol()
    let raw = self.lexer.entityName()
    let isClosed = self.lexer.symbol == .closeParenthesis
    if isClosed { self.lexer.advanceOverSymbol() }
    let range = self.range(from: start)
    let name = SALNumbers.trimmed(raw)
    if !isClosed {
      self.report(
        .error, "sal.entity.unclosed", "The parenthesis of the entity's name is not closed.",
        suggestion:
          "(\(SALNames.identifier(from: name.split(separator: " ").first.map(String.init) ?? "name")))",
        at: range)
    }
    guard !name.isEmpty else {
      if isClosed {
        self.report(
          .error, "sal.entity.name-missing", "The name of the entity is missing.",
          suggestion: "[value](name)",
          at: range)
      }
      return nil
    }
    return isClosed
      ? self.identifier(name, kind: "an entity", prefix: "", at: range) : SALNames.identifier(from: name)
  }

  // MARK: What does not belong here

  private mutating func strayParenthesis(after previous: SALItem?) {
    let start = self.lexer.place
    let touches = previous.map { item in
      let place = self.positions.place(line: start.line, column: start.column)
      return item.range.endLine == place.line && item.range.endColumn == place.column
    }
    self.lexer.advanceOverSymbol()
    let name = SALNumbers.trimmed(self.lexer.entityName())
    if self.lexer.symbol == .closeParenthesis { self.lexer.advanceOverSymbol() }
    let range = self.range(from: start)
    let entity = SALNames.identifier(from: name)
    guard let previous, touches == true else {
      self.report(
        .error, "sal.parenthesis.stray", "A parenthesis names an entity and must follow its value.",
        suggestion: "[value](\(entity)), or \\( and \\) for the characters themselves", at: range)
      return
    }
    let suggestion: String
    switch previous.kind {
    case .word(let word): suggestion = "[\(word)](\(entity))"
    case .optional: suggestion = "{[value](\(entity))}, or [value](\(entity))"
    case .permutation: suggestion = "[![first | second]](\(entity))"
    case .entity: suggestion = "one name only"
    case .intent, .list, .numbers, .variable: suggestion = "[value](\(entity))"
    }
    self.report(
      .error, "sal.entity.value",
      "The value of an entity is a list, a range or a variable, and has one name.",
      suggestion: suggestion, at: range)
  }

  private mutating func strayBar(in context: Context) {
    let start = self.lexer.place
    self.lexer.advanceOverSymbol()
    let suggestion =
      switch context {
      case .optional: "{[one | other]}"
      case .line, .list, .unclosed: "[one | other], or \\| for the character itself"
      }
    self.report(
      .error, "sal.bar.outside-list", "\"|\" separates the items of a list, and this is none.",
      suggestion: suggestion, at: self.range(from: start))
  }

  private mutating func strayClose(_ close: String, open: String) {
    let start = self.lexer.place
    self.lexer.advanceOverSymbol()
    self.report(
      .error, "sal.bracket.unopened", "There is no \"\(open)\" for this \"\(close)\".",
      suggestion: "remove it, or \\\(close) for the character itself", at: self.range(from: start))
  }
}
