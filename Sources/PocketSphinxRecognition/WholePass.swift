import Foundation

/// How thoroughly a whole utterance is searched.
enum WholePass: Hashable, Sendable {
  /// With half of the densities at every other frame and narrow beams: less than half of the work, and in quiet audio of the
  /// full band as good.
  case quick
  case full

  /// Above it speech is not in noise; as in ``GrammarCoverage``, which is not stricter there either.
  private static let leastRatio: Float = 45
  /// Above 4 kHz speech has at least so much of its level, in decibels. Over a telephone line it has 35 dB less or still fewer,
  /// directly 33 and mostly 10 to 25.
  private static let leastShare: Float = -30
  /// Above 4 kHz the loudest is so much above the quietest, in decibels; else it is a hiss that has nothing to do with speech.
  private static let leastHighRatio: Float = 20
  /// Nothing that is not clipped is so loud, and clipping adds high frequencies to any audio.
  private static let mostSpeech: Float = 16_384

  /// Chooses by what was heard.
  ///
  /// - Parameters:
  ///   - levels: The levels of the utterance and its noise.
  ///   - high: The same of what is above 4 kHz.
  init(levels: SignalLevels, high: SignalLevels) {
    guard levels.speech <= Self.mostSpeech, high.speech <= Self.mostSpeech,
      let ratio = levels.ratio, ratio >= Self.leastRatio,
      let highRatio = high.ratio, highRatio >= Self.leastHighRatio,
      20 * log10(high.speech / levels.speech) >= Self.leastShare
    else {
      self = .full
      return
    }
    self = .quick
  }
}

/// How loud an utterance is, and where its frames are.
struct UtteranceSignal: Hashable, Sendable {
  /// The levels of the utterance and its noise.
  var levels: SignalLevels
  /// The same of what is above 4 kHz.
  var high: SignalLevels
  /// Whether it is so quiet for its channel that it is rather noise.
  var isFaint: Bool
  /// Where the frames that were passed on are in the audio.
  var times = FrameTimes()

  /// Below it noise that is suppressed disturbs less than what suppressing does to speech.
  private static let noisyRatio: Float = 34

  /// Whether noise is to be suppressed before the utterance is searched.
  var isNoisy: Bool { self.levels.ratio.map { $0 < Self.noisyRatio } ?? false }

  /// How thoroughly it is to be searched.
  var wholePass: WholePass { self.isFaint ? .full : WholePass(levels: self.levels, high: self.high) }
}
