import Foundation

/// Tells speech that a grammar covers from speech that it was only forced into.
///
/// It goes by the grammar's acoustic score in each frame of speech, against that of phones in any order, which fit whatever
/// was said but fit worse in noise. Silence is left out: everything covers it. Scores are in steps of 1024 of the decoder's
/// logarithms.
///
/// The constants are a logistic regression on 571 covered and 113 uncovered sentences of the voices for tuning (clean, pink
/// noise at 20 and 10 dB, telephone), and on people: 166 commands and 235 prompts of a telephone exchange, clean and in the
/// noise of a kitchen. On these it keeps 96 % and accepts 1 % of what is not covered.
struct GrammarCoverage {
  private static let middle: Float = -37.8
  /// By how much more the grammar has to fit where speech is so many decibels above the noise; between them linearly.
  ///
  /// Speech that fits badly in moderate noise is not covered. In loud noise covered speech fits badly too. Where there is no
  /// noise it may be a telephone that makes it fit badly. Chosen with 441 covered and 204 other utterances of the voices for
  /// tuning and with 46 commands of people in four conditions.
  private static let strictness: [(ratio: Float, amount: Float)] = [(20, 1), (27, 2.8), (35, 2.8), (45, 0)]
  /// The same for the worst stretch of so many frames: one sentence that fits does not make up for another that does not.
  private static let stretchLength = 80
  private static let stretchMiddle: Float = -52.8
  private static let width: Float = 1.77
  /// How much the phones' score counts.
  private static let phoneWeight: Float = 0.43
  /// What phones score on average, from -8 without noise to -13 in loud noise.
  private static let typicalPhoneScore: Float = -10
  /// Outside of these scores of the grammar that of the phones changed no decision.
  private static let doubtful: ClosedRange<Float> = -47 ... -36
  /// The same where noise was suppressed, after which speech that is covered fits better, however loud the noise was.
  ///
  /// Chosen with 121 covered and 75 other utterances of the voices for tuning in pink noise at 10 dB, of which it keeps 99 % and
  /// accepts 3 %. Of 62 commands of people in the noise of a kitchen at 6 and 15 dB the worst is 2 above the middle.
  private static let suppressedMiddle: Float = -33
  private static let suppressedDoubtful: ClosedRange<Float> = -44 ... -29

  /// The grammar's score of each frame; `nil` in silence.
  private let scores: [Float?]
  private var phoneScore = Self.typicalPhoneScore
  private let middle: Float
  private let doubtful: ClosedRange<Float>

  /// - Parameters:
  ///   - levels: How loud the utterance and its noise are.
  ///   - isSuppressed: Whether noise was suppressed before it was searched.
  init(grammar: [CepstralDecoder.Score], levels: SignalLevels = .unknown, isSuppressed: Bool = false) {
    self.middle =
      isSuppressed ? Self.suppressedMiddle : Self.middle + Self.strictness(at: levels.ratio ?? .infinity)
    self.doubtful = isSuppressed ? Self.suppressedDoubtful : Self.doubtful
    let count = grammar.map { $0.frames.upperBound + 1 }.max() ?? 0
    var scores = [Float?](repeating: nil, count: count)
    for stretch in grammar where !stretch.isSilence {
      for frame in stretch.frames { scores[frame] = stretch.perFrame }
    }
    self.scores = scores
  }

  /// Whether the phones have to be searched for a decision.
  var isDoubtful: Bool {
    let known = self.scores.compactMap(\.self)
    return !known.isEmpty && self.doubtful.contains(Self.mean(known))
  }

  /// Whether it is covered whatever else would be searched.
  var isBeyondDoubt: Bool {
    let known = self.scores.compactMap(\.self)
    return !known.isEmpty && Self.mean(known) > self.doubtful.upperBound
  }

  /// Takes what phones in any order score.
  mutating func compare(with phones: [CepstralDecoder.Score]) {
    var scores: [Float] = []
    for stretch in phones {
      for frame in stretch.frames where self.scores.indices.contains(frame) && self.scores[frame] != nil {
        scores.append(stretch.perFrame)
      }
    }
    if !scores.isEmpty { self.phoneScore = Self.mean(scores) }
  }

  /// How sure it is that the grammar covers what was said, from 0 to 1.
  var confidence: Double {
    let known = self.scores.compactMap(\.self)
    guard !known.isEmpty else { return 0 }
    return min(
      self.confidence(of: Self.mean(known), middle: self.middle),
      self.confidence(of: Self.worstStretch(of: known), middle: Self.stretchMiddle))
  }

  /// The same for the frames of a word.
  func confidence(in frames: ClosedRange<Int>) -> Double {
    guard let last = self.scores.indices.last else { return 0 }
    let known = self.scores[frames.clamped(to: 0...last)].compactMap(\.self)
    return known.isEmpty ? 0 : self.confidence(of: Self.mean(known), middle: self.middle)
  }

  private static func strictness(at ratio: Float) -> Float {
    guard let upper = self.strictness.firstIndex(where: { ratio < $0.ratio }) else { return 0 }
    guard upper > 0 else { return self.strictness[upper].amount }
    let (low, high) = (self.strictness[upper - 1], self.strictness[upper])
    return low.amount + (high.amount - low.amount) * (ratio - low.ratio) / (high.ratio - low.ratio)
  }

  private func confidence(of score: Float, middle: Float) -> Double {
    let relative = score - Self.phoneWeight * self.phoneScore - middle
    return Double(1 / (1 + exp(-relative / Self.width)))
  }

  /// The lowest mean of frames in a row.
  private static func worstStretch(of scores: [Float]) -> Float {
    guard scores.count > self.stretchLength else { return self.mean(scores) }
    var sum = scores.prefix(self.stretchLength).reduce(0, +)
    var least = sum
    for (old, new) in zip(scores, scores.dropFirst(self.stretchLength)) {
      sum += new - old
      least = min(least, sum)
    }
    return least / Float(self.stretchLength)
  }

  private static func mean(_ values: [Float]) -> Float {
    values.reduce(0, +) / Float(max(1, values.count))
  }
}

extension CepstralDecoder.Score {
  /// A stretch has one score; its frames share it alike.
  var perFrame: Float { self.acoustic / Float(self.frames.count) }
}
