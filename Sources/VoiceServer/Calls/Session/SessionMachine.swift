import CallSignaling
import VoiceCore

/// Decides about one socket of the gateway: login, liveness, limits, and what the switch has to do with a frame.
///
/// State: *open* (nobody logged in, until a deadline); *authenticating* (the password or token is being checked);
/// *registering* (the switch is being told); *ready*; *renewing* (ready, new credentials are being checked); *closed* (final).
///
/// | event | open | authenticating, registering | ready, renewing | closed |
/// |---|---|---|---|---|
/// | login | authenticate | refuse | → renewing | – |
/// | gatewayState | −32000 | −32000 | `REGED` | – |
/// | ping, echo | result | result | result | – |
/// | about calls | −32000 | −32000 | forward | – |
/// | response of a client | – | – | respond, if it was asked for | – |
/// | authenticated | – | register, or refuse and → open | result, or refuse | – |
/// | registered | – | → ready | – | – |
/// | timePassed | close, if nobody logged in | the same after the login's time | ping; close a dead socket | – |
///
/// Every request with an id gets one response, from here or from the switch; `close` comes once at most.
struct SessionMachine: Sendable {
  enum State: Hashable, Sendable {
    case open(until: VoiceInstant)
    case authenticating(RPCID?, until: VoiceInstant)
    case registering(until: VoiceInstant)
    case ready(SessionKey)
    case renewing(SessionKey, RPCID?)
    case closed
  }

  /// Limits and times.
  struct Configuration: Hashable, Sendable {
    /// How long a socket may be open before somebody has logged in.
    var loginTime: Duration = .seconds(20)
    /// How many logins may be refused before the socket is closed.
    var refusals = 3
    /// How often the gateway asks whether the client is there (telnyx.md section 2.2: about every 30 s).
    var pingInterval: Duration = .seconds(30)
    /// How long a client may say nothing.
    var silence: Duration = .seconds(75)
    /// How many frames a client may send per second in the long run; ten times as many at once.
    var framesPerSecond = 100
    /// How many questions of the gateway a client may leave open.
    var openQuestions = 64
    /// In which dialect a client is spoken to, or `nil` to find out.
    var dialect: Dialect?
  }

  /// Who a client turned out to be.
  struct Identity: Hashable, Sendable {
    var user: String
    var isAnonymous = false
  }

  /// What a client shows to be let in.
  enum LoginAttempt: Hashable, Sendable {
    case credentials(Credentials)
    case anonymous(target: String)
  }

  enum Event: Hashable, Sendable {
    case frameReceived(Frame<ClientRequest>)
    case frameInvalid(FrameError)
    /// The socket itself answered a ping.
    case pongReceived
    case authenticated(Result<Identity, RPCError>)
    /// The switch took the session in.
    case registered(SessionKey)
    // What the switch wants the client to get.
    case replied(RPCID, Result<ServerResult, RPCError>)
    case sent(ServerRequest)
    case asked(ServerRequest, number: Int)
    case closeRequested(code: Int, reason: String)
    case socketClosed
    case timePassed
  }

  enum Action: Hashable, Sendable {
    case reply(RPCID, Result<ServerResult, RPCError>)
    case send(ServerRequest, id: Int, Dialect)
    case authenticate(LoginAttempt)
    case register(SessionKey, request: RPCID?, isAnonymous: Bool)
    case forward(ClientRequest, id: RPCID?)
    case respond(number: Int, ClientResponse)
    /// A ping of the socket, for clients whose dialect has none.
    case pingSocket
    case close(code: Int, reason: String)
    case ignore
  }

  let configuration: Configuration
  private(set) var state: State
  private(set) var dialect: Dialect
  private var isDialectKnown: Bool
  private var refusals = 0
  private var sessionID: String?
  private var isAnonymous = false
  private var questions: [Int: Int] = [:]
  private var lastID = 0
  private var pingID: Int?
  private var lastHeard: VoiceInstant
  private var nextPing: VoiceInstant
  private var frameLevel: Double
  private var frameLevelAt: VoiceInstant

  /// Creates the machine of a socket that was just opened.
  init(configuration: Configuration = Configuration(), at now: VoiceInstant) {
    self.configuration = configuration
    self.state = .open(until: now.advanced(by: configuration.loginTime))
    self.dialect = configuration.dialect ?? .telnyx
    self.isDialectKnown = configuration.dialect != nil
    self.lastHeard = now
    self.nextPing = now.advanced(by: configuration.pingInterval)
    self.frameLevel = Double(configuration.framesPerSecond) * 10
    self.frameLevelAt = now
  }

  /// When the machine wants to be told that time passed.
  var deadline: VoiceInstant? {
    switch self.state {
    case .open(let until), .authenticating(_, let until), .registering(let until): min(until, self.silent)
    case .ready, .renewing: min(self.nextPing, self.silent)
    case .closed: nil
    }
  }

  private var silent: VoiceInstant { self.lastHeard.advanced(by: self.configuration.silence) }

  /// Who is logged in.
  var key: SessionKey? {
    switch self.state {
    case .ready(let key), .renewing(let key, _): key
    case .open, .authenticating, .registering, .closed: nil
    }
  }

  /// Takes an event in.
  mutating func handle(_ event: Event, at now: VoiceInstant) -> [Action] {
    if case .closed = self.state { return [.ignore] }
    switch event {
    case .frameReceived(let frame): return self.count(at: now) ?? self.frameReceived(frame, at: now)
    case .frameInvalid(let error): return self.count(at: now) ?? self.frameInvalid(error)
    case .pongReceived:
      self.lastHeard = now
      return []
    case .authenticated(let result): return self.authenticated(result, at: now)
    case .registered(let key): return self.registered(key, at: now)
    case .replied(let id, let result): return self.replied(id, result, at: now)
    case .sent(let request):
      return self.translated(request).map { .send($0, id: self.nextID(), self.dialect) }
    case .asked(let request, let number): return self.asked(request, number: number)
    case .closeRequested(let code, let reason): return self.close(code, reason)
    case .socketClosed:
      self.state = .closed
      return []
    case .timePassed: return self.timePassed(at: now)
    }
  }

  // MARK: - Frames

  /// Counts a frame of the client; a flood ends the connection.
  private mutating func count(at now: VoiceInstant) -> [Action]? {
    self.lastHeard = now
    let rate = Double(self.configuration.framesPerSecond)
    let elapsed = max(.zero, self.frameLevelAt.duration(to: now)) / .seconds(1)
    self.frameLevel = min(rate * 10, self.frameLevel + elapsed * rate) - 1
    self.frameLevelAt = now
    return self.frameLevel < 0 ? self.close(1008, "Too many frames") : nil
  }

  private mutating func frameInvalid(_ error: FrameError) -> [Action] {
    // A response that cannot be read is no reason to answer, and nor is a notification.
    if error.method == nil, error.id != nil { return [.ignore] }
    if error.method != nil, error.id == nil { return [.ignore] }
    return [.reply(error.id ?? .null, .failure(error.response))]
  }

  private mutating func frameReceived(_ frame: Frame<ClientRequest>, at now: VoiceInstant) -> [Action] {
    if let dialect = frame.dialect, !self.isDialectKnown {
      self.dialect = dialect
      self.isDialectKnown = true
    }
    switch frame.content {
    case .request(let request, let id): return self.requested(request, id, at: now)
    case .result(let json, let id):
      guard let number = self.question(of: id) else { return [.ignore] }
      return [.respond(number: number, .accepted(json["sdp"]?.stringValue.map { SDP($0) }))]
    case .error(_, let id):
      guard let number = self.question(of: id) else { return [.ignore] }
      return [.respond(number: number, .refused)]
    case .debugReport, .speedTest: return [.ignore]
    }
  }

  private mutating func question(of id: RPCID) -> Int? {
    guard case .number(let number) = id, let value = number.integer else { return nil }
    return self.questions.removeValue(forKey: value)
  }

  private mutating func requested(
    _ request: ClientRequest, _ id: RPCID?, at now: VoiceInstant
  ) -> [Action] {
    func reply(_ result: ServerResult) -> [Action] { id.map { [.reply($0, .success(result))] } ?? [.ignore] }
    func refuse(_ code: RPCErrorCode, _ message: String) -> [Action] {
      id.map { [.reply($0, .failure(RPCError(code: code, message: message)))] } ?? [.ignore]
    }
    switch request {
    case .login(let login):
      return self.loginRequested(.credentials(login.credentials), login.sessionID, id, at: now)
    case .anonymousLogin(let login):
      return self.loginRequested(.anonymous(target: login.targetType), login.sessionID, id, at: now)
    case .ping(let params):
      // Some clients send the gateway's own ping back (telnyx.md section 2.2): that is an answer.
      if let pingID, id == .integer(pingID), params.isEmpty {
        self.pingID = nil
        return [.ignore]
      }
      return reply(.other(["message": "PONG"]))
    case .echo(let params): return reply(.other(.object(params)))
    case .gatewayState:
      guard let key = self.key else { return refuse(.authenticationRequired, "Authentication Required") }
      return reply(.gatewayState(GatewayStateReport(.registered), sessionID: key.sessionID))
    case .disablePush:
      return self.key == nil
        ? refuse(.authenticationRequired, "Authentication Required")
        : reply(.other(["message": "This gateway sends no push notifications"]))
    case .aiConversation: return refuse(.methodNotFound, "The assistant is not available")
    case .subscribe(let params), .unsubscribe(let params):
      return reply(.other(["unauthorizedChannels": params["eventChannel"] ?? []]))
    case .broadcast, .unknown: return refuse(.methodNotFound, "Invalid Method")
    case .invite, .answer, .attach, .ringingAck, .bye, .info, .modify, .candidate, .endOfCandidates,
      .attachCalls:
      guard self.key != nil else { return refuse(.authenticationRequired, "Authentication Required") }
      return [.forward(request, id: id)]
    }
  }

  // MARK: - Login

  private mutating func loginRequested(
    _ attempt: LoginAttempt, _ sessionID: String?, _ id: RPCID?, at now: VoiceInstant
  ) -> [Action] {
    // Verto clients count their requests (telnyx.md section 7); the login itself has no prefix that would tell.
    if !self.isDialectKnown, case .number? = id { self.dialect = .verto }
    switch self.state {
    case .open:
      self.sessionID = sessionID.flatMap { Self.isUsable($0) ? $0 : nil }
      self.state = .authenticating(id, until: now.advanced(by: self.configuration.loginTime))
      return [.authenticate(attempt)]
    case .ready(let key):
      self.state = .renewing(key, id)
      return [.authenticate(attempt)]
    case .authenticating, .registering, .renewing:
      let error = RPCError(code: .invalidRequest, message: "A login is under way")
      return id.map { [.reply($0, .failure(error))] } ?? [.ignore]
    case .closed: return [.ignore]
    }
  }

  private static func isUsable(_ sessionID: String) -> Bool {
    (1...128).contains(sessionID.utf8.count) && sessionID.utf8.allSatisfy { (33...126).contains($0) }
  }

  private mutating func authenticated(
    _ result: Result<Identity, RPCError>, at now: VoiceInstant
  ) -> [Action] {
    switch (self.state, result) {
    case (.authenticating(let id, _), .success(let identity)):
      self.state = .registering(until: now.advanced(by: self.configuration.loginTime))
      self.isAnonymous = identity.isAnonymous
      let key = SessionKey(user: self.user(of: identity), sessionID: self.sessionID ?? "")
      return [.register(key, request: id, isAnonymous: identity.isAnonymous)]
    case (.authenticating(let id, _), .failure(let error)):
      self.state = .open(until: now.advanced(by: self.configuration.loginTime))
      return self.refused(id, error)
    case (.renewing(let key, let id), .success(let identity)):
      self.state = .ready(key)
      guard self.user(of: identity) == key.user || identity.isAnonymous && self.isAnonymous else {
        return self.refused(
          id, RPCError(code: .authenticationFailed, message: "Another user is logged in here"))
      }
      return id.map { [.reply($0, .success(.login(LoginResult(sessionID: key.sessionID))))] } ?? []
    case (.renewing(let key, let id), .failure(let error)):
      self.state = .ready(key)
      return self.refused(id, error)
    case (.open, _), (.registering, _), (.ready, _), (.closed, _): return [.ignore]
    }
  }

  /// Who has no name is known by the session.
  private func user(of identity: Identity) -> String {
    identity.isAnonymous ? "anonymous-" + (self.sessionID ?? "") : identity.user
  }

  private mutating func refused(_ id: RPCID?, _ error: RPCError) -> [Action] {
    self.refusals += 1
    let reply: [Action] = id.map { [.reply($0, .failure(error))] } ?? []
    guard self.refusals >= self.configuration.refusals, self.key == nil else { return reply }
    return reply + self.close(1008, "Too many refused logins")
  }

  private mutating func registered(_ key: SessionKey, at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .registering:
      self.state = .ready(key)
      self.nextPing = now.advanced(by: self.configuration.pingInterval)
      return []
    case .open, .authenticating, .ready, .renewing, .closed: return [.ignore]
    }
  }

  /// The switch refuses a registration by refusing the login.
  private mutating func replied(
    _ id: RPCID, _ result: Result<ServerResult, RPCError>, at now: VoiceInstant
  ) -> [Action] {
    if case .registering = self.state, case .failure(let error) = result {
      self.state = .open(until: now.advanced(by: self.configuration.loginTime))
      return self.refused(id, error)
    }
    return [.reply(id, result)]
  }

  // MARK: - To the client

  private mutating func nextID() -> Int {
    self.lastID &+= 1
    return self.lastID
  }

  private mutating func asked(_ request: ServerRequest, number: Int) -> [Action] {
    guard self.questions.count < self.configuration.openQuestions,
      let request = self.translated(request).first
    else { return [.respond(number: number, .refused)] }
    let id = self.nextID()
    self.questions[id] = number
    return [.send(request, id: id, self.dialect)]
  }

  /// Says a request in the client's dialect: Verto has no ringing and no candidates (telnyx.md section 7).
  private func translated(_ request: ServerRequest) -> [ServerRequest] {
    switch request {
    case .ringing(let message): return self.dialect.hasRinging ? [request] : [.display(message)]
    case .candidate, .endOfCandidates: return self.dialect.hasTrickle ? [request] : []
    case .ping: return self.dialect == .telnyx ? [request] : []
    case .clientReady, .gatewayState, .pong, .invite, .media, .answer, .attach, .bye, .info, .modify, .punt,
      .display, .event, .aiConversation, .unknown:
      return [request]
    }
  }

  private mutating func close(_ code: Int, _ reason: String) -> [Action] {
    self.state = .closed
    return [.close(code: code, reason: reason)]
  }

  private mutating func timePassed(at now: VoiceInstant) -> [Action] {
    guard now < self.silent else { return self.close(1001, "Nothing was heard") }
    switch self.state {
    // The switch refuses a login without an id by saying nothing: nobody could be told.
    case .open(let until), .registering(let until):
      return now >= until ? self.close(1008, "Nobody logged in") : []
    case .authenticating(let id, let until):
      guard now >= until else { return [] }
      self.state = .open(until: now.advanced(by: self.configuration.loginTime))
      return self.refused(
        id, RPCError(code: .registrationTimedOut, message: "Gateway registration timeout"))
    case .closed: return []
    case .ready, .renewing:
      guard now >= self.nextPing else { return [] }
      self.nextPing = now.advanced(by: self.configuration.pingInterval)
      switch self.dialect {
      case .telnyx:
        let id = self.nextID()
        self.pingID = id
        return [.send(.ping(), id: id, self.dialect)]
      case .verto: return [.pingSocket]
      }
    }
  }
}
