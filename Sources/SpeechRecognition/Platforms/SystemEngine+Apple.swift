#if !os(Linux)
  import SpeechPipeline
  import VoiceAudio
  import VoiceCore
  import VoicePlatform

  /// What recognises speech on Apple platforms unless an app says otherwise.
  enum SystemEngine {
    static func make(
      _ request: SpeechRecognitionUtility.EngineSource.Request
    ) throws(VoiceFailure) -> any RecognitionEngine {
      throw VoiceFailure(
        .engineLibraryMissing,
        message: "No engine of this platform is linked: name one in the configuration of the utility.")
    }

    static var watchedPaths: [String] { [] }

    static func authorizer(for source: any AudioSource, usesSystemEngine: Bool) -> any SpeechAuthorizer {
      source is Microphone ? MicrophoneAuthorizer() : FixedSpeechAuthorizer(.authorized)
    }
  }
#endif
