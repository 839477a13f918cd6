public import VoiceAudio
public import VoiceCore

/// A microphone without what a loudspeaker plays, for conversations without headphones.
///
/// Where the system cancels the echo itself (``SpeakerPlayback/isEchoCancelledBySystem``), it is the microphone as it is.
/// Elsewhere an ``EchoCanceller`` does, which needs a second or two of sound from the loudspeaker to learn the room. Events come
/// about 20 ms later than those of the microphone, with the same positions.
///
/// ```swift
/// let playback = try await Speaker().play()
/// let source = EchoCancelledMicrophone(Microphone(chunkDuration: .milliseconds(20)), playback: playback)
/// for try await event in try await source.capture() { … }
/// ```
public struct EchoCancelledMicrophone: AudioSource {
  /// What is listened to.
  public var microphone: any AudioSource

  /// What plays in the same room; it tells only the last capture what it plays.
  public var playback: SpeakerPlayback

  /// How the echo is taken away.
  public var settings: EchoCanceller.Settings

  /// The time of both devices; the same as that of the ``Speaker``.
  public var clock: any VoiceClock

  /// Creates a microphone; ``capture()`` opens it.
  public init(
    _ microphone: any AudioSource = Microphone(chunkDuration: .milliseconds(20)),
    playback: SpeakerPlayback,
    settings: EchoCanceller.Settings = EchoCanceller.Settings(),
    clock: any VoiceClock = MonotonicClock()
  ) {
    self.microphone = microphone
    self.playback = playback
    self.settings = settings
    self.clock = clock
  }

  public func capture() async throws(VoiceFailure) -> AudioCapture {
    guard !self.playback.isEchoCancelledBySystem else { return try await self.microphone.capture() }
    let played = PlayedAudio()
    let stream = try EchoCancelledStream(played: played, settings: self.settings)
    let capture = try await self.microphone.capture()
    self.playback.tell(played)
    let reader = Reader(capture: capture, stream: stream, clock: self.clock)
    return AudioCapture(
      isLive: capture.isLive,
      next: { () async throws(VoiceFailure) -> AudioEvent? in try await reader.next() },
      stop: { capture.stop() })
  }

  public func check() async throws(VoiceFailure) {
    try await self.microphone.check()
  }

  /// Reads the microphone for the one task that reads the capture.
  private actor Reader {
    private let capture: AudioCapture
    private let stream: EchoCancelledStream
    private let clock: any VoiceClock
    private var events: [AudioEvent] = []
    private var end: Result<AudioEvent?, VoiceFailure>?

    init(capture: AudioCapture, stream: sending EchoCancelledStream, clock: any VoiceClock) {
      self.capture = capture
      self.stream = stream
      self.clock = clock
    }

    func next() async throws(VoiceFailure) -> AudioEvent? {
      while true {
        if !self.events.isEmpty { return self.events.removeFirst() }
        if let end = self.end {
          self.end = .success(nil)
          return try end.get()
        }
        do throws(VoiceFailure) {
          var iterator = self.capture.makeAsyncIterator()
          switch try await iterator.next() {
          case .chunk(let chunk):
            self.events += self.stream.heard(chunk, at: self.clock.now).map { .chunk($0) }
          case .notice(let notice):
            self.events.append(.notice(notice))
          case nil:
            if Task.isCancelled { return nil }
            self.finish(.success(nil))
          }
        } catch {
          self.finish(.failure(error))
        }
      }
    }

    /// What the canceller kept back comes before the end.
    private func finish(_ end: Result<AudioEvent?, VoiceFailure>) {
      self.events += self.stream.finish().map { .chunk($0) }
      self.end = end
    }
  }
}
