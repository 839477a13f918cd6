public import VoiceCore

/// Turns a stream of samples in any format into 16 kHz mono chunks with sample-exact positions.
///
/// Bytes may come in pieces of any size: a piece may end in the middle of a sample, and however a stream is cut
/// the result is the same. Channels are averaged, rates are converted without delay, and samples that are not
/// numbers become silence and are counted in ``notFiniteCount``. Not `Sendable`: one stream, one thread at a time.
///
/// ```swift
/// let converter = try PCMConverter(format: RawAudioFormat(sampleRate: 44_100, channels: 2))
/// for bytes in pieces { chunks += converter.append(bytes) }
/// chunks += converter.finish()
/// ```
public final class PCMConverter {
  /// The format of the input.
  public let format: RawAudioFormat

  /// How many samples each chunk has, the last one excepted.
  public let samplesPerChunk: Int

  private let resampler: Resampler
  private var mixer: SampleMixer
  private var rest: [UInt8] = []
  private var mixed: [Float] = []
  private var resampled: [Float] = []
  private var pending: [Int16] = []
  private var inputFrames: Int64 = 0

  /// The position of the next sample that is delivered.
  public private(set) var position: Int64

  private let startPosition: Int64

  /// Creates a converter.
  ///
  /// - Parameters:
  ///   - format: What the bytes are.
  ///   - chunkDuration: How long each chunk is; clamped to 1 ms … 10 s.
  ///   - startPosition: The position of the first sample, in samples at 16 kHz.
  /// - Throws: ``VoiceFailure`` with the code `audio.format.not-supported`.
  public init(
    format: RawAudioFormat,
    chunkDuration: Duration = .milliseconds(100),
    startPosition: Int64 = 0
  ) throws(VoiceFailure) {
    try format.validate()
    self.format = format
    self.samplesPerChunk = Self.samples(in: chunkDuration)
    self.resampler = try Resampler(from: format.sampleRate, to: Self.outputRate)
    self.mixer = SampleMixer(channels: format.channels)
    self.position = startPosition
    self.startPosition = startPosition
  }

  /// How many samples were not finite numbers and were replaced by silence.
  public var notFiniteCount: Int { self.mixer.notFiniteCount }

  /// How many bytes of an incomplete frame are waiting for the rest of it.
  public var incompleteByteCount: Int { self.rest.count }

  /// How many whole frames came in, skipped ones included.
  public var frameCount: Int64 { self.inputFrames }

  /// Whether samples are waiting for their chunk to fill up; ``flush()`` delivers them.
  public var hasPendingSamples: Bool { !self.pending.isEmpty }

  /// Takes bytes in the format of the converter.
  public func append(_ bytes: UnsafeRawBufferPointer) -> [AudioChunk] {
    let frameSize = self.format.bytesPerFrame
    var bytes = bytes[...]
    if !self.rest.isEmpty {
      let missing = min(frameSize - self.rest.count, bytes.count)
      self.rest.append(contentsOf: bytes.prefix(missing))
      bytes = bytes.dropFirst(missing)
      guard self.rest.count == frameSize else { return [] }
      self.rest.withUnsafeBytes { self.mixer.mix($0, encoding: self.format.encoding, into: &self.mixed) }
      self.rest.removeAll(keepingCapacity: true)
    }
    let whole = bytes.count / frameSize * frameSize
    self.mixer.mix(
      UnsafeRawBufferPointer(rebasing: bytes.prefix(whole)), encoding: self.format.encoding, into: &self.mixed
    )
    self.rest.append(contentsOf: bytes.dropFirst(whole))
    return self.convert()
  }

  /// Takes bytes in the format of the converter.
  public func append(_ bytes: some Sequence<UInt8>) -> [AudioChunk] {
    if let chunks = bytes.withContiguousStorageIfAvailable({ self.append(UnsafeRawBufferPointer($0)) }) {
      return chunks
    }
    return Array(bytes).withUnsafeBytes { self.append($0) }
  }

  /// Takes whole frames of 16-bit samples in host byte order, whatever the encoding of ``format`` is.
  public func append(samples: UnsafeBufferPointer<Int16>) -> [AudioChunk] {
    self.mixer.mix(samples, into: &self.mixed)
    return self.convert()
  }

  /// Takes whole frames of floating-point samples with full scale at 1.0, whatever the encoding of ``format`` is.
  public func append(samples: UnsafeBufferPointer<Float>) -> [AudioChunk] {
    self.mixer.mix(samples, into: &self.mixed)
    return self.convert()
  }

  /// Leaves out frames that were lost, so that what follows keeps its place in time.
  ///
  /// - Returns: What was heard before the gap.
  public func skip(frames: Int64) -> [AudioChunk] {
    guard frames > 0 else { return [] }
    self.rest.removeAll(keepingCapacity: true)
    let chunks = self.drain()
    // A gap of centuries comes from a broken counter, not from a device.
    self.inputFrames += min(frames, Int64(self.format.sampleRate) * 1_000_000_000)
    self.position = max(self.position, self.outputPosition)
    return chunks
  }

  /// Delivers the samples that wait for their chunk to fill up, without ending the stream.
  public func flush() -> [AudioChunk] {
    self.cut(all: true)
  }

  /// Ends the stream and delivers the rest; an incomplete frame is left out.
  ///
  /// Read ``incompleteByteCount`` before to know whether there is one.
  public func finish() -> [AudioChunk] {
    self.rest.removeAll()
    return self.drain()
  }

  private static let outputRate = AudioFormat.recognition.sampleRate

  static func samples(in chunkDuration: Duration) -> Int {
    let duration = min(max(chunkDuration, .milliseconds(1)), .seconds(10))
    return Int(AudioChunk.sample(at: duration, sampleRate: Self.outputRate))
  }

  private var outputPosition: Int64 {
    self.startPosition
      + Resampler.outputCount(
        ofInputCount: self.inputFrames, from: self.format.sampleRate, to: Self.outputRate)
  }

  private func convert() -> [AudioChunk] {
    self.inputFrames += Int64(self.mixed.count)
    self.mixed.withUnsafeBufferPointer { self.resampler.process($0, into: &self.resampled) }
    self.mixed.removeAll(keepingCapacity: true)
    self.quantize()
    return self.cut(all: false)
  }

  private func drain() -> [AudioChunk] {
    self.resampler.finish(into: &self.resampled)
    self.quantize()
    return self.cut(all: true)
  }

  private func quantize() {
    self.pending.reserveCapacity(self.pending.count + self.resampled.count)
    for value in self.resampled {
      self.pending.append(value.isFinite ? Int16(min(max(value.rounded(), -32_768), 32_767)) : 0)
    }
    self.resampled.removeAll(keepingCapacity: true)
  }

  private func cut(all: Bool) -> [AudioChunk] {
    var chunks: [AudioChunk] = []
    var start = 0
    while self.pending.count - start >= (all ? 1 : self.samplesPerChunk) {
      let end = min(start + self.samplesPerChunk, self.pending.count)
      chunks.append(AudioChunk(position: self.position, samples: Array(self.pending[start..<end])))
      self.position += Int64(end - start)
      start = end
    }
    self.pending.removeFirst(start)
    return chunks
  }
}
