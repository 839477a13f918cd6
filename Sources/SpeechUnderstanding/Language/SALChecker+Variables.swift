extension SALChecker {
  // MARK: Definitions

  mutating func collectDefinitions() {
    for (index, item) in self.imports.enumerated() where self.importIndices[item.name] == nil {
      self.importIndices[item.name] = index
    }
    for document in self.documents {
      for case .definition(let definition) in document.statements {
        let name = definition.name
        if name.hasPrefix(SALNames.reservedPrefix) {
          self.report(
            .error, "sal.variable.reserved", "Names that start with SPEECHLY. belong to the language.",
            suggestion: SALNames.variable(from: name.dropFirst(9).lowercased()), at: definition.nameRange)
          continue
        }
        if let first = self.indices[name].map({ self.definitions[$0].definition.nameRange }) {
          self.report(
            .error, "sal.variable.redefined", "The variable \(name) is defined a second time.",
            suggestion: "another name, or one list with the values of both", at: definition.nameRange)
          self.report(.note, "sal.variable.defined-here", "The first definition is here.", at: first)
          continue
        }
        if let imported = self.importIndices[name] {
          self.report(
            .error, "sal.variable.redefined", "The variable \(name) is imported and cannot be defined again.",
            suggestion: "another name", at: definition.nameRange)
          if let range = self.imports[imported].range {
            self.report(.note, "sal.variable.defined-here", "The import is here.", at: range)
          }
          continue
        }
        self.indices[name] = self.definitions.count
        self.definitions.append(Definition(definition: definition, needs: definition.expression.variables()))
      }
    }
  }

  /// The variables that need themselves; each group is reported once.
  mutating func findCycles() -> Set<String> {
    var cyclic: Set<String> = []
    for component in self.components() {
      guard let first = component.min() else { continue }
      let definition = self.definitions[first]
      let name = definition.definition.name
      guard component.count > 1 || definition.needs.contains(name) else { continue }
      cyclic.formUnion(component.map { self.definitions[$0].definition.name })
      let way = self.way(from: first, within: Set(component))
      self.report(
        .error, "sal.variable.cycle", "The variable \(name) needs itself: \(way.joined(separator: " -> ")).",
        suggestion: "write a repetition out: all = $one {and $one {and $one}}",
        at: definition.definition.nameRange)
    }
    return cyclic
  }

  /// The shortest way from a definition back to itself, as names.
  private func way(from start: Int, within component: Set<Int>) -> [String] {
    var previous: [Int: Int] = [:]
    var queue = [start]
    var head = 0
    search: while head < queue.count {
      let current = queue[head]
      head += 1
      for name in self.definitions[current].needs.sorted() {
        guard let next = self.indices[name], component.contains(next) else { continue }
        if next == start {
          previous[start] = current
          break search
        }
        if previous[next] == nil {
          previous[next] = current
          queue.append(next)
        }
      }
    }
    var names = [self.definitions[start].definition.name]
    var current = previous[start] ?? start
    while current != start {
      names.append(self.definitions[current].definition.name)
      current = previous[current] ?? start
    }
    names.append(self.definitions[start].definition.name)
    guard names.count > 12 else { return names.reversed() }
    return Array(names.reversed().prefix(10)) + ["…", self.definitions[start].definition.name]
  }

  /// Groups of definitions that need each other (Tarjan's strongly connected components, without recursion).
  private func components() -> [[Int]] {
    let count = self.definitions.count
    let needs = self.definitions.map { $0.needs.compactMap { self.indices[$0] } }
    var order = [Int](repeating: -1, count: count)
    var low = order
    var isOpen = [Bool](repeating: false, count: count)
    var open: [Int] = []
    var result: [[Int]] = []
    var counter = 0
    for root in 0..<count where order[root] < 0 {
      var path: [(node: Int, next: Int)] = [(root, 0)]
      while let (node, next) = path.popLast() {
        if next == 0 {
          order[node] = counter
          low[node] = counter
          counter += 1
          open.append(node)
          isOpen[node] = true
        } else {
          low[node] = min(low[node], low[needs[node][next - 1]])
        }
        var index = next
        var descended = false
        while index < needs[node].count {
          let other = needs[node][index]
          if order[other] < 0 {
            path.append((node, index + 1))
            path.append((other, 0))
            descended = true
            break
          }
          if isOpen[other] { low[node] = min(low[node], order[other]) }
          index += 1
        }
        if descended || low[node] != order[node] { continue }
        var component: [Int] = []
        while let last = open.popLast() {
          isOpen[last] = false
          component.append(last)
          if last == node { break }
        }
        result.append(component)
      }
    }
    return result
  }

  // MARK: Uses

  mutating func addImports() {
    for item in self.imports {
      let isPossible = item.values.contains { $0.contains { !$0.isWhitespace } }
      self.shapes[item.name] =
        isPossible
        ? .word : SALShape(isPossible: false, canBeSilent: false, canBeWordless: false)
    }
  }

  /// Goes through the documents in their order, so that only what is defined above counts as defined.
  mutating func checkStatements(cyclic: Set<String>) -> [SALTemplate] {
    var defined: Set<String> = []
    var templates: [SALTemplate] = []
    for document in self.documents {
      for statement in document.statements {
        switch statement {
        case .definition(let definition):
          self.checkUses(in: definition.expression, defined: defined, cyclic: cyclic)
          let range = definition.expression.items.last.map { definition.nameRange.extended(to: $0.range) }
          let isBroken = self.isBroken(range ?? definition.nameRange)
          if !isBroken { self.checkEntities(in: definition.expression) }
          guard !defined.contains(definition.name), self.indices[definition.name] != nil else { continue }
          defined.insert(definition.name)
          self.variables[definition.name] = definition.expression
          self.shapes[definition.name] =
            isBroken || cyclic.contains(definition.name) || definition.expression.items.isEmpty
            ? .unknown : SALShape(of: definition.expression, variables: self.shapes)
        case .template(let template):
          self.checkUses(in: template.expression, defined: defined, cyclic: cyclic)
          if !self.isBroken(template.range) { self.checkEntities(in: template.expression) }
          templates.append(template)
        }
      }
    }
    return templates
  }

  private mutating func checkUses(in expression: SALExpression, defined: Set<String>, cyclic: Set<String>) {
    var uses: [(name: String, range: SALRange)] = []
    expression.forEachItem { item in
      if case .variable(let name) = item.kind { uses.append((name, item.range)) }
    }
    for (name, range) in uses {
      self.used.insert(name)
      if defined.contains(name) || cyclic.contains(name) { continue }
      if let index = self.importIndices[name] {
        if self.variables[name] == nil {
          self.variables[name] = Self.list(
            of: self.imports[index].values, at: self.imports[index].range ?? range)
        }
      } else if name.hasPrefix(SALNames.reservedPrefix) {
        self.useStandardVariable(name, at: range)
      } else if let index = self.indices[name] {
        self.report(
          .error, "sal.variable.too-early", "The variable \(name) is used before it is defined.",
          suggestion: "move the definition above this line", at: range)
        self.report(
          .note, "sal.variable.defined-here", "The definition is here.",
          at: self.definitions[index].definition.nameRange)
      } else {
        let better = self.closest(to: name, among: Array(self.indices.keys) + Array(self.importIndices.keys))
        let isStandard = self.pack.map { Self.offeredVariables(of: $0) }?.contains(name.uppercased()) == true
        self.report(
          .error, "sal.variable.undefined", "There is no variable \(name).",
          suggestion: better.map { "did you mean $\($0)?" }
            ?? (isStandard
              ? "did you mean $\(SALNames.reservedPrefix)\(name.uppercased())?"
              : "define it above this line: \(name) = [first value | second value]"),
          at: range)
      }
    }
  }

  /// A list of literal values.
  static func list(of values: [String], at range: SALRange) -> SALExpression {
    let alternatives = values.compactMap { value -> SALAlternative? in
      let words = value.split(whereSeparator: \.isWhitespace)
      return words.isEmpty
        ? nil : SALAlternative(SALExpression(words.map { SALItem(.word(String($0)), at: range) }))
    }
    return SALExpression([SALItem(.list(alternatives), at: range)])
  }

  // MARK: Standard variables

  /// The variables that people may use; the others are only there for these.
  private static func offeredVariables(of pack: any LanguagePack) -> [String] {
    let helper = pack.language.uppercased() + "_"
    return pack.standardVariables.keys.filter { !$0.hasPrefix(helper) }.sorted()
  }

  private mutating func useStandardVariable(_ name: String, at range: SALRange) {
    guard self.variables[name] == nil else { return }
    guard let pack = self.pack else {
      self.report(
        .error, "sal.variable.standard-unavailable", "There are no standard variables for this language.",
        suggestion: "define a variable of your own", at: range)
      // Once is enough.
      self.variables[name] = SALExpression()
      return
    }
    var stack = [String(name.dropFirst(SALNames.reservedPrefix.count))]
    while let short = stack.popLast() {
      let full = SALNames.reservedPrefix + short
      guard self.variables[full] == nil else { continue }
      guard let text = pack.standardVariables[short] else {
        let offered = Self.offeredVariables(of: pack)
        let better = self.closest(to: short, among: offered)
        self.report(
          .error, "sal.variable.standard-unknown", "There is no standard variable \(full).",
          suggestion: better.map { "did you mean $\(SALNames.reservedPrefix)\($0)?" }
            ?? "one of \(offered.prefix(20).joined(separator: ", "))",
          at: range)
        return
      }
      let (expression, diagnostics) = SALParser.parseExpression(SALSource(name: "$" + full, text: text))
      if let error = diagnostics.first(where: { $0.severity == .error }) {
        self.report(
          .error, "sal.variable.standard-broken",
          "The language's text of \(full) cannot be read: \(error.message)", at: range)
        return
      }
      self.variables[full] = expression
      // The words of a standard variable say something: its exact shape does not matter.
      self.shapes[full] = .word
      for need in expression.variables() where need.hasPrefix(SALNames.reservedPrefix) {
        stack.append(String(need.dropFirst(SALNames.reservedPrefix.count)))
      }
    }
  }
}
