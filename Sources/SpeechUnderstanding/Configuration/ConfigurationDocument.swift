import Yams

/// One YAML file of a configuration: its values, with complaints about those that are not what they should be.
struct ConfigurationDocument {
  let file: String
  let lines: [Substring]
  private(set) var diagnostics: [SALDiagnostic] = []
  /// The values of the file by key, in order.
  private(set) var entries: [(key: String, keyNode: Node, value: Node)] = []

  static let keys = [
    "templates", "entities", "intents", "imports", "lang", "silence_triggered_segmentation",
    "fast_intent_detector",
    "enable_strict_nlu", "asr_biasing", "model", "adaptation_audio_package", "disable_mel_caching",
    "rejection_threshold",
  ]

  init(_ text: String, file: String) {
    self.file = file
    self.lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    do {
      guard let root = try YAMLComposer.root(of: text), !root.isNothing else {
        self.report(
          .warning, "configuration.file.empty", "There is nothing in this file.",
          suggestion: "templates: | with one template a line")
        return
      }
      guard case .mapping(let mapping) = root else {
        self.report(
          .error, "configuration.yaml.shape",
          "A configuration is a group of keys, and this is \(root.kindOfValue).",
          suggestion: "templates: | with one template a line below it", at: root)
        return
      }
      self.entries = mapping.map { ($0.key.string ?? "", $0.key, $0.value) }
    } catch is YAMLComposer.TooDeep {
      self.report(
        .error, "configuration.yaml.nesting", "The values of this file stand too deep in each other.",
        suggestion: "a configuration has lists of groups, and no more")
    } catch {
      self.report(yaml: error)
    }
    self.checkKeys(self.entries.map { ($0.key, $0.keyNode) }, known: Self.keys)
  }

  // MARK: Complaints

  mutating func report(
    _ severity: SALDiagnostic.Severity, _ code: String, _ message: String, suggestion: String? = nil,
    at node: Node? = nil
  ) {
    guard self.diagnostics.count < SALParser.diagnosticLimit else { return }
    let range = node.flatMap { YAMLPositions.range(of: $0, file: self.file) }
    self.diagnostics.append(
      SALDiagnostic(severity, code, message, suggestion: suggestion, at: range ?? self.start))
  }

  /// The beginning of the file.
  var start: SALRange { SALRange(file: self.file, line: 1, column: 1, endLine: 1, endColumn: 1) }

  func range(of node: Node) -> SALRange { YAMLPositions.range(of: node, file: self.file) ?? self.start }

  private mutating func report(yaml error: any Error) {
    var problem = "it cannot be read"
    var range = self.start
    func place(_ mark: Mark) -> SALRange {
      SALRange(
        file: self.file, line: max(1, mark.line), column: max(1, mark.column), endLine: max(1, mark.line),
        endColumn: max(1, mark.column) &+ 1)
    }
    var suggestion = "correct the indentation, brackets and quotes on this line or the one above"
    switch error as? YamlError {
    case .scanner(_, let text, let mark, _), .parser(_, let text, let mark, _),
      .composer(_, let text, let mark, _):
      problem = text
      range = place(mark)
      if text.contains("another document") {
        suggestion = "one document a file, without a line \"---\" inside"
      }
      if text.contains("cannot start any token") || text.contains("tab character") {
        suggestion = "blanks instead of tabs, and quotes around special characters"
      }
    case .duplicatedKeysInMapping(let duplicates, let context):
      problem = "the key \(duplicates.first ?? "") is there twice"
      range = place(context.mark)
      suggestion = "each key once"
    case .reader(let text, let offset, _, _):
      problem = text
      if let offset { range = self.place(ofByte: offset) }
      suggestion = "remove the control character"
    case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded, nil:
      break
    }
    self.diagnostics.append(
      SALDiagnostic(
        .error, "configuration.yaml.invalid", "This is not YAML: \(problem).", suggestion: suggestion,
        at: range))
  }

  private func place(ofByte offset: Int) -> SALRange {
    var rest = offset
    for (index, line) in self.lines.enumerated() {
      let length = line.utf8.count
      if rest <= length {
        let column = String(decoding: line.utf8.prefix(max(0, rest)), as: UTF8.self).count + 1
        return SALRange(
          file: self.file, line: index + 1, column: column, endLine: index + 1, endColumn: column + 1)
      }
      rest -= length + 1
    }
    return self.start
  }

  /// Warns about keys that nobody reads.
  mutating func checkKeys(_ keys: [(name: String, node: Node)], known: [String]) {
    for (name, node) in keys where !known.contains(name) {
      self.report(
        .warning, "configuration.key.unknown", "The key \(name.prefix(60)) is not known and has no effect.",
        suggestion: SALNames.closest(to: name, among: known).map { "did you mean \($0)?" }
          ?? "one of \(known.joined(separator: ", "))",
        at: node)
    }
  }

  mutating func wrongType(_ expected: String, _ key: String, at node: Node, suggestion: String) {
    self.report(
      .error, "configuration.value.type", "\(key) must be \(expected), and this is \(node.kindOfValue).",
      suggestion: suggestion, at: node)
  }

  // MARK: Values

  /// A text that is not empty; `nil` with a complaint for anything else.
  mutating func text(_ node: Node, key: String, example: String) -> String? {
    guard case .scalar(let scalar) = node, !node.isNothing, !SALNumbers.trimmed(scalar.string).isEmpty else {
      self.wrongType("a text", key, at: node, suggestion: "\(key): \(example)")
      return nil
    }
    return SALNumbers.trimmed(scalar.string)
  }

  mutating func integer(_ node: Node, key: String, in range: ClosedRange<Int>, example: String) -> Int? {
    guard case .scalar(let scalar) = node, let value = Int(scalar.string), range.contains(value) else {
      let bounds =
        range.upperBound == .max
        ? "from \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
      self.wrongType("a whole number \(bounds)", key, at: node, suggestion: "\(key): \(example)")
      return nil
    }
    return value
  }

  mutating func boolean(_ node: Node, key: String) -> Bool? {
    if case .scalar(let scalar) = node {
      switch scalar.string.lowercased() {
      case "true", "yes", "on": return true
      case "false", "no", "off": return false
      default: break
      }
    }
    self.wrongType("true or false", key, at: node, suggestion: "\(key): true")
    return nil
  }

  /// The items of a list; nothing counts as an empty one.
  mutating func list(_ node: Node, key: String, example: String) -> [Node] {
    if node.isNothing { return [] }
    guard case .sequence(let sequence) = node else {
      self.wrongType("a list", key, at: node, suggestion: example)
      return []
    }
    return Array(sequence)
  }

  /// The values of a group of keys, as far as they are known.
  mutating func group(_ node: Node, key: String, known: [String], example: String) -> [String: Node]? {
    guard case .mapping(let mapping) = node else {
      self.wrongType("a group of keys", key, at: node, suggestion: example)
      return nil
    }
    self.checkKeys(mapping.map { ($0.key.string ?? "", $0.key) }, known: known)
    var values: [String: Node] = [:]
    for (key, value) in mapping { if let name = key.string { values[name] = value } }
    return values
  }
}

extension Node {
  /// Whether the value was left out, or is a null that nobody put in quotes.
  var isNothing: Bool {
    guard case .scalar(let scalar) = self else { return false }
    switch scalar.style {
    case .plain, .any: return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    case .singleQuoted, .doubleQuoted, .literal, .folded: return false
    }
  }

  /// What the value is, for complaints.
  var kindOfValue: String {
    switch self {
    case .scalar(let scalar):
      self.isNothing ? "nothing" : "\"\(scalar.string.prefix(40).filter { !$0.isNewline })\""
    case .mapping: "a group of keys"
    case .sequence: "a list"
    case .alias: "an alias"
    }
  }
}
