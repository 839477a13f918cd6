/// What one audio context asks of recognition.
public struct ContextOptions: Sendable {
  /// Ends a segment after this much silence, measured in audio time; `nil` for only at the end of the context.
  ///
  /// A pause shorter than the detector can see (for PocketSphinx half a second) counts as that.
  public var silence: Duration?
  /// How many other transcriptions each segment should have.
  public var alternatives: Int
  /// What an earlier context of the same channel taught, or `nil` for a new channel.
  public var adaptation: RecognizerAdaptation?
  /// How what is said is understood; `nil` for words alone.
  public var understanding: ContextUnderstanding?
  /// Words and phrases that are likely to be said.
  public var vocabulary: [String]
  /// How much ``vocabulary`` is preferred, from 0 (not at all) to 1.
  public var vocabularyBias: Double

  /// Creates options.
  public init(
    silence: Duration? = nil, alternatives: Int = 0, adaptation: RecognizerAdaptation? = nil,
    understanding: ContextUnderstanding? = nil, vocabulary: [String] = [], vocabularyBias: Double = 0.5
  ) {
    self.silence = silence
    self.alternatives = alternatives
    self.adaptation = adaptation
    self.understanding = understanding
    self.vocabulary = vocabulary
    self.vocabularyBias = vocabularyBias
  }

  /// What the recogniser is asked for an utterance of the context.
  func task(adaptation: RecognizerAdaptation?) -> RecognitionTask {
    RecognitionTask(
      adaptation: adaptation, grammar: self.understanding?.grammar, vocabulary: self.vocabulary,
      vocabularyBias: self.vocabularyBias)
  }
}
