public import VoiceCore

/// What starting throws; the cases are those of the documentation.
///
/// The ``VoiceFailure`` behind it says more and is told beside it: ``SpeechRecognitionUtility/onFailure(_:)``,
/// ``SpeechRecognitionUtility/failures``.
public enum SpeechRecognitionOperationError: Error, Hashable, Sendable, CaseIterable {
  /// The person does not allow it.
  case denied
  /// Nobody has decided yet whether it is allowed.
  case notDetermined
  /// A policy of the device forbids it.
  case restricted
  /// There is no microphone, or it was unplugged.
  case inputNodeUnavailable
  /// The microphone, or another source of audio, cannot be used: it is busy or broken.
  case audioSessionUnavailable
  /// What is asked for cannot be recognised: the locale, the grammar, or the demand to stay on the device.
  case invalidRecognitionRequest
  /// The engine cannot be used: its model is missing or damaged, or it failed.
  case audioEngineUnavailable

  /// The documented error for a failure; every failure has one.
  public init(_ failure: VoiceFailure) {
    switch failure.code {
    case .recognitionDenied, .microphoneDenied: self = .denied
    case .recognitionRestricted: self = .restricted
    case .recognitionUndecided: self = .notDetermined
    case .noInputDevice, .inputDeviceLost: self = .inputNodeUnavailable
    case .engineLanguageMissing, .recognitionNotOnDevice, .vocabularyUnknown, .grammarNotFollowed,
      .requestInvalid:
      self = .invalidRecognitionRequest
    case let code where code.rawValue.hasPrefix("audio."): self = .audioSessionUnavailable
    case let code where code.rawValue.hasPrefix("speech.understanding."): self = .invalidRecognitionRequest
    default: self = .audioEngineUnavailable
    }
  }
}
