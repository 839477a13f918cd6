/// What the pipeline tells while somebody speaks; the same events feed the server and the on-device client.
///
/// Order: for each segment any number of ``hypothesis``, ``word``, entity and intent events, then one ``segmentEnded``.
/// Segments have rising ids from 0 and end in this order. Final words have rising indices from 0 in their segment and
/// never change; a hypothesis holds only words that are not final yet. Final entities never change and never come as
/// tentative again; nothing is told of the intent after its final value. A segment ends only if something was said in it,
/// so every ended segment has at least one word. Times count from the start of the audio of the context.
///
/// If a hypothesis holds several intents, several segments have a hypothesis at the same time. What was tentative may be
/// taken back: by a hypothesis or a list without elements, or an empty intent.
public enum RecognitionEvent: Hashable, Sendable {
  /// The words of a segment that may still change, with the index of the first of them; replaces the previous
  /// hypothesis.
  case hypothesis(segment: Int, firstIndex: Int, words: [RecognizedWord])
  /// A word that will not change any more.
  case word(segment: Int, index: Int, RecognizedWord)
  /// The entities of the segment that may still change; replaces the previous list.
  case tentativeEntities(segment: Int, [RecognizedEntity])
  /// An entity that will not change any more; its words are final.
  case entity(segment: Int, RecognizedEntity)
  /// The intent of the segment; empty if there is none. Final exactly once per segment, before ``segmentEnded``.
  case intent(segment: Int, String, isFinal: Bool)
  /// The segment is complete.
  case segmentEnded(segment: Int, SegmentSummary)

  /// The id of the segment that the event is about.
  public var segment: Int {
    switch self {
    case .hypothesis(let segment, _, _), .word(let segment, _, _), .tentativeEntities(let segment, _),
      .entity(let segment, _), .intent(let segment, _, _), .segmentEnded(let segment, _):
      segment
    }
  }
}

/// A value that was said, with its place in the segment.
public struct RecognizedEntity: Hashable, Sendable {
  /// The name of the entity in the app's configuration.
  public var type: String
  /// The value in its normal form, or the words if they stand for themselves.
  public var value: String
  /// The words that the value was said with, as indices in the segment.
  public var words: Range<Int>

  /// Creates an entity.
  public init(type: String, value: String, words: Range<Int>) {
    self.type = type
    self.value = value
    self.words = words
  }
}

/// What is known when a segment has ended.
public struct SegmentSummary: Hashable, Sendable {
  /// Other transcriptions of the whole segment, best first, without the best.
  ///
  /// Empty if a new intent, not silence, ended the segment.
  public var alternatives: [[RecognizedWord]]
  /// Where recognition goes on.
  public var resumePoint: ResumePoint
  /// Whether the app's interface does not cover what was said; never without an interface.
  public var isRejected: Bool
  /// Whether silence, or the end of the context, ended the segment; false if a new intent did while somebody spoke.
  public var endsPassage: Bool

  /// Creates a summary.
  public init(
    alternatives: [[RecognizedWord]] = [], resumePoint: ResumePoint, isRejected: Bool = false,
    endsPassage: Bool = true
  ) {
    self.alternatives = alternatives
    self.resumePoint = resumePoint
    self.isRejected = isRejected
    self.endsPassage = endsPassage
  }
}

/// A place between two segments from which recognition can go on elsewhere with the same result.
public struct ResumePoint: Hashable, Sendable {
  /// The first sample of the context that belongs to the next segment.
  public var sample: Int64
  /// What the recogniser had learned of the channel.
  public var adaptation: RecognizerAdaptation?
  /// How many segments that have ended come again when recognition goes on here: a segment that ended within an
  /// utterance of the decoder cannot be left behind alone.
  public var repeatedSegments: Int

  /// Creates a point.
  public init(sample: Int64, adaptation: RecognizerAdaptation?, repeatedSegments: Int = 0) {
    self.sample = sample
    self.adaptation = adaptation
    self.repeatedSegments = repeatedSegments
  }
}
