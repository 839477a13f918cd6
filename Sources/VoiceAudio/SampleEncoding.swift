public import VoiceCore

/// How one sample is written in a stream of bytes; all of them are little-endian.
public enum SampleEncoding: String, Hashable, Sendable, CaseIterable {
  /// Signed 16-bit integers.
  case s16le
  /// Unsigned bytes, silence at 128.
  case u8
  /// Signed 24-bit integers in three bytes.
  case s24le
  /// Signed 32-bit integers.
  case s32le
  /// 32-bit floating point, full scale at 1.0.
  case f32le
  /// 64-bit floating point, full scale at 1.0.
  case f64le
  /// µ-law of ITU-T G.711, one byte.
  case mulaw

  /// The bytes of one sample of one channel.
  public var bytesPerSample: Int {
    switch self {
    case .u8, .mulaw: 1
    case .s16le: 2
    case .s24le: 3
    case .s32le, .f32le: 4
    case .f64le: 8
    }
  }
}

/// What headerless samples look like: rate, channels and encoding.
public struct RawAudioFormat: Hashable, Sendable {
  /// Samples per second of each channel, 1,000 to 768,000.
  public var sampleRate: Int

  /// The number of interleaved channels, 1 to 64.
  public var channels: Int

  /// How a sample is written.
  public var encoding: SampleEncoding

  /// Creates a format; what cannot be converted is refused when it is used, see ``validate()``.
  public init(sampleRate: Int = 16_000, channels: Int = 1, encoding: SampleEncoding = .s16le) {
    self.sampleRate = sampleRate
    self.channels = channels
    self.encoding = encoding
  }

  /// The bytes of one sample of every channel.
  public var bytesPerFrame: Int { self.encoding.bytesPerSample * self.channels }

  /// The rates that can be converted, in Hz.
  public static let sampleRates = 1_000...768_000

  /// The numbers of channels that can be mixed.
  public static let channelCounts = 1...64

  /// Checks that the format can be converted.
  ///
  /// - Throws: ``VoiceFailure`` with the code `audio.format.not-supported`.
  public func validate() throws(VoiceFailure) {
    guard Self.sampleRates.contains(self.sampleRate) else {
      throw VoiceFailure(
        .formatNotSupported,
        message: "A sample rate of \(self.sampleRate) Hz cannot be converted; use 1,000 to 768,000 Hz.")
    }
    guard Self.channelCounts.contains(self.channels) else {
      throw VoiceFailure(
        .formatNotSupported,
        message: "Audio with \(self.channels) channels cannot be converted; use 1 to 64 channels.")
    }
  }
}
