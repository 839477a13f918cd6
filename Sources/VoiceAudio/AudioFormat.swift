/// The shape of PCM audio: signed 16-bit samples in host byte order, channels interleaved.
public struct AudioFormat: Hashable, Sendable {
  /// Samples per second of each channel.
  public var sampleRate: Int

  /// The number of interleaved channels.
  public var channels: Int

  /// Creates a format.
  public init(sampleRate: Int, channels: Int) {
    self.sampleRate = sampleRate
    self.channels = channels
  }

  /// What recognisers take: 16 kHz, mono.
  public static let recognition = AudioFormat(sampleRate: 16_000, channels: 1)
}
