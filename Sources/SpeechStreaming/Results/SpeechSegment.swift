/// A part of an utterance with one intent: its words, entities and intent, as far as they are known.
///
/// Until ``isFinal`` is true, items that are not final may change or disappear; final items stay.
public struct SpeechSegment: Hashable, Identifiable, Comparable, Sendable {
  /// The context and the number of the segment in one string.
  public let id: String
  /// The number of the segment in its context; rising, but not necessarily without gaps.
  public let segmentId: Int
  /// The context that the segment belongs to.
  public let contextId: String
  /// Whether nothing of the segment can change any more.
  public var isFinal: Bool = false
  /// The intent.
  public var intent: SpeechIntent = .Empty
  /// The entities, ordered by their words.
  public var entities: [SpeechEntity] = [] {
    didSet { self.entities.sort() }
  }
  /// The words, ordered by index.
  public var transcripts: [SpeechTranscript] = [] {
    didSet { self.transcripts.sort() }
  }

  /// Creates an empty segment.
  public init(segmentId: Int, contextId: String) {
    self.id = "\(contextId)-\(segmentId)"
    self.segmentId = segmentId
    self.contextId = contextId
  }

  /// Creates a segment with content, which is put in order.
  public init(
    segmentId: Int,
    contextId: String,
    isFinal: Bool,
    intent: SpeechIntent,
    entities: [SpeechEntity],
    transcripts: [SpeechTranscript]
  ) {
    self.init(segmentId: segmentId, contextId: contextId)
    self.isFinal = isFinal
    self.intent = intent
    self.entities = entities.sorted()
    self.transcripts = transcripts.sorted()
  }

  /// The words as one line.
  public var text: String { self.transcripts.map(\.value).joined(separator: " ") }

  /// Segments are ordered by context, then by number: segment 2 comes before segment 10.
  public static func < (left: SpeechSegment, right: SpeechSegment) -> Bool {
    (left.contextId, left.segmentId) < (right.contextId, right.segmentId)
  }
}
