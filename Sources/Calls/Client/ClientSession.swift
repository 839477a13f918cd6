import CallSignaling

/// Everything that a login needs, and where to.
struct ClientSession: Hashable, Sendable {
  /// How the client proves who it is.
  enum Identity: Hashable, Sendable {
    case credentials(Credentials)
    case anonymous(AnonymousLoginRequest)
  }

  var server: TxServerConfiguration
  var identity: Identity
  var userVariables: JSONObject
  var pushVariables: JSONObject
  var userAgent: String
  var dialect: Dialect
  var settings = ClientSettings()
  var sessionID: String
  var voiceSDKID: String?
  /// Whether a push message woke the app.
  var fromPush = false
  /// The call that the push message named.
  var pushedCall: CallID?

  /// What a login says of who the client is, and of itself.
  struct LoginData: Hashable, Sendable {
    var identity: Identity
    var userVariables: JSONObject
    var pushVariables: JSONObject
  }

  var loginData: LoginData {
    get {
      LoginData(
        identity: self.identity, userVariables: self.userVariables, pushVariables: self.pushVariables)
    }
    set {
      self.identity = newValue.identity
      self.userVariables = newValue.userVariables
      self.pushVariables = newValue.pushVariables
    }
  }

  /// The login of a new connection, or of new data on the present one.
  ///
  /// - Parameter attachesCalls: Whether the session has calls to be taken up again.
  func login(isReconnection: Bool, attachesCalls: Bool) -> ClientRequest {
    switch self.identity {
    case .credentials(let credentials):
      var request = LoginRequest(
        credentials, sessionID: self.sessionID, userAgent: self.userAgent, reconnection: isReconnection,
        userVariables: self.userVariables)
      if attachesCalls { request.loginParams["attach_call"] = "true" }
      if self.fromPush { request.fromPush = true }
      return .login(request)
    case .anonymous(var request):
      request.reconnection = request.reconnection == true || isReconnection
      request.sessionID = self.sessionID
      request.userAgent = ["sdkVersion": .string(Self.version), "data": .string(self.userAgent)]
      return .anonymousLogin(request)
    }
  }

  /// Whether only what a login says differs, so that the connection can stay.
  func isSameConnection(as other: ClientSession) -> Bool {
    self.server.signalingServer == other.server.signalingServer && self.dialect == other.dialect
  }

  /// The token, if its end is worth a warning.
  var token: Secret? {
    guard case .credentials(.token(let token)) = self.identity else { return nil }
    return token
  }

  static let version = "0.1"
}

/// A call that the app wants to place.
struct CallSetup: Hashable, Sendable {
  var dialog: DialogParams
  var measuresQuality: Bool
  var preferredCodecs: [TxCodecCapability]
}
