/// How a client proves who it is.
public enum Credentials: Hashable, Sendable {
  /// A user of the gateway with a password; for Verto gateways `user@domain`.
  case password(user: String, password: Secret)
  /// A JSON web token.
  case token(Secret)
}

/// `login` (telnyx.md section 2.2).
public struct LoginRequest: Hashable, Sendable {
  /// Who it is.
  public var credentials: Credentials
  /// The session to go on with, or to begin.
  public var sessionID: String?
  /// The program, as text or as an object; JSON as it came.
  public var userAgent: JSON?
  /// Whether a push message woke the app.
  public var fromPush: Bool?
  /// Whether this is a new connection of an old session.
  public var reconnection: Bool?
  /// Parameters of the login, such as `attach_call`.
  public var loginParams: JSONObject
  /// Variables, such as the push token.
  public var userVariables: JSONObject
  /// Everything else.
  public var extra: JSONObject

  /// Creates a login.
  public init(
    _ credentials: Credentials, sessionID: String? = nil, userAgent: String? = nil,
    reconnection: Bool? = nil, loginParams: JSONObject = JSONObject(),
    userVariables: JSONObject = JSONObject()
  ) {
    self.credentials = credentials
    self.sessionID = sessionID
    self.userAgent = userAgent.map { .string($0) }
    self.reconnection = reconnection
    self.loginParams = loginParams
    self.userVariables = userVariables
    self.extra = JSONObject()
  }

  /// Whether the client wants calls of an earlier connection back; sent as the text `"true"` (telnyx.md section 2.2).
  public var attachesCalls: Bool {
    switch self.loginParams["attach_call"] {
    case .string(let text): text.lowercased() == "true"
    case .bool(let value): value
    case .null, .number, .array, .object, nil: false
    }
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    let token = try reader.string("login_token")
    if let token, !token.isEmpty {
      self.credentials = .token(Secret(token))
    } else {
      guard let user = try reader.string("login") else { throw reader.missing("login") }
      guard let password = try reader.string("passwd") else { throw reader.missing("passwd") }
      self.credentials = .password(user: user, password: Secret(password))
    }
    self.sessionID = try reader.sessionID()
    self.userAgent = reader.value("User-Agent")
    self.fromPush = try reader.bool("from_push")
    self.reconnection = try reader.bool("reconnection")
    self.loginParams = try reader.object("loginParams") ?? JSONObject()
    self.userVariables = try reader.object("userVariables") ?? JSONObject()
    self.extra = reader.rest
  }

  var params: JSONObject {
    var object = JSONObject()
    switch self.credentials {
    case .password(let user, let password):
      object.put("login", user)
      object.put("passwd", password)
    case .token(let token):
      object.put("login_token", token)
    }
    object.put("sessid", self.sessionID)
    object.put("User-Agent", self.userAgent)
    object.put("from_push", self.fromPush)
    object.put("reconnection", self.reconnection)
    object["loginParams"] = .object(self.loginParams)
    object["userVariables"] = .object(self.userVariables)
    object.add(self.extra)
    return object
  }
}

/// `anonymous_login`: a call to an assistant without credentials (telnyx.md section 2.2).
public struct AnonymousLoginRequest: Hashable, Sendable {
  /// What is called, such as `ai_assistant`.
  public var targetType: String
  /// Which one is called.
  public var targetID: String
  /// Which version of it is called.
  public var targetVersionID: String?
  /// Parameters for it, such as `conversation_id`.
  public var targetParams: JSONObject
  /// Whether this is a new connection of an old session.
  public var reconnection: Bool?
  /// The session to go on with, or to begin.
  public var sessionID: String?
  /// The program, as text or as an object; JSON as it came.
  public var userAgent: JSON?
  /// Variables of the app.
  public var userVariables: JSONObject
  /// Everything else.
  public var extra: JSONObject

  /// Creates a login.
  public init(
    targetType: String = "ai_assistant", targetID: String, targetVersionID: String? = nil,
    targetParams: JSONObject = JSONObject(), reconnection: Bool? = nil, sessionID: String? = nil,
    userAgent: JSON? = nil, userVariables: JSONObject = JSONObject()
  ) {
    self.targetType = targetType
    self.targetID = targetID
    self.targetVersionID = targetVersionID
    self.targetParams = targetParams
    self.reconnection = reconnection
    self.sessionID = sessionID
    self.userAgent = userAgent
    self.userVariables = userVariables
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    self.targetType = try reader.requiredString("target_type")
    self.targetID = try reader.requiredString("target_id")
    self.targetVersionID = try reader.string("target_version_id")
    self.targetParams = try reader.object("target_params") ?? JSONObject()
    self.reconnection = try reader.bool("reconnection")
    self.sessionID = try reader.sessionID()
    self.userAgent = reader.value("User-Agent")
    self.userVariables = try reader.object("userVariables") ?? JSONObject()
    self.extra = reader.rest
  }

  var params: JSONObject {
    var object = JSONObject()
    object.put("target_type", self.targetType)
    object.put("target_id", self.targetID)
    object.put("target_version_id", self.targetVersionID)
    object.putUnlessEmpty("target_params", self.targetParams)
    object.put("reconnection", self.reconnection)
    object.put("sessid", self.sessionID)
    object.put("User-Agent", self.userAgent)
    object["userVariables"] = .object(self.userVariables)
    object.add(self.extra)
    return object
  }
}

/// `attachCalls`: a client woken by a push asks for the call (telnyx.md section 2.2); the answer is an error if it is
/// gone.
public struct AttachCallsRequest: Hashable, Sendable {
  /// Who delivers pushes, such as `ios`.
  public var pushProvider: String?
  /// Parameters of the login.
  public var loginParams: JSONObject
  /// Variables, such as the push environment.
  public var userVariables: JSONObject
  /// Everything else.
  public var extra: JSONObject

  /// Creates a request.
  public init(pushProvider: String? = nil, userVariables: JSONObject = JSONObject()) {
    self.pushProvider = pushProvider
    self.loginParams = JSONObject()
    self.userVariables = userVariables
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    self.pushProvider = try reader.string("push_notification_provider")
    self.loginParams = try reader.object("loginParams") ?? JSONObject()
    self.userVariables = try reader.object("userVariables") ?? JSONObject()
    self.extra = reader.rest
  }

  var params: JSONObject {
    var object = JSONObject()
    object.put("push_notification_provider", self.pushProvider)
    object["loginParams"] = .object(self.loginParams)
    object["userVariables"] = .object(self.userVariables)
    object.add(self.extra)
    return object
  }
}

/// `disable_push_notification` (telnyx.md section 2.2); the push variables really are under `User-Agent`.
public struct DisablePushRequest: Hashable, Sendable {
  /// Whose pushes end, for a login with a password.
  public var user: String?
  /// Whose pushes end, for a login with a token.
  public var token: Secret?
  /// The device's token, its provider and environment.
  public var pushVariables: JSONObject
  /// Everything else.
  public var extra: JSONObject

  /// Creates a request.
  public init(user: String?, token: Secret? = nil, pushVariables: JSONObject) {
    self.user = user
    self.token = token
    self.pushVariables = pushVariables
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    self.user = try reader.string("user")
    self.token = try reader.string("login_token").map { Secret($0) }
    self.pushVariables = try reader.object("User-Agent") ?? JSONObject()
    self.extra = reader.rest
  }

  var params: JSONObject {
    var object = JSONObject()
    object.put("user", self.user)
    object.put("login_token", self.token)
    object["User-Agent"] = .object(self.pushVariables)
    object.add(self.extra)
    return object
  }
}

/// The state of a gateway's registration (telnyx.md section 2.2); the set is open.
public enum GatewayState: Hashable, Sendable, CustomStringConvertible {
  case unregistered, trying, register, registered, unregister, failed, failWait, expired, noRegistration
  case timeout, down
  /// A state that this version does not know, as it came.
  case unknown(String)

  /// All states with a name of their own.
  public static let known: [GatewayState] = [
    .unregistered, .trying, .register, .registered, .unregister, .failed, .failWait, .expired,
    .noRegistration, .timeout, .down,
  ]

  /// Reads a state; case does not count.
  public init(_ text: String) {
    self = Self.known.first { $0.text == text.uppercased() } ?? .unknown(text)
  }

  /// The state as it is written.
  public var text: String {
    switch self {
    case .unregistered: "UNREGED"
    case .trying: "TRYING"
    case .register: "REGISTER"
    case .registered: "REGED"
    case .unregister: "UNREGISTER"
    case .failed: "FAILED"
    case .failWait: "FAIL_WAIT"
    case .expired: "EXPIRED"
    case .noRegistration: "NOREG"
    case .timeout: "TIMEOUT"
    case .down: "DOWN"
    case .unknown(let text): text
    }
  }

  public var description: String { self.text }
}

/// A gateway's state with what comes with it: the answer to `gatewayState`, or a request of the server.
public struct GatewayStateReport: Hashable, Sendable {
  /// The state.
  public var state: GatewayState
  /// The id for reports of calls.
  public var callReportID: String?
  /// The data centre.
  public var dataCenter: String?
  /// The region.
  public var region: String?
  /// Everything else.
  public var extra: JSONObject

  /// Creates a report.
  public init(_ state: GatewayState) {
    self.state = state
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    self.state = GatewayState(try reader.requiredString("state"))
    self.callReportID = try reader.string("call_report_id")
    self.dataCenter = try reader.string("dc")
    self.region = try reader.string("region")
    self.extra = reader.rest
  }

  var params: JSONObject {
    var object = JSONObject()
    object.put("state", self.state.text)
    object.put("call_report_id", self.callReportID)
    object.put("dc", self.dataCenter)
    object.put("region", self.region)
    object.add(self.extra)
    return object
  }
}

/// `clientReady`: the server is done with the login (telnyx.md section 2.2).
public struct ClientReady: Hashable, Sendable {
  /// The calls that the server still knows of the session; `nil` if it does not say.
  public var reattachedSessions: [CallID]?
  /// Everything else.
  public var extra: JSONObject

  /// Creates a message.
  public init(reattachedSessions: [CallID]? = []) {
    self.reattachedSessions = reattachedSessions
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    let path = reader.path.appending("reattached_sessions")
    if let values = try reader.array("reattached_sessions") {
      var calls: [CallID] = []
      for (index, value) in values.enumerated() {
        guard case .string(let text) = value else {
          throw FrameError(
            .wrongType(expected: "a string", found: value.kind), path: path.appending(index))
        }
        calls.append(CallID(text))
      }
      self.reattachedSessions = calls
    }
    self.extra = reader.rest
  }

  var params: JSONObject {
    var object = JSONObject()
    object.put("reattached_sessions", self.reattachedSessions)
    object.add(self.extra)
    return object
  }
}
