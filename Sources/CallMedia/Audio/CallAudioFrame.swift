/// A stretch of what the other side says.
public struct CallAudioFrame: Hashable, Sendable {
  /// The index of the first sample since the call's audio began; a jump tells of frames that a slow reader missed.
  public var position: Int64
  /// Mono samples at 48 kHz, in host byte order.
  public var samples: [Int16]
  /// How many of the samples were made up in place of lost or late packets.
  public var concealed: Int

  /// Samples per second.
  public static let sampleRate = 48_000

  /// Creates a frame.
  public init(position: Int64, samples: [Int16], concealed: Int = 0) {
    self.position = position
    self.samples = samples
    self.concealed = concealed
  }
}
