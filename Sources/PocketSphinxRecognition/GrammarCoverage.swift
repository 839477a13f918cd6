import Foundation

/// Tells speech that a grammar covers from speech that it was only forced into.
///
/// The grammar's acoustic score is compared, frame by frame, with that of phones in any order, which fit whatever was said.
/// Silence is left out: everything covers it.
struct GrammarCoverage {
  /// The score by which the grammar is worse than the phones, per frame of speech and in steps of 1024 of the decoder's
  /// logarithms, at which covered and uncovered are as likely as each other; and over how much that changes.
  ///
  /// From `make evaluate`: see docs/benchmarks.md.
  static let middle: Float = -9
  static let width: Float = 1.5

  /// How much worse the grammar is than the phones, in each frame; `nil` in silence.
  private let differences: [Float?]

  init(grammar: [CepstralDecoder.Score], phones: [CepstralDecoder.Score]) {
    let count = (grammar + phones).map { $0.frames.upperBound + 1 }.max() ?? 0
    let grammarScores = Self.perFrame(grammar, count: count)
    let phoneScores = Self.perFrame(phones, count: count)
    var differences = [Float?](repeating: nil, count: count)
    for stretch in grammar where !stretch.isSilence {
      for frame in stretch.frames { differences[frame] = grammarScores[frame] - phoneScores[frame] }
    }
    self.differences = differences
  }

  /// How sure it is that the grammar covers what was said, from 0 to 1.
  var confidence: Double { Self.confidence(self.differences.compactMap(\.self)) }

  /// The same for the frames of a word.
  func confidence(in frames: ClosedRange<Int>) -> Double {
    let known = self.differences.indices
    return Self.confidence(frames.filter(known.contains).compactMap { self.differences[$0] })
  }

  private static func confidence(_ differences: [Float]) -> Double {
    guard !differences.isEmpty else { return 0 }
    let mean = differences.reduce(0, +) / Float(differences.count)
    return Double(1 / (1 + exp(-(mean - self.middle) / self.width)))
  }

  /// A stretch has one score; its frames share it alike.
  private static func perFrame(_ scores: [CepstralDecoder.Score], count: Int) -> [Float] {
    var result = [Float](repeating: 0, count: count)
    for score in scores {
      for frame in score.frames { result[frame] = score.acoustic / Float(score.frames.count) }
    }
    return result
  }
}
