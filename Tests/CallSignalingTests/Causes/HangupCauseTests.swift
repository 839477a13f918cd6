import CallSignaling
import Testing
import VoiceCore

@Suite struct HangupCauseTests {
  @Test func nothingIsNoCause() {
    #expect(HangupCause(name: nil, code: nil) == nil)
    #expect(HangupCause(name: "", code: nil) == nil)
  }

  @Test func unknownCausesAreKept() {
    let named = HangupCause(name: "NOVEL", code: 999)
    #expect(named == .unknown(name: "NOVEL", code: 999))
    #expect(named?.name == "NOVEL")
    #expect(named?.code == 999)
    #expect(HangupCause(name: nil, code: -5) == .unknown(name: nil, code: -5))
    #expect(HangupCause(name: nil, code: -5)?.name == "CAUSE_-5")
    #expect(named?.sipStatus == 480)
  }

  @Test func theNameDecides() {
    #expect(HangupCause(name: "LOSE_RACE", code: 16) == .loseRace)
    #expect(HangupCause(name: "user_busy", code: nil) == .userBusy)
    #expect(HangupCause(name: "", code: 17) == .userBusy)
  }

  @Test func everyCauseIsReadByNameAndByBothNumbers() {
    #expect(HangupCause.known.count == 76)
    #expect(Set(HangupCause.known).count == HangupCause.known.count)
    for cause in HangupCause.known {
      #expect(HangupCause(name: cause.name, code: nil) == cause)
      for numbering in HangupCause.Numbering.allCases {
        #expect(HangupCause(name: nil, code: cause.code(in: numbering)) == cause)
      }
    }
  }

  /// telnyx.md section 3.9: the causes of published clients and pairs of numbers.
  @Test(arguments: [
    ("UNALLOCATED_NUMBER", 1, 1), ("NORMAL_CLEARING", 16, 16), ("USER_BUSY", 17, 17),
    ("CALL_REJECTED", 21, 21),
    ("NORMAL_TEMPORARY_FAILURE", 41, 41), ("INCOMPATIBLE_DESTINATION", 88, 88),
    ("MANDATORY_IE_MISSING", 96, 96),
    ("RECOVERY_ON_TIMER_EXPIRE", 102, 102), ("ORIGINATOR_CANCEL", 487, 487), ("ALLOTTED_TIMEOUT", 602, 802),
    ("INVALID_GATEWAY", 608, 808), ("CRASH", 500, 700), ("LOSE_RACE", 502, 702), ("PICKED_OFF", 605, 805),
    ("SRTP_READ_ERROR", 613, 813), ("UNWANTED", 819, 819), ("NONE", 0, 0), ("SUCCESS", 142, 142),
  ])
  func numbersAreThoseOfTheTable(name: String, older: Int, newer: Int) {
    let cause = HangupCause(name: name, code: nil)
    #expect(cause?.name == name)
    #expect(cause?.code == older)
    #expect(cause?.code(in: .newer) == newer)
  }

  @Test(arguments: [
    (200, "NORMAL_CLEARING"), (400, "NORMAL_TEMPORARY_FAILURE"), (401, "CALL_REJECTED"),
    (403, "CALL_REJECTED"),
    (404, "UNALLOCATED_NUMBER"), (405, "SERVICE_UNAVAILABLE"), (406, "SERVICE_NOT_IMPLEMENTED"),
    (408, "RECOVERY_ON_TIMER_EXPIRE"), (410, "NUMBER_CHANGED"), (416, "INTERWORKING"),
    (480, "NO_USER_RESPONSE"),
    (482, "EXCHANGE_ROUTING_ERROR"), (484, "INVALID_NUMBER_FORMAT"), (485, "NO_ROUTE_DESTINATION"),
    (486, "USER_BUSY"), (487, "ORIGINATOR_CANCEL"), (488, "INCOMPATIBLE_DESTINATION"),
    (502, "NETWORK_OUT_OF_ORDER"), (503, "NORMAL_TEMPORARY_FAILURE"), (504, "RECOVERY_ON_TIMER_EXPIRE"),
    (600, "USER_BUSY"), (603, "CALL_REJECTED"), (604, "NO_ROUTE_DESTINATION"),
    (606, "INCOMPATIBLE_DESTINATION"),
    (299, "NORMAL_UNSPECIFIED"), (-1, "NORMAL_UNSPECIFIED"),
  ])
  func aSIPStatusHasItsCause(status: Int, name: String) {
    #expect(HangupCause(sipStatus: status).name == name)
  }

  @Test(arguments: [
    ("UNALLOCATED_NUMBER", 404), ("NO_ROUTE_TRANSIT_NET", 404), ("NO_ROUTE_DESTINATION", 404),
    ("USER_BUSY", 486),
    ("NO_USER_RESPONSE", 408), ("NO_ANSWER", 480), ("SUBSCRIBER_ABSENT", 480), ("CALL_REJECTED", 603),
    ("NUMBER_CHANGED", 410), ("REDIRECTION_TO_NEW_DESTINATION", 410), ("EXCHANGE_ROUTING_ERROR", 483),
    ("DESTINATION_OUT_OF_ORDER", 502), ("INVALID_NUMBER_FORMAT", 484), ("INVALID_URL", 484),
    ("INVALID_GATEWAY", 484), ("FACILITY_REJECTED", 501), ("SERVICE_NOT_IMPLEMENTED", 501),
    ("NORMAL_CIRCUIT_CONGESTION", 503), ("GATEWAY_DOWN", 503), ("OUTGOING_CALL_BARRED", 403),
    ("BEARERCAPABILITY_NOTAVAIL", 503), ("BEARERCAPABILITY_NOTIMPL", 488), ("INCOMPATIBLE_DESTINATION", 488),
    ("RECOVERY_ON_TIMER_EXPIRE", 504), ("ORIGINATOR_CANCEL", 487), ("NORMAL_CLEARING", 480),
    ("PICKED_OFF", 480),
  ])
  func aCauseHasItsSIPStatus(name: String, status: Int) {
    #expect(HangupCause(name: name, code: nil)?.sipStatus == status)
  }

  @Test func everyStatusOfACauseHasAText() {
    for cause in HangupCause.known { #expect(HangupCause.sipReason(of: cause.sipStatus) != nil) }
    #expect(HangupCause.sipReason(of: 999) == nil)
  }

  @Test func aReasonKeepsWhatTheOtherEndSaid() {
    var bye = ByeMessage(callID: CallID("x"), cause: .callRejected, sipCode: 403, sipReason: "no")
    bye.sipCallID = "sip"
    let reason = CallTerminationReason(bye)
    #expect(reason.cause == "CALL_REJECTED")
    #expect(reason.causeCode == 21)
    #expect(reason.sipCode == 403)
    #expect(reason.sipReason == "no")
    #expect(reason.sipCallId == "sip")
    #expect(reason.origin == .remote)
    #expect(reason.failure?.code == .callRejected)
    let again = ByeMessage(callID: CallID("x"), reason: reason)
    #expect(again == bye)
  }

  @Test(arguments: [
    (486, VoiceFailure.Code.callBusy), (603, .callRejected), (404, .callDestinationUnknown),
    (480, .callNotAnswered),
    (503, .callFailedElsewhere), (488, .callMediaFailed),
  ])
  func aFailingDestinationHasItsFailure(status: Int, code: VoiceFailure.Code) {
    let reason = CallTerminationReason(sipStatus: status)
    #expect(reason.sipCode == status)
    let heard = CallTerminationReason(ByeMessage(callID: CallID("x"), reason: reason))
    #expect(heard.failure?.code == code)
    #expect(heard.sipReason == HangupCause.sipReason(of: status))
  }

  @Test func ordinaryEndsAreNoFailures() {
    for cause in [HangupCause.normalClearing, .originatorCancel] {
      #expect(CallTerminationReason(ByeMessage(callID: CallID("x"), cause: cause)).failure == nil)
    }
    #expect(CallTerminationReason(ByeMessage(callID: CallID("x"))).failure == nil)
    #expect(CallTerminationReason(.normalClearing, origin: .local).withSIPStatus.sipCode == nil)
    #expect(CallTerminationReason(.userBusy, origin: .local).withSIPStatus.sipCode == 486)
  }

  @Test func aTextOfOthersIsNotInTheMessage() {
    var bye = ByeMessage(callID: CallID("x"))
    bye.cause = "<secret>"
    let failure = CallTerminationReason(bye).failure
    #expect(failure?.code == .callFailedElsewhere)
    #expect(failure?.message.contains("secret") == false)
  }
}
