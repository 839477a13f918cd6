/// Notices audio in which nothing but the last bits of a converter or a codec move.
///
/// The front end takes for speech what is much louder than what came before it. After digital silence, with which missing
/// packets and gates fill their places, it takes even the noise of a codec for it, in steps of one, and a grammar finds words in
/// that. So where nobody speaks yet, all such audio is to sound the same.
struct QuietLine: Hashable, Sendable {
  /// What a line that rests may move by: A-law, which has no zero, goes between -8 and 8.
  private static let mostSpan = 16
  /// What a line that does not rest must not move by to rest again. Far less, or else noise of just that loudness would come and
  /// go, and be heard for it.
  private static let restingSpan = 8

  private var isResting = true
  /// Where the line rests; audio of some converters is not around zero.
  private var level: Int16 = 0

  /// Takes a run of samples.
  ///
  /// - Returns: The value at which the line rests, to be heard in place of each sample; `nil` if it does not rest.
  mutating func rest(in samples: UnsafeBufferPointer<Int16>) -> Int16? {
    guard let least = samples.min(), let most = samples.max() else { return nil }
    let span = Int(most) - Int(least)
    self.isResting = span <= (self.isResting ? Self.mostSpan : Self.restingSpan)
    guard self.isResting else { return nil }
    // It stays where it was, as each change would be heard as a click.
    if abs(Int(least) - Int(self.level)) > Self.mostSpan || abs(Int(most) - Int(self.level)) > Self.mostSpan {
      self.level = Int16(clamping: (Int(least) + Int(most)) / 2)
    }
    return self.level
  }
}
