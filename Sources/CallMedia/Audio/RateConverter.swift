import VoiceAudio
import VoiceCore

/// Changes the rate of 16-bit samples piece by piece.
struct RateConverter {
  private let resampler: Resampler
  private var input: [Float] = []
  private var output: [Float] = []

  /// - Throws: ``VoiceFailure`` with the code `audio.format.not-supported`.
  init(from source: Int, to target: Int) throws(VoiceFailure) {
    self.resampler = try Resampler(from: source, to: target, quality: 5)
  }

  mutating func convert(_ samples: [Int16]) -> [Int16] {
    self.input.removeAll(keepingCapacity: true)
    self.output.removeAll(keepingCapacity: true)
    self.input.append(contentsOf: samples.lazy.map { Float($0) / 32_768 })
    self.input.withUnsafeBufferPointer { self.resampler.process($0, into: &self.output) }
    return Self.integers(self.output)
  }

  /// What the filter kept back.
  mutating func finish() -> [Int16] {
    self.output.removeAll(keepingCapacity: true)
    self.resampler.finish(into: &self.output)
    return Self.integers(self.output)
  }

  private static func integers(_ samples: [Float]) -> [Int16] {
    samples.map { Int16(max(-32_768, min(32_767, ($0 * 32_768).rounded()))) }
  }
}
