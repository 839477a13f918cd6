/// Makes mono samples of little-endian 16-bit PCM that comes in pieces of any length.
///
/// A sample or a frame (one sample of each channel) may be cut anywhere between two pieces. Channels are mixed by
/// their mean.
struct SampleAssembler: Hashable, Sendable {
  private let channels: Int
  private var rest: [UInt8] = []

  /// How many frames were assembled.
  private(set) var frameCount: Int64 = 0

  /// Creates an assembler.
  ///
  /// - Parameter channels: The number of interleaved channels, at least 1.
  init(channels: Int) {
    self.channels = max(1, channels)
  }

  /// Whether the audio so far ends within a frame.
  var hasPartialFrame: Bool { !self.rest.isEmpty }

  /// Takes a piece of audio.
  ///
  /// - Parameters:
  ///   - bytes: The piece.
  ///   - limit: The most frames that may have been assembled afterwards; what is beyond is dropped.
  /// - Returns: The mono samples that are complete, and whether the piece went beyond the limit.
  mutating func append(_ bytes: some Collection<UInt8>, limit: Int64) -> (samples: [Int16], isBeyond: Bool) {
    // A message of whole frames, as most are, is read where it lies.
    if self.rest.isEmpty, let result = bytes.withContiguousStorageIfAvailable({ self.take($0, limit: limit) })
    {
      return result
    }
    let joined = self.rest + bytes
    return joined.withUnsafeBufferPointer { self.take($0, limit: limit) }
  }

  /// Takes bytes that begin with a frame.
  private mutating func take(
    _ bytes: UnsafeBufferPointer<UInt8>, limit: Int64
  ) -> (samples: [Int16], isBeyond: Bool) {
    let frameBytes = 2 * self.channels
    let complete = bytes.count / frameBytes
    let room = max(0, limit - self.frameCount)
    let taken = Int(min(Int64(complete), room))
    let samples = Self.samples(of: UnsafeRawBufferPointer(bytes), count: taken, channels: self.channels)
    self.frameCount += Int64(taken)
    self.rest = taken == complete ? Array(bytes[(complete * frameBytes)...]) : []
    return (samples, taken < complete)
  }

  private static func samples(of frames: UnsafeRawBufferPointer, count: Int, channels: Int) -> [Int16] {
    func sample(_ index: Int) -> Int16 {
      Int16(littleEndian: frames.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self))
    }
    guard channels > 1 else { return (0..<count).map(sample) }
    return (0..<count).map { frame in
      let sum = (0..<channels).reduce(0) { $0 + Int(sample(frame * channels + $1)) }
      return Int16(clamping: sum / channels)
    }
  }
}
