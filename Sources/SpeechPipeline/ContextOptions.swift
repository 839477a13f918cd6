/// What one audio context asks of recognition.
public struct ContextOptions: Sendable, Hashable {
  /// Ends a segment after this much silence, measured in audio time; `nil` for only at the end of the context.
  ///
  /// A pause shorter than the detector can see (for PocketSphinx half a second) counts as that.
  public var silence: Duration?
  /// How many other transcriptions each segment should have.
  public var alternatives: Int
  /// What an earlier context of the same channel taught, or `nil` for a new channel.
  public var adaptation: RecognizerAdaptation?

  /// Creates options.
  public init(silence: Duration? = nil, alternatives: Int = 0, adaptation: RecognizerAdaptation? = nil) {
    self.silence = silence
    self.alternatives = alternatives
    self.adaptation = adaptation
  }
}
