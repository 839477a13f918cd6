/// Reads SAL, the Speech Annotation Language (protocol document, section 4.1).
///
/// Where the published documentation is silent, this is what holds:
/// - `#` at the start of a word starts a comment that ends with the line; inside a word it belongs to the word.
/// - A backslash before punctuation of ASCII takes its meaning away: `\*`, `\#`, `\|`.
/// - Words keep their case; matching folds it.
/// - `*_` is an intent named `_`, which means none: glue words between two intents can stand there.
/// - A line break inside a list or a permutation separates its items, like `|`; inside braces it is a blank. One `|`
///   with line breaks around it separates once, so a `|` at the end of a list does not add an empty item.
/// - An item of a list that says nothing needs a weight (`[2: hello | 1: ]`); without one it is ignored with a warning.
/// - A definition can start inside a line (`a = [x] b = [y]`), with a warning: YAML that folds lines makes such texts.
/// - Entities do not need to touch their value, but should: `[blue] (color)` is a warning.
/// - Control characters and invisible ones count as blanks, with a diagnostic.
///
/// The parser goes on after an error at the next closing bracket or line, and never fails as a whole.
public struct SALParser {
  /// How deep brackets may stand in each other.
  ///
  /// Reading recurses with the depth; this many levels fit on the stack of any worker thread (512 KB) many times.
  public static let nestingLimit = 64
  /// How many diagnostics are kept of one text.
  public static let diagnosticLimit = 1_000

  var lexer: SALLexer
  let positions: SALPositions
  let unclosed: Set<Int>
  var diagnostics: [SALDiagnostic] = []
  var depth = 0
  /// Whether a bracket was found to be unclosed, so that the lines after this one are likely to be its items.
  var lostItems = false
  /// Whether a statement was read on this line.
  private var isInsideLine = false

  init(_ text: String, at positions: SALPositions, pairsBrackets: Bool = true) {
    self.lexer = SALLexer(text)
    self.positions = positions
    self.unclosed = pairsBrackets ? self.lexer.unclosedBrackets() : []
  }

  /// Reads a text.
  ///
  /// - Returns: All that could be understood, and what is wrong or odd, in the order of the text. The document is
  ///   only good for use if no diagnostic is an error.
  public static func parse(_ source: SALSource) -> (document: SALDocument, diagnostics: [SALDiagnostic]) {
    self.parse(source.text, at: SALPositions(source))
  }

  static func parse(_ text: String, at positions: SALPositions) -> (
    document: SALDocument, diagnostics: [SALDiagnostic]
  ) {
    var parser = SALParser(text, at: positions)
    let document = parser.document()
    return (document, parser.finishedDiagnostics())
  }

  /// Reads the right side of a definition, such as the text of a standard variable.
  static func parseExpression(_ source: SALSource) -> (
    expression: SALExpression, diagnostics: [SALDiagnostic]
  ) {
    var parser = SALParser(source.text, at: SALPositions(source))
    var items: [SALItem] = []
    while parser.lexer.symbol != .end {
      items += parser.items(in: .line)
      if parser.lexer.symbol == .newline { parser.lexer.advanceOverSymbol() }
    }
    return (SALExpression(items), parser.finishedDiagnostics())
  }

  // MARK: Lines

  private mutating func document() -> SALDocument {
    var statements: [SALDocument.Statement] = []
    while true {
      self.lexer.skipBlanks()
      switch self.lexer.symbol {
      case .end:
        return SALDocument(statements)
      case .newline:
        self.lexer.advanceOverSymbol()
        self.isInsideLine = false
      case .openBracket, .closeBracket, .openBrace, .closeBrace, .openParenthesis, .closeParenthesis, .bar,
        .star, .dollar, .exclamation, .text:
        if let statement = self.statement() { statements.append(statement) }
        if self.lostItems { self.skipLostItems() }
      }
    }
  }

  private mutating func statement() -> SALDocument.Statement? {
    let start = self.lexer.place
    let isInsideLine = self.isInsideLine
    self.isInsideLine = true
    if let definition = self.lexer.definitionStart() {
      self.lexer.move(to: definition.end)
      let nameRange = self.positions.range(from: definition.from, to: definition.to)
      if isInsideLine {
        self.report(
          .warning, "sal.definition.inside-line",
          "The definition of \(definition.name) starts inside a line.",
          suggestion:
            "put it on a line of its own; in YAML, \"templates: |\" keeps lines and \">\" joins them",
          at: nameRange)
      }
      let name = self.checkedName(definition.name, at: nameRange)
      let errors = self.diagnostics.count
      let items = self.items(in: .line)
      guard !items.isEmpty || self.diagnostics.count > errors else {
        self.report(
          .error, "sal.definition.empty", "The variable \(name) holds nothing.",
          suggestion: "\(name) = [first value | second value], on one line up to the bracket", at: nameRange)
        return .definition(SALDefinition(name: name, nameRange: nameRange, expression: SALExpression()))
      }
      return .definition(SALDefinition(name: name, nameRange: nameRange, expression: SALExpression(items)))
    }
    let items = self.items(in: .line)
    // A line that consists of errors would only lead to more of them.
    guard let first = items.first, let last = items.last else {
      if self.lexer.place == start { self.lexer.skipLine() }
      return nil
    }
    return .template(SALTemplate(SALExpression(items), at: first.range.extended(to: last.range)))
  }

  private mutating func checkedName(_ name: String, at range: SALRange) -> String {
    guard let problem = name.unicodeScalars.first(where: { !SALCharacters.isNameCharacter($0) }) else {
      return name
    }
    // Definitions with the reserved prefix are told by the checker, which knows the standard variables.
    if name.hasPrefix("SPEECHLY."), !name.dropFirst(9).isEmpty { return name }
    let better = SALNames.variable(from: name)
    let hint = problem == "$" ? "; the dollar sign belongs only where it is used" : ""
    self.report(
      .error, "sal.variable.name",
      "The name of a variable has letters, digits and underscores, not \(SALNames.quoted(problem))\(hint).",
      suggestion: better, at: range)
    return better
  }

  /// Goes to the next line that is not likely to be an item of an unclosed list.
  private mutating func skipLostItems() {
    self.lostItems = false
    self.isInsideLine = false
    self.lexer.skipLine()
    while self.lexer.symbol == .newline {
      self.lexer.advanceOverSymbol()
      self.lexer.skipBlanks()
      switch self.lexer.symbol {
      case .end, .newline, .star, .dollar: return
      case .text where self.lexer.definitionStart() != nil: return
      case .openBracket, .closeBracket, .openBrace, .closeBrace, .openParenthesis, .closeParenthesis, .bar,
        .exclamation, .text:
        self.lexer.skipLine()
      }
    }
  }

  // MARK: Diagnostics

  mutating func report(
    _ severity: SALDiagnostic.Severity, _ code: String, _ message: String, suggestion: String? = nil,
    at range: SALRange
  ) {
    guard self.diagnostics.count < Self.diagnosticLimit else { return }
    self.diagnostics.append(SALDiagnostic(severity, code, message, suggestion: suggestion, at: range))
    if self.diagnostics.count == Self.diagnosticLimit {
      self.diagnostics.append(
        SALDiagnostic(
          .error, "sal.limit.diagnostics", "There are more problems than can be shown.",
          suggestion: "correct the ones above and try again", at: range))
    }
  }

  mutating func finishedDiagnostics() -> [SALDiagnostic] {
    for (oddity, from, to) in self.lexer.oddities {
      let range = self.positions.range(from: from, to: to)
      switch oddity {
      case .control(let scalar):
        self.report(
          .error, "sal.character.control", "Here is a control character, \(SALNames.code(of: scalar)).",
          suggestion: "remove it", at: range)
      case .invisible(let scalar):
        self.report(
          .warning, "sal.character.invisible",
          "Here is an invisible character, \(SALNames.code(of: scalar)); it counts as a blank.",
          suggestion: "remove it", at: range)
      case .escape(let follower):
        let what = follower.isEmpty || follower.allSatisfy(\.isWhitespace) ? "a blank" : "\"\(follower)\""
        self.report(
          .error, "sal.escape.unknown",
          "A backslash takes the meaning from punctuation; \(what) after it has none.",
          suggestion: "\\\\ for the backslash itself", at: range)
      }
    }
    return self.diagnostics.inOrderOfText()
  }
}

extension [SALDiagnostic] {
  /// By file, line and column; notes stay behind what they belong to, and diagnostics of one place keep their order.
  func inOrderOfText() -> [SALDiagnostic] {
    var groups: [[SALDiagnostic]] = []
    for diagnostic in self {
      if diagnostic.severity == .note, !groups.isEmpty {
        groups[groups.count - 1].append(diagnostic)
      } else {
        groups.append([diagnostic])
      }
    }
    var files: [String: Int] = [:]
    for case let range? in groups.map(\.[0].range) where files[range.file] == nil {
      files[range.file] = files.count
    }
    func key(_ group: [SALDiagnostic]) -> (Int, Int, Int) {
      guard let range = group[0].range else { return (-1, 0, 0) }
      return (files[range.file] ?? 0, range.line, range.column)
    }
    return groups.enumerated().map { (key($0.element), $0.offset, $0.element) }
      .sorted { ($0.0.0, $0.0.1, $0.0.2, $0.1) < ($1.0.0, $1.0.1, $1.0.2, $1.1) }
      .flatMap(\.2)
  }
}
