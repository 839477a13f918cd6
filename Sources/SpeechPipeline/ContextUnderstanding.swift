public import SpeechUnderstanding

/// How what is said in a context is understood: an app's voice interface, and what values are relative to.
public struct ContextUnderstanding: Sendable {
  /// The app's interface, compiled.
  public var understanding: Understanding
  /// What "tomorrow" and the like are relative to.
  public var values: ValueContext
  /// What engines that follow grammars are to expect; `nil` to recognise free text and understand that.
  public var grammar: RecognitionGrammar?

  /// Creates an understanding.
  public init(_ understanding: Understanding, values: ValueContext, grammar: RecognitionGrammar? = nil) {
    self.understanding = understanding
    self.values = values
    self.grammar = grammar
  }

  /// An entity as it is told: with the normal form of its value, or the words if they stand for themselves.
  func recognized(_ entity: Interpretation.Entity, offset: Int) -> RecognizedEntity {
    let normal = self.understanding.normalForm(of: entity.value, entity: entity.name, in: self.values)
    return RecognizedEntity(
      type: entity.name, value: normal ?? entity.value.joined(separator: " "),
      words: entity.words.lowerBound - offset..<entity.words.upperBound - offset)
  }
}
