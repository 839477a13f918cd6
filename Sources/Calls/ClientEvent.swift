public import CallSignaling
public import Foundation
public import RealtimeMedia
public import VoiceCore

/// What happens to a client; the delegate's methods one to one.
public enum ClientEvent: Sendable {
  /// The connection to the gateway is open; login follows.
  case socketConnected
  /// The connection is gone; whether it comes back is in the failure that follows.
  case socketDisconnected
  /// Registered: calls can be made and come in. Again after each reconnection.
  case ready
  /// The gateway gave the session another id.
  case sessionUpdated(sessionId: String)
  /// New credentials were accepted on the live connection.
  case loginRefreshed
  /// Somebody calls.
  case incomingCall(Call)
  /// A call came in for which a push had woken the app; after ``incomingCall(_:)`` of the same call.
  case pushCall(Call)
  /// The call that a push announced is gone: the caller gave up before this client was there.
  ///
  /// Without an id if the push did not name the call.
  case pushedCallEnded(callId: UUID?, reason: CallTerminationReason)
  /// A call of this client has another state.
  case callStateUpdated(Call, CallState)
  /// A call ended, but not by this side.
  case remoteCallEnded(Call, reason: CallTerminationReason)
  /// A call is over; what happened in it.
  case callReported(CallReport)
  /// An answer to ``TxClient/disablePushNotifications()``.
  case pushDisabled(success: Bool, message: String)
  /// An assistant speaks.
  case assistant(AIConversation)
  /// A request of the gateway that this version does not handle.
  case unhandled(ServerRequest)
  /// Something failed; its recovery says what happens next.
  case failed(VoiceFailure)
}

/// What happens in a call.
public enum CallEvent: Sendable {
  case stateUpdated(CallState)
  /// The gateway confirmed that the call is held, or goes on.
  case holdConfirmed(isHeld: Bool)
  /// The other side holds the call, or takes it back; also told after a reconnection, if it changed meanwhile.
  case heldByOtherSide(Bool)
  /// Sound of the other side before it answers; ringback may stop.
  case earlyMedia
  /// Tones were taken by the gateway.
  case tonesDelivered(String)
  /// The other side sent tones or a line of chat.
  case info(InfoMessage)
  case qualityMeasured(CallQualityMetrics)
  /// The quality became bad in one way, or recovered.
  case qualityChanged(CallQualityMonitor.Change)
  /// The other side pressed a key, in its audio (RFC 4733).
  case keyPressed(Character)
  case failed(VoiceFailure)
  /// The last event.
  case ended(CallTerminationReason)
}
