/// Why a call ended: the causes of Q.850 and the private ones of gateways (telnyx.md section 3.9).
///
/// Names are stable, the numbers of the private causes are not: older gateways use 500–613, newer ones 700–825. Reading
/// takes the name if there is one, and either number; writing uses the older numbers unless asked.
public enum HangupCause: Hashable, Sendable {
  case notSpecified, unallocatedNumber, noRouteTransitNetwork, noRouteDestination, channelUnacceptable,
    callAwardedDelivered, normalClearing, userBusy, noUserResponse, noAnswer, subscriberAbsent,
    callRejected, numberChanged, redirectionToNewDestination, exchangeRoutingError,
    destinationOutOfOrder, invalidNumberFormat, facilityRejected, responseToStatusEnquiry,
    normalUnspecified, normalCircuitCongestion, networkOutOfOrder, normalTemporaryFailure,
    switchCongestion, accessInfoDiscarded, requestedChannelUnavailable, preEmpted, facilityNotSubscribed,
    outgoingCallBarred, incomingCallBarred, bearerCapabilityNotAuthorized, bearerCapabilityNotAvailable,
    serviceUnavailable, bearerCapabilityNotImplemented, channelNotImplemented, facilityNotImplemented,
    serviceNotImplemented, invalidCallReference, incompatibleDestination, invalidMessageUnspecified,
    mandatoryElementMissing, messageTypeNonexistent, wrongMessage, elementNonexistent,
    invalidElementContents, wrongCallState, recoveryOnTimerExpire, mandatoryElementLengthError,
    protocolError, interworking, success, originatorCancel
  // Private causes.
  case crash, systemShutdown, loseRace, managerRequest, blindTransfer, attendedTransfer, allottedTimeout,
    userChallenge, mediaTimeout, pickedOff, userNotRegistered, progressTimeout, invalidGateway,
    gatewayDown, invalidURL, invalidProfile, noPickup, srtpReadError, bowout, busyEverywhere, decline,
    doesNotExistAnywhere, notAcceptable, unwanted
  /// A cause that this version does not know, as it came.
  case unknown(name: String?, code: Int?)

  /// Which numbers private causes have.
  public enum Numbering: Hashable, Sendable, CaseIterable {
    /// 500–503 and 600–613: older FreeSWITCH, and what published clients know.
    case older
    /// 700–703 and 800–819: newer FreeSWITCH.
    case newer
  }

  /// Reads a cause; `nil` if there is neither a name nor a number.
  ///
  /// The name decides (telnyx.md section 0.11); case does not count in it.
  public init?(name: String?, code: Int?) {
    let name = name.flatMap { $0.isEmpty ? nil : $0 }
    guard name != nil || code != nil else { return nil }
    if let name {
      self = Self.byName[name.uppercased()]?.cause ?? .unknown(name: name, code: code)
    } else {
      self = code.flatMap { Self.byCode[$0] }?.cause ?? .unknown(name: nil, code: code)
    }
  }

  /// The name on the wire, such as `USER_BUSY`.
  public var name: String {
    switch self {
    case .unknown(let name?, _): name
    case .unknown(nil, let code): code.map { "CAUSE_\($0)" } ?? "UNKNOWN"
    default: Self.byCause[self]?.name ?? "UNKNOWN"
    }
  }

  /// The number on the wire in the older numbering, as published clients know it.
  public var code: Int? { self.code(in: .older) }

  /// The number on the wire.
  public func code(in numbering: Numbering) -> Int? {
    if case .unknown(_, let code) = self { return code }
    guard let row = Self.byCause[self] else { return nil }
    switch numbering {
    case .older: return row.older ?? row.newer
    case .newer: return row.newer ?? row.older
    }
  }
}

extension HangupCause: CustomStringConvertible {
  public var description: String { self.name }
}
