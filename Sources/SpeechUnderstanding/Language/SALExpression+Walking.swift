extension SALExpression {
  /// Visits every item, outer ones before those inside them.
  func forEachItem(_ visit: (SALItem) -> Void) {
    for item in self.items { item.forEachItem(visit) }
  }

  /// The names of the variables that the expression uses.
  func variables() -> Set<String> {
    var names: Set<String> = []
    self.forEachItem { item in
      if case .variable(let name) = item.kind { names.insert(name) }
    }
    return names
  }

  /// The same expression with all places being one, so that what was written elsewhere can be compared.
  func withoutRanges() -> SALExpression {
    SALExpression(self.items.map { $0.withoutRange() })
  }
}

extension SALItem {
  func forEachItem(_ visit: (SALItem) -> Void) {
    visit(self)
    switch self.kind {
    case .word, .intent, .numbers, .variable: break
    case .entity(let value, name: _): value.forEachItem(visit)
    case .list(let alternatives):
      for alternative in alternatives { alternative.expression.forEachItem(visit) }
    case .permutation(let expressions): for expression in expressions { expression.forEachItem(visit) }
    case .optional(let expression, probability: _): expression.forEachItem(visit)
    }
  }

  func withoutRange() -> SALItem {
    let kind: Kind =
      switch self.kind {
      case .word, .intent, .numbers, .variable: self.kind
      case .entity(let value, let name): .entity(value.withoutRange(), name: name)
      case .list(let alternatives):
        .list(alternatives.map { SALAlternative($0.expression.withoutRanges(), weight: $0.weight) })
      case .permutation(let expressions): .permutation(expressions.map { $0.withoutRanges() })
      case .optional(let expression, let probability):
        .optional(expression.withoutRanges(), probability: probability)
      }
    return SALItem(kind, at: SALRange(file: "", line: 0, column: 0, endLine: 0, endColumn: 0))
  }
}
