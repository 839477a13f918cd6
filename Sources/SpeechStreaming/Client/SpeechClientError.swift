public import VoiceCore

/// The documented error of the delegate, with four cases. (Source: protocol §1.4.)
///
/// The text of each case is the message of the ``VoiceFailure`` behind it, which
/// ``SpeechClientDelegate/speechlyClientDidFail(_:failure:)`` delivers whole.
public enum SpeechClientError: Error, Hashable, Sendable {
  /// The server cannot be reached and the client has stopped trying.
  case networkError(String)
  /// The microphone failed or audio is missing.
  case audioError(String)
  /// The server refused something, or some results may be lost.
  case apiError(String)
  /// The server sent something that cannot be understood; what came before is kept.
  case parseError(String)

  /// The documented error for a failure.
  public init(_ failure: VoiceFailure) {
    switch failure.code {
    case .protocolViolated, .replayDiverged, .segmentUnfinished, .tokenUnreadable:
      self = .parseError(failure.message)
    case .audioDropped:
      self = .audioError(failure.message)
    case let code where code.rawValue.hasPrefix("network."):
      self = .networkError(failure.message)
    case let code where code.rawValue.hasPrefix("audio."):
      self = .audioError(failure.message)
    default:
      self = .apiError(failure.message)
    }
  }
}
