public import VoiceCore

/// An audio file: WAV (8 to 32 bit, float, µ-law and others), FLAC, Ogg Vorbis, Opus, MP3 and what else libsndfile
/// decodes.
///
/// The file is decoded while it is read, never held in memory, and each capture opens it anew. A path that is a
/// FIFO or a device is read like a ``PipeSource``.
///
/// - What is wrong with the file before its first sample is thrown by ``capture()``: `audio.file.not-found`,
///   `audio.file.not-readable`, `audio.file.is-directory`, `audio.file.not-audio`, `audio.file.empty`,
///   `audio.format.not-supported`.
/// - What turns up later is a notice, after all audio that is there: `audio.file.truncated`,
///   `audio.samples.not-finite`.
public struct AudioFileSource: AudioSource {
  /// Where the file is.
  public var path: String

  /// How fast the file is delivered.
  public var pacing: Pacing

  /// The time that real-time pacing goes by.
  public var clock: any VoiceClock

  /// How long each chunk is.
  public var chunkDuration: Duration

  /// Creates a source; the file is opened by ``capture()``.
  public init(
    path: String,
    pacing: Pacing = .unpaced,
    clock: any VoiceClock = MonotonicClock(),
    chunkDuration: Duration = .milliseconds(100)
  ) {
    self.path = path
    self.pacing = pacing
    self.clock = clock
    self.chunkDuration = chunkDuration
  }

  public func capture() async throws(VoiceFailure) -> AudioCapture {
    try await ByteSource(
      origin: .path(self.path), rawFormat: nil, chunkDuration: self.chunkDuration
    )
    .paced(self.pacing, on: self.clock)
    .capture()
  }

  /// Looks at the file without decoding it, for a progress bar or a listing.
  ///
  /// - Throws: ``VoiceFailure`` as ``capture()`` does.
  public func information() async throws(VoiceFailure) -> AudioFileInformation {
    let path = self.path
    let result = await withCheckedContinuation { continuation in
      CaptureQueue.detachThread(named: "audio file") {
        continuation.resume(returning: Result { () throws(VoiceFailure) in try Self.information(path: path) })
      }
    }
    return try result.get()
  }

  private static func information(path: String) throws(VoiceFailure) -> AudioFileInformation {
    switch try ByteSource.Origin.path(path).open(rawFormat: nil) {
    case .file(let file):
      return AudioFileInformation(
        formatName: file.formatName, sampleRate: file.sampleRate, channels: file.channels,
        frameCount: file.declaredFrames)
    case .stream(let descriptor):
      guard case .file(let size) = try descriptor.kind(named: path),
        let header = WAVHeader.read(from: descriptor), let format = header.format
      else {
        throw VoiceFailure(
          .fileNotAudio, message: "“\(path)” is a stream; what it holds is known only when it is read.")
      }
      return AudioFileInformation(
        formatName: "WAV", sampleRate: format.sampleRate, channels: format.channels,
        frameCount: (size - Int64(header.dataOffset)) / Int64(max(1, format.bytesPerFrame)))
    }
  }
}

/// What an audio file says of itself.
public struct AudioFileInformation: Hashable, Sendable {
  /// The container, such as `WAV (Microsoft)`; for people.
  public var formatName: String
  /// Samples per second of each channel.
  public var sampleRate: Int
  /// The number of channels.
  public var channels: Int
  /// The samples of each channel, or `nil` if the file does not say.
  public var frameCount: Int64?

  /// How long the file is, or `nil` if it does not say.
  public var duration: Duration? {
    self.frameCount.map { AudioChunk.time(ofSample: $0, sampleRate: self.sampleRate) }
  }
}
