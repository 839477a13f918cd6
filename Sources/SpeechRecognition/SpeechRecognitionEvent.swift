public import VoiceCore

/// What a ``SpeechRecognitionUtility`` tells, in order.
public enum SpeechRecognitionEvent: Hashable, Sendable {
  /// A state of the documentation; `finalOutput` is the second value of the state block.
  case state(SpeechRecognitionOperationState, finalOutput: Bool)
  /// What has been recognised, with all transcriptions, times and confidences; comes before the state that tells its text.
  case result(SpeechRecognitionResult)
  /// Something failed; `recovery` says what happens next.
  case failed(VoiceFailure)
}
