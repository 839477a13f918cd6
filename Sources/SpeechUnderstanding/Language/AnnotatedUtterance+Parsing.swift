extension AnnotatedUtterance {
  /// Reads one utterance.
  ///
  /// A text in several lines is one utterance: line breaks count as blanks. Comments are allowed as in SAL, and so are
  /// the characters that mean something only in templates: `{`, `}`, `$`, `!`.
  ///
  /// - Parameters:
  ///   - text: The annotated text.
  ///   - name: The name under which diagnostics speak of it.
  /// - Returns: The utterance, or `nil` if it has an error, and what is wrong with it.
  public static func parse(_ text: String, name: String = "utterance") -> (
    utterance: AnnotatedUtterance?, diagnostics: [SALDiagnostic]
  ) {
    var parser = AnnotationParser(SALSource(name: name, text: text))
    let utterance = parser.utterance()
    let diagnostics = parser.finishedDiagnostics()
    return (diagnostics.contains { $0.severity == .error } ? nil : utterance, diagnostics)
  }

  /// Reads a text with one utterance on each line; empty lines and comments are skipped.
  public static func parseLines(_ source: SALSource) -> (
    utterances: [AnnotatedUtterance], diagnostics: [SALDiagnostic]
  ) {
    var utterances: [AnnotatedUtterance] = []
    var diagnostics: [SALDiagnostic] = []
    var number = source.firstLine
    source.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).forEach { line in
      guard diagnostics.count <= SALParser.diagnosticLimit else { return }
      var parser = AnnotationParser(
        SALSource(name: source.name, text: String(line), firstLine: number, indentation: source.indentation))
      let utterance = parser.utterance()
      let problems = parser.finishedDiagnostics()
      diagnostics += problems
      if !utterance.segments.isEmpty, !problems.contains(where: { $0.severity == .error }) {
        utterances.append(utterance)
      }
      number &+= 1
    }
    return (utterances, diagnostics)
  }
}

/// Reads the annotated subset of SAL.
private struct AnnotationParser {
  private var base: SALParser

  init(_ source: SALSource) {
    self.base = SALParser(source.text, at: SALPositions(source), pairsBrackets: false)
  }

  mutating func finishedDiagnostics() -> [SALDiagnostic] { self.base.finishedDiagnostics() }

  mutating func utterance() -> AnnotatedUtterance {
    var utterance = AnnotatedUtterance()
    while true {
      self.base.lexer.skipBlanks()
      let start = self.base.lexer.place
      switch self.base.lexer.symbol {
      case .end:
        return utterance
      case .newline:
        self.base.lexer.advanceOverSymbol()
      case .star:
        if let name = self.intent() { utterance.segments.append(.init(intent: name)) }
      case .openBracket:
        guard let entity = self.entity() else { continue }
        guard let last = self.segmentIndex(in: &utterance, at: self.base.range(from: start)) else { continue }
        let first = utterance.segments[last].words.count
        utterance.segments[last].words += entity.words
        utterance.segments[last].entities.append(
          .init(
            name: entity.name, value: entity.words.joined(separator: " "), normalizedValue: entity.normal,
            words: first..<(first + entity.words.count)))
      case .closeBracket, .openParenthesis, .closeParenthesis, .bar:
        self.base.lexer.advanceOverSymbol()
        self.base.report(
          .error, "annotation.character",
          "\"\(self.base.lexer.text(from: start.offset, to: self.base.lexer.place.offset))\" belongs to entities only.",
          suggestion: "[spoken value|normal form](entity), or a backslash before the character",
          at: self.base.range(from: start))
      case .openBrace, .closeBrace, .dollar, .exclamation, .text:
        let word = self.word()
        guard let last = self.segmentIndex(in: &utterance, at: self.base.range(from: start)) else { continue }
        utterance.segments[last].words.append(word)
      }
    }
  }

  /// The segment that words belong to; complains about words before the first intent, once.
  private mutating func segmentIndex(in utterance: inout AnnotatedUtterance, at range: SALRange) -> Int? {
    if utterance.segments.isEmpty {
      self.base.report(
        .error, "annotation.intent-missing", "An utterance starts with its intent.",
        suggestion: "*name before the first word, or *_ for none", at: range)
      utterance.segments.append(.init(intent: SALNames.filler))
    }
    return utterance.segments.indices.last
  }

  /// A word, in which the characters of templates mean nothing.
  private mutating func word() -> String {
    var word = ""
    while true {
      let start = self.base.lexer.place
      switch self.base.lexer.symbol {
      case .openBrace, .closeBrace, .dollar, .exclamation:
        self.base.lexer.advanceOverSymbol()
        word += self.base.lexer.text(from: start.offset, to: self.base.lexer.place.offset)
      case .text:
        word += self.base.lexer.word().text
        if self.base.lexer.place == start { return word }
      case .end, .newline, .openBracket, .closeBracket, .openParenthesis, .closeParenthesis, .bar, .star:
        return word
      }
    }
  }

  private mutating func intent() -> String? {
    let start = self.base.lexer.place
    self.base.lexer.advanceOverSymbol()
    let name = self.base.lexer.word().text
    let range = self.base.range(from: start)
    guard !name.isEmpty else {
      self.base.report(
        .error, "annotation.intent-name", "The name of the intent is missing after the star.",
        suggestion: "*name",
        at: range)
      return nil
    }
    if !name.unicodeScalars.allSatisfy(SALCharacters.isIdentifierCharacter) {
      self.base.report(
        .error, "annotation.intent-name", "The name of an intent has letters a-z, digits, - and _.",
        suggestion: "*\(SALNames.identifier(from: name))", at: range)
    }
    return name
  }

  private mutating func entity() -> (words: [String], normal: String?, name: String)? {
    let start = self.base.lexer.place
    self.base.lexer.advanceOverSymbol()
    var words: [String] = []
    var normal: String?
    reading: while true {
      self.base.lexer.skipBlanks()
      switch self.base.lexer.symbol {
      case .closeBracket:
        self.base.lexer.advanceOverSymbol()
        break reading
      case .bar:
        self.base.lexer.advanceOverSymbol()
        normal = self.base.lexer.literal()
      case .openBrace, .closeBrace, .dollar, .exclamation, .text:
        words.append(self.word())
      case .end, .newline, .openBracket, .openParenthesis, .closeParenthesis, .star:
        self.base.report(
          .error, "annotation.entity", "This entity is not finished.",
          suggestion: "[spoken value|normal form](entity)", at: self.base.range(from: start))
        return nil
      }
    }
    guard self.base.lexer.symbol == .openParenthesis else {
      self.base.report(
        .error, "annotation.entity", "The name of the entity is missing.",
        suggestion: "[spoken value|normal form](entity)", at: self.base.range(from: start))
      return nil
    }
    self.base.lexer.advanceOverSymbol()
    let name = SALNumbers.trimmed(self.base.lexer.entityName())
    let isClosed = self.base.lexer.symbol == .closeParenthesis
    if isClosed { self.base.lexer.advanceOverSymbol() }
    guard isClosed, !name.isEmpty, name.unicodeScalars.allSatisfy(SALCharacters.isIdentifierCharacter) else {
      self.base.report(
        .error, "annotation.entity-name",
        "The name of an entity stands in parentheses and has letters a-z, digits, - and _.",
        suggestion: "(\(SALNames.identifier(from: name)))", at: self.base.range(from: start))
      return nil
    }
    guard !words.isEmpty else {
      self.base.report(
        .error, "annotation.entity-empty", "The entity \(name) has no spoken value.",
        suggestion: "[spoken value|normal form](\(name))", at: self.base.range(from: start))
      return nil
    }
    return (words, normal, name)
  }
}
