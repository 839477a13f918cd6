import CallMedia
import VoiceCore

/// Measures how long one side hears nothing of the other.
///
/// Time is that of the listener: what is played, sample by sample. A frame that was made up in place of packets counts as silence.
struct SilenceMeter {
  /// Frames in a row that have to be heard for the audio to be back.
  private static let steady = 10
  /// Shorter gaps are those of every network, or of a machine under load.
  static let shortest = Duration.milliseconds(150)

  private var gapFrames = 0
  private var heardFrames = 0
  /// The gap, once audio is back; `nil` before.
  private(set) var gap: Duration?

  mutating func add(_ frame: CallAudioFrame) {
    guard self.gap == nil else { return }
    if frame.concealed == 0, Tones.power(of: frame.samples[...]) > 1e5 {
      self.heardFrames += 1
      guard self.heardFrames >= Self.steady else { return }
      let gap = Duration.milliseconds(20) * self.gapFrames
      if gap >= Self.shortest { self.gap = gap } else { self.gapFrames = 0 }
    } else {
      // A few frames that are heard within a gap belong to it.
      self.gapFrames += 1 + (self.gapFrames > 0 ? self.heardFrames : 0)
      self.heardFrames = 0
    }
  }

  /// Listens until a gap has come and gone; `nil` if that takes too long.
  static func gap(of audio: CallAudio, within limit: Duration = .seconds(20)) async throws -> Duration? {
    let gap = try await Deadline.within(limit) { () -> Duration? in
      var meter = SilenceMeter()
      for await frame in audio.frames {
        meter.add(frame)
        if let gap = meter.gap { return gap }
      }
      return nil
    }
    return gap ?? nil
  }
}
