/// What the pipeline tells while somebody speaks; the same events feed the server and the on-device client.
///
/// Order: for each segment any number of ``hypothesis``, ``word`` and intent events, then one ``segmentEnded``.
/// Segments have rising ids from 0. Final words have rising indices from 0 in their segment and never change; a
/// hypothesis holds only words that are not final yet. A segment exists only if something was said in it, so every
/// ended segment has at least one word. Times count from the start of the audio of the context.
public enum RecognitionEvent: Hashable, Sendable {
  /// The words of a segment that may still change, with the index of the first of them; replaces the previous
  /// hypothesis.
  case hypothesis(segment: Int, firstIndex: Int, words: [RecognizedWord])
  /// A word that will not change any more.
  case word(segment: Int, index: Int, RecognizedWord)
  /// The intent of the segment; empty if there is none. Final exactly once per segment, before ``segmentEnded``.
  case intent(segment: Int, String, isFinal: Bool)
  /// The segment is complete.
  case segmentEnded(segment: Int, SegmentSummary)
}

/// What is known when a segment has ended.
public struct SegmentSummary: Hashable, Sendable {
  /// Other transcriptions of the whole segment, best first, without the best.
  public var alternatives: [[RecognizedWord]]
  /// Where recognition goes on.
  public var resumePoint: ResumePoint

  /// Creates a summary.
  public init(alternatives: [[RecognizedWord]] = [], resumePoint: ResumePoint) {
    self.alternatives = alternatives
    self.resumePoint = resumePoint
  }
}

/// A place between two segments from which recognition can go on elsewhere with the same result.
public struct ResumePoint: Hashable, Sendable {
  /// The first sample of the context that belongs to the next segment.
  public var sample: Int64
  /// What the recogniser had learned of the channel.
  public var adaptation: RecognizerAdaptation?

  /// Creates a point.
  public init(sample: Int64, adaptation: RecognizerAdaptation?) {
    self.sample = sample
    self.adaptation = adaptation
  }
}
