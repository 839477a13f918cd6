import Foundation

/// How loud speech and noise are on a channel, as root mean squares of samples; zero until something is known.
struct SignalLevels: Hashable, Sendable {
  var speech: Float
  var noise: Float

  static let unknown = SignalLevels(speech: 0, noise: 0)

  /// What is 18 dB below speech is rather the noise of a room.
  private static let faintRatio: Float = 8
  /// On a channel on which nobody spoke yet, what is not 14 dB above its own noise may be nothing else. Somebody who speaks
  /// in pink noise of 10 dB is.
  private static let unknownFaintRatio: Float = 5

  /// A gate that is closed has no noise, but says nothing about what comes through it when it opens: of noise there is at least
  /// a little more than what A-law, which has no zero, makes of silence.
  private static let leastNoise: Float = 10

  /// Whether the loudest is below what people who speak to a device reach, 56 dB below full scale.
  var areHardlySpeech: Bool { self.speech < Self.leastNoise * Self.unknownFaintRatio }

  /// Whether the loudest is no louder than a line on which nobody is.
  var areThoseOfAnIdleLine: Bool { self.speech <= Self.leastNoise }

  /// Whether an utterance is so quiet, for a channel with these levels, that probably nobody spoke into it.
  func makesFaint(_ utterance: SignalLevels) -> Bool {
    self.speech > 0
      ? utterance.speech * Self.faintRatio < self.speech
      : utterance.speech < max(utterance.noise, Self.leastNoise) * Self.unknownFaintRatio
  }

  /// How far speech is above noise, in decibels; `nil` until both are known.
  var ratio: Float? {
    guard self.speech > 0, self.noise >= 0 else { return nil }
    // Below one step of a sample it is silence.
    return 20 * log10(self.speech / max(1, self.noise))
  }

  /// Audio that teaches a detector these levels: a fifth of a second at the level of speech, then three tenths at
  /// that of noise.
  ///
  /// It is white noise and the same each time. Empty while the levels are unknown.
  var warmUp: [Int16] {
    guard self.speech > 0 else { return [] }
    var state: UInt32 = 1
    func noise(_ count: Int, level: Float) -> [Int16] {
      // Evenly spread values have a root mean square of their bound over the root of three.
      let bound = min(32_767, level * 1.732)
      return (0..<count).map { _ in
        state = state &* 1_664_525 &+ 1_013_904_223
        return Int16((Float(Int32(bitPattern: state)) / 2_147_483_648 * bound).rounded())
      }
    }
    return noise(3200, level: self.speech) + noise(4800, level: self.noise)
  }
}

/// Measures the levels of an utterance from the loudness of its steps.
struct LevelMeter: Hashable, Sendable {
  private var loudest: Float = 0
  private var quietest: Float?

  /// Takes a run of samples.
  mutating func heard(_ samples: UnsafeBufferPointer<Int16>) {
    guard !samples.isEmpty else { return }
    let sum = samples.reduce(into: Int64(0)) { $0 &+= Int64($1) &* Int64($1) }
    self.heard(level: (Float(sum) / Float(samples.count)).squareRoot())
  }

  /// Takes the level of a run of samples.
  mutating func heard(level: Float) {
    self.loudest = max(self.loudest, level)
    self.quietest = min(self.quietest ?? level, level)
  }

  /// The levels of what was heard.
  var levels: SignalLevels { SignalLevels(speech: self.loudest, noise: self.quietest ?? 0) }
}
