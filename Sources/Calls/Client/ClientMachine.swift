import CallSignaling
import VoiceCore
import VoiceWebSocket

/// A client as a value: connection, requests, outbox and calls wired to each other and to the frames.
///
/// The driver gives it what happens with the instant, performs the effects in their order, and wakes it at ``deadline``.
struct ClientMachine: Sendable {
  enum Event: Sendable {
    case connectRequested(ClientSession)
    case disconnectRequested
    /// New credentials or variables for the connection that there is.
    case loginChanged(ClientSession)
    case pathChanged(isSatisfied: Bool)
    case socket(generation: Int, SignalingTransportEvent)
    case timePassed
    case dialed(CallID, CallSetup)
    case call(CallID, CallMachine.Event)
    /// What the app says with an answer.
    case answerOptions(CallID, [CustomHeader], measuresQuality: Bool)
    case muted(CallID, Bool)
    case candidateFound(CallID, MediaCandidate?)
    /// The media peer answered an offer that came in the call.
    case updateAnswered(CallID, request: RPCID?, Result<SDP, VoiceFailure>)
    /// `wallTime`: in seconds since 1970.
    case measured(CallID, CallQualityMetrics, wallTime: Int)
    case requested(ClientRequest, isNotification: Bool)
    case tokenWarningDue(in: Duration?)
  }

  /// What a request was for.
  enum Purpose: Hashable, Sendable {
    case login, gatewayState
    case invite(CallID), answer(CallID), attach(CallID), restart(CallID)
    case outbox(Outbox.Item)
    case disablePush, attachCalls
    /// Nobody waits for the answer; a refusal is reported.
    case notice
  }

  enum MediaCommand: Hashable, Sendable {
    case makeOffer
    case makeAnswer(to: SDP, isReattach: Bool)
    case makeRestartOffer
    /// The other side changes its media; the request waits for the answer.
    case makeUpdateAnswer(to: SDP, request: RPCID?)
    case applyRemote(SDP, isFinal: Bool)
    case candidate(MediaCandidate?)
    case setMuted(Bool)
    case setHeld(Bool)
    case stop
  }

  /// What the app is told about the client.
  enum Notice: Sendable {
    case socketConnected, socketDisconnected, ready, refreshed
    case sessionUpdated(String)
    case failed(VoiceFailure)
    /// There will be no connection until somebody asks again.
    case gaveUp(VoiceFailure)
    case disconnected
    case pushDisabled(success: Bool, message: String)
    /// The call that a push announced is gone; `nil` if the push did not name it.
    case pushedCallGone(CallID?, CallTerminationReason)
    case assistant(AIConversation)
    case unhandled(ServerRequest)
  }

  /// What the app is told about a call.
  enum CallNotice: Sendable {
    /// `wasPushed`: a push had woken the app for it.
    case incoming(wasPushed: Bool)
    case stateChanged(CallState)
    case holdChanged(HoldState)
    case otherSideHeld(Bool)
    case earlyMedia
    case info(InfoMessage)
    case tonesDelivered(String)
    case failed(VoiceFailure)
    case ended(CallTerminationReason, CallReport?)
  }

  enum Effect: Sendable {
    case open(generation: Int, url: String)
    case send(generation: Int, [UInt8])
    case ping(generation: Int)
    case close(generation: Int)
    case abandon(generation: Int)
    case media(CallID, MediaCommand)
    case notify(Notice)
    case notifyCall(CallID, CallNotice)
    case log(LogLevel, String)
  }

  var connection: ConnectionMachine
  var requests = RequestTable<Purpose>()
  var outbox = Outbox()
  var calls: [CallID: CallRecord] = [:]
  var session: ClientSession?
  var codec: SignalingCodec
  var callConfiguration = CallMachine.Configuration()
  var tokenWarning: VoiceInstant?
  var callReportID: String?
  var push = PushWait.none
  /// Why there is no connection although one was wanted.
  private(set) var givenUp: VoiceFailure?
  private var nextSession: ClientSession?
  /// What the last login said, and what the last one said that the gateway took.
  private var sent: ClientSession.LoginData?
  private var accepted: ClientSession.LoginData?
  private var isConnectedBefore = false
  private var disconnectDeadline: VoiceInstant?
  private var random: any RandomNumberGenerator & Sendable
  private(set) var effects: [Effect] = []

  init(random: any RandomNumberGenerator & Sendable) {
    self.random = random
    self.connection = ConnectionMachine()
    self.codec = SignalingCodec()
  }

  /// When the machine wants to be told that time passed.
  var deadline: VoiceInstant? {
    let own = [
      self.connection.deadline, self.requests.deadline, self.outbox.deadline, self.disconnectDeadline,
      self.tokenWarning, self.push.deadline,
    ]
    return (own + self.calls.values.map(\.machine.deadline)).compactMap { $0 }.min()
  }

  /// Whether calls can be made and come in.
  var isReady: Bool { self.connection.isReady && self.disconnectDeadline == nil }

  /// Whether there is a connection, or will be one without being asked for again.
  var willBeConnected: Bool { self.isWanted && (self.disconnectDeadline == nil || self.nextSession != nil) }

  /// Whether the client says goodbye to its gateway.
  var isDisconnecting: Bool { self.disconnectDeadline != nil }

  /// Whether a socket is open.
  var isConnected: Bool {
    switch self.connection.socket.state {
    case .open, .probing: true
    case .idle, .connecting, .closing: false
    }
  }

  mutating func makeID() -> String { UUIDText.random(using: &self.random) }

  /// Takes an event in.
  mutating func handle(_ event: Event, at now: VoiceInstant) -> [Effect] {
    self.effects = []
    switch event {
    case .connectRequested(let session): self.connectRequested(session, at: now)
    case .disconnectRequested:
      // Also from where the client was going.
      self.nextSession = nil
      self.disconnectRequested(at: now)
    case .loginChanged(let session): self.loginChanged(session, at: now)
    case .pathChanged(let isSatisfied): self.connect(.pathChanged(isSatisfied: isSatisfied), at: now)
    case .socket(let generation, let event): self.socket(event, of: generation, at: now)
    case .timePassed: self.timePassed(at: now)
    case .dialed(let id, let setup): self.dialed(id, setup, at: now)
    case .call(let id, let event): self.step(id, event, at: now)
    case .answerOptions(let id, let headers, let measuresQuality):
      self.calls[id]?.dialog.customHeaders = headers
      if measuresQuality { self.calls[id]?.measuresQuality = true }
    case .muted(let id, let isMuted):
      guard self.calls[id] != nil else { break }
      self.emit(.media(id, .setMuted(isMuted)))
    case .candidateFound(let id, let candidate): self.candidateFound(candidate, of: id, at: now)
    case .updateAnswered(let id, let request, let result): self.updateAnswered(id, request, result)
    case .measured(let id, let metrics, let wallTime):
      self.measured(metrics, of: id, wallTime: wallTime, at: now)
    case .requested(let request, let isNotification):
      self.requested(request, isNotification: isNotification, at: now)
    case .tokenWarningDue(let delay): self.tokenWarning = delay.map { now.advanced(by: max(.zero, $0)) }
    }
    self.finishDisconnecting(at: now)
    defer { self.effects = [] }
    return self.effects
  }

  mutating func emit(_ effect: Effect) { self.effects.append(effect) }

  /// - Parameter id: The call that it is about; without one it is about all of them.
  mutating func log(_ level: LogLevel, _ message: String, of id: CallID? = nil, at now: VoiceInstant? = nil) {
    self.emit(.log(level, message))
    guard let now else { return }
    if let id {
      self.calls[id]?.note(level, message, at: now)
    } else {
      for id in self.calls.keys { self.calls[id]?.note(level, message, at: now) }
    }
  }

  // MARK: Connection

  private mutating func connectRequested(_ session: ClientSession, at now: VoiceInstant) {
    if let present = self.session, self.disconnectDeadline == nil, self.isWanted {
      if session.isSameConnection(as: present) {
        self.loginChanged(session, at: now)
      } else {
        // The calls are the other gateway's: they end there before the client goes.
        self.nextSession = session
        self.disconnectRequested(at: now)
      }
      return
    }
    guard self.disconnectDeadline == nil else {
      self.nextSession = session
      return
    }
    self.begin(session, at: now)
  }

  private mutating func begin(_ session: ClientSession, at now: VoiceInstant) {
    self.session = session
    self.accepted = nil
    self.givenUp = nil
    self.isConnectedBefore = false
    self.push = session.fromPush ? .expected(session.pushedCall) : .none
    self.configure(session.settings, dialect: session.dialect)
    self.connect(.connectRequested, at: now)
  }

  /// Whether the client is connected or on its way to be.
  var isWanted: Bool {
    switch self.connection.recovery.state {
    case .connecting, .up, .waiting, .noPath: true
    case .offline, .gaveUp: false
    }
  }

  private mutating func loginChanged(_ session: ClientSession, at now: VoiceInstant) {
    guard var present = self.session else { return }
    let isSame = present.identity == session.identity && present.userVariables == session.userVariables
    present.identity = session.identity
    present.userVariables = session.userVariables
    present.pushVariables = session.pushVariables
    self.session = present
    if session.fromPush {
      self.push = .expected(session.pushedCall)
      if self.connection.isReady { self.askForPushedCall(at: now) }
    }
    guard !isSame else { return }
    self.connect(.refreshRequested, at: now)
  }

  /// The gateway refused new credentials: the old ones go on, also on the next connection.
  mutating func refreshRefused() {
    // Unless there are newer ones, which are still to be asked for.
    if let accepted, self.session?.loginData == self.sent { self.session?.loginData = accepted }
  }

  private mutating func disconnectRequested(at now: VoiceInstant) {
    for id in self.calls.keys.sorted(by: { $0.text < $1.text }) { self.step(id, .hangupRequested, at: now) }
    self.disconnectDeadline = now.advanced(by: RequestTimeouts.timeout(of: .bye))
  }

  /// Goodbyes are waited for while there is somebody who could confirm them.
  private mutating func finishDisconnecting(at now: VoiceInstant) {
    guard let deadline = self.disconnectDeadline else { return }
    guard !self.outbox.hasByes || !self.connection.isReady || now >= deadline else { return }
    self.disconnectDeadline = nil
    // Those that came meanwhile have nobody who takes them.
    for id in self.sortedCalls { self.step(id, .hangupRequested, at: now) }
    self.connect(.disconnectRequested, at: now)
    for entry in self.requests.interrupted() { self.settle(entry.context, .interrupted, at: now) }
    self.perform(self.outbox.abandoned(), at: now)
    self.emit(.notify(.disconnected))
    if let next = self.nextSession {
      self.nextSession = nil
      self.begin(next, at: now)
    } else {
      // Otherwise it is the warning of the next token.
      self.tokenWarning = nil
    }
  }

  mutating func connect(_ event: ConnectionMachine.Event, at now: VoiceInstant) {
    let actions = self.connection.handle(event, at: now, using: &self.random)
    for action in actions { self.perform(action, at: now) }
  }

  private mutating func perform(_ action: ConnectionMachine.Action, at now: VoiceInstant) {
    switch action {
    case .open(let generation): self.open(generation, at: now)
    case .probe(let generation): self.emit(.ping(generation: generation))
    case .close(let generation): self.emit(.close(generation: generation))
    case .abandon(let generation): self.emit(.abandon(generation: generation))
    case .sendLogin:
      guard let session = self.session else { break }
      self.sent = session.loginData
      let isReconnection = self.isConnectedBefore
      self.send(
        session.login(isReconnection: isReconnection, attachesCalls: isReconnection && !self.calls.isEmpty),
        for: .login,
        at: now)
    case .askGatewayState(let attempt):
      self.log(.info, "asking for the gateway's state, attempt \(attempt)")
      self.send(.gatewayState(), for: .gatewayState, at: now)
    case .linkLost(let reason): self.linkLost(reason, at: now)
    case .linkRestored(let known): self.linkRestored(known, at: now)
    case .linkAbandoned(let failure): self.linkAbandoned(failure, at: now)
    case .reportSocketOpened: self.emit(.notify(.socketConnected))
    case .reportSocketClosed: self.emit(.notify(.socketDisconnected))
    case .reportLoggedIn(let sessionID):
      if let sessionID, sessionID != self.session?.sessionID {
        self.session?.sessionID = sessionID
        self.emit(.notify(.sessionUpdated(sessionID)))
      }
    case .reportReady:
      self.isConnectedBefore = true
      self.accepted = self.sent
      // Those that were placed while the registration was lost on a link that stayed.
      for id in self.sortedCalls where self.calls[id]?.machine.isLinkDown ?? false {
        self.step(id, .linkRestored(isKnown: nil), at: now)
      }
      self.emit(.notify(.ready))
      self.askForPushedCall(at: now)
    case .reportRefreshed:
      self.accepted = self.sent
      self.emit(.notify(.refreshed))
    case .report(let failure): self.emit(.notify(.failed(failure)))
    case .ignore(let reason): self.log(.all, "ignored an event of the connection: \(reason.rawValue)")
    }
  }

  private mutating func open(_ generation: Int, at now: VoiceInstant) {
    guard let session = self.session else { return }
    do {
      let address = try session.server.address(voiceSDKID: session.voiceSDKID ?? session.server.voiceSDKID)
      self.log(.info, "connecting to \(address.hostField)")
      self.emit(.open(generation: generation, url: address.description))
    } catch {
      self.connect(.socketFailed(generation: generation, error.failure), at: now)
    }
  }

  private mutating func linkLost(_ reason: CallState.Reason, at now: VoiceInstant) {
    self.perform(self.outbox.linkLost(), at: now)
    for entry in self.requests.interrupted() { self.settle(entry.context, .interrupted, at: now) }
    if !self.calls.isEmpty { self.log(.warning, "the connection is lost: \(reason.rawValue)", at: now) }
    for id in self.sortedCalls {
      self.calls[id]?.outages += 1
      self.step(id, .linkLost(reason), at: now)
    }
  }

  private mutating func linkRestored(_ known: [CallID]?, at now: VoiceInstant) {
    if !self.calls.isEmpty { self.log(.success, "the connection is there", at: now) }
    for id in self.sortedCalls {
      self.step(id, .linkRestored(isKnown: known.map { $0.contains(id) }), at: now)
    }
    self.perform(self.outbox.linkRestored(known: known, at: now), at: now)
  }

  private mutating func linkAbandoned(_ failure: VoiceFailure, at now: VoiceInstant) {
    for entry in self.requests.interrupted() { self.settle(entry.context, .interrupted, at: now) }
    for id in self.sortedCalls { self.step(id, .linkAbandoned(failure), at: now) }
    self.perform(self.outbox.abandoned(), at: now)
    self.givenUp = failure
    self.emit(.notify(.gaveUp(failure)))
  }

  /// In a fixed order, so that equal events give equal effects.
  var sortedCalls: [CallID] { self.calls.values.sorted { $0.order < $1.order }.map(\.id) }

  // MARK: Time

  private mutating func timePassed(at now: VoiceInstant) {
    self.connect(.timePassed, at: now)
    for entry in self.requests.timePassed(at: now) { self.settle(entry.context, .timedOut, at: now) }
    self.perform(self.outbox.timePassed(at: now), at: now)
    for id in self.sortedCalls {
      guard let deadline = self.calls[id]?.machine.deadline, deadline <= now else { continue }
      self.step(id, .timePassed, at: now)
    }
    self.pushTimePassed(at: now)
    if let warning = self.tokenWarning, warning <= now {
      self.tokenWarning = nil
      self.emit(.notify(.failed(VoiceFailure(.callTokenExpiring))))
    }
  }
}
