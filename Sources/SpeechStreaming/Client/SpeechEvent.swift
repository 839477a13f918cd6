public import VoiceCore

/// What a ``SpeechClient`` tells, in order; one case for each method of ``SpeechClientDelegate``.
public enum SpeechEvent: Hashable, Sendable {
  /// The state has changed.
  case stateChanged(SpeechClient.State)
  /// The microphone or file is open and what it hears is kept.
  case recordingStarted
  /// The server acknowledged the context.
  case started(contextId: String)
  /// A word; tentative unless final.
  case transcript(contextId: String, segmentId: Int, SpeechTranscript)
  /// An entity; tentative unless final.
  case entity(contextId: String, segmentId: Int, SpeechEntity)
  /// An intent; tentative unless final.
  case intent(contextId: String, segmentId: Int, SpeechIntent)
  /// The whole current state of a segment.
  case segmentUpdated(SpeechSegment)
  /// A lost connection was replaced.
  case recovered(SpeechRecovery)
  /// The engine of this process has taken the utterance over from the server.
  case degraded(SpeechDegradation)
  /// The context is complete; `nil` if the server was never reached.
  case finished(SpeechContext?)
  /// Something failed; `recovery` says what happens next.
  case failed(VoiceFailure)
}

/// How a lost connection was replaced.
public struct SpeechRecovery: Hashable, Sendable {
  /// The context that goes on.
  public var contextId: String
  /// How many tries it took.
  public var attempts: Int
  /// How much audio is being sent again.
  public var replayed: Duration
  /// How long the context was without a server.
  public var outage: Duration

  /// Creates a description.
  public init(contextId: String, attempts: Int, replayed: Duration, outage: Duration) {
    self.contextId = contextId
    self.attempts = attempts
    self.replayed = replayed
    self.outage = outage
  }
}

/// Why and from where an engine goes on with an utterance of a server.
public struct SpeechDegradation: Hashable, Sendable {
  /// The context that goes on; `nil` if the server had not acknowledged it yet.
  public var contextId: String?
  /// Why the server cannot be used.
  public var failure: VoiceFailure
  /// How much audio the engine hears again, or for the first time: nothing of it is lost.
  public var replayed: Duration

  /// Creates a description.
  public init(contextId: String?, failure: VoiceFailure, replayed: Duration) {
    self.contextId = contextId
    self.failure = failure
    self.replayed = replayed
  }
}
