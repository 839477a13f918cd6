#if canImport(Speech) && !os(tvOS)
  import Foundation
  import Speech
  public import SpeechPipeline
  public import VoiceCore
  import VoicePlatform

  /// The engine over Apple's `SFSpeechRecognizer`.
  ///
  /// Apple's tasks end by themselves, on servers after about a minute: the engine then goes on with another one, without losing
  /// words. Phrases of a task's vocabulary become contextual strings. Audio leaves the device unless
  /// `requiresOnDeviceRecognition` is set, which needs a language that the device has.
  ///
  /// Ask for the permissions with ``AppleSpeechAuthorizer`` before.
  public struct SFSpeechEngine: RecognitionEngine {
    private let language: String
    private let requiresOnDeviceRecognition: Bool
    public let capabilities: RecognitionCapabilities

    /// Creates an engine; loads nothing.
    ///
    /// - Parameters:
    ///   - language: A BCP 47 tag.
    ///   - requiresOnDeviceRecognition: Whether audio must stay on the device.
    /// - Throws: ``VoiceFailure`` with the code `speech.engine.language-missing` or `speech.recognition.not-on-device`.
    public init(language: String = "en-US", requiresOnDeviceRecognition: Bool = false) throws(VoiceFailure) {
      let recognizer = try Self.recognizer(language: language)
      if requiresOnDeviceRecognition, !recognizer.supportsOnDeviceRecognition {
        throw VoiceFailure(.recognitionNotOnDevice)
      }
      self.language = language
      self.requiresOnDeviceRecognition = requiresOnDeviceRecognition
      self.capabilities = RecognitionCapabilities(
        languages: [language], revisesAtEnd: true, reportsConfidence: true,
        maximumAlternatives: SpeechServiceRecognizer.alternativeLimit + 1, detectsVoiceActivity: true,
        needsNetwork: !requiresOnDeviceRecognition)
    }

    public var name: String { "Apple Speech \(self.language)" }

    /// Makes a recogniser.
    ///
    /// - Throws: ``VoiceFailure`` if speech recognition is not allowed, or not available at present.
    public func makeRecognizer() throws(VoiceFailure) -> any Recognizer {
      let recognizer = try Self.recognizer(language: self.language)
      if let failure = AppleSpeechAuthorizer.recognitionState.failure { throw failure }
      guard recognizer.isAvailable else {
        throw self.requiresOnDeviceRecognition
          ? VoiceFailure(.engineFailed, message: "Apple's speech recognition is not available at present.")
          : VoiceFailure(
            .serverUnreachable, message: "Apple's speech recognition cannot be reached at present.")
      }
      return SpeechServiceRecognizer(
        service: try SFSpeechService(
          recognizer, requiresOnDeviceRecognition: self.requiresOnDeviceRecognition))
    }

    public func problems(ofVocabulary vocabulary: [String]) -> [VoiceFailure] {
      SpeechServiceRequest.problems(ofVocabulary: vocabulary)
    }

    private static func recognizer(language: String) throws(VoiceFailure) -> SFSpeechRecognizer {
      guard let recognizer = SFSpeechRecognizer(locale: Locale(identifier: language)) else {
        throw VoiceFailure(
          .engineLanguageMissing,
          message: "Apple's speech recognition does not know “\(language.prefix(40))”.")
      }
      return recognizer
    }
  }
#endif
