public import SpeechUnderstanding

/// What a recogniser is to recognise in an utterance.
public struct RecognitionTask: Sendable {
  /// What an earlier utterance of the same channel taught, or `nil` for a new channel.
  public var adaptation: RecognizerAdaptation?
  /// What may be said; `nil` for free text.
  public var grammar: RecognitionGrammar?
  /// Words and phrases that are likely to be said, in addition to what the language model expects.
  public var vocabulary: [String]
  /// How much ``vocabulary`` is preferred, from 0 (not at all) to 1.
  public var vocabularyBias: Double

  /// Creates a task.
  public init(
    adaptation: RecognizerAdaptation? = nil, grammar: RecognitionGrammar? = nil, vocabulary: [String] = [],
    vocabularyBias: Double = 0.5
  ) {
    self.adaptation = adaptation
    self.grammar = grammar
    self.vocabulary = vocabulary
    self.vocabularyBias = vocabularyBias
  }
}

/// A grammar as recognisers take it: they keep what they make from it until it is gone.
public final class RecognitionGrammar: Sendable {
  /// What may be said.
  public let grammar: Grammar
  /// How surely speech must be covered by the grammar, from 0 (accept everything) to 1; the default is what measured best.
  public let rejectionThreshold: Double

  /// The threshold of apps that do not set one.
  public static let defaultRejectionThreshold = 0.5

  /// Takes the grammar of an app, with the threshold that its configuration sets.
  public convenience init(_ understanding: Understanding) {
    self.init(
      understanding.grammar,
      rejectionThreshold: understanding.interface.options.rejectionThreshold ?? Self.defaultRejectionThreshold
    )
  }

  /// Takes a grammar.
  public init(_ grammar: Grammar, rejectionThreshold: Double = RecognitionGrammar.defaultRejectionThreshold) {
    self.grammar = grammar
    self.rejectionThreshold = min(1, max(0, rejectionThreshold))
  }
}
