import VoiceAudio
import VoiceCore

/// What the other side of a call says, for everything that listens to an ``AudioSource``.
struct CallAudioSource: AudioSource {
  /// Packets that were missing for longer than this may have held words.
  private static let longestConcealment = 4_800

  let audio: CallAudio

  func capture() async throws(VoiceFailure) -> AudioCapture {
    let reader = Reader(
      frames: self.audio.frames.makeAsyncIterator(),
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
    private var position: Int64 = 0
    private var concealedInRow = 0
    private var isStopped = false

    init(frames: CallAudioFrames.Iterator, converter: RateConverter) {
      self.frames = frames
      self.converter = converter
    }

    func stop() { self.isStopped = true }

    func next() async -> AudioEvent? {
      while !self.isStopped {
        var frames = self.frames
        guard let frame = await frames.next(isolation: #isolation) else { return nil }
        self.frames = frames
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
