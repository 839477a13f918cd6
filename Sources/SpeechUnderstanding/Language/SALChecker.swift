/// Makes a program of documents, and says what is wrong with them.
///
/// Checked is what a single line cannot tell: whether variables exist, come before their use (protocol document,
/// section 4.2) and do not need themselves, whether every template starts with an intent, and what is never used.
public struct SALChecker {
  /// A list that comes from elsewhere and is used like a variable.
  public struct Import: Hashable, Sendable {
    /// The variable's name, without a dollar sign.
    public var name: String
    /// The items, each one or more words; they are taken literally.
    public var values: [String]
    /// Where the import is declared.
    public var range: SALRange?

    /// Creates an import.
    public init(name: String, values: [String], range: SALRange? = nil) {
      self.name = name
      self.values = values
      self.range = range
    }
  }

  /// A name that a configuration declares.
  public struct Declaration: Hashable, Sendable {
    /// The name.
    public var name: String
    /// Where it is declared.
    public var range: SALRange?

    /// Creates a declaration.
    public init(name: String, range: SALRange? = nil) {
      self.name = name
      self.range = range
    }
  }

  var documents: [SALDocument]
  var imports: [Import]
  var pack: (any LanguagePack)?
  var intents: [Declaration]
  var entities: [Declaration]
  /// Variables that are used outside templates, by lookups.
  var usedElsewhere: Set<String>
  /// What was said about the documents before.
  var problems: [SALDiagnostic]

  var diagnostics: [SALDiagnostic] = []
  var definitions: [Definition] = []
  /// The places of ``definitions`` by name.
  var indices: [String: Int] = [:]
  var importIndices: [String: Int] = [:]
  var used: Set<String> = []
  var shapes: [String: SALShape] = [:]
  var variables: [String: SALExpression] = [:]
  /// The lines of each file on which something could not be read, in order.
  private var brokenLines: [String: [Int]] = [:]

  /// A definition, with what it needs.
  struct Definition {
    var definition: SALDefinition
    var needs: Set<String>
  }

  init(
    documents: [SALDocument], imports: [Import] = [], pack: (any LanguagePack)? = nil,
    intents: [Declaration] = [],
    entities: [Declaration] = [], problems: [SALDiagnostic] = [], usedElsewhere: Set<String> = []
  ) {
    self.documents = documents
    self.imports = imports
    self.pack = pack
    self.intents = intents
    self.entities = entities
    self.usedElsewhere = usedElsewhere
    self.problems = problems
  }

  /// Checks everything.
  ///
  /// - Parameters:
  ///   - documents: The parsed texts, in order: what one defines, later ones can use.
  ///   - problems: What parsing said of them; lines with errors are not complained about twice.
  ///   - imports: Lists from elsewhere; they can be used everywhere.
  ///   - pack: The natural language, for standard variables; `nil` if there is none for it.
  ///   - intents: The declared intents; none means that nobody declares any, and nothing is said about them.
  ///   - entities: The declared entities; none means the same.
  /// - Returns: The program, or `nil` if there are errors, and all that is wrong or odd, `problems` included, in the
  ///   order of the text.
  public static func check(
    documents: [SALDocument], problems: [SALDiagnostic] = [], imports: [Import] = [],
    pack: (any LanguagePack)? = nil, intents: [Declaration] = [], entities: [Declaration] = []
  ) -> (program: SALProgram?, diagnostics: [SALDiagnostic]) {
    var checker = SALChecker(
      documents: documents, imports: imports, pack: pack, intents: intents, entities: entities,
      problems: problems)
    return checker.check()
  }

  mutating func check() -> (program: SALProgram?, diagnostics: [SALDiagnostic]) {
    self.collectBrokenLines()
    self.collectDefinitions()
    let cyclic = self.findCycles()
    self.addImports()
    let templates = self.checkStatements(cyclic: cyclic)
    self.checkTemplates(templates)
    self.findUnused()
    self.compareDeclarations()
    let diagnostics = (self.problems + self.diagnostics).inOrderOfText()
    guard !diagnostics.contains(where: { $0.severity == .error }) else { return (nil, diagnostics) }
    return (SALProgram(templates: templates, variables: self.variables), diagnostics)
  }

  mutating func report(
    _ severity: SALDiagnostic.Severity, _ code: String, _ message: String, suggestion: String? = nil,
    at range: SALRange?
  ) {
    guard self.diagnostics.count < SALParser.diagnosticLimit else { return }
    self.diagnostics.append(SALDiagnostic(severity, code, message, suggestion: suggestion, at: range))
    if self.diagnostics.count == SALParser.diagnosticLimit {
      self.diagnostics.append(
        SALDiagnostic(
          .error, "sal.limit.diagnostics", "There are more problems than can be shown.",
          suggestion: "correct the ones above and try again", at: range))
    }
  }

  private mutating func collectBrokenLines() {
    for case let range? in self.problems.filter({ $0.severity == .error }).map(\.range) {
      self.brokenLines[range.file, default: []].append(range.line)
    }
    for file in self.brokenLines.keys { self.brokenLines[file]?.sort() }
  }

  /// Whether parsing left something out on the lines of a range.
  func isBroken(_ range: SALRange) -> Bool {
    guard let lines = self.brokenLines[range.file] else { return false }
    var low = 0
    var high = lines.count
    while low < high {
      let middle = (low + high) / 2
      if lines[middle] < range.line { low = middle + 1 } else { high = middle }
    }
    return low < lines.count && lines[low] <= range.endLine
  }

  /// Looking for similar names takes time, which a text full of errors must not multiply.
  func closest(to name: String, among candidates: @autoclosure () -> some Sequence<String>) -> String? {
    self.diagnostics.count < 50 ? SALNames.closest(to: name, among: candidates()) : nil
  }
}
