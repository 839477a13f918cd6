import CallSignaling
import VoiceCore

/// Decides about all calls of a gateway: who is registered, which legs belong together, and what each client is told.
///
/// Clients log in to **sessions**, which outlive their sockets while they have calls. An invite makes a **call** with a caller's
/// leg; the dial plan gives it a service, or one leg for each client of the called user. The first to answer gets the call.
/// Each leg is a ``LegMachine``; this machine connects them:
///
/// | one leg tells | the other legs get |
/// |---|---|
/// | a client answered | the caller: answered; the other ringing clients: `PICKED_OFF` |
/// | a ringing client refused | nothing while others ring, unless it was a refusal for all; then the caller gets the cause |
/// | the caller hung up before the answer | `ORIGINATOR_CANCEL` |
/// | a client hung up | the same cause |
/// | hold, tones, candidates | the same |
/// | an offer of changed media | the same offer; its answer goes back |
/// | a client attached | its description, as a question; see ``reconcile(_:at:)`` |
///
/// | when a socket | then |
/// |---|---|
/// | closes | its session's calls stay for the detach time, others are not told |
/// | logs in to a session with calls | the client hears which the server knows, and is offered to attach |
/// | logs in to a session that has a socket | the old socket is punted |
///
/// An invite that cannot lead anywhere is accepted and ended with a cause: published clients do not show the cause of a refused
/// invite, and some keep such a call for ever (telnyx.md section 5.2).
struct CallSwitch: Sendable {
  let configuration: Configuration
  var plan: DialPlan
  /// The users that can log in by a password.
  private var directory: Set<String>
  private(set) var sessions: [SessionKey: Session] = [:]
  var connections: [ConnectionID: SessionKey] = [:]
  /// The sessions of each user, in the order of their logins.
  private var clients: [String: [SessionKey]] = [:]
  var legs: [LegNumber: Leg] = [:]
  var calls: [Int: Call] = [:]
  var mediaCalls: [MediaID: Int] = [:]
  /// What the answers to open questions of the gateway are for.
  var questions: [Int: Question] = [:]
  var actions: [Action] = []
  private var lastNumber = 0
  private var generator: any RandomNumberGenerator & Sendable

  /// Creates a switch without clients.
  init(
    configuration: Configuration = Configuration(), plan: DialPlan = DialPlan(),
    generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.configuration = configuration
    self.plan = plan
    self.directory = plan.users
    self.generator = generator
  }

  /// How much there is now.
  var registrationCount: Int { self.connections.count }
  var legCount: Int { self.legs.count }
  var callCount: Int { self.calls.count }

  /// Takes an event in.
  mutating func handle(_ event: Event, at now: VoiceInstant) -> [Action] {
    switch event {
    case .loggedIn(let connection, let key, let id, let isAnonymous):
      self.loggedIn(connection, key, id: id, isAnonymous: isAnonymous, at: now)
    case .requested(let connection, let request, let id):
      self.requested(request, Asker(connection: connection, id: id), at: now)
    case .responded(_, let number, let response):
      self.responded(number, response, at: now)
    case .disconnected(let connection):
      self.disconnected(connection, at: now)
    case .media(let media, let event):
      self.mediaSpoke(media, event, at: now)
    case .usersChanged(let names):
      self.usersChanged(names)
    case .timePassed:
      self.timePassed(at: now)
    case .stopped:
      self.stopped(at: now)
    }
    defer { self.actions.removeAll(keepingCapacity: true) }
    return self.actions
  }

  /// Numbers that are never used twice.
  mutating func nextNumber() -> Int {
    self.lastNumber &+= 1
    return self.lastNumber
  }

  mutating func randomID() -> String { UUIDText.random(using: &self.generator) }

  // MARK: - Sessions

  private mutating func loggedIn(
    _ connection: ConnectionID, _ wanted: SessionKey, id: RPCID?, isAnonymous: Bool, at now: VoiceInstant
  ) {
    let key = self.named(wanted, isAnonymous: isAnonymous)
    if let current = self.connections[connection] {
      // The same session again: a new password or token on a live socket.
      let error = RPCError(code: .authenticationFailed, message: "Already logged in")
      return self.reply(
        Asker(connection: connection, id: id),
        current == key ? .success(.login(LoginResult(sessionID: key.sessionID))) : .failure(error))
    }
    if self.sessions[key] == nil {
      guard self.clients[key.user, default: []].count < self.configuration.registrationsPerUser else {
        return self.reply(
          Asker(connection: connection, id: id),
          .failure(RPCError(code: .registrationFailed, message: "Too many registrations")))
      }
      self.sessions[key] = Session(connection: nil, isAnonymous: isAnonymous)
      self.clients[key.user, default: []].append(key)
    }
    if !isAnonymous {
      self.plan.users.insert(key.user)
      // Whoever proved just now to be this user is no removed one.
      self.sessions[key]?.isRemoved = false
    }
    if let old = self.sessions[key]?.connection {
      self.actions.append(.send(old, .punt()))
      self.actions.append(.close(old, .takenOver))
      self.connections[old] = nil
      self.dropQuestions(of: old)
      self.stepAll(of: key, .socketLost, at: now)
    }
    self.sessions[key]?.connection = connection
    self.connections[connection] = key
    self.actions.append(.registered(connection, key))
    self.reply(
      Asker(connection: connection, id: id), .success(.login(LoginResult(sessionID: key.sessionID))))
    let known = self.legNumbers(of: key).compactMap { self.legs[$0]?.callID }
    self.actions.append(.send(connection, .clientReady(ClientReady(reattachedSessions: known))))
    self.stepAll(of: key, .socketRestored, at: now)
  }

  /// Sessions of removed users end with their last call. Who is logged in by a token alone was never in the directory, and stays.
  private mutating func usersChanged(_ names: Set<String>) {
    let removed = self.directory.subtracting(names)
    self.directory = names
    for key in self.sessions.keys where !(self.sessions[key]?.isAnonymous ?? true) {
      if removed.contains(key.user) { self.sessions[key]?.isRemoved = true }
      if names.contains(key.user) { self.sessions[key]?.isRemoved = false }
    }
    for user in removed.sorted() {
      for key in self.clients[user, default: []] { self.closeIfRemoved(key) }
    }
    self.plan.users = names.union(
      self.sessions.filter { !$0.value.isAnonymous && !$0.value.isRemoved }.map { $0.key.user })
  }

  private mutating func closeIfRemoved(_ key: SessionKey) {
    guard let session = self.sessions[key], session.isRemoved, session.legs.isEmpty,
      let connection = session.connection
    else { return }
    self.actions.append(.close(connection, .removed))
  }

  /// A client that names no session gets a new one.
  private mutating func named(_ key: SessionKey, isAnonymous: Bool) -> SessionKey {
    guard key.sessionID.isEmpty else { return key }
    let id = self.randomID()
    return SessionKey(user: isAnonymous ? key.user + id : key.user, sessionID: id)
  }

  private mutating func disconnected(_ connection: ConnectionID, at now: VoiceInstant) {
    guard let key = self.connections.removeValue(forKey: connection) else { return }
    self.sessions[key]?.connection = nil
    self.dropQuestions(of: connection)
    self.stepAll(of: key, .socketLost, at: now)
    self.removeIfUnused(key)
  }

  private func legNumbers(of key: SessionKey) -> [LegNumber] {
    (self.sessions[key]?.legs.values).map { $0.sorted() } ?? []
  }

  private mutating func stepAll(of key: SessionKey, _ event: LegMachine.Event, at now: VoiceInstant) {
    for number in self.legNumbers(of: key) { self.step(number, event, at: now) }
  }

  /// A session without socket and calls is forgotten.
  private mutating func removeIfUnused(_ key: SessionKey) {
    guard let session = self.sessions[key], session.connection == nil, session.legs.isEmpty else { return }
    self.sessions[key] = nil
    self.clients[key.user]?.removeAll { $0 == key }
    if self.clients[key.user]?.isEmpty == true { self.clients[key.user] = nil }
  }

  /// The sessions of a user that have a socket.
  func registered(_ user: String) -> [SessionKey] {
    self.clients[user, default: []].filter { key in
      self.sessions[key].map { $0.connection != nil && !$0.isRemoved } ?? false
    }
  }

  /// How many calls a user has; one that rings at several clients is one.
  func load(of user: String) -> Int {
    let legs = self.clients[user, default: []].flatMap { self.sessions[$0]?.legs.values.map { $0 } ?? [] }
    return Set(legs.compactMap { self.legs[$0]?.call }).count
  }

  // MARK: - Legs

  mutating func addLeg(
    role: LegMachine.Role, callID: CallID, session: SessionKey, call: Int
  ) -> LegNumber {
    let number = LegNumber(value: self.nextNumber())
    self.legs[number] = Leg(
      call: call, session: session, callID: callID, telnyxID: self.randomID(),
      machine: LegMachine(role: role, configuration: self.configuration.legs))
    self.sessions[session]?.legs[callID] = number
    return number
  }

  mutating func removeLeg(_ number: LegNumber) {
    guard let leg = self.legs.removeValue(forKey: number) else { return }
    self.sessions[leg.session]?.legs[leg.callID] = nil
    if let update = leg.update { self.questions[update.number] = nil }
    if let exchange = self.calls[leg.call]?.exchange {
      self.questions[exchange.number] = nil
      self.calls[leg.call]?.exchange = nil
    }
    self.closeIfRemoved(leg.session)
    self.removeIfUnused(leg.session)
  }

  /// Remembers that another client took a call; only so many that a client that never answers costs nothing.
  mutating func rememberLoss(of number: LegNumber) {
    guard let leg = self.legs[number] else { return }
    self.sessions[leg.session]?.lost.append(leg.callID)
    if let count = self.sessions[leg.session]?.lost.count, count > 16 {
      self.sessions[leg.session]?.lost.removeFirst()
    }
  }

  /// The socket of a leg's client, if it has one.
  func connection(of number: LegNumber) -> ConnectionID? {
    self.legs[number].flatMap { self.sessions[$0.session]?.connection }
  }

  // MARK: - Time and end

  private mutating func timePassed(at now: VoiceInstant) {
    let due = self.legs.filter { ($0.value.machine.deadline ?? now.advanced(by: .seconds(1))) <= now }
    for number in due.keys.sorted() { self.step(number, .timePassed, at: now) }
    let late = self.questions.filter { (self.deadline(of: $0.value) ?? now) <= now }
    for number in late.keys.sorted() { self.responded(number, .refused, at: now) }
    self.endWithoutMedia(at: now)
  }

  private func deadline(of question: Question) -> VoiceInstant? {
    switch question {
    case .update(let number): self.legs[number]?.update?.deadline
    case .exchange(let call): self.calls[call]?.exchange?.deadline
    }
  }

  private mutating func stopped(at now: VoiceInstant) {
    let reason = CallTerminationReason(.systemShutdown, origin: .server)
    for number in self.legs.keys.sorted() {
      if let call = self.legs[number]?.call, self.calls[call]?.endedBy == nil {
        self.calls[call]?.endedBy = .gateway
      }
      self.step(number, .endRequested(reason), at: now)
    }
    for connection in self.connections.keys.sorted() {
      self.actions.append(.close(connection, .stopped))
    }
  }
}
