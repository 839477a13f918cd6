public import VoiceCore

/// A loudspeaker or headphones: on Linux through ALSA (and with it PulseAudio and PipeWire), on Apple platforms through
/// AVAudioEngine.
///
/// It plays live audio that somebody else paces, such as the voice of a call:
///
/// ```swift
/// let playback = try await Speaker().play()
/// for await frame in frames { playback.write(frame) }
/// playback.stop()
/// ```
///
/// ``play()`` opens the device; several playbacks at once work where the device can be shared.
///
/// - ``play()`` throws `audio.output.no-device`, `audio.output.busy`, `audio.format.not-supported` or
///   `audio.output.failed`.
/// - ``SpeakerPlayback/waitUntilEnded()`` tells `audio.output.lost` or `audio.output.failed` when the device breaks.
/// - Audio that came too late or too early is counted in ``SpeakerPlayback/statistics``.
public struct Speaker: Sendable {
  /// An output device.
  public struct Device: Hashable, Sendable {
    /// What ``Speaker/init(device:sampleRate:targetDelay:longestDelay:clock:)`` takes.
    public var name: String
    /// What people call it.
    public var label: String

    /// Creates a device.
    public init(name: String, label: String) {
      self.name = name
      self.label = label
    }
  }

  /// The name of the system's preferred output.
  public static let defaultDevice = "default"

  /// The name of the device: on Linux a name of ALSA such as `default`, `pulse` or `hw:1`, elsewhere the device's
  /// identifier.
  public var device: String

  /// The rate of the samples that are written, in Hz; the device may have another one.
  public var sampleRate: Int

  /// How much audio is awaited before it is played, so that a writer that is late for a moment is not heard; at least
  /// 10 ms, at most 2 s.
  public var targetDelay: Duration

  /// How much audio may wait to be played; when there is more, the oldest is dropped down to ``targetDelay``.
  public var longestDelay: Duration

  /// The time on which it is said when audio is heard.
  public var clock: any VoiceClock

  /// Creates a speaker; ``play()`` opens it.
  public init(
    device: String = Speaker.defaultDevice,
    sampleRate: Int = 48_000,
    targetDelay: Duration = .milliseconds(60),
    longestDelay: Duration = .milliseconds(200),
    clock: any VoiceClock = MonotonicClock()
  ) {
    self.device = device
    self.sampleRate = sampleRate
    self.targetDelay = targetDelay
    self.longestDelay = longestDelay
    self.clock = clock
  }

  /// Opens the device and plays silence until something is written.
  ///
  /// - Throws: ``VoiceFailure`` with an `audio.output.*` code, or `audio.format.not-supported`.
  public func play() async throws(VoiceFailure) -> SpeakerPlayback {
    let queue = try PlaybackQueue(self)
    try await PlatformSpeaker.play(queue, on: self)
    return SpeakerPlayback(queue: queue)
  }

  /// Opens the device and closes it again.
  ///
  /// - Throws: ``VoiceFailure`` as ``play()`` would.
  public func check() async throws(VoiceFailure) {
    let playback = try await self.play()
    playback.stop()
    _ = await playback.waitUntilEnded()
  }

  /// Lists the output devices of this machine; empty if there are none.
  ///
  /// This asks the operating system and takes some milliseconds; it opens no device.
  public static func devices() async -> [Device] {
    await PlatformSpeaker.devices()
  }
}
