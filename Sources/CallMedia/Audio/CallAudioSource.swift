import VoiceAudio
import VoiceCore

/// What the other side of a call says, for everything that listens to an ``AudioSource``.
struct CallAudioSource: AudioSource {
  /// Packets that were missing for longer than this may have held words.
  private static let longestConcealment = 4_800

  /// Samples of a call for each that is listened to.
  private static let ratio = Int64(CallAudioFrame.sampleRate / AudioFormat.recognition.sampleRate)

  let audio: CallAudio

  func capture() async throws(VoiceFailure) -> AudioCapture {
    let frames = self.audio.frames.makeAsyncIterator()
    let reader = Reader(
      frames: frames, expected: self.audio.position,
      converter: try RateConverter(
        from: CallAudioFrame.sampleRate, to: AudioFormat.recognition.sampleRate))
    return AudioCapture(isLive: true, next: { () async throws(VoiceFailure) in await reader.next() }) {
      Task { await reader.stop() }
    }
  }

  /// Reads frames one after the other; a capture is read by one task.
  private actor Reader {
    private var frames: CallAudioFrames.Iterator
    private var converter: RateConverter
    /// Where the next frame begins if none was missed, at 48 kHz.
    private var expected: Int64
    /// Where the next chunk begins, at 16 kHz.
    private var position: Int64 = 0
    private var concealedInRow = 0
    private var isStopped = false

    init(frames: CallAudioFrames.Iterator, expected: Int64, converter: RateConverter) {
      self.frames = frames
      self.expected = expected
      self.converter = converter
    }

    func stop() { self.isStopped = true }

    func next() async -> AudioEvent? {
      while !self.isStopped {
        var frames = self.frames
        guard let frame = await frames.next(isolation: #isolation) else { return nil }
        self.frames = frames
        // Frames that this reader was too slow for.
        self.position += max(0, frame.position - self.expected) / CallAudioSource.ratio
        self.expected = frame.position + Int64(frame.samples.count)
        let samples = self.converter.convert(frame.samples)
        let start = self.position
        self.position += Int64(samples.count)
        self.concealedInRow =
          frame.concealed == frame.samples.count ? self.concealedInRow + frame.concealed : 0
        guard self.concealedInRow <= CallAudioSource.longestConcealment, !samples.isEmpty else { continue }
        return .chunk(AudioChunk(position: start, samples: samples))
      }
      return nil
    }
  }
}
