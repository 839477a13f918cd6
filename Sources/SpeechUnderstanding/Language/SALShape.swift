/// What can be said with an expression, as far as the rules for templates ask.
struct SALShape: Hashable {
  /// Whether all of it is known; nothing follows from the rest if not.
  var isKnown = true
  /// Whether there is anything to say at all; a list without items has nothing.
  var isPossible = true
  /// Whether it can add neither a word nor an intent.
  var canBeSilent = true
  /// Whether it can add no word, though perhaps an intent.
  var canBeWordless = true
  /// Whether it can add a word.
  var hasWords = false
  /// Whether a word can come before any intent.
  var canStartWithWord = false
  /// Whether an intent is in it.
  var hasIntent = false
  /// Whether an intent is in every way to say it.
  var alwaysHasIntent = false
  /// Whether an entity is in it.
  var hasEntity = false

  static let word = SALShape(
    canBeSilent: false, canBeWordless: false, hasWords: true, canStartWithWord: true)
  /// What an undefined variable or a broken line holds.
  static let unknown = SALShape(isKnown: false, canBeSilent: false, canBeWordless: false, hasWords: true)
  static let intent = SALShape(canBeSilent: false, hasIntent: true, alwaysHasIntent: true)

  /// One after the other.
  func followed(by next: SALShape) -> SALShape {
    SALShape(
      isKnown: self.isKnown && next.isKnown,
      isPossible: self.isPossible && next.isPossible,
      canBeSilent: self.canBeSilent && next.canBeSilent,
      canBeWordless: self.canBeWordless && next.canBeWordless,
      hasWords: self.hasWords || next.hasWords,
      canStartWithWord: self.canStartWithWord || self.canBeSilent && next.canStartWithWord,
      hasIntent: self.hasIntent || next.hasIntent,
      alwaysHasIntent: self.alwaysHasIntent || next.alwaysHasIntent,
      hasEntity: self.hasEntity || next.hasEntity)
  }

  /// One of several.
  static func either(_ shapes: [SALShape]) -> SALShape {
    let possible = shapes.filter(\.isPossible)
    return SALShape(
      isKnown: shapes.allSatisfy(\.isKnown),
      isPossible: !possible.isEmpty,
      canBeSilent: possible.contains(where: \.canBeSilent),
      canBeWordless: possible.contains(where: \.canBeWordless),
      hasWords: possible.contains(where: \.hasWords),
      canStartWithWord: possible.contains(where: \.canStartWithWord),
      hasIntent: possible.contains(where: \.hasIntent),
      alwaysHasIntent: !possible.isEmpty && possible.allSatisfy(\.alwaysHasIntent),
      hasEntity: possible.contains(where: \.hasEntity))
  }

  /// All of several, in any order.
  static func all(_ shapes: [SALShape]) -> SALShape {
    var shape = shapes.reduce(SALShape()) { $0.followed(by: $1) }
    // Each of them can come first.
    shape.canStartWithWord = shape.isPossible && shapes.contains(where: \.canStartWithWord)
    return shape
  }

  init(
    isKnown: Bool = true, isPossible: Bool = true, canBeSilent: Bool = true, canBeWordless: Bool = true,
    hasWords: Bool = false,
    canStartWithWord: Bool = false, hasIntent: Bool = false, alwaysHasIntent: Bool = false,
    hasEntity: Bool = false
  ) {
    self.isKnown = isKnown
    self.isPossible = isPossible
    self.canBeSilent = canBeSilent
    self.canBeWordless = canBeWordless
    self.hasWords = hasWords
    self.canStartWithWord = canStartWithWord
    self.hasIntent = hasIntent
    self.alwaysHasIntent = alwaysHasIntent
    self.hasEntity = hasEntity
  }

  init(of expression: SALExpression, variables: [String: SALShape]) {
    self = expression.items.reduce(SALShape()) { $0.followed(by: SALShape(of: $1, variables: variables)) }
  }

  /// The shape of an item; variables that are not defined are unknown, so that one error does not cause others.
  init(of item: SALItem, variables: [String: SALShape]) {
    switch item.kind {
    case .word, .numbers:
      self = .word
    case .intent:
      self = .intent
    case .entity(let value, name: _):
      self = SALShape(of: value, variables: variables)
      self.hasEntity = true
    case .list(let alternatives):
      self = .either(alternatives.map { SALShape(of: $0.expression, variables: variables) })
    case .permutation(let expressions):
      self = .all(expressions.map { SALShape(of: $0, variables: variables) })
    case .optional(let expression, probability: _):
      self = SALShape(of: expression, variables: variables)
      // What cannot be said is never said; the rest is the same as with nothing.
      if !self.isPossible { self = SALShape() }
      self.canBeSilent = true
      self.canBeWordless = true
      self.alwaysHasIntent = false
    case .variable(let name):
      self = variables[name] ?? .unknown
    }
  }
}
