extension SALChecker {
  // MARK: Entities

  mutating func checkEntities(in expression: SALExpression) {
    var entities: [(value: SALItem, name: String, range: SALRange)] = []
    expression.forEachItem { item in
      if case .entity(let value, let name) = item.kind { entities.append((value, name, item.range)) }
    }
    for (value, name, range) in entities {
      let shape = SALShape(of: value, variables: self.shapes)
      guard shape.isKnown else { continue }
      if shape.hasIntent {
        self.report(
          .error, "sal.entity.intent", "The value of the entity \(name) holds an intent.",
          suggestion: "put the intent before the value", at: range)
      } else if shape.hasEntity {
        self.report(
          .error, "sal.entity.nested", "The value of the entity \(name) holds another entity.",
          suggestion: "name only one of the two", at: range)
      } else if shape.isPossible, shape.canBeWordless {
        self.report(
          .error, "sal.entity.empty", "The value of the entity \(name) can be empty.",
          suggestion: "{[value](\(name))}: an entity that may be left out as a whole", at: range)
      }
    }
  }

  // MARK: Templates

  mutating func checkTemplates(_ templates: [SALTemplate]) {
    var seen: [String: SALRange] = [:]
    for template in templates {
      let text = SALPrinter.text(of: template.expression)
      if let first = seen[text] {
        self.report(
          .warning, "sal.template.duplicate", "This template was there before.",
          suggestion: "remove it, or give both as a list with weights", at: template.range)
        self.report(.note, "sal.template.first-here", "The first one is here.", at: first)
        continue
      }
      seen[text] = template.range
      self.check(template)
    }
  }

  private mutating func check(_ template: SALTemplate) {
    let shape = SALShape(of: template.expression, variables: self.shapes)
    guard shape.isKnown, !self.isBroken(template.range) else { return }
    if !shape.isPossible {
      self.report(
        .error, "sal.template.impossible",
        "This template matches nothing, because a list that it needs is empty.",
        suggestion: "give the list a value", at: self.culprit(in: template) { !$0.isPossible })
    } else if !shape.hasIntent {
      self.report(
        .error, "sal.template.no-intent",
        "This template has no intent, so nothing would happen when it is said.",
        suggestion: "*name before the words, or name = … to define a variable", at: template.range)
    } else if shape.canStartWithWord {
      self.report(
        .error, "sal.template.words-first", "Words can come before the first intent of this template.",
        suggestion: "move the intent to the beginning; it can also stand in every item of the first list",
        at: self.culprit(in: template) { $0.canStartWithWord })
    } else if !shape.hasWords {
      self.report(
        .error, "sal.template.empty", "This template has no words, so it can never be said.",
        suggestion: "add what people say", at: template.range)
    } else if shape.canBeWordless {
      self.report(
        .warning, "sal.template.can-be-empty",
        "All words of this template are optional; silence does not match it.",
        suggestion: "make one part necessary: [this | that] instead of {this} {that}", at: template.range)
    } else {
      self.checkIntents(in: template)
    }
  }

  /// Intents without any word of their own.
  private mutating func checkIntents(in template: SALTemplate) {
    let items = template.expression.items
    for (index, item) in items.enumerated() {
      guard case .intent(let name) = item.kind else { continue }
      if index + 1 < items.count {
        guard case .intent = items[index + 1].kind else { continue }
      }
      self.report(
        .warning, "sal.intent.no-words", "The intent \(name) has no words of its own.",
        suggestion: "add what people say for it, or remove it", at: item.range)
    }
  }

  /// The first item that has a property which the template must not have.
  private func culprit(in template: SALTemplate, where isGuilty: (SALShape) -> Bool) -> SALRange {
    template.expression.items.first { isGuilty(SALShape(of: $0, variables: self.shapes)) }?.range
      ?? template.range
  }

  // MARK: Use

  mutating func findUnused() {
    for (name, index) in self.indices where !self.used.contains(name) && !self.usedElsewhere.contains(name) {
      self.report(
        .warning, "sal.variable.unused", "The variable \(name) is never used.",
        suggestion: "$\(name) in a template, or remove the definition",
        at: self.definitions[index].definition.nameRange)
    }
    for item in self.imports where !self.used.contains(item.name) && !self.usedElsewhere.contains(item.name) {
      self.report(
        .warning, "sal.variable.unused", "The imported variable \(item.name) is never used.",
        suggestion: "$\(item.name) in a template, or remove the import", at: item.range)
    }
  }

  mutating func compareDeclarations() {
    var intents: [String: SALRange] = [:]
    var entities: [String: SALRange] = [:]
    for document in self.documents {
      for statement in document.statements {
        let expression =
          switch statement {
          case .definition(let definition): definition.expression
          case .template(let template): template.expression
          }
        expression.forEachItem { item in
          switch item.kind {
          case .intent(let name) where name != SALNames.filler && intents[name] == nil:
            intents[name] = item.range
          case .entity(_, let name) where entities[name] == nil: entities[name] = item.range
          case .word, .intent, .entity, .list, .permutation, .optional, .numbers, .variable: break
          }
        }
      }
    }
    self.compare(
      self.intents, with: intents, kind: "intent", consequence: "")
    self.compare(
      self.entities, with: entities, kind: "entity", consequence: " and has the type string")
  }

  private mutating func compare(
    _ declared: [Declaration], with used: [String: SALRange], kind: String, consequence: String
  ) {
    guard !declared.isEmpty else { return }
    let names = Set(declared.map(\.name))
    for (name, range) in used.sorted(by: { $0.key < $1.key }) where !names.contains(name) {
      let better = self.closest(to: name, among: names.filter { used[$0] == nil })
      self.report(
        .warning, "sal.\(kind).undeclared",
        "The \(kind) \(name) is not declared in the configuration\(consequence).",
        suggestion: better.map { "did you mean \($0)?" }
          ?? "add it to the list of \(kind == "intent" ? "intents" : "entities")",
        at: range)
    }
    for declaration in declared where used[declaration.name] == nil {
      self.report(
        .warning, "sal.\(kind).unused", "The \(kind) \(declaration.name) is declared but in no template.",
        suggestion: "use it in a template, or remove it", at: declaration.range)
    }
  }
}
