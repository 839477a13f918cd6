#if canImport(AVFoundation)
  import AVFoundation
  import VoiceAudio
  import VoiceCore

  /// The loudspeaker through AVAudioEngine; only the system's preferred output can be used.
  enum PlatformSpeaker {
    static let cancelsEcho = true

    static func play(_ queue: PlaybackQueue, on speaker: Speaker) async throws(VoiceFailure) {
      guard speaker.device == Speaker.defaultDevice else {
        throw VoiceFailure(
          .noOutputDevice, message: "Only the system's preferred loudspeaker can be used here: “default”.")
      }
      try await PlaybackSession.start(queue, clock: speaker.clock)
    }

    static func devices() async -> [Speaker.Device] {
      AudioSessionControl.outputLabel.map { [Speaker.Device(name: Speaker.defaultDevice, label: $0)] } ?? []
    }
  }
#endif
