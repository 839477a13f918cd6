import SpeechPipeline
import VoiceAudio
import VoiceCore

/// One context at work: a decoder, and what brings the client's audio to the decoder's rate.
///
/// Belongs to the task of its stream.
struct ContextRun {
  /// How much audio is decoded before the results are sent and a cancellation is noticed.
  private static let pieceLength = 16_000

  let recognition: RecognitionContext
  private let resampler: Resampler?
  private let sampleRate: Int
  private var converted: [Float] = []

  /// How much audio came.
  private(set) var sampleCount = 0

  init(_ recognition: RecognitionContext, sampleRate: Int) throws(VoiceFailure) {
    self.recognition = recognition
    self.sampleRate = sampleRate
    self.resampler =
      sampleRate == AudioFormat.recognition.sampleRate
      ? nil : try Resampler(from: sampleRate, to: AudioFormat.recognition.sampleRate)
  }

  /// Brings samples to the decoder's rate, in pieces.
  mutating func pieces(of samples: [Int16]) -> [[Int16]] {
    self.sampleCount += samples.count
    guard let resampler = self.resampler else { return Self.cut(samples) }
    let floats = samples.map(Float.init)
    floats.withUnsafeBufferPointer { resampler.process($0, into: &self.converted) }
    return Self.cut(self.takeConverted())
  }

  /// What the resampler kept back.
  mutating func lastPieces() -> [[Int16]] {
    guard let resampler = self.resampler else { return [] }
    resampler.finish(into: &self.converted)
    return Self.cut(self.takeConverted())
  }

  private mutating func takeConverted() -> [Int16] {
    defer { self.converted.removeAll(keepingCapacity: true) }
    return self.converted.map { value in
      value.isFinite ? Int16(min(max(value.rounded(), -32_768), 32_767)) : 0
    }
  }

  private static func cut(_ samples: [Int16]) -> [[Int16]] {
    guard samples.count > self.pieceLength else { return samples.isEmpty ? [] : [samples] }
    return stride(from: 0, to: samples.count, by: self.pieceLength).map {
      Array(samples[$0..<min($0 + self.pieceLength, samples.count)])
    }
  }
}
