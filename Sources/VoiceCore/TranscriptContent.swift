/// Words with what they mean, as user interfaces show them: a segment of `SpeechClient`, a result of
/// `SpeechRecognitionUtility`.
public protocol TranscriptContent {
  /// The words, in order.
  var transcriptWords: [TranscriptWord] { get }

  /// The values that were said.
  var transcriptEntities: [TranscriptEntity] { get }
}

/// A word of a transcript.
public struct TranscriptWord: Hashable, Sendable {
  /// The word.
  public var text: String
  /// Whether it will not change any more.
  public var isFinal: Bool

  /// Creates a word.
  public init(text: String, isFinal: Bool) {
    self.text = text
    self.isFinal = isFinal
  }
}

/// A value that was said, with the words that say it.
public struct TranscriptEntity: Hashable, Sendable {
  /// The name of the entity.
  public var type: String
  /// The value, in normal form if the entity's type has one.
  public var value: String
  /// The positions of its words in ``TranscriptContent/transcriptWords``; the end is exclusive. It need not fit the words that
  /// are there: words may come after their entity.
  public var words: Range<Int>
  /// Whether it will not change any more.
  public var isFinal: Bool

  /// Creates an entity.
  public init(type: String, value: String, words: Range<Int>, isFinal: Bool) {
    self.type = type
    self.value = value
    self.words = words
    self.isFinal = isFinal
  }
}
