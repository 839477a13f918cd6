public import VoiceAudio
public import VoiceCore

/// A microphone: on Linux through ALSA (and with it PulseAudio and PipeWire), on Apple platforms through
/// AVAudioEngine.
///
/// ``capture()`` opens the device; several captures at once work where the device can be shared. Samples are
/// written by a capture thread into a buffer of 30 seconds; a reader that is later than that loses audio and is
/// told how much.
///
/// - ``capture()`` throws `audio.input.no-device`, `audio.input.busy`, `audio.input.permission-denied`,
///   `audio.format.not-supported` or `audio.input.failed`.
/// - The sequence throws `audio.input.unplugged` or `audio.input.failed` when the device breaks, after all that
///   was recorded.
/// - Lost audio is an `audio.input.overrun` notice with its length, and a gap in the positions.
public struct Microphone: AudioSource {
  /// An input device.
  public struct Device: Hashable, Sendable {
    /// What ``Microphone/init(device:chunkDuration:clock:)`` takes.
    public var name: String
    /// What people call it.
    public var label: String

    /// Creates a device.
    public init(name: String, label: String) {
      self.name = name
      self.label = label
    }
  }

  /// The name of the system's preferred input.
  public static let defaultDevice = "default"

  /// The name of the device: on Linux a name of ALSA such as `default`, `pulse` or `hw:1`, elsewhere the device's
  /// identifier.
  public var device: String

  /// How long each chunk is.
  public var chunkDuration: Duration

  /// The time by which the length of lost audio is measured.
  public var clock: any VoiceClock

  /// Creates a microphone; ``capture()`` opens it.
  public init(
    device: String = Microphone.defaultDevice,
    chunkDuration: Duration = .milliseconds(100),
    clock: any VoiceClock = MonotonicClock()
  ) {
    self.device = device
    self.chunkDuration = chunkDuration
    self.clock = clock
  }

  public func capture() async throws(VoiceFailure) -> AudioCapture {
    try await PlatformMicrophone.capture(self)
  }

  /// Opens the device and closes it again.
  public func check() async throws(VoiceFailure) {
    try await self.capture().stop()
  }

  /// Lists the input devices of this machine; empty if there are none.
  ///
  /// This asks the operating system and takes some milliseconds; it opens no device.
  public static func devices() async -> [Device] {
    await PlatformMicrophone.devices()
  }
}
