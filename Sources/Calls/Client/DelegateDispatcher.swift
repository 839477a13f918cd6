import CallSignaling
import Dispatch
import Synchronization
import VoiceCore

/// Calls a client's delegate on its queue, in the order of the events.
final class DelegateDispatcher: Sendable {
  private struct Weak {
    weak var delegate: (any TxClientDelegate)?
  }

  private let queue: DispatchQueue
  private let target: Mutex<Weak>

  init(queue: DispatchQueue) {
    self.queue = queue
    self.target = Mutex(Weak())
  }

  var delegate: (any TxClientDelegate)? {
    get { self.target.withLock { $0.delegate } }
    set { self.target.withLock { $0.delegate = newValue } }
  }

  func dispatch(_ event: ClientEvent) {
    self.queue.async {
      guard let delegate = self.delegate else { return }
      Self.tell(delegate, event)
    }
  }

  private static func tell(_ delegate: any TxClientDelegate, _ event: ClientEvent) {
    switch event {
    case .socketConnected: delegate.onSocketConnected()
    case .socketDisconnected: delegate.onSocketDisconnected()
    case .ready: delegate.onClientReady()
    case .sessionUpdated(let id): delegate.onSessionUpdated(sessionId: id)
    case .incomingCall(let call): delegate.onIncomingCall(call: call)
    case .pushCall(let call): delegate.onPushCall(call: call)
    case .pushedCallEnded(let id, let reason):
      guard let id else { break }
      delegate.onCallStateUpdated(callState: .DONE(reason: reason), callId: id)
      delegate.onRemoteCallEnded(callId: id, reason: reason)
    case .callStateUpdated(let call, let state):
      if let id = call.callInfo?.callId { delegate.onCallStateUpdated(callState: state, callId: id) }
      delegate.onCallStateUpdated(callState: state)
    case .remoteCallEnded(let call, let reason):
      if let id = call.callInfo?.callId { delegate.onRemoteCallEnded(callId: id, reason: reason) }
    case .pushDisabled(let success, let message): delegate.onPushDisabled(success: success, message: message)
    case .failed(let failure):
      delegate.onFailure(failure)
      delegate.onClientError(error: TxError(failure))
    case .loginRefreshed, .callReported, .assistant, .unhandled: break
    }
  }
}
