public import Foundation

/// One word of a segment.
///
/// The letter case of ``value`` is not guaranteed. (Source: protocol §1.5.)
public struct SpeechTranscript: Hashable, Identifiable, Comparable, Sendable {
  /// The position of the word in its segment, from 0.
  public let index: Int
  /// The word.
  public let value: String
  /// Where the word starts, in seconds from the start of the context.
  public let startOffset: TimeInterval
  /// Where the word ends, in seconds from the start of the context.
  public let endOffset: TimeInterval
  /// Whether the word can no longer change.
  public let isFinal: Bool

  /// The position of the word: words of one segment are told apart by it.
  public var id: Int { self.index }

  /// Creates a word; times are in seconds.
  public init(
    index: Int, value: String, startOffset: TimeInterval, endOffset: TimeInterval, isFinal: Bool
  ) {
    self.index = index
    self.value = value
    self.startOffset = startOffset
    self.endOffset = endOffset
    self.isFinal = isFinal
  }

  public static func < (left: SpeechTranscript, right: SpeechTranscript) -> Bool {
    left.index < right.index
  }
}
