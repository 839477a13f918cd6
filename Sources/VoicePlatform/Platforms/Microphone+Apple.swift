#if canImport(AVFoundation)
  import AVFoundation
  import VoiceAudio
  import VoiceCore

  /// The microphone through AVAudioEngine; only the system's preferred input can be used.
  enum PlatformMicrophone {
    static func capture(_ microphone: Microphone) async throws(VoiceFailure) -> AudioCapture {
      guard microphone.device == Microphone.defaultDevice else {
        throw VoiceFailure(
          .noInputDevice, message: "Only the system's preferred microphone can be used here: “default”.")
      }
      if let failure = await SystemMicrophonePermission().request().failure { throw failure }
      return try await CaptureSession.start(chunkDuration: microphone.chunkDuration, clock: microphone.clock)
    }

    static func devices() async -> [Microphone.Device] {
      guard let device = AVCaptureDevice.default(for: .audio) else { return [] }
      return [Microphone.Device(name: Microphone.defaultDevice, label: device.localizedName)]
    }
  }
#endif
