import CPocketSphinx
import SpeechPipeline
import VoiceCore

/// What a decoder carries from one utterance to the next: its running cepstral mean, and how loud speech and noise are.
///
/// The form in bytes, numbers little-endian: version (1), dimension, frame count (Int32), the mean of each
/// dimension, the sum of each dimension, the level of speech and the level of noise (Float32).
struct ChannelState: Hashable, Sendable {
  private static let version: UInt8 = 1
  /// More frames than the library ever counts before it shortens its window.
  private static let maximumFrameCount: Int32 = 2000
  /// Far beyond what audio can give, and small enough that no sum overflows.
  private static let maximumMean: Float = 10_000

  var mean: [Float]
  var sum: [Float]
  var frameCount: Int32
  var levels: SignalLevels

  /// Copies the state out of a decoder's normalisation.
  init(_ state: UnsafePointer<cmn_t>, levels: SignalLevels) {
    self.levels = levels
    let count = Int(max(0, state.pointee.veclen))
    self.mean = Array(UnsafeBufferPointer(start: state.pointee.cmn_mean, count: count))
    self.sum = Array(UnsafeBufferPointer(start: state.pointee.sum, count: count))
    self.frameCount = state.pointee.nframe
  }

  /// A state with a mean that was made of so many frames.
  init(mean: [Float], frameCount: Int32, levels: SignalLevels) {
    self.mean = mean
    self.sum = mean.map { $0 * Float(frameCount) }
    self.frameCount = frameCount
    self.levels = levels
  }

  /// Reads and checks the bytes of an adaptation.
  ///
  /// - Throws: ``VoiceFailure`` with code `speech.stream.request-invalid`.
  init(_ adaptation: RecognizerAdaptation, dimension: Int) throws(VoiceFailure) {
    let bytes = adaptation.bytes
    guard bytes.count == 14 + 8 * dimension, bytes[0] == Self.version, Int(bytes[1]) == dimension else {
      throw Self.invalid
    }
    let words = stride(from: 2, to: bytes.count, by: 4).map { index in
      bytes[index..<index + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    let frameCount = Int32(bitPattern: words[0])
    let mean = words[1..<1 + dimension].map(Float.init(bitPattern:))
    let sum = words[(1 + dimension)..<(1 + 2 * dimension)].map(Float.init(bitPattern:))
    let levels = words[(1 + 2 * dimension)...].map(Float.init(bitPattern:))
    guard (0...Self.maximumFrameCount).contains(frameCount),
      mean.allSatisfy({ $0.isFinite && abs($0) <= Self.maximumMean }),
      sum.allSatisfy({ $0.isFinite && abs($0) <= Self.maximumMean * Float(frameCount + 1) }),
      levels.allSatisfy({ (0...32_768).contains($0) })
    else { throw Self.invalid }
    self.mean = mean
    self.sum = sum
    self.frameCount = frameCount
    self.levels = SignalLevels(speech: levels[0], noise: levels[1])
  }

  /// The bytes for the next utterance of the channel.
  var adaptation: RecognizerAdaptation {
    var bytes: [UInt8] = [Self.version, UInt8(clamping: self.mean.count)]
    let words =
      [UInt32(bitPattern: self.frameCount)]
      + (self.mean + self.sum + [self.levels.speech, self.levels.noise]).map(\.bitPattern)
    for word in words {
      for shift in stride(from: 0, through: 24, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(shift)))
      }
    }
    return RecognizerAdaptation(bytes: bytes)
  }

  /// Copies the state into a decoder's normalisation of the same dimension.
  func restore(to state: UnsafeMutablePointer<cmn_t>) {
    let count = min(self.mean.count, Int(max(0, state.pointee.veclen)))
    for index in 0..<count {
      state.pointee.cmn_mean[index] = self.mean[index]
      state.pointee.sum[index] = self.sum[index]
    }
    state.pointee.nframe = self.frameCount
  }

  private static var invalid: VoiceFailure {
    VoiceFailure(
      .requestInvalid,
      message:
        "What an earlier utterance is said to have taught the recogniser is not in a form that it wrote.",
      recovery: .changeConfiguration("the adaptation"), scope: .utterance)
  }
}
