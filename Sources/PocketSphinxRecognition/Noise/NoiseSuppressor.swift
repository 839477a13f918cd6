import CRNNoise
import VoiceAudio
import VoiceCore

/// Takes noise out of one stream of 16 kHz.
///
/// What comes out is late by some 40 ms, and its samples are at the same places as those that went in.
final class NoiseSuppressor {
  /// How much of what was heard stays in. Without it there is digital silence between words, whose cepstra have nothing to do
  /// with any speech.
  private static let keptShare: Float = 0.2
  private static let frame = Int(vrn_frame_length)
  private static let rate = 48_000

  private let stream: OpaquePointer
  private let library: RNNoiseLibrary
  private let up: Resampler
  private let down: Resampler
  /// Samples of 48 kHz that are not a whole frame yet.
  private var rest: [Float] = []
  /// How many samples the library still has to give before the first that was heard comes out.
  private var early: Int
  /// What was heard and is not out yet, at 16 kHz.
  private var heard: [Int16] = []
  private var suppressed: [Float] = []

  /// - Throws: ``VoiceFailure`` with code `speech.engine.failed` if memory is short.
  init(_ library: RNNoiseLibrary) throws(VoiceFailure) {
    self.up = try Resampler(from: 16_000, to: Self.rate)
    self.down = try Resampler(from: Self.rate, to: 16_000)
    guard let stream = vrn_create(library.handle) else {
      throw VoiceFailure(.engineFailed, message: "There is no memory to suppress noise.")
    }
    self.stream = stream
    self.library = library
    self.early = library.delay
  }

  deinit { vrn_free(self.stream) }

  /// Takes samples; returns those that are ready.
  func process(_ samples: some Collection<Int16>) -> [Int16] {
    self.heard += samples
    let input = samples.map { Float($0) }
    input.withUnsafeBufferPointer { self.up.process($0, into: &self.rest) }
    self.suppressWholeFrames()
    return self.takeReady()
  }

  /// Ends the stream; returns the samples that were not out yet.
  func finish() -> [Int16] {
    self.up.finish(into: &self.rest)
    let missing = self.library.delay + Self.frame
    self.rest += [Float](repeating: 0, count: missing)
    self.suppressWholeFrames()
    self.down.finish(into: &self.suppressed)
    return self.takeReady()
  }

  private func suppressWholeFrames() {
    let count = self.rest.count / Self.frame * Self.frame
    guard count > 0 else { return }
    self.rest.withUnsafeMutableBufferPointer { rest in
      guard let base = rest.baseAddress else { return }
      for start in stride(from: 0, to: count, by: Self.frame) { vrn_process(self.stream, base + start) }
      let skipped = min(self.early, count)
      self.early -= skipped
      self.down.process(UnsafeBufferPointer(rebasing: rest[skipped..<count]), into: &self.suppressed)
    }
    self.rest.removeFirst(count)
  }

  private func takeReady() -> [Int16] {
    let count = min(self.suppressed.count, self.heard.count)
    let mixed = zip(self.suppressed, self.heard.prefix(count)).map { suppressed, heard in
      let value = (1 - Self.keptShare) * suppressed + Self.keptShare * Float(heard)
      return Int16(max(-32_768, min(32_767, value.rounded())))
    }
    self.suppressed.removeFirst(count)
    self.heard.removeFirst(count)
    return mixed
  }
}
