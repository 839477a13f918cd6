extension HangupCause {
  /// The cause of a SIP status (FreeSWITCH `sofia`, after RFC 4497 section 8.4.4; telnyx.md section 3.9).
  public init(sipStatus status: Int) {
    switch status {
    case 200: self = .normalClearing
    case 401, 402, 403, 407, 603: self = .callRejected
    case 404: self = .unallocatedNumber
    case 485, 604: self = .noRouteDestination
    case 408, 504: self = .recoveryOnTimerExpire
    case 410: self = .numberChanged
    case 413, 414, 416, 420, 421, 423, 505, 513: self = .interworking
    case 480: self = .noUserResponse
    case 400, 481, 500, 503: self = .normalTemporaryFailure
    case 486, 600: self = .userBusy
    case 484: self = .invalidNumberFormat
    case 488, 606: self = .incompatibleDestination
    case 502: self = .networkOutOfOrder
    case 405: self = .serviceUnavailable
    case 406, 415, 501: self = .serviceNotImplemented
    case 482, 483: self = .exchangeRoutingError
    case 487: self = .originatorCancel
    default: self = .normalUnspecified
    }
  }

  /// The SIP status of the cause (FreeSWITCH `sofia`, after RFC 4497 section 8.4.1; telnyx.md section 3.9).
  public var sipStatus: Int {
    switch self {
    case .unallocatedNumber, .noRouteTransitNetwork, .noRouteDestination: 404
    case .userBusy: 486
    case .noUserResponse: 408
    case .noAnswer, .subscriberAbsent: 480
    case .callRejected: 603
    case .numberChanged, .redirectionToNewDestination: 410
    case .exchangeRoutingError: 483
    case .destinationOutOfOrder: 502
    case .invalidNumberFormat, .invalidURL, .invalidGateway: 484
    case .facilityRejected, .facilityNotImplemented, .serviceNotImplemented: 501
    case .normalUnspecified: 480
    case .normalCircuitCongestion, .networkOutOfOrder, .normalTemporaryFailure, .switchCongestion,
      .requestedChannelUnavailable, .bearerCapabilityNotAvailable, .gatewayDown:
      503
    case .outgoingCallBarred, .incomingCallBarred, .bearerCapabilityNotAuthorized: 403
    case .bearerCapabilityNotImplemented, .incompatibleDestination: 488
    case .recoveryOnTimerExpire: 504
    case .originatorCancel: 487
    default: 480
    }
  }

  /// The text of a SIP status (RFC 3261 section 21, RFC 8197 and others); `nil` for one without a text.
  public static func sipReason(of status: Int) -> String? {
    switch status {
    case 200: "OK"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 402: "Payment Required"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "SignalingMethod Not Allowed"
    case 406: "Not Acceptable"
    case 407: "Proxy Authentication Required"
    case 408: "Request Timeout"
    case 410: "Gone"
    case 413: "Request Entity Too Large"
    case 414: "Request-URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Unsupported URI Scheme"
    case 420: "Bad Extension"
    case 421: "Extension Required"
    case 423: "Interval Too Brief"
    case 480: "Temporarily Unavailable"
    case 481: "Call/Transaction Does Not Exist"
    case 482: "Loop Detected"
    case 483: "Too Many Hops"
    case 484: "Address Incomplete"
    case 485: "Ambiguous"
    case 486: "Busy Here"
    case 487: "Request Terminated"
    case 488: "Not Acceptable Here"
    case 491: "Request Pending"
    case 493: "Undecipherable"
    case 500: "Server Internal Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Server Time-out"
    case 505: "Version Not Supported"
    case 513: "Message Too Large"
    case 600: "Busy Everywhere"
    case 603: "Decline"
    case 604: "Does Not Exist Anywhere"
    case 606: "Not Acceptable"
    case 607: "Unwanted"
    default: nil
    }
  }
}
