/// What the person wants with a segment.
public struct SpeechIntent: Hashable, Identifiable, Sendable {
  /// No intent yet: an empty value that is not final.
  public static let Empty = SpeechIntent(value: "", isFinal: false)

  /// The name of the intent; empty if there is none.
  public let value: String
  /// Whether the intent can no longer change.
  public let isFinal: Bool

  /// The name of the intent.
  public var id: String { self.value }

  /// Creates an intent.
  public init(value: String, isFinal: Bool) {
    self.value = value
    self.isFinal = isFinal
  }
}
