extension HangupCause {
  /// One cause with its name and numbers.
  struct Row: Sendable {
    let cause: HangupCause
    let name: String
    let older: Int?
    let newer: Int?

    init(_ cause: HangupCause, _ name: String, _ older: Int?, newer: Int? = nil) {
      self.cause = cause
      self.name = name
      self.older = older
      self.newer = newer
    }
  }

  /// All causes that have a name of their own, by number.
  public static let known: [HangupCause] = Self.rows.map(\.cause)

  static let byName: [String: Row] = Dictionary(
    Self.rows.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

  static let byCause: [HangupCause: Row] = Dictionary(
    Self.rows.map { ($0.cause, $0) }, uniquingKeysWith: { first, _ in first })

  static let byCode: [Int: Row] = Dictionary(
    Self.rows.flatMap { row in [row.older, row.newer].compactMap { $0 }.map { ($0, row) } },
    uniquingKeysWith: { first, _ in first })

  /// telnyx.md section 3.9; the causes without an older number came to FreeSWITCH with the newer numbering.
  static let rows: [Row] = [
    Row(.notSpecified, "NONE", 0),
    Row(.unallocatedNumber, "UNALLOCATED_NUMBER", 1),
    Row(.noRouteTransitNetwork, "NO_ROUTE_TRANSIT_NET", 2),
    Row(.noRouteDestination, "NO_ROUTE_DESTINATION", 3),
    Row(.channelUnacceptable, "CHANNEL_UNACCEPTABLE", 6),
    Row(.callAwardedDelivered, "CALL_AWARDED_DELIVERED", 7),
    Row(.normalClearing, "NORMAL_CLEARING", 16),
    Row(.userBusy, "USER_BUSY", 17),
    Row(.noUserResponse, "NO_USER_RESPONSE", 18),
    Row(.noAnswer, "NO_ANSWER", 19),
    Row(.subscriberAbsent, "SUBSCRIBER_ABSENT", 20),
    Row(.callRejected, "CALL_REJECTED", 21),
    Row(.numberChanged, "NUMBER_CHANGED", 22),
    Row(.redirectionToNewDestination, "REDIRECTION_TO_NEW_DESTINATION", 23),
    Row(.exchangeRoutingError, "EXCHANGE_ROUTING_ERROR", 25),
    Row(.destinationOutOfOrder, "DESTINATION_OUT_OF_ORDER", 27),
    Row(.invalidNumberFormat, "INVALID_NUMBER_FORMAT", 28),
    Row(.facilityRejected, "FACILITY_REJECTED", 29),
    Row(.responseToStatusEnquiry, "RESPONSE_TO_STATUS_ENQUIRY", 30),
    Row(.normalUnspecified, "NORMAL_UNSPECIFIED", 31),
    Row(.normalCircuitCongestion, "NORMAL_CIRCUIT_CONGESTION", 34),
    Row(.networkOutOfOrder, "NETWORK_OUT_OF_ORDER", 38),
    Row(.normalTemporaryFailure, "NORMAL_TEMPORARY_FAILURE", 41),
    Row(.switchCongestion, "SWITCH_CONGESTION", 42),
    Row(.accessInfoDiscarded, "ACCESS_INFO_DISCARDED", 43),
    Row(.requestedChannelUnavailable, "REQUESTED_CHAN_UNAVAIL", 44),
    Row(.preEmpted, "PRE_EMPTED", 45),
    Row(.facilityNotSubscribed, "FACILITY_NOT_SUBSCRIBED", 50),
    Row(.outgoingCallBarred, "OUTGOING_CALL_BARRED", 52),
    Row(.incomingCallBarred, "INCOMING_CALL_BARRED", 54),
    Row(.bearerCapabilityNotAuthorized, "BEARERCAPABILITY_NOTAUTH", 57),
    Row(.bearerCapabilityNotAvailable, "BEARERCAPABILITY_NOTAVAIL", 58),
    Row(.serviceUnavailable, "SERVICE_UNAVAILABLE", 63),
    Row(.bearerCapabilityNotImplemented, "BEARERCAPABILITY_NOTIMPL", 65),
    Row(.channelNotImplemented, "CHAN_NOT_IMPLEMENTED", 66),
    Row(.facilityNotImplemented, "FACILITY_NOT_IMPLEMENTED", 69),
    Row(.serviceNotImplemented, "SERVICE_NOT_IMPLEMENTED", 79),
    Row(.invalidCallReference, "INVALID_CALL_REFERENCE", 81),
    Row(.incompatibleDestination, "INCOMPATIBLE_DESTINATION", 88),
    Row(.invalidMessageUnspecified, "INVALID_MSG_UNSPECIFIED", 95),
    Row(.mandatoryElementMissing, "MANDATORY_IE_MISSING", 96),
    Row(.messageTypeNonexistent, "MESSAGE_TYPE_NONEXIST", 97),
    Row(.wrongMessage, "WRONG_MESSAGE", 98),
    Row(.elementNonexistent, "IE_NONEXIST", 99),
    Row(.invalidElementContents, "INVALID_IE_CONTENTS", 100),
    Row(.wrongCallState, "WRONG_CALL_STATE", 101),
    Row(.recoveryOnTimerExpire, "RECOVERY_ON_TIMER_EXPIRE", 102),
    Row(.mandatoryElementLengthError, "MANDATORY_IE_LENGTH_ERROR", 103),
    Row(.protocolError, "PROTOCOL_ERROR", 111),
    Row(.interworking, "INTERWORKING", 127),
    Row(.success, "SUCCESS", 142),
    Row(.originatorCancel, "ORIGINATOR_CANCEL", 487),
    Row(.crash, "CRASH", 500, newer: 700),
    Row(.systemShutdown, "SYSTEM_SHUTDOWN", 501, newer: 701),
    Row(.loseRace, "LOSE_RACE", 502, newer: 702),
    Row(.managerRequest, "MANAGER_REQUEST", 503, newer: 703),
    Row(.blindTransfer, "BLIND_TRANSFER", 600, newer: 800),
    Row(.attendedTransfer, "ATTENDED_TRANSFER", 601, newer: 801),
    Row(.allottedTimeout, "ALLOTTED_TIMEOUT", 602, newer: 802),
    Row(.userChallenge, "USER_CHALLENGE", 603, newer: 803),
    Row(.mediaTimeout, "MEDIA_TIMEOUT", 604, newer: 804),
    Row(.pickedOff, "PICKED_OFF", 605, newer: 805),
    Row(.userNotRegistered, "USER_NOT_REGISTERED", 606, newer: 806),
    Row(.progressTimeout, "PROGRESS_TIMEOUT", 607, newer: 807),
    Row(.invalidGateway, "INVALID_GATEWAY", 608, newer: 808),
    Row(.gatewayDown, "GATEWAY_DOWN", 609, newer: 809),
    Row(.invalidURL, "INVALID_URL", 610, newer: 810),
    Row(.invalidProfile, "INVALID_PROFILE", 611, newer: 811),
    Row(.noPickup, "NO_PICKUP", 612, newer: 812),
    Row(.srtpReadError, "SRTP_READ_ERROR", 613, newer: 813),
    Row(.bowout, "BOWOUT", nil, newer: 814),
    Row(.busyEverywhere, "BUSY_EVERYWHERE", nil, newer: 815),
    Row(.decline, "DECLINE", nil, newer: 816),
    Row(.doesNotExistAnywhere, "DOES_NOT_EXIST_ANYWHERE", nil, newer: 817),
    Row(.notAcceptable, "NOT_ACCEPTABLE", nil, newer: 818),
    Row(.unwanted, "UNWANTED", nil, newer: 819),
  ]
}
