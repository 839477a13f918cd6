import VoiceCore

/// What share of the packets to protect against the loss of, from what the other side reports.
///
/// A report counts the 50 to 125 packets since the one before, so at 5 % loss many say 0 %. Protection that followed each of them
/// would often be off when the next packet is lost. So the expectation rises at once, and falls slowly.
struct LossExpectation: Sendable {
  /// By so much the expectation falls in a second.
  private static let fall = 0.01

  private var last: (loss: Double, instant: VoiceInstant)?

  /// Takes what was reported last, from 0 to 1; returns what is expected.
  ///
  /// The same report may be given several times.
  mutating func reported(_ loss: Double, at now: VoiceInstant) -> Double {
    let remaining = self.last.map { $0.loss - Self.fall * ($0.instant.duration(to: now) / .seconds(1)) } ?? 0
    let expected = max(loss, remaining)
    self.last = (expected, now)
    return expected
  }
}
