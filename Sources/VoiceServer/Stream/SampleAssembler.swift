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
    let frameBytes = 2 * self.channels
    let joined = self.rest + bytes
    let complete = joined.count / frameBytes
    let room = max(0, limit - self.frameCount)
    let taken = Int(min(Int64(complete), room))
    let samples = joined.withUnsafeBufferPointer { buffer in
      (0..<taken).map { Self.mean(of: buffer, at: $0 * frameBytes, channels: self.channels) }
    }
    self.frameCount += Int64(taken)
    self.rest = taken == complete ? Array(joined[(complete * frameBytes)...]) : []
    return (samples, taken < complete)
  }

  private static func mean(
    of bytes: UnsafeBufferPointer<UInt8>, at offset: Int, channels: Int
  ) -> Int16 {
    var sum = 0
    for channel in 0..<channels {
      let position = offset + 2 * channel
      sum += Int(Int16(bitPattern: UInt16(bytes[position]) | UInt16(bytes[position + 1]) << 8))
    }
    return Int16(clamping: sum / channels)
  }
}
