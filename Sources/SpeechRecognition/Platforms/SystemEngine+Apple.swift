#if canImport(AVFoundation)
  import AppleSpeechRecognition
  import SpeechPipeline
  import VoiceAudio
  import VoiceCore
  import VoicePlatform

  /// What recognises speech on Apple platforms unless an app says otherwise: `SFSpeechRecognizer`.
  enum SystemEngine {
    static var watchedPaths: [String] { [] }

    #if os(tvOS)
      static func make(
        _ request: SpeechRecognitionUtility.EngineSource.Request
      ) throws(VoiceFailure) -> any RecognitionEngine {
        throw VoiceFailure(
          .engineLibraryMissing,
          message:
            "SFSpeechRecognizer is not on this platform: name an engine in the configuration of the utility.")
      }

      static func authorizer(for source: any AudioSource, usesSystemEngine: Bool) -> any SpeechAuthorizer {
        source is Microphone ? MicrophoneAuthorizer() : FixedSpeechAuthorizer(.authorized)
      }

      static func availability(language: String) -> (any AvailabilityMonitor)? { nil }
    #else
      static func make(
        _ request: SpeechRecognitionUtility.EngineSource.Request
      ) throws(VoiceFailure) -> any RecognitionEngine {
        try SFSpeechEngine(language: request.language, requiresOnDeviceRecognition: request.requiresOnDevice)
      }

      static func authorizer(for source: any AudioSource, usesSystemEngine: Bool) -> any SpeechAuthorizer {
        let usesMicrophone = source is Microphone
        if usesSystemEngine {
          return AppleSpeechAuthorizer(microphone: usesMicrophone ? SystemMicrophonePermission() : nil)
        }
        return usesMicrophone ? MicrophoneAuthorizer() : FixedSpeechAuthorizer(.authorized)
      }

      static func availability(language: String) -> (any AvailabilityMonitor)? {
        AppleSpeechAvailability(language: language)
      }
    #endif
  }
#endif
