public import VoiceCore

/// Standard input, a pipe, a FIFO, or any file of samples without a header.
///
/// A WAV header is recognised by its first bytes; without one the bytes are samples in ``rawFormat``. Audio is
/// delivered as it comes: when the writer pauses, the samples so far are delivered after one chunk's duration. A
/// reader that is slow holds up the writer, and nothing is lost.
///
/// - Before the first byte is there, ``capture()`` throws `audio.file.not-found`, `audio.file.not-readable`,
///   `audio.file.is-directory` or `audio.format.not-supported`.
/// - What the bytes are is known later; the sequence throws `audio.file.not-audio`, `audio.file.empty` or
///   `audio.format.not-supported`, and gives `audio.file.truncated` and `audio.samples.not-finite` as notices.
public struct PipeSource: AudioSource {
  private let origin: ByteSource.Origin

  /// What bytes without a WAV header are, or `nil` if there must be a header.
  ///
  /// With `nil`, standard input that is redirected from a file may hold any format that ``AudioFileSource``
  /// decodes.
  public var rawFormat: RawAudioFormat?

  /// How fast the audio is delivered.
  public var pacing: Pacing

  /// The time that real-time pacing goes by.
  public var clock: any VoiceClock

  /// How long each chunk is.
  public var chunkDuration: Duration

  /// Creates a source for an open file descriptor, which stays open.
  ///
  /// - Parameters:
  ///   - fileDescriptor: The descriptor; 0 is standard input. It must stay open while a capture runs, and one
  ///     capture may run at a time.
  ///   - name: What to call it in messages.
  public init(
    fileDescriptor: Int32 = 0,
    name: String = "standard input",
    rawFormat: RawAudioFormat? = nil,
    pacing: Pacing = .unpaced,
    clock: any VoiceClock = MonotonicClock(),
    chunkDuration: Duration = .milliseconds(100)
  ) {
    self.origin = .descriptor(fileDescriptor, name: name)
    self.rawFormat = rawFormat
    self.pacing = pacing
    self.clock = clock
    self.chunkDuration = chunkDuration
  }

  /// Creates a source for a FIFO, a device, or a file without a header; ``capture()`` opens it and does not wait
  /// for a writer.
  public init(
    path: String,
    rawFormat: RawAudioFormat? = nil,
    pacing: Pacing = .unpaced,
    clock: any VoiceClock = MonotonicClock(),
    chunkDuration: Duration = .milliseconds(100)
  ) {
    self.origin = .path(path)
    self.rawFormat = rawFormat
    self.pacing = pacing
    self.clock = clock
    self.chunkDuration = chunkDuration
  }

  public func capture() async throws(VoiceFailure) -> AudioCapture {
    try self.rawFormat?.validate()
    return try await ByteSource(
      origin: self.origin, rawFormat: self.rawFormat, chunkDuration: self.chunkDuration
    )
    .paced(self.pacing, on: self.clock)
    .capture()
  }
}
