/// Something that listens from one moment to another, such as from the press of a button to its release.
///
/// `SpeechClient` and `SpeechRecognitionModel` are such; user interfaces can be written for either.
@MainActor
public protocol TalkControl: AnyObject {
  /// Begins to listen; does nothing if it is listening.
  func beginTalking()

  /// Stops listening; the last words still come. Does nothing if it is not listening.
  func endTalking()

  /// Stops listening and drops what was being said, if that is possible; the default ends as ``endTalking()`` does.
  func cancelTalking()
}

extension TalkControl {
  public func cancelTalking() { self.endTalking() }
}
