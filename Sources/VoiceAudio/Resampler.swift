import CSpeexDSP
public import VoiceCore

/// Changes the sample rate of one channel, with times that stay exact.
///
/// The filter's delay is taken out, so that what was heard at a time in the input is heard at the same time in the
/// output. For `n` input samples there are exactly `ceil(n * to / from)` output samples once ``finish(into:)`` was
/// called: one for each output instant that lies within the input. Not `Sendable`: one stream, one thread at a
/// time.
public final class Resampler {
  /// The rate of the input in Hz.
  public let sourceRate: Int

  /// The rate of the output in Hz.
  public let targetRate: Int

  // Owned by this object, freed in `deinit`; `nil` if both rates are equal and samples pass unchanged.
  private let state: OpaquePointer?
  private var consumed: Int64 = 0
  private var produced: Int64 = 0

  /// Creates a resampler.
  ///
  /// - Parameters:
  ///   - sourceRate: The rate of the input, 1,000 to 768,000 Hz.
  ///   - targetRate: The rate of the output, in the same range.
  ///   - quality: The quality of libspeexdsp, 0 to 10; clamped.
  /// - Throws: ``VoiceFailure`` with the code `audio.format.not-supported`.
  public init(from sourceRate: Int, to targetRate: Int = 16_000, quality: Int = 8) throws(VoiceFailure) {
    try RawAudioFormat(sampleRate: sourceRate).validate()
    try RawAudioFormat(sampleRate: targetRate).validate()
    self.sourceRate = sourceRate
    self.targetRate = targetRate
    guard sourceRate != targetRate else {
      self.state = nil
      return
    }
    var status: Int32 = 0
    let state = speex_resampler_init(
      1, UInt32(sourceRate), UInt32(targetRate), Int32(min(max(quality, 0), 10)), &status)
    guard let state else {
      throw VoiceFailure(
        .formatNotSupported,
        message: "\(sourceRate) Hz cannot be converted to \(targetRate) Hz.",
        cause: ResamplerError(status: status))
    }
    speex_resampler_skip_zeros(state)
    self.state = state
  }

  deinit {
    if let state = self.state { speex_resampler_destroy(state) }
  }

  /// Takes samples and appends those that are ready; the filter keeps back a few milliseconds.
  public func process(_ input: UnsafeBufferPointer<Float>, into output: inout [Float]) {
    self.consumed += Int64(input.count)
    guard self.state != nil else {
      output.append(contentsOf: input)
      self.produced = self.consumed
      return
    }
    self.run(input, into: &output)
  }

  /// Appends what the filter kept back; afterwards the resampler is ready for another stream.
  public func finish(into output: inout [Float]) {
    defer {
      self.consumed = 0
      self.produced = 0
    }
    guard let state = self.state else { return }
    let total = Self.outputCount(ofInputCount: self.consumed, from: self.sourceRate, to: self.targetRate)
    let silence = [Float](repeating: 0, count: 1024)
    silence.withUnsafeBufferPointer { silence in
      // Each round feeds silence, and a filter is at most a few thousand samples long: the bound is never met.
      for _ in 0..<256 where self.produced < total {
        self.run(silence, into: &output)
      }
    }
    if self.produced > total {
      output.removeLast(Int(self.produced - total))
    } else if self.produced < total {
      output.append(contentsOf: repeatElement(0, count: Int(total - self.produced)))
    }
    speex_resampler_reset_mem(state)
    speex_resampler_skip_zeros(state)
  }

  /// How many output samples belong to a number of input samples.
  static func outputCount(ofInputCount count: Int64, from sourceRate: Int, to targetRate: Int) -> Int64 {
    let (whole, rest) = count.quotientAndRemainder(dividingBy: Int64(sourceRate))
    let target = Int64(targetRate)
    return whole * target + (rest * target + Int64(sourceRate) - 1) / Int64(sourceRate)
  }

  private func run(_ input: UnsafeBufferPointer<Float>, into output: inout [Float]) {
    guard let state = self.state, let base = input.baseAddress else { return }
    var offset = 0
    while offset < input.count {
      // Blocks keep the counts, which are 32-bit in C, far from their limits.
      let block = min(input.count - offset, 16_384)
      let capacity = block * self.targetRate / self.sourceRate + 64
      var taken = UInt32(block)
      var given = UInt32(capacity)
      let start = output.count
      output.append(contentsOf: repeatElement(0, count: capacity))
      let status = output.withUnsafeMutableBufferPointer { buffer -> Int32 in
        guard let target = buffer.baseAddress else { return -1 }
        return speex_resampler_process_float(state, 0, base + offset, &taken, target + start, &given)
      }
      guard status == 0, taken > 0 || given > 0 else {
        output.removeLast(capacity)
        return
      }
      output.removeLast(capacity - Int(given))
      self.produced += Int64(given)
      offset += Int(taken)
    }
  }
}

/// What libspeexdsp reported.
struct ResamplerError: Error, CustomStringConvertible {
  let status: Int32

  var description: String {
    speex_resampler_strerror(self.status).map { String(cString: $0) } ?? "libspeexdsp error \(self.status)"
  }
}
