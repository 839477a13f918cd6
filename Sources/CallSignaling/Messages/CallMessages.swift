/// A client's `invite`, `answer` or `attach`: a session description with all about the call (telnyx.md section 2.2).
public struct ClientDescription: Hashable, Sendable {
  /// The session.
  public var sessionID: String?
  /// The offer of an invite, the answer of an answer or attach.
  public var sdp: SDP
  /// Whether candidates follow one by one.
  public var isTrickled: Bool
  /// All about the call.
  public var dialog: DialogParams
  /// The program, as text or as an object; JSON as it came.
  public var userAgent: JSON?
  /// The push token of the device that answers.
  public var answeredDeviceToken: String?
  /// Everything else.
  public var extra: JSONObject

  /// Creates a message.
  public init(
    sdp: SDP, dialog: DialogParams, sessionID: String? = nil, isTrickled: Bool = false,
    userAgent: String? = nil, answeredDeviceToken: String? = nil
  ) {
    self.sessionID = sessionID
    self.sdp = sdp
    self.isTrickled = isTrickled
    self.dialog = dialog
    self.userAgent = userAgent.map { .string($0) }
    self.answeredDeviceToken = answeredDeviceToken
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    self.sessionID = try reader.sessionID()
    guard let sdp = try reader.sdp() else { throw reader.missing("sdp") }
    self.sdp = sdp
    self.isTrickled = try reader.bool("trickle") ?? false
    guard var dialog = try reader.reader("dialogParams") else { throw reader.missing("dialogParams") }
    self.dialog = try DialogParams(reading: &dialog)
    self.userAgent = reader.value("User-Agent")
    self.answeredDeviceToken = try reader.string("answered_device_token")
    self.extra = reader.rest
  }

  var params: JSONObject {
    var object = JSONObject()
    object.put("sessid", self.sessionID)
    object.put("sdp", self.sdp)
    if self.isTrickled { object.put("trickle", true) }
    object["dialogParams"] = .object(self.dialog.object)
    object.put("User-Agent", self.userAgent)
    object.put("answered_device_token", self.answeredDeviceToken)
    object.add(self.extra)
    return object
  }
}

/// A server's `invite`, `ringing`, `media`, `answer`, `attach` or `display` (telnyx.md section 2.2).
public struct ServerCallMessage: Hashable, Sendable {
  /// The call.
  public var callID: CallID
  /// An offer (invite, attach) or an answer (media, answer); an answer after media may have none (telnyx.md section
  /// 0.6).
  public var sdp: SDP?
  /// The caller's name.
  public var callerIDName: String?
  /// The caller's number.
  public var callerIDNumber: String?
  /// The called side's name.
  public var calleeIDName: String?
  /// The called side's number.
  public var calleeIDNumber: String?
  /// `inbound` or `outbound`, as the server sees it.
  public var displayDirection: String?
  /// The vendor's id of the session.
  public var telnyxSessionID: String?
  /// The vendor's id of the leg.
  public var telnyxLegID: String?
  /// The vendor's id for controlling the call.
  public var telnyxCallControlID: String?
  /// State of the app, in base64.
  public var clientState: String?
  /// Headers of the other side.
  public var customHeaders: [CustomHeader]
  /// Variables of the server.
  public var variables: JSONObject
  /// What `dialogParams` holds besides the headers.
  public var dialogExtra: JSONObject
  /// Everything else.
  public var extra: JSONObject

  /// Creates a message.
  public init(callID: CallID, sdp: SDP? = nil) {
    self.callID = callID
    self.sdp = sdp
    self.customHeaders = []
    self.variables = JSONObject()
    self.dialogExtra = JSONObject()
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader, needsSDP: Bool) throws(FrameError) {
    let top = try reader.callID()
    var dialog = try reader.reader("dialogParams")
    let nested = try dialog?.callID()
    guard let callID = top ?? nested else { throw reader.missing("callID") }
    self.callID = callID
    self.sdp = try reader.sdp()
    guard !needsSDP || self.sdp != nil else { throw reader.missing("sdp") }
    self.callerIDName = try reader.string("caller_id_name")
    self.callerIDNumber = try reader.string("caller_id_number")
    self.calleeIDName = try reader.string("callee_id_name")
    self.calleeIDNumber = try reader.string("callee_id_number")
    self.displayDirection = try reader.string("display_direction")
    self.telnyxSessionID = try reader.string("telnyx_session_id")
    self.telnyxLegID = try reader.string("telnyx_leg_id")
    self.telnyxCallControlID = try reader.string("telnyx_call_control_id")
    self.clientState = try reader.string("client_state", "clientState")
    self.customHeaders = try dialog?.headers() ?? []
    self.variables = try reader.object("variables") ?? JSONObject()
    self.dialogExtra = dialog?.rest ?? JSONObject()
    self.extra = reader.rest
  }

  var params: JSONObject {
    var object = JSONObject()
    object.put("callID", self.callID)
    object.put("sdp", self.sdp)
    object.put("caller_id_name", self.callerIDName)
    object.put("caller_id_number", self.callerIDNumber)
    object.put("callee_id_name", self.calleeIDName)
    object.put("callee_id_number", self.calleeIDNumber)
    object.put("display_direction", self.displayDirection)
    // Published clients expect the list to be there even when it is empty (telnyx.md section 5.2).
    var dialog: JSONObject = ["custom_headers": self.customHeaders.json]
    dialog.add(self.dialogExtra)
    object["dialogParams"] = .object(dialog)
    object.putUnlessEmpty("variables", self.variables)
    object.put("telnyx_session_id", self.telnyxSessionID)
    object.put("telnyx_leg_id", self.telnyxLegID)
    object.put("telnyx_call_control_id", self.telnyxCallControlID)
    object.put("client_state", self.clientState)
    object.add(self.extra)
    return object
  }
}

/// `bye` in either direction (telnyx.md section 2.2): all but the call is optional.
public struct ByeMessage: Hashable, Sendable {
  /// The call.
  public var callID: CallID
  /// The session; only clients send it.
  public var sessionID: String?
  /// The name of the cause.
  public var cause: String?
  /// The number of the cause; the private ones differ between gateways (telnyx.md section 0.11).
  public var causeCode: Int?
  /// The status of SIP behind it.
  public var sipCode: Int?
  /// The text of SIP behind it.
  public var sipReason: String?
  /// The call's id in SIP.
  public var sipCallID: String?
  /// State of the app, in base64.
  public var clientState: String?
  /// What `dialogParams` holds besides the id.
  public var dialogExtra: JSONObject
  /// Everything else.
  public var extra: JSONObject

  /// Creates a goodbye.
  public init(
    callID: CallID, cause: HangupCause? = nil, sipCode: Int? = nil, sipReason: String? = nil,
    sessionID: String? = nil
  ) {
    self.callID = callID
    self.sessionID = sessionID
    self.cause = cause?.name
    self.causeCode = cause?.code
    self.sipCode = sipCode
    self.sipReason = sipReason
    self.dialogExtra = JSONObject()
    self.extra = JSONObject()
  }

  /// Creates a goodbye that says everything a reason says.
  public init(callID: CallID, reason: CallTerminationReason) {
    self.init(callID: callID, sipCode: reason.sipCode, sipReason: reason.sipReason)
    self.cause = reason.cause
    self.causeCode = reason.causeCode
    self.sipCallID = reason.sipCallId
  }

  /// The cause, typed; `nil` if the message has none.
  public var hangupCause: HangupCause? { HangupCause(name: self.cause, code: self.causeCode) }

  init(reading reader: inout FieldReader) throws(FrameError) {
    let address = try CallAddress(reading: &reader)
    self.callID = address.callID
    self.sessionID = address.sessionID
    self.dialogExtra = address.dialog
    self.cause = try reader.string("cause")
    self.causeCode = try reader.integer("causeCode")
    self.sipCode = try reader.integer("sipCode")
    self.sipReason = try reader.string("sipReason")
    self.sipCallID = try reader.string("sip_call_id", "sipCallId")
    self.clientState = try reader.string("client_state", "clientState")
    self.extra = reader.rest
  }

  func params(by writer: Writer) -> JSONObject {
    var (object, tail) = JSONObject.addressing(
      self.callID, session: self.sessionID, dialog: self.dialogExtra, by: writer)
    object.put("cause", self.cause)
    object.put("causeCode", self.causeCode)
    object.put("sipCode", self.sipCode)
    object.put("sipReason", self.sipReason)
    object.put("sip_call_id", self.sipCallID)
    object.put("client_state", self.clientState)
    object.add(tail)
    object.add(self.extra)
    return object
  }
}
