import Dispatch
import Synchronization
import VoiceCore

/// Calls a client's delegate on its queue, in the order of the events.
final class DelegateDispatcher: Sendable {
  private struct Weak {
    weak var delegate: (any SpeechClientDelegate)?
    weak var client: SpeechClient?
  }

  private let queue: DispatchQueue
  private let targets = Mutex(Weak())

  init(queue: DispatchQueue) {
    self.queue = queue
  }

  var delegate: (any SpeechClientDelegate)? {
    get { self.targets.withLock { $0.delegate } }
    set { self.targets.withLock { $0.delegate = newValue } }
  }

  func attach(_ client: SpeechClient) {
    self.targets.withLock { $0.client = client }
  }

  func dispatch(_ event: SpeechEvent) {
    self.queue.async {
      let (delegate, client) = self.targets.withLock { ($0.delegate, $0.client) }
      guard let delegate, let client else { return }
      Self.tell(delegate, client, event)
    }
  }

  private static func tell(_ delegate: any SpeechClientDelegate, _ client: SpeechClient, _ event: SpeechEvent)
  {
    switch event {
    case .stateChanged(let state):
      delegate.speechlyClientDidChangeState(client, state: state)
    case .recordingStarted:
      delegate.speechlyClientDidStartRecording(client)
    case .started:
      delegate.speechlyClientDidStart(client)
      delegate.speechlyClientDidStartContext(client)
    case .transcript(let contextId, let segmentId, let transcript):
      delegate.speechlyClientDidReceiveTranscript(
        client, contextId: contextId, segmentId: segmentId, transcript: transcript)
    case .entity(let contextId, let segmentId, let entity):
      delegate.speechlyClientDidReceiveEntity(
        client, contextId: contextId, segmentId: segmentId, entity: entity)
    case .intent(let contextId, let segmentId, let intent):
      delegate.speechlyClientDidReceiveIntent(
        client, contextId: contextId, segmentId: segmentId, intent: intent)
    case .segmentUpdated(let segment):
      delegate.speechlyClientDidUpdateSegment(client, segment: segment)
    case .recovered(let recovery):
      delegate.speechlyClientDidRecover(client, recovery: recovery)
    case .degraded(let degradation):
      delegate.speechlyClientDidDegrade(client, degradation: degradation)
    case .finished(let context):
      if let context { delegate.speechlyClientDidFinish(client, context: context) }
      delegate.speechlyClientDidStop(client)
      delegate.speechlyClientDidStopContext(client)
    case .failed(let failure):
      delegate.speechlyClientDidFail(client, failure: failure)
      if Self.endsOrLosesSomething(failure) {
        delegate.speechlyClientDidCatchError(client, error: SpeechClientError(failure))
      }
    }
  }

  /// Apps treat the documented error as the end of something, so what the client repairs by itself is not one.
  private static func endsOrLosesSomething(_ failure: VoiceFailure) -> Bool {
    if case .automatic = failure.recovery { return false }
    return failure.code != .contextSplit && failure.code != .tokenNotStored
  }
}
