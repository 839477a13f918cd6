public import VoiceCore

/// How fast a source delivers what it has.
public enum Pacing: Hashable, Sendable {
  /// As fast as the reader takes it.
  case unpaced
  /// Like a microphone: each chunk when it would have been recorded.
  case realTime
}

/// Delivers another source in real time; see ``AudioSource/paced(_:on:)``.
struct PacedSource: AudioSource {
  let base: any AudioSource
  let clock: any VoiceClock

  func capture() async throws(VoiceFailure) -> AudioCapture {
    let capture = try await self.base.capture()
    let pacer = Pacer(capture: capture, clock: self.clock)
    return AudioCapture(
      next: { () async throws(VoiceFailure) -> AudioEvent? in try await pacer.next() },
      stop: { pacer.stop() })
  }
}

extension AudioSource {
  /// The same source at another pace.
  ///
  /// In real time a chunk is delivered when its last sample would have been recorded, counted from the start of
  /// the capture: a late reader catches up, and the pace does not drift. A source that is live already is not held
  /// up.
  ///
  /// - Parameter clock: The time to go by.
  public func paced(_ pacing: Pacing, on clock: any VoiceClock = MonotonicClock()) -> any AudioSource {
    switch pacing {
    case .unpaced: self
    case .realTime: PacedSource(base: self, clock: clock)
    }
  }
}
