public import VoiceCore

/// Decides about the login on one connection and the registration behind it (telnyx.md sections 0.5 and 3.2).
///
/// States: *idle* (no connection); *loggingIn*; *awaitingReady* (logged in, the server has to say `clientReady`);
/// *asking* (asked for the gateway's state, the n-th time); *registered*; *refreshing* (registered, new login under
/// way); *failed* (until the next connection).
///
/// | event | idle | loggingIn | awaitingReady | asking | registered | refreshing | failed |
/// |---|---|---|---|---|---|---|---|
/// | socketOpened | → loggingIn from every state | | | | | | |
/// | loginAccepted | – | → awaitingReady¹ | – | – | – | → registered | – |
/// | loginRefused | – | → failed | – | – | – | → registered² | – |
/// | clientReadyReceived | – | notes it | → asking | – | – | – | – |
/// | gatewayStateReceived REGED | – | – | → registered | → registered | – | – | – |
/// | gatewayStateReceived, another | – | – | – | waits for its time | → asking | notes it³ | – |
/// | gatewayStateRefused | – | – | – | waits for its time | – | – | – |
/// | authenticationRequired | – | – | → loggingIn | → loggingIn | → refreshing | – | – |
/// | refreshRequested | – | notes it⁴ | notes it⁴ | notes it⁴ | → refreshing | notes it⁴ | – |
/// | socketEnded | – | → idle from every state | | | | | |
/// | timePassed | – | → failed | → asking | asks again, → failed after the last | – | → registered² | – |
///
/// ¹ Verto gateways have no gateway state: → registered. ² A login that the server demanded, not the app: → failed.
/// ³ After the login, → asking. ⁴ The login under way has the old data: → refreshing as soon as it is *registered*.
///
/// The time runs from each question, so that a gateway that never answers ends like one that says no.
public struct RegistrationMachine: Sendable {
  /// How often and how long the machine asks.
  public struct Configuration: Hashable, Sendable {
    /// How often the gateway is asked before giving up (`MAX_REGISTER_RETRY`, telnyx.md section 3.2).
    public var maxRegisterRetry: Int = 3
    /// How long after a question the next one is asked (`DEFAULT_REGISTER_INTERVAL`).
    public var registerInterval: Duration = .seconds(3)
    /// How long the answer to a login may take.
    public var loginTimeout: Duration = .seconds(10)
    /// How long `clientReady` may take; then the gateway is asked without it.
    public var readyTimeout: Duration = .seconds(3)
    /// A server that demands a login again within this time after one does not accept it.
    public var loginHolds: Duration = .seconds(10)

    /// Creates the default: three tries, 3 s apart.
    public init() {}
  }

  /// Where the registration stands.
  public enum State: Hashable, Sendable {
    case idle
    case loggingIn(until: VoiceInstant)
    case awaitingReady(until: VoiceInstant)
    /// `attempt` counts from 1; `last` is what the gateway answered last.
    case asking(attempt: Int, until: VoiceInstant, last: GatewayState?)
    case registered
    /// `isDemanded`: the server, not the app, wanted the login. `lost`: a state that came meanwhile.
    case refreshing(until: VoiceInstant, isDemanded: Bool, lost: GatewayState?)
    case failed
  }

  /// What happened.
  public enum Event: Hashable, Sendable {
    case socketOpened
    case loginAccepted(LoginResult)
    case loginRefused(RPCError)
    case clientReadyReceived(ClientReady)
    /// As an answer or unasked.
    case gatewayStateReceived(GatewayState)
    case gatewayStateRefused(RPCError)
    /// A request was refused with ``RPCErrorCode/authenticationRequired`` (telnyx.md section 2.1).
    case authenticationRequired
    /// The app has a new token, password or push token.
    case refreshRequested
    case socketEnded
    case timePassed
  }

  /// What to do.
  public enum Action: Hashable, Sendable {
    /// Send `login` or `anonymous_login`; a request of its own, with no time-out of its own.
    case sendLogin
    /// Send `gatewayState`.
    case askGatewayState(attempt: Int)
    /// The login was accepted; the id is the session's if the server named one.
    case reportLoggedIn(sessionID: String?)
    /// Registered: calls can be made and come in. `reattached`: the calls that the server still knows, if it said.
    case reportReady(reattached: [CallID]?)
    /// The new login was accepted.
    case reportRefreshed
    /// Something failed and is being repaired, or did not matter.
    case report(VoiceFailure)
    /// It failed; the connection is of no use.
    case fail(VoiceFailure)
    case ignore(IgnoredReason)
  }

  /// How often and how long the machine asks.
  public let configuration: Configuration
  /// The dialect of the gateway.
  public let dialect: Dialect
  /// Where the registration stands.
  public private(set) var state = State.idle
  private var ready: ClientReady?
  private var lastLogin: VoiceInstant?
  /// Whether this connection was ready before: then it is not reported again.
  private var wasReady = false
  /// Whether there are new data that no login has said yet.
  private var wantsRefresh = false

  /// Creates a machine without a connection.
  public init(dialect: Dialect = .telnyx, configuration: Configuration = Configuration()) {
    self.dialect = dialect
    self.configuration = configuration
  }

  /// Whether calls can be made and come in.
  public var isRegistered: Bool {
    switch self.state {
    case .registered: true
    case .refreshing(_, _, let lost): lost == nil
    case .idle, .loggingIn, .awaitingReady, .asking, .failed: false
    }
  }

  /// When the machine wants to be told that time passed.
  public var deadline: VoiceInstant? {
    switch self.state {
    case .idle, .registered, .failed: nil
    case .loggingIn(let until), .awaitingReady(let until), .asking(_, let until, _),
      .refreshing(let until, _, _):
      until
    }
  }

  /// Takes an event in.
  public mutating func handle(_ event: Event, at now: VoiceInstant) -> [Action] {
    switch event {
    case .socketOpened: return self.socketOpened(at: now)
    case .loginAccepted(let result): return self.loginAccepted(result, at: now)
    case .loginRefused(let error): return self.loginRefused(error, at: now)
    case .clientReadyReceived(let message): return self.clientReadyReceived(message, at: now)
    case .gatewayStateReceived(let state): return self.gatewayStateReceived(state, at: now)
    case .gatewayStateRefused: return self.gatewayStateRefused()
    case .authenticationRequired: return self.authenticationRequired(at: now)
    case .refreshRequested: return self.refreshRequested(at: now)
    case .socketEnded:
      self.state = .idle
      return []
    case .timePassed: return self.timePassed(at: now)
    }
  }

  private mutating func socketOpened(at now: VoiceInstant) -> [Action] {
    self.ready = nil
    self.wasReady = false
    return self.logIn(at: now)
  }

  private mutating func logIn(at now: VoiceInstant) -> [Action] {
    self.lastLogin = now
    self.wantsRefresh = false
    self.state = .loggingIn(until: now.advanced(by: self.configuration.loginTimeout))
    return [.sendLogin]
  }

  private mutating func loginAccepted(_ result: LoginResult, at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .loggingIn:
      let report = Action.reportLoggedIn(sessionID: result.sessionID)
      guard self.dialect.hasGatewayState else { return [report] + self.becomeReady(at: now) }
      if self.ready != nil { return [report] + self.ask(1, at: now) }
      self.state = .awaitingReady(until: now.advanced(by: self.configuration.readyTimeout))
      return [report]
    case .refreshing(_, _, let lost):
      self.state = .registered
      let next = lost.map { self.lost($0, at: now) } ?? self.refreshAgain(at: now)
      return [.reportLoggedIn(sessionID: result.sessionID), .reportRefreshed] + next
    case .idle, .awaitingReady, .asking, .registered, .failed: return [.ignore(.outOfOrder)]
    }
  }

  private mutating func loginRefused(_ error: RPCError, at now: VoiceInstant) -> [Action] {
    let failure = VoiceFailure(.callLoginRefused, cause: error)
    switch self.state {
    case .loggingIn: return self.fail(failure)
    case .refreshing(_, let isDemanded, _):
      return self.refreshFailed(failure, isDemanded: isDemanded, at: now)
    case .idle, .awaitingReady, .asking, .registered, .failed: return [.ignore(.outOfOrder)]
    }
  }

  private mutating func clientReadyReceived(_ message: ClientReady, at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .loggingIn:
      self.ready = message
      return []
    case .awaitingReady:
      self.ready = message
      return self.ask(1, at: now)
    case .idle, .asking, .registered, .refreshing, .failed: return [.ignore(.outOfOrder)]
    }
  }

  private mutating func gatewayStateReceived(_ gateway: GatewayState, at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .awaitingReady: return gateway == .registered ? self.becomeReady(at: now) : []
    case .asking(let attempt, let until, _):
      guard gateway != .registered else { return self.becomeReady(at: now) }
      self.state = .asking(attempt: attempt, until: until, last: gateway)
      return []
    case .registered: return gateway == .registered ? [] : self.lost(gateway, at: now)
    case .refreshing(let until, let isDemanded, _):
      let lost = gateway == .registered ? nil : gateway
      self.state = .refreshing(until: until, isDemanded: isDemanded, lost: lost)
      return []
    case .idle, .loggingIn, .failed: return [.ignore(.outOfOrder)]
    }
  }

  /// An answer that is an error is worth no more than none: the next question comes in its time.
  private func gatewayStateRefused() -> [Action] {
    switch self.state {
    case .asking: []
    case .idle, .loggingIn, .awaitingReady, .registered, .refreshing, .failed: [.ignore(.outOfOrder)]
    }
  }

  private mutating func authenticationRequired(at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .idle, .loggingIn, .refreshing, .failed: return [.ignore(.outOfOrder)]
    case .awaitingReady, .asking, .registered: break
    }
    // A server that forgets each login at once would be logged into without end.
    if let lastLogin, lastLogin.duration(to: now) < self.configuration.loginHolds {
      return self.fail(
        VoiceFailure(.callLoginRefused, message: "The gateway demands a login right after one."))
    }
    guard self.isRegistered else { return self.logIn(at: now) }
    return self.refresh(isDemanded: true, at: now)
  }

  private mutating func refreshRequested(at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .registered: return self.refresh(isDemanded: false, at: now)
    case .loggingIn, .awaitingReady, .asking, .refreshing:
      self.wantsRefresh = true
      return []
    // The login to come has the new data.
    case .idle, .failed: return [.ignore(.outOfOrder)]
    }
  }

  private mutating func refresh(isDemanded: Bool, at now: VoiceInstant) -> [Action] {
    self.lastLogin = now
    self.wantsRefresh = false
    self.state = .refreshing(
      until: now.advanced(by: self.configuration.loginTimeout), isDemanded: isDemanded, lost: nil)
    return [.sendLogin]
  }

  private mutating func refreshFailed(
    _ failure: VoiceFailure, isDemanded: Bool, at now: VoiceInstant
  ) -> [Action] {
    guard !isDemanded else { return self.fail(failure) }
    self.state = .registered
    return [.report(failure)] + self.refreshAgain(at: now)
  }

  /// There are newer data than the login before had.
  private mutating func refreshAgain(at now: VoiceInstant) -> [Action] {
    self.wantsRefresh ? self.refresh(isDemanded: false, at: now) : []
  }

  private mutating func timePassed(at now: VoiceInstant) -> [Action] {
    guard let deadline = self.deadline, now >= deadline else { return [] }
    switch self.state {
    case .idle, .registered, .failed: return []
    case .loggingIn: return self.fail(VoiceFailure(.callLoginTimedOut))
    case .awaitingReady: return self.ask(1, at: now)
    case .refreshing(_, let isDemanded, _):
      return self.refreshFailed(VoiceFailure(.callLoginTimedOut), isDemanded: isDemanded, at: now)
    case .asking(let attempt, _, let last):
      guard attempt >= self.configuration.maxRegisterRetry else { return self.ask(attempt + 1, at: now) }
      let detail = last.map { "its state is \($0.publicName)" } ?? "it did not answer"
      return self.fail(
        VoiceFailure(.gatewayNotRegistered, message: "The gateway did not register the user: \(detail)."))
    }
  }

  private mutating func ask(_ attempt: Int, at now: VoiceInstant) -> [Action] {
    self.state = .asking(
      attempt: attempt, until: now.advanced(by: self.configuration.registerInterval), last: nil)
    return [.askGatewayState(attempt: attempt)]
  }

  private mutating func becomeReady(at now: VoiceInstant) -> [Action] {
    self.state = .registered
    let reattached = self.wasReady ? nil : self.ready?.reattachedSessions
    self.wasReady = true
    return [.reportReady(reattached: reattached)] + self.refreshAgain(at: now)
  }

  private mutating func lost(_ gateway: GatewayState, at now: VoiceInstant) -> [Action] {
    [.report(VoiceFailure(.gatewayRegistrationLost))] + self.ask(1, at: now)
  }

  private mutating func fail(_ failure: VoiceFailure) -> [Action] {
    self.state = .failed
    return [.fail(failure)]
  }
}

extension GatewayState {
  /// The name if it is one that this version knows: texts of others do not belong into messages.
  var publicName: String {
    if case .unknown = self { return "unknown" }
    return self.text
  }
}
