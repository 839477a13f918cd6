import CallSignaling
public import Foundation
public import VoiceCore

/// An error in the documented form (telnyx.md section 1.2).
///
/// Every ``VoiceFailure`` maps to exactly one case, and each error is delivered once. Beside it the failure itself is
/// delivered, with its stable code and with what happens next (``TxClientDelegate/onFailure(_:)``, ``ClientEvent/failed(_:)``).
///
/// An error that the gateway answers arrives as ``signalingServerError(causeCode:message:)``, not a second time as the older
/// `serverError(reason: .signalingServerError(…))`. The documented codes: −32000 token registration, −32001 credential
/// registration, −32002 codec, −32003 gateway registration timeout, −32004 gateway registration failed.
public enum TxError: Error, Sendable {
  /// Why there is no connection.
  public enum SocketFailureReason: Sendable {
    case socketNotConnected
    /// The error underneath is the ``VoiceFailure``.
    case socketCancelled(nativeError: any Error)
  }

  /// What is wrong with a ``TxConfig``.
  public enum ClientConfigurationFailureReason: Hashable, Sendable {
    case userNameAndPasswordAreRequired, userNameIsRequired, passwordIsRequired, tokenIsRequired,
      voiceSdkIsRequired
  }

  /// What is wrong with a call.
  public enum CallFailureReason: Hashable, Sendable {
    case destinationNumberIsRequired, sessionIdIsRequired, reconnectFailed, callNotFound, noMetricsCollected
  }

  /// What the gateway said.
  public enum ServerErrorReason: Hashable, Sendable {
    case signalingServerError(message: String, code: String)
    case gatewayNotRegistered
  }

  case socketConnectionFailed(reason: SocketFailureReason)
  case clientConfigurationFailed(reason: ClientConfigurationFailureReason)
  case callFailed(reason: CallFailureReason)
  case serverError(reason: ServerErrorReason)
  /// The gateway answered a request with an error.
  case signalingServerError(causeCode: Int, message: String)

  /// The documented form of a failure.
  public init(_ failure: VoiceFailure) {
    if let error = failure.rpcError {
      self = Self.answer(error)
      return
    }
    switch failure.code {
    case .callNotConnected: self = .socketConnectionFailed(reason: .socketNotConnected)
    case .callConnectionLost, .callConnectionSilent, .callSessionTaken, .serverUnreachable, .serverTimedOut,
      .connectionLost, .tlsFailed, .addressInvalid, .retriesExhausted, .callLoginTimedOut:
      self = .socketConnectionFailed(reason: .socketCancelled(nativeError: failure))
    case .gatewayNotRegistered, .gatewayRegistrationLost: self = .serverError(reason: .gatewayNotRegistered)
    case .callReconnectFailed, .callNotReattached: self = .callFailed(reason: .reconnectFailed)
    case .callNotFound: self = .callFailed(reason: .callNotFound)
    case .callMetricsMissing: self = .callFailed(reason: .noMetricsCollected)
    case .callDestinationMissing: self = .callFailed(reason: .destinationNumberIsRequired)
    case .callCredentialsMissing: self = .clientConfigurationFailed(reason: .userNameAndPasswordAreRequired)
    default:
      // The set of codes is open; the older form is the one that has room for any.
      self = .serverError(
        reason: .signalingServerError(message: failure.message, code: failure.code.rawValue))
    }
  }

  private static func answer(_ error: RPCError) -> TxError {
    // "Call not found" has no code of its own in the documentation; gateways say it with that of a session.
    if error.code == .sessionError, error.message == RPCError.callDoesNotExist().message {
      return .callFailed(reason: .callNotFound)
    }
    return .signalingServerError(causeCode: error.code.value ?? 0, message: error.message)
  }
}

extension VoiceFailure {
  /// The gateway's answer behind the failure, if there is one.
  var rpcError: RPCError? {
    switch self.cause {
    case let error as RPCError: error
    case let failure as VoiceFailure: failure.rpcError
    default: nil
    }
  }
}

extension TxError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .socketConnectionFailed(.socketNotConnected): "Socket is not connected"
    case .socketConnectionFailed(.socketCancelled(let error)):
      "Socket connection was cancelled: \(Self.text(of: error))"
    case .clientConfigurationFailed(let reason):
      switch reason {
      case .userNameAndPasswordAreRequired: "sipUser and password are required"
      case .userNameIsRequired: "sipUser is required"
      case .passwordIsRequired: "password is required"
      case .tokenIsRequired: "token is required"
      case .voiceSdkIsRequired: "voice_sdk_id is required"
      }
    case .callFailed(let reason):
      switch reason {
      case .destinationNumberIsRequired: "A destination number is required"
      case .sessionIdIsRequired: "A session id is required"
      case .reconnectFailed: "The call could not be reconnected"
      case .callNotFound: "Call not found"
      case .noMetricsCollected: "No metrics were collected"
      }
    case .serverError(.signalingServerError(let message, let code)): "Message: \(message), code: \(code)"
    case .serverError(.gatewayNotRegistered): "Gateway not registered"
    case .signalingServerError(let code, let message): "Message: \(message), code: \(code)"
    }
  }

  private static func text(of error: any Error) -> String {
    (error as? VoiceFailure)?.message ?? "unknown"
  }
}
