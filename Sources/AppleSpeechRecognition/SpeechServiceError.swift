import VoiceCore

/// An error of a speech service by what identifies it, and what it means.
///
/// The codes of Apple's recogniser are not documented; these meanings are what developers have observed and published. An
/// unknown code is a failure, with the error as its cause.
struct SpeechServiceError: Hashable, Sendable {
  /// What an error means for the request.
  enum Meaning: Hashable, Sendable {
    /// Nobody spoke: an empty result, not a failure.
    case noSpeech
    /// The task was ended from outside; another one may go on.
    case taskEnded(VoiceFailure)
    /// Nothing can be recognised.
    case failed(VoiceFailure)
  }

  var domain: String
  var code: Int

  /// What the error means.
  ///
  /// - Parameter cause: The error itself, for developers.
  func meaning(cause: (any Error)? = nil) -> Meaning {
    let name = "\(self.domain) \(self.code)"
    func failure(_ code: VoiceFailure.Code, _ message: String? = nil, _ recovery: Recovery? = nil)
      -> VoiceFailure
    {
      VoiceFailure(code, message: message, recovery: recovery, cause: cause)
    }
    switch self.domain {
    case "kAFAssistantErrorDomain", "com.apple.speech.recognition.AFAssistantErrorDomain",
      "SiriSpeechErrorDomain":
      switch self.code {
      case 1110: return .noSpeech
      // 203: no sound for too long; 209, 216: another task or a cancellation got in the way; 4, 1101, 1107: the service behind the
      // recogniser has ended.
      case 203, 209, 216, 4, 1101, 1107:
        return .taskEnded(failure(.engineFailed, "Apple's speech service ended a recognition (\(name))."))
      case 1700:
        return .failed(failure(.recognitionDenied))
      case 102, 1103:
        return .failed(failure(.modelMissing, "The language is not installed on this device (\(name))."))
      case 7, 1102, 1104:
        return .failed(failure(.serverUnreachable, "Apple's speech service cannot be reached (\(name))."))
      default: break
      }
    case "kLSRErrorDomain":
      switch self.code {
      case 102:
        return .failed(failure(.modelMissing, "The language is not installed on this device (\(name))."))
      case 201:
        return .failed(
          failure(
            .recognitionDenied,
            "Siri and dictation are switched off on this device, and speech recognition with them."))
      case 301:
        return .taskEnded(failure(.engineFailed, "Apple's speech service ended a recognition (\(name))."))
      default: break
      }
    case "NSURLErrorDomain":
      return .failed(
        failure(
          self.code == -1001 ? .serverTimedOut : .serverUnreachable,
          "Apple's speech service cannot be reached (\(name))."))
    default: break
    }
    return .failed(failure(.engineFailed, "Apple's speech service failed (\(name))."))
  }
}
