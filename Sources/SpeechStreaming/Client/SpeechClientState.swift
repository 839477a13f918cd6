public import VoiceCore

extension SpeechClient {
  /// What a client is doing.
  public enum State: Hashable, Sendable {
    /// ``SpeechClient/suspend()`` was called; ``SpeechClient/resume()`` makes the client ready again.
    case suspended
    /// Ready; nothing is recorded.
    case stopped
    /// Recording; the server has not acknowledged the context yet.
    case starting
    /// Recording, and the server is listening.
    case started(contextId: String)
    /// Not recording any more; results are still coming.
    case stopping
    /// The server is out of reach. What is recorded is kept, and the client tries again by itself: this is the state until the
    /// server has acknowledged the context again, also while a try is under way.
    case reconnecting(RetryState)
  }
}
