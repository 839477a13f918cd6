import Yams

extension ConfigurationLoader {
  // MARK: Entities and intents

  mutating func addEntities(_ value: Node, in document: inout ConfigurationDocument) {
    let example = "- name: color"
    for node in document.list(value, key: "entities", example: example) {
      if case .scalar = node {
        guard let name = document.text(node, key: "name", example: "color") else { continue }
        self.declare(EntityDeclaration(name: name), at: node, in: &document)
        continue
      }
      guard
        let values = document.group(
          node, key: "An entity", known: ["name", "type", "input_items", "output_items", "output_field"],
          example: example)
      else { continue }
      guard let nameNode = values["name"] else {
        document.report(
          .error, "configuration.key.missing", "This entity has no name.", suggestion: "name: color", at: node
        )
        continue
      }
      guard let name = document.text(nameNode, key: "name", example: "color") else { continue }
      let type = self.entityType(values["type"], in: &document)
      guard self.declare(EntityDeclaration(name: name, type: type), at: nameNode, in: &document) else {
        continue
      }
      self.addLookup(of: name, type: type, values, at: nameNode, in: &document)
    }
  }

  private func entityType(_ node: Node?, in document: inout ConfigurationDocument) -> EntityType {
    guard let node, !node.isNothing, let name = document.text(node, key: "type", example: "string") else {
      return .string
    }
    if let type = EntityType(configurationName: name) { return type }
    let known = EntityType.allCases.map(\.rawValue)
    document.report(
      .warning, "configuration.entity.type",
      "There is no entity type \(name.prefix(60)); the entity has the type string.",
      suggestion: SALNames.closest(to: name, among: known).map { "did you mean \($0)?" }
        ?? "one of \(known.joined(separator: ", "))",
      at: node)
    return .string
  }

  @discardableResult
  private mutating func declare(
    _ declaration: EntityDeclaration, at node: Node, in document: inout ConfigurationDocument
  ) -> Bool {
    guard self.isIdentifier(declaration.name, kind: "an entity", at: node, in: &document) else {
      return false
    }
    if let first = self.interface.entities[declaration.name] {
      document.report(
        first.type == declaration.type ? .warning : .error, "configuration.entity.repeated",
        "The entity \(declaration.name) is declared a second time.", suggestion: "remove one of the two",
        at: node)
      return false
    }
    self.interface.entities[declaration.name] = declaration
    self.entityRanges.append((declaration.name, document.range(of: node)))
    return true
  }

  private func isIdentifier(
    _ name: String, kind: String, at node: Node, in document: inout ConfigurationDocument
  ) -> Bool {
    guard let problem = name.unicodeScalars.first(where: { !SALCharacters.isIdentifierCharacter($0) }) else {
      return true
    }
    document.report(
      .error, "sal.name.character",
      "The name of \(kind) has letters a-z, digits, - and _, not \(SALNames.quoted(problem)).",
      suggestion: SALNames.identifier(from: name), at: node)
    return false
  }

  private mutating func addLookup(
    of entity: String, type: EntityType, _ values: [String: Node], at node: Node,
    in document: inout ConfigurationDocument
  ) {
    guard type == .lookup else {
      if let extra = values["input_items"] ?? values["output_items"] {
        document.report(
          .warning, "configuration.lookup.type", "Only entities of the type lookup have items.",
          suggestion: "type: lookup", at: extra)
      }
      return
    }
    guard let inputNode = values["input_items"], let outputNode = values["output_items"] else {
      let missing = values["input_items"] == nil ? "input_items" : "output_items"
      document.report(
        .error, "configuration.key.missing", "The lookup \(entity) has no \(missing).",
        suggestion: "\(missing): $variable, the name of an import", at: node)
      return
    }
    guard let input = document.text(inputNode, key: "input_items", example: "$spoken"),
      let output = document.text(outputNode, key: "output_items", example: "$normal")
    else { return }
    func name(_ text: String) -> String { text.hasPrefix("$") ? String(text.dropFirst()) : text }
    self.lookups.append(
      Lookup(
        entity: entity, input: (name(input), document.range(of: inputNode)),
        output: (name(output), document.range(of: outputNode))))
  }

  mutating func addIntents(_ value: Node, in document: inout ConfigurationDocument) {
    for node in document.list(value, key: "intents", example: "- name: turn_on") {
      var nameNode = node
      if case .mapping = node {
        guard let values = document.group(node, key: "An intent", known: ["name"], example: "- name: turn_on")
        else { continue }
        guard let named = values["name"] else {
          document.report(
            .error, "configuration.key.missing", "This intent has no name.", suggestion: "name: turn_on",
            at: node)
          continue
        }
        nameNode = named
      }
      guard let name = document.text(nameNode, key: "name", example: "turn_on"),
        self.isIdentifier(name, kind: "an intent", at: nameNode, in: &document)
      else { continue }
      guard !self.intentRanges.contains(where: { $0.name == name }) else {
        document.report(
          .warning, "configuration.intent.repeated", "The intent \(name) is declared a second time.",
          suggestion: "remove one of the two", at: nameNode)
        continue
      }
      self.intentRanges.append((name, document.range(of: nameNode)))
      self.interface.intents.append(name)
    }
  }

  // MARK: Imports

  mutating func addImports(_ value: Node, in document: inout ConfigurationDocument) {
    let example = "- {name: color, source: colors.csv, field: 1}"
    for node in document.list(value, key: "imports", example: example) {
      guard
        let values = document.group(
          node, key: "An import", known: ["name", "source", "field"], example: example)
      else { continue }
      guard let nameNode = values["name"], let sourceNode = values["source"] else {
        let missing = values["name"] == nil ? "name" : "source"
        document.report(
          .error, "configuration.key.missing", "This import has no \(missing).",
          suggestion: missing == "name" ? "name: color" : "source: colors.csv", at: node)
        continue
      }
      guard let name = document.text(nameNode, key: "name", example: "color"),
        let source = document.text(sourceNode, key: "source", example: "colors.csv")
      else { continue }
      var field = 1
      if let fieldNode = values["field"] {
        guard let number = document.integer(fieldNode, key: "field", in: 1...100_000, example: "1") else {
          continue
        }
        field = number
      }
      if let problem = name.unicodeScalars.first(where: { !SALCharacters.isNameCharacter($0) }) {
        document.report(
          .error, "sal.variable.name",
          "The name of a variable has letters, digits and underscores, not \(SALNames.quoted(problem)).",
          suggestion: SALNames.variable(from: name), at: nameNode)
        continue
      }
      if self.imports.contains(where: { $0.name == name }) {
        document.report(
          .error, "sal.variable.redefined", "The variable \(name) is imported a second time.",
          suggestion: "another name", at: nameNode)
        continue
      }
      self.imports.append(
        Import(
          name: name, source: source, field: field, range: document.range(of: nameNode),
          sourceRange: document.range(of: sourceNode)))
    }
  }

  /// Reads the files of all imports, each once.
  mutating func readImports() -> [SALChecker.Import] {
    var tables: [String: CSVColumns] = [:]
    for source in Set(self.imports.map(\.source)).sorted() {
      let users = self.imports.filter { $0.source == source }
      guard let first = users.first else { continue }
      if let bytes = self.contents(of: source, at: first.sourceRange) {
        let table = CSVColumns(bytes, columns: Set(users.map(\.field)))
        self.report(table.problems, of: source, at: first.sourceRange)
        tables[source] = table
      }
    }
    return self.imports.map { item in
      guard let table = tables[item.source], let values = table.values[item.field] else {
        return SALChecker.Import(name: item.name, values: [SALNames.unknownValue], range: item.range)
      }
      self.reportMissing(in: table, item)
      return SALChecker.Import(name: item.name, values: values, range: item.range)
    }
  }

  private mutating func contents(of source: String, at range: SALRange) -> [UInt8]? {
    guard !source.contains("/"), !source.contains("\\"), source != "..", source != "." else {
      self.report(
        .error, "configuration.import.path", "The file of an import is in the folder of the configuration.",
        suggestion: "source: \(source.split { $0 == "/" || $0 == "\\" }.last ?? "list.csv")", at: range)
      return nil
    }
    switch self.read(source) {
    case .success(let bytes)?: return bytes
    case .failure(let failure)?:
      self.report(
        .error, "configuration.file.unreadable", "The file \(source) cannot be read: \(failure.reason).",
        at: range)
    case nil:
      self.report(
        .error, "configuration.import.file-missing", "There is no file \(source) beside the configuration.",
        suggestion: "put it there, or correct the name", at: range)
    }
    return nil
  }

  private mutating func report(_ problems: [CSVColumns.Problem], of source: String, at range: SALRange) {
    for problem in problems {
      func place(_ line: Int) -> SALRange {
        SALRange(file: source, line: line, column: 1, endLine: line, endColumn: 1)
      }
      switch problem {
      case .encoding(let line):
        self.report(
          .error, "csv.encoding", "This line is not in UTF-8.", suggestion: "save the file in UTF-8",
          at: place(line))
      case .unclosedQuote(let line):
        self.report(
          .error, "csv.quote.unclosed", "A value starts with a quote on this line and does not end.",
          suggestion: "\"value\", and two quotes for one inside", at: place(line))
      case .textAfterQuote(let line):
        self.report(
          .warning, "csv.quote.text-after",
          "There is text between a closing quote and the comma; it is ignored.",
          suggestion: "\"value\", and two quotes for one inside", at: place(line))
      case .tooManyRows:
        self.report(
          .error, "csv.too-long", "The file \(source) has more than \(CSVColumns.rowLimit) rows.",
          suggestion: "import the values that people say most often", at: range)
      }
    }
  }

  private mutating func reportMissing(in table: CSVColumns, _ item: Import) {
    guard table.rows > 0 else {
      self.report(
        .warning, "csv.empty", "The file \(item.source) has no rows.", suggestion: "one value a line",
        at: item.sourceRange)
      return
    }
    guard let (count, line) = table.missing[item.field] else { return }
    guard count < table.rows else {
      let hint =
        table.seemsToUseSemicolons
        ? "separate the columns by commas, not semicolons" : "count the columns from 1"
      self.report(
        .error, "csv.field-missing", "The file \(item.source) has no column \(item.field).", suggestion: hint,
        at: item.range)
      return
    }
    self.report(
      .warning, "csv.row-short",
      count == 1
        ? "This row has no column \(item.field)."
        : "This row and \(count - 1) more of \(table.rows) have no column \(item.field).",
      suggestion: "add the value, or remove the row",
      at: SALRange(file: item.source, line: line, column: 1, endLine: line, endColumn: 1))
  }

  // MARK: Lookups

  mutating func fillLookups(from imports: [SALChecker.Import]) {
    var values: [String: [String]] = [:]
    for item in imports { values[item.name] = item.values }
    for lookup in self.lookups {
      var isComplete = true
      for (name, range) in [lookup.input, lookup.output] where values[name] == nil {
        isComplete = false
        self.report(
          .error, "configuration.lookup.not-imported", "There is no import named \(name).",
          suggestion: SALNames.closest(to: name, among: values.keys).map { "did you mean $\($0)?" }
            ?? "add it to the imports",
          at: range)
      }
      guard isComplete, let input = values[lookup.input.name], let output = values[lookup.output.name] else {
        continue
      }
      if input == [SALNames.unknownValue] || output == [SALNames.unknownValue] { continue }
      guard input.count == output.count else {
        self.report(
          .error, "configuration.lookup.length",
          "The lists of a lookup must be equally long: \(lookup.input.name) has \(input.count) values, "
            + "\(lookup.output.name) has \(output.count).",
          suggestion: "two columns of one file", at: lookup.output.range)
        continue
      }
      let table = self.table(input, output, lookup)
      self.interface.entities[lookup.entity]?.table = table
    }
  }

  private mutating func table(_ input: [String], _ output: [String], _ lookup: Lookup) -> [String: String] {
    var table: [String: String] = [:]
    table.reserveCapacity(input.count)
    var conflicts: [String] = []
    for (spoken, normal) in zip(input, output) {
      let key = spoken.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
      guard !key.isEmpty else { continue }
      guard let first = table[key] else {
        table[key] = normal
        continue
      }
      if first != normal { conflicts.append(key) }
    }
    if let example = conflicts.first {
      let more = conflicts.count > 1 ? " So have \(conflicts.count - 1) more." : ""
      self.report(
        .warning, "configuration.lookup.ambiguous",
        "The value \"\(example.prefix(60))\" of \(lookup.input.name) has several normal forms; the first one holds.\(more)",
        suggestion: "each value once", at: lookup.input.range)
    }
    return table
  }
}
