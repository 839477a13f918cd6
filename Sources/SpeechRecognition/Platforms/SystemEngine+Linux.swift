#if os(Linux)
  import Foundation
  import PocketSphinxRecognition
  import SpeechPipeline
  import VoiceAudio
  import VoiceCore
  import VoicePlatform

  /// What recognises speech on Linux unless an app says otherwise: PocketSphinx, which needs no permission of its own.
  enum SystemEngine {
    static func make(
      _ request: SpeechRecognitionUtility.EngineSource.Request
    ) throws(VoiceFailure) -> any RecognitionEngine {
      try PocketSphinxEngine(language: request.language)
    }

    static var watchedPaths: [String] {
      let folder = ProcessInfo.processInfo.environment[PocketSphinxModel.folderVariable]
      let models = folder.flatMap { $0.isEmpty ? nil : $0 } ?? PocketSphinxModel.systemFolder
      return [models]
        + PocketSphinxModel.installed(in: models).flatMap { model in
          [model.acousticModel, (model.dictionary as NSString).deletingLastPathComponent]
        }
    }

    static func authorizer(for source: any AudioSource, usesSystemEngine: Bool) -> any SpeechAuthorizer {
      source is Microphone ? MicrophoneAuthorizer() : FixedSpeechAuthorizer(.authorized)
    }
  }
#endif
