public import CallSignaling
public import Foundation
public import VoiceCore

/// Is told what happens to a client, on its delegate queue and in order; all methods are optional (telnyx.md section 1.6).
public protocol TxClientDelegate: AnyObject, Sendable {
  /// The connection to the gateway is open; login follows.
  func onSocketConnected()
  /// The connection to the gateway is gone; once for each ``onSocketConnected()``.
  func onSocketDisconnected()
  /// Something failed: a ``TxError``, once for each error.
  func onClientError(error: any Error)
  /// Registered: calls can be made and come in.
  func onClientReady()
  /// An answer to ``TxClient/disablePushNotifications()``.
  func onPushDisabled(success: Bool, message: String)
  /// The gateway gave the session another id.
  func onSessionUpdated(sessionId: String)
  /// A call has another state.
  func onCallStateUpdated(callState: CallState, callId: UUID)
  /// The same without the call, as a sample of the documentation has it; both are called.
  func onCallStateUpdated(callState: CallState)
  /// Somebody calls.
  func onIncomingCall(call: Call)
  /// A call ended, but not by this side.
  func onRemoteCallEnded(callId: UUID, reason: CallTerminationReason?)
  /// A call came for which a push had woken the app; ``onIncomingCall(call:)`` is called too.
  func onPushCall(call: Call)
  /// The same error as in ``onClientError(error:)``, with its stable code and what happens next.
  func onFailure(_ failure: VoiceFailure)
}

extension TxClientDelegate {
  public func onSocketConnected() {}
  public func onSocketDisconnected() {}
  public func onClientError(error: any Error) {}
  public func onClientReady() {}
  public func onPushDisabled(success: Bool, message: String) {}
  public func onSessionUpdated(sessionId: String) {}
  public func onCallStateUpdated(callState: CallState, callId: UUID) {}
  public func onCallStateUpdated(callState: CallState) {}
  public func onIncomingCall(call: Call) {}
  public func onRemoteCallEnded(callId: UUID, reason: CallTerminationReason?) {}
  public func onPushCall(call: Call) {}
  public func onFailure(_ failure: VoiceFailure) {}
}
