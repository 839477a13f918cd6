/// What a server answers to a request of a client, by the kind of request (telnyx.md section 2.2).
public enum ServerResult: Hashable, Sendable {
  /// To `login` and `anonymous_login`.
  case login(LoginResult)
  /// To `gatewayState`.
  case gatewayState(GatewayStateReport, sessionID: String?)
  /// To `invite`, `answer` and `attach`.
  case call(CallResult)
  /// To `bye`.
  case bye(ByeResult)
  /// To `modify`.
  case modify(ModifyResult)
  /// To everything else: a text such as `SENT`, or any JSON.
  case other(JSON)

  /// `{"message":"SENT"}`: the answer to `info`.
  public static let sent = ServerResult.other(["message": "SENT"])

  /// Reads the result of a request.
  ///
  /// Results that older gateways nest up to three times are unpacked (telnyx.md section 2.1).
  ///
  /// - Throws: ``FrameError`` with the place.
  public static func read(_ json: JSON, of method: SignalingMethod) throws(FrameError) -> ServerResult {
    var json = json
    var path = JSONPath([.name("result")])
    for _ in 0..<3 {
      guard case .object? = json["result"], let inner = json["result"] else { break }
      json = inner
      path = path.appending("result")
    }
    switch method {
    case .login, .anonymousLogin:
      var reader = try FieldReader(json, path: path)
      return .login(try LoginResult(reading: &reader))
    case .gatewayState:
      var reader = try FieldReader(json, path: path)
      let session = try reader.sessionID()
      if var params = try reader.reader("params") {
        var report = try GatewayStateReport(reading: &params)
        report.extra.add(reader.rest)
        return .gatewayState(report, sessionID: session)
      }
      return .gatewayState(try GatewayStateReport(reading: &reader), sessionID: session)
    case .invite, .answer, .attach:
      var reader = try FieldReader(json, path: path)
      return .call(try CallResult(reading: &reader))
    case .bye:
      var reader = try FieldReader(json, path: path)
      return .bye(try ByeResult(reading: &reader))
    case .modify:
      var reader = try FieldReader(json, path: path)
      return .modify(try ModifyResult(reading: &reader))
    case .aiConversation, .echo, .clientReady, .ping, .pong, .ringing, .ringingAck, .media, .info,
      .attachCalls, .punt, .candidate, .endOfCandidates, .disablePushNotification, .display, .event,
      .broadcast, .subscribe, .unsubscribe, .unknown:
      return .other(json)
    }
  }

  /// The result as it is written.
  public var json: JSON {
    switch self {
    case .login(let result): return .object(result.object)
    case .gatewayState(let report, let sessionID):
      var object: JSONObject = ["params": .object(report.params)]
      object.put("sessid", sessionID)
      return .object(object)
    case .call(let result): return .object(result.object)
    case .bye(let result): return .object(result.object)
    case .modify(let result): return .object(result.object)
    case .other(let json): return json
    }
  }
}

/// `{"message":"logged in","sessid":"…"}`.
public struct LoginResult: Hashable, Sendable {
  /// The text of the server.
  public var message: String
  /// The session, if the server names it.
  public var sessionID: String?
  /// Everything else.
  public var extra: JSONObject

  /// Creates a result.
  public init(message: String = "logged in", sessionID: String?) {
    self.message = message
    self.sessionID = sessionID
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    self.message = try reader.string("message") ?? ""
    self.sessionID = try reader.sessionID()
    self.extra = reader.rest
  }

  var object: JSONObject {
    var object: JSONObject = ["message": .string(self.message)]
    object.put("sessid", self.sessionID)
    object.add(self.extra)
    return object
  }
}

/// `{"callID":"…","message":"CALL CREATED","sessid":"…"}`.
public struct CallResult: Hashable, Sendable {
  /// The call, if the server names it.
  public var callID: CallID?
  /// `CALL CREATED`, `CALL ANSWERED`, ….
  public var message: String
  /// The session.
  public var sessionID: String?
  /// Everything else.
  public var extra: JSONObject

  /// Creates a result.
  public init(callID: CallID, message: String, sessionID: String?) {
    self.callID = callID
    self.message = message
    self.sessionID = sessionID
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    self.callID = try reader.callID()
    self.message = try reader.string("message") ?? ""
    self.sessionID = try reader.sessionID()
    self.extra = reader.rest
  }

  var object: JSONObject {
    var object = JSONObject()
    object.put("callID", self.callID)
    object["message"] = .string(self.message)
    object.put("sessid", self.sessionID)
    object.add(self.extra)
    return object
  }
}

/// `{"callID":"…","message":"CALL ENDED","causeCode":16,"cause":"NORMAL_CLEARING"}`.
public struct ByeResult: Hashable, Sendable {
  /// The call, if the server names it.
  public var callID: CallID?
  /// `CALL ENDED`.
  public var message: String
  /// The number of the cause.
  public var causeCode: Int?
  /// The name of the cause.
  public var cause: String?
  /// The session.
  public var sessionID: String?
  /// Everything else.
  public var extra: JSONObject

  /// Creates a result.
  public init(callID: CallID, cause: HangupCause?, sessionID: String? = nil) {
    self.callID = callID
    self.message = "CALL ENDED"
    self.causeCode = cause?.code
    self.cause = cause?.name
    self.sessionID = sessionID
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    self.callID = try reader.callID()
    self.message = try reader.string("message") ?? ""
    self.causeCode = try reader.integer("causeCode")
    self.cause = try reader.string("cause")
    self.sessionID = try reader.sessionID()
    self.extra = reader.rest
  }

  var object: JSONObject {
    var object = JSONObject()
    object.put("callID", self.callID)
    object["message"] = .string(self.message)
    object.put("causeCode", self.causeCode)
    object.put("cause", self.cause)
    object.put("sessid", self.sessionID)
    object.add(self.extra)
    return object
  }
}

/// Whether a call is held, as the server confirms it (telnyx.md section 2.2).
public enum HoldState: String, Hashable, Sendable, CaseIterable {
  case held, active

  /// Reads a state; published clients take all but `active` for held.
  init(reading text: String) {
    self = text == "active" ? .active : .held
  }
}

/// `{"callID":"…","action":"hold","holdState":"held","sessid":"…"}`, or with the answer to `updateMedia`.
public struct ModifyResult: Hashable, Sendable {
  /// The call, if the server names it.
  public var callID: CallID?
  /// What was changed, if the server says.
  public var action: ModifyAction?
  /// Whether the call is held now.
  public var holdState: HoldState?
  /// The answer to a new description.
  public var sdp: SDP?
  /// The session.
  public var sessionID: String?
  /// Everything else.
  public var extra: JSONObject

  /// Creates a result.
  public init(
    callID: CallID, action: ModifyAction, holdState: HoldState? = nil, sdp: SDP? = nil,
    sessionID: String? = nil
  ) {
    self.callID = callID
    self.action = action
    self.holdState = holdState
    self.sdp = sdp
    self.sessionID = sessionID
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    self.callID = try reader.callID()
    self.action = try reader.string("action").map { ModifyAction($0) }
    self.holdState = try reader.string("holdState").map { HoldState(reading: $0) }
    self.sdp = try reader.sdp()
    self.sessionID = try reader.sessionID()
    self.extra = reader.rest
  }

  var object: JSONObject {
    var object = JSONObject()
    object.put("callID", self.callID)
    object.put("action", self.action?.text)
    object.put("holdState", self.holdState?.rawValue)
    object.put("sdp", self.sdp)
    object.put("sessid", self.sessionID)
    object.add(self.extra)
    return object
  }
}
