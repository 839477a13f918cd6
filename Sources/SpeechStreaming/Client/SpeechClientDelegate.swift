public import VoiceCore

/// Receives what a ``SpeechClient`` reports. (Source: protocol §1.3.)
///
/// All methods have empty defaults. They are called in order, one at a time, on the client's `delegateDispatchQueue`, and may
/// block without holding up recognition. For one message of the server the calls for single items come before
/// ``speechlyClientDidUpdateSegment(_:segment:)``.
public protocol SpeechClientDelegate: AnyObject, Sendable {
  /// Something failed for good, or something is missing.
  ///
  /// Not called while the client is recovering by itself: ``speechlyClientDidFail(_:failure:)`` is.
  func speechlyClientDidCatchError(_ speechlyClient: any SpeechClientProtocol, error: SpeechClientError)

  /// The server acknowledged the context; recording began earlier, with ``SpeechClientProtocol/start()``.
  func speechlyClientDidStart(_ speechlyClient: any SpeechClientProtocol)

  /// The context is complete: nothing more follows for it. Called once for each context, also after a failure.
  func speechlyClientDidStop(_ speechlyClient: any SpeechClientProtocol)

  /// A segment has changed; `segment` is its whole current state.
  func speechlyClientDidUpdateSegment(_ speechlyClient: any SpeechClientProtocol, segment: SpeechSegment)

  /// A word was recognised; tentative unless `transcript.isFinal`.
  func speechlyClientDidReceiveTranscript(
    _ speechlyClient: any SpeechClientProtocol, contextId: String, segmentId: Int,
    transcript: SpeechTranscript)

  /// An entity was recognised; tentative unless `entity.isFinal`.
  func speechlyClientDidReceiveEntity(
    _ speechlyClient: any SpeechClientProtocol, contextId: String, segmentId: Int, entity: SpeechEntity)

  /// The intent was recognised; tentative unless `intent.isFinal`.
  func speechlyClientDidReceiveIntent(
    _ speechlyClient: any SpeechClientProtocol, contextId: String, segmentId: Int, intent: SpeechIntent)

  /// Every failure, also those that the client repairs by itself (`failure.recovery`).
  func speechlyClientDidFail(_ speechlyClient: any SpeechClientProtocol, failure: VoiceFailure)

  /// The state of the client has changed.
  func speechlyClientDidChangeState(_ speechlyClient: any SpeechClientProtocol, state: SpeechClient.State)

  /// The microphone or file is open and what it hears is kept, whether or not the server has answered yet.
  func speechlyClientDidStartRecording(_ speechlyClient: any SpeechClientProtocol)

  /// A lost connection was replaced; nothing that was said is lost unless a failure said so.
  func speechlyClientDidRecover(_ speechlyClient: any SpeechClientProtocol, recovery: SpeechRecovery)

  /// The engine on this device goes on with the utterance, because the server cannot; the next one is the server's again.
  func speechlyClientDidDegrade(_ speechlyClient: any SpeechClientProtocol, degradation: SpeechDegradation)

  /// The context is complete, with all its segments. Comes just before ``speechlyClientDidStop(_:)``.
  func speechlyClientDidFinish(_ speechlyClient: any SpeechClientProtocol, context: SpeechContext)

  /// The name of ``speechlyClientDidStart(_:)`` in generation 0.3; called right after it.
  func speechlyClientDidStartContext(_ speechlyClient: any SpeechClientProtocol)

  /// The name of ``speechlyClientDidStop(_:)`` in generation 0.3; called right after it.
  func speechlyClientDidStopContext(_ speechlyClient: any SpeechClientProtocol)
}

extension SpeechClientDelegate {
  public func speechlyClientDidCatchError(_: any SpeechClientProtocol, error: SpeechClientError) {}
  public func speechlyClientDidStart(_: any SpeechClientProtocol) {}
  public func speechlyClientDidStop(_: any SpeechClientProtocol) {}
  public func speechlyClientDidUpdateSegment(_: any SpeechClientProtocol, segment: SpeechSegment) {}
  public func speechlyClientDidReceiveTranscript(
    _: any SpeechClientProtocol, contextId: String, segmentId: Int, transcript: SpeechTranscript
  ) {}
  public func speechlyClientDidReceiveEntity(
    _: any SpeechClientProtocol, contextId: String, segmentId: Int, entity: SpeechEntity
  ) {}
  public func speechlyClientDidReceiveIntent(
    _: any SpeechClientProtocol, contextId: String, segmentId: Int, intent: SpeechIntent
  ) {}
  public func speechlyClientDidFail(_: any SpeechClientProtocol, failure: VoiceFailure) {}
  public func speechlyClientDidChangeState(_: any SpeechClientProtocol, state: SpeechClient.State) {}
  public func speechlyClientDidStartRecording(_: any SpeechClientProtocol) {}
  public func speechlyClientDidRecover(_: any SpeechClientProtocol, recovery: SpeechRecovery) {}
  public func speechlyClientDidDegrade(_: any SpeechClientProtocol, degradation: SpeechDegradation) {}
  public func speechlyClientDidFinish(_: any SpeechClientProtocol, context: SpeechContext) {}
  public func speechlyClientDidStartContext(_: any SpeechClientProtocol) {}
  public func speechlyClientDidStopContext(_: any SpeechClientProtocol) {}
}
