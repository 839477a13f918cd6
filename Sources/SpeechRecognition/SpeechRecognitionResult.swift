public import SpeechPipeline

/// What has been recognised of one text: from where somebody began to speak up to the pause that ends it.
public struct SpeechRecognitionResult: Hashable, Sendable {
  /// The number of the text in its activity, from 0.
  public var index: Int
  /// Whether the text is complete; a result that is not replaces the one before it.
  public var isFinal: Bool
  /// All transcriptions, the engine's best first; more than one in final results only.
  public var transcriptions: [SpeechTranscription]
  /// What the parts of the text mean to the app's interface; without one there is one part for each pause.
  public var meanings: [SpeechMeaning]

  /// Creates a result.
  public init(
    index: Int = 0, isFinal: Bool, transcriptions: [SpeechTranscription], meanings: [SpeechMeaning] = []
  ) {
    self.index = index
    self.isFinal = isFinal
    self.transcriptions = transcriptions
    self.meanings = meanings
  }

  /// The transcription with the highest sum of the confidences of its segments; of several, the engine's best.
  ///
  /// A sum favours transcriptions of more words, and a segment without a confidence adds nothing. Compare with ``engineBest``.
  public var bestTranscription: SpeechTranscription {
    var best = self.engineBest
    for other in self.transcriptions.dropFirst() where other.summedConfidence > best.summedConfidence {
      best = other
    }
    return best
  }

  /// The transcription that the engine finds best.
  public var engineBest: SpeechTranscription {
    self.transcriptions.first ?? SpeechTranscription(segments: [])
  }

  /// Whether the app's interface covers nothing of what was said.
  public var isRejected: Bool { !self.meanings.isEmpty && self.meanings.allSatisfy(\.isRejected) }

  /// The text of ``bestTranscription``.
  public var text: String { self.bestTranscription.formattedString }
}

/// One way to understand what was said.
public struct SpeechTranscription: Hashable, Sendable {
  /// The words, in order.
  public var segments: [Segment]

  /// Creates a transcription.
  public init(segments: [Segment]) {
    self.segments = segments
  }

  /// The words with spaces between them.
  public var formattedString: String { self.segments.map(\.text).joined(separator: " ") }

  /// The sum of the confidences of all segments; those without one count nothing.
  public var summedConfidence: Double { self.segments.reduce(0) { $0 + ($1.confidence ?? 0) } }

  /// A word, or a phrase if the engine does not tell words apart.
  public struct Segment: Hashable, Sendable {
    /// What was said.
    public var text: String
    /// Where it starts, from the start of the activity's audio.
    public var timestamp: Duration
    /// How long it is.
    public var duration: Duration
    /// How sure the engine is, from 0 to 1, or `nil` if it does not tell.
    public var confidence: Double?
    /// Whether it will not change any more.
    public var isFinal: Bool

    /// Creates a segment.
    public init(
      text: String, timestamp: Duration, duration: Duration, confidence: Double? = nil, isFinal: Bool = true
    ) {
      self.text = text
      self.timestamp = timestamp
      self.duration = duration
      self.confidence = confidence
      self.isFinal = isFinal
    }
  }
}

/// What a part of a text means.
public struct SpeechMeaning: Hashable, Sendable {
  /// The words of the part.
  public var text: String
  /// The intent; empty if there is none (yet).
  public var intent: String
  /// The values that were said; their words are counted from the start of the part.
  public var entities: [RecognizedEntity]
  /// Whether the interface does not cover the part.
  public var isRejected: Bool
  /// Whether nothing of it will change any more.
  public var isFinal: Bool

  /// Creates a meaning.
  public init(
    text: String, intent: String = "", entities: [RecognizedEntity] = [], isRejected: Bool = false,
    isFinal: Bool = true
  ) {
    self.text = text
    self.intent = intent
    self.entities = entities
    self.isRejected = isRejected
    self.isFinal = isFinal
  }
}
