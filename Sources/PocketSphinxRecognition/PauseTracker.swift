/// Notices, from the energy of frames, that somebody who spoke is probably done.
///
/// The energy is the first cepstral coefficient, a logarithm. Quiet is what is nearer to the quietest frame of the utterance than
/// to the loudest.
struct PauseTracker: Hashable, Sendable {
  /// A quarter of a second: longer than the closure of any consonant, and half of what ends an utterance.
  private static let pauseLength = 25
  /// The loudest frame of speech is at least so much above the quietest.
  private static let leastRange: Float = 8

  private var quietest = Float.infinity
  private var loudest = -Float.infinity
  private var frameCount = 0
  /// How many frames there were when it was loud last, that one included.
  private(set) var speechEnd = 0

  /// Takes the energy of the next frame.
  mutating func heard(energy: Float) {
    self.frameCount += 1
    self.quietest = min(self.quietest, energy)
    self.loudest = max(self.loudest, energy)
    if energy > self.quietest + (self.loudest - self.quietest) * 0.35 { self.speechEnd = self.frameCount }
  }

  /// Whether somebody spoke, and it has been quiet for as long as pauses within a sentence rarely are.
  var isProbablyTheEnd: Bool {
    self.speechEnd > 0 && self.loudest - self.quietest >= Self.leastRange
      && self.frameCount - self.speechEnd >= Self.pauseLength
  }
}
