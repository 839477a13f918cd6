/// An utterance from start to stop, with all its segments.
public struct SpeechContext: Hashable, Identifiable, Comparable, Sendable {
  /// The identifier that the server gave to the context.
  public let id: String

  /// The segments, ordered by number.
  public var segments: [SpeechSegment] {
    didSet { self.segments.sort() }
  }

  /// Creates a context without segments.
  public init(id: String) {
    self.id = id
    self.segments = []
  }

  /// Creates a context with segments, which are put in order.
  public init(id: String, segments: [SpeechSegment]) {
    self.id = id
    self.segments = segments.sorted()
  }

  /// The words of all segments as one line.
  public var text: String {
    self.segments.map(\.text).filter { !$0.isEmpty }.joined(separator: " ")
  }

  public static func < (left: SpeechContext, right: SpeechContext) -> Bool {
    left.id < right.id
  }
}
