/// A text in SAL as it was parsed: definitions and templates in the order of the text.
///
/// A document says nothing about whether its variables exist; ``SALChecker`` makes a ``SALProgram`` of it.
public struct SALDocument: Hashable, Sendable {
  /// One line of SAL, which brackets may stretch over several lines of text.
  public enum Statement: Hashable, Sendable {
    /// `name = expression`.
    case definition(SALDefinition)
    /// Anything else: what a user may say.
    case template(SALTemplate)
  }

  /// The definitions and templates, in order.
  public var statements: [Statement]

  /// Creates a document.
  public init(_ statements: [Statement] = []) {
    self.statements = statements
  }
}

/// A variable and what it holds: `name = expression`.
public struct SALDefinition: Hashable, Sendable {
  /// The name, without a dollar sign.
  public var name: String
  /// Where the name stands.
  public var nameRange: SALRange
  /// What the variable holds.
  public var expression: SALExpression

  /// Creates a definition.
  public init(name: String, nameRange: SALRange, expression: SALExpression) {
    self.name = name
    self.nameRange = nameRange
    self.expression = expression
  }
}
