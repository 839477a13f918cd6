/// A sequence of items of SAL: what is said one after the other.
public struct SALExpression: Hashable, Sendable {
  /// The items, in order; none says nothing.
  public var items: [SALItem]

  /// Creates an expression.
  public init(_ items: [SALItem] = []) {
    self.items = items
  }
}

/// One item of an expression, with its place.
public struct SALItem: Hashable, Sendable {
  /// What an item can be (protocol document, section 4.1).
  public indirect enum Kind: Hashable, Sendable {
    /// A word to be said, as written; matching folds case.
    case word(String)
    /// `*name`: the phrase that follows has this intent.
    case intent(String)
    /// `[…](name)` or `$variable(name)`: what is said is a value of the entity. The item is a list, a range or a variable.
    case entity(SALItem, name: String)
    /// `[a | b]`: one of the alternatives.
    case list([SALAlternative])
    /// `![a | b]`: all of the items, in any order.
    case permutation([SALExpression])
    /// `{…}`: said or not; the probability is a half unless written as `{0.3: …}`.
    case optional(SALExpression, probability: Double)
    /// `[1..10]`: one of the whole numbers, in words.
    case numbers(ClosedRange<Int>)
    /// `$name`, without the dollar sign: what the variable holds.
    case variable(String)
  }

  /// What the item is.
  public var kind: Kind
  /// Where it stands.
  public var range: SALRange

  /// Creates an item.
  public init(_ kind: Kind, at range: SALRange) {
    self.kind = kind
    self.range = range
  }
}

/// One alternative of a list.
public struct SALAlternative: Hashable, Sendable {
  /// How likely the alternative is, relative to the others of its list; positive.
  public var weight: Double
  /// What is said.
  public var expression: SALExpression

  /// Creates an alternative.
  public init(_ expression: SALExpression, weight: Double = 1) {
    self.expression = expression
    self.weight = weight
  }
}

/// Templates and variables that are ready to be compiled: every variable is defined, and none needs itself.
public struct SALProgram: Hashable, Sendable {
  /// The templates, in the order of the source; each starts with an intent.
  public var templates: [SALTemplate]
  /// What the variables hold, by name without the dollar sign; imported lists and standard variables (`SPEECHLY.DATE`)
  /// that are used included.
  public var variables: [String: SALExpression]

  /// Creates a program.
  public init(templates: [SALTemplate] = [], variables: [String: SALExpression] = [:]) {
    self.templates = templates
    self.variables = variables
  }
}

/// One line of SAL that is not a definition: what a user may say.
public struct SALTemplate: Hashable, Sendable {
  /// What is said.
  public var expression: SALExpression
  /// The whole line, or lines.
  public var range: SALRange

  /// Creates a template.
  public init(_ expression: SALExpression, at range: SALRange) {
    self.expression = expression
    self.range = range
  }
}
