/// What a ``SpeechRecognitionUtility`` tells its state block; the cases are those of the documentation.
///
/// Order: ``authorized`` once. Then for each activity: ``audioEngineStart``; any number of ``speechRecognised(_:)`` and
/// ``speechNotRecognized``; ``audioEngineStop`` as soon as nothing is recorded any more; then, unless it was cancelled,
/// ``speechRecognitionStopped(_:)``, with which it is over. ``availabilityChanged(_:)`` comes at any time.
public enum SpeechRecognitionOperationState: Hashable, Sendable {
  /// Speech may be recorded and recognised.
  case authorized
  /// Recording has begun.
  case audioEngineStart
  /// Recording has ended.
  case audioEngineStop
  /// The whole text that is being spoken, as far as it is understood.
  case speechRecognised(String)
  /// Nothing of what was said is understood (any more): silence, noise, or what the app's grammar does not cover.
  case speechNotRecognized
  /// The engine and the microphone can be used from now on, or cannot any more.
  ///
  /// Both are taken to be there until they were looked for, so `true` never comes first.
  case availabilityChanged(Bool)
  /// The activity was cancelled: what was said is dropped.
  case recognitionTaskCancelled
  /// The activity has ended; with the text that was recognised last, or an empty one.
  case speechRecognitionStopped(String)
}
