/// Notices audio in which nothing but the last bits of a converter or a codec move.
///
/// The front end takes for speech what is much louder than what came before it. After digital silence, with which missing
/// packets and gates fill their places, it takes even the noise of a codec for it, in steps of one, and a grammar finds words in
/// that. So where nobody speaks yet, all such audio is to sound the same.
struct QuietLine: Hashable, Sendable {
  /// What a line without speech may move by: A-law, which has no zero, goes between -8 and 8.
  private static let span = 16

  /// Where the line rests; audio of some converters is not around zero.
  private var level: Int16 = 0

  /// Takes a run of samples.
  ///
  /// - Returns: The value at which the line rests, to be heard in place of each sample; `nil` if more moves than its last bits.
  mutating func rest(in samples: UnsafeBufferPointer<Int16>) -> Int16? {
    guard let least = samples.min(), let most = samples.max(), Int(most) - Int(least) <= Self.span else {
      return nil
    }
    // It stays where it was, as each change would be heard as a click.
    if abs(Int(least) - Int(self.level)) > Self.span || abs(Int(most) - Int(self.level)) > Self.span {
      self.level = Int16(clamping: (Int(least) + Int(most)) / 2)
    }
    return self.level
  }
}
