public import VoiceCore

/// Why a call ended, with what the gateway and SIP said about it: the value in ``CallState/DONE(reason:)``.
public struct CallTerminationReason: Hashable, Sendable {
  /// Who or what ended a call.
  public enum Origin: String, Hashable, Sendable, CaseIterable {
    /// This side hung up or refused.
    case local
    /// The other side, or the gateway for it, hung up or refused.
    case remote
    /// The gateway refused a request, or does not know the call any more.
    case server
    /// The network stayed away too long.
    case network
    /// Nobody answered in time.
    case timeout
    /// Audio could not be set up or kept.
    case media
  }

  /// The name of the cause, such as `USER_BUSY`.
  public var cause: String?
  /// The number of the cause, such as 17.
  public var causeCode: Int?
  /// The SIP status, such as 486.
  public var sipCode: Int?
  /// The SIP text, such as "Busy Here".
  public var sipReason: String?
  /// The call's id in SIP.
  public var sipCallId: String?
  /// Who or what ended the call.
  public var origin: Origin
  /// The failure behind it, if it was one.
  public var failure: VoiceFailure?

  /// Creates a reason.
  public init(
    cause: String? = nil, causeCode: Int? = nil, sipCode: Int? = nil, sipReason: String? = nil,
    sipCallId: String? = nil, origin: Origin = .remote, failure: VoiceFailure? = nil
  ) {
    self.cause = cause
    self.causeCode = causeCode
    self.sipCode = sipCode
    self.sipReason = sipReason
    self.sipCallId = sipCallId
    self.origin = origin
    self.failure = failure
  }

  /// Creates a reason from a cause.
  public init(_ cause: HangupCause, origin: Origin, failure: VoiceFailure? = nil) {
    self.init(cause: cause.name, causeCode: cause.code, origin: origin, failure: failure)
  }

  /// Creates the reason that a gateway gives for a SIP status, as for the destination `fail-486`.
  public init(sipStatus status: Int, origin: Origin = .remote) {
    self.init(HangupCause(sipStatus: status), origin: origin)
    self.sipCode = status
    self.sipReason = HangupCause.sipReason(of: status)
  }

  /// The same reason with the SIP status and text of its cause, if it has none.
  public var withSIPStatus: CallTerminationReason {
    guard self.sipCode == nil, let status = self.hangupCause?.sipStatus else { return self }
    var copy = self
    // An ordinary end has no status of its own: 480 would say that nobody was there.
    guard self.hangupCause != .normalClearing else { return self }
    copy.sipCode = status
    copy.sipReason = self.sipReason ?? HangupCause.sipReason(of: status)
    return copy
  }

  /// Creates a reason from what the other end said.
  public init(_ bye: ByeMessage, origin: Origin = .remote) {
    self.init(
      cause: bye.cause, causeCode: bye.causeCode, sipCode: bye.sipCode, sipReason: bye.sipReason,
      sipCallId: bye.sipCallID, origin: origin)
    self.failure = self.remoteFailure
  }

  /// The cause, typed; `nil` if the other end named none.
  public var hangupCause: HangupCause? { HangupCause(name: self.cause, code: self.causeCode) }

  /// The failure that a call's end means for the one who placed it, or `nil` for an ordinary end.
  private var remoteFailure: VoiceFailure? {
    let cause = self.hangupCause ?? self.sipCode.map { HangupCause(sipStatus: $0) }
    switch cause {
    case nil, .normalClearing, .notSpecified, .success, .originatorCancel, .normalUnspecified,
      .blindTransfer, .attendedTransfer:
      return nil
    case .pickedOff, .loseRace: return VoiceFailure(.callAnsweredElsewhere)
    case .userBusy, .busyEverywhere: return VoiceFailure(.callBusy)
    case .callRejected, .decline, .unwanted: return VoiceFailure(.callRejected)
    case .noUserResponse, .noAnswer, .noPickup, .progressTimeout, .allottedTimeout:
      return VoiceFailure(.callNotAnswered)
    case .unallocatedNumber, .noRouteDestination, .noRouteTransitNetwork, .invalidNumberFormat,
      .doesNotExistAnywhere, .numberChanged:
      return VoiceFailure(.callDestinationUnknown)
    case .subscriberAbsent, .userNotRegistered: return VoiceFailure(.callDestinationNotRegistered)
    case .incompatibleDestination, .mediaTimeout, .srtpReadError, .notAcceptable:
      return VoiceFailure(.callMediaFailed)
    case let cause?:
      return VoiceFailure(.callFailedElsewhere, message: "The call failed: \(cause.publicName).")
    }
  }
}

extension HangupCause {
  /// The name if it is one that this version knows: texts of others do not belong into messages.
  var publicName: String {
    if case .unknown(_, let code) = self { return code.map { "cause \($0)" } ?? "unknown cause" }
    return self.name
  }
}
