import CallSignaling
import Logging
import ServiceLifecycle
import Synchronization
import VoiceCore

/// The gateway for calls: steps the ``CallSwitch``, and brings what it says to clients, services and records.
final class CallGateway: Service {
  /// What the gateway is made of.
  struct Parts: Sendable {
    var desk: CallLoginDesk
    var users: any CallUserDirectory
    var media: any ServerMediaPeerFactory = ScriptedMediaPeers()
    var records: CallRecordWriter
    var clock: any VoiceClock
    /// The time in milliseconds since 1970-01-01T00:00:00 UTC.
    var wallTime: @Sendable () -> Int64
    var metrics: CallMetrics
    var logger: Logger
    var observer = VoiceServer.Observer()
  }

  private struct Sockets {
    var connections: [ConnectionID: GatewayConnection] = [:]
    /// Sockets and those that are about to be opened, by address and together.
    var addresses: [String: Int] = [:]
    var places = 0
    var lastID = 0
    var isStopped = false
  }

  private struct Login: Sendable {
    var connection: GatewayConnection
    var attempt: SessionMachine.LoginAttempt
  }

  let clock: any VoiceClock
  let metrics: CallMetrics
  /// Sent with every frame and sent back by clients that come again (telnyx.md section 2.1).
  let stickyToken: String
  let frameLimits: JSON.Limits
  let limits: ServerConfiguration.Calls.Limits
  private let parts: Parts
  private let node: String
  private let session: SessionMachine.Configuration
  private let pump: ActionPump<CallSwitch, CallSwitch.Action>
  private let sockets = Mutex(Sockets())
  private let peers = Mutex<[MediaID: any ServerMediaPeer]>([:])
  private let logins: AsyncStream<Login>
  private let loginRequests: AsyncStream<Login>.Continuation
  /// How often deadlines of calls are looked at.
  private static let tick = Duration.milliseconds(250)
  /// How often is looked whether there are other users.
  private static let userTick = Duration.seconds(1)

  init(
    configuration: ServerConfiguration.Calls, users: Set<String>, parts: Parts,
    generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    let limits = configuration.limits
    self.limits = limits
    self.parts = parts
    self.node = configuration.node
    self.clock = parts.clock
    self.metrics = parts.metrics
    var generator = generator
    // Letters and digits alone: published clients put it into a URL (telnyx.md section 1.4).
    self.stickyToken = "VSDK1\(configuration.node)\(String(generator.next(), radix: 36))"
    self.frameLimits = JSON.Limits(bytes: limits.frameBytes)
    self.session = SessionMachine.Configuration(
      loginTime: limits.loginTime, framesPerSecond: limits.framesPerSecond)
    var calls = CallSwitch.Configuration()
    calls.legs.ringTimeout = limits.ringTime
    calls.legs.detachTimeout = limits.detachTime
    calls.calls = limits.calls
    calls.callsPerUser = limits.callsPerUser
    calls.registrationsPerUser = limits.registrationsPerUser
    let numbers = Dictionary(
      configuration.dialPlan.map { ($0.number, $0.destination) }, uniquingKeysWith: { first, _ in first })
    self.pump = ActionPump(
      CallSwitch(
        configuration: calls, plan: DialPlan(numbers: numbers, users: users), generator: generator))
    (self.logins, self.loginRequests) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1024))
  }

  // MARK: - Sockets

  /// Takes a place for a socket from an address, to be given back with ``release(_:)``; false if there is none.
  func reserve(_ address: String) -> Bool {
    self.sockets.withLock { sockets in
      guard !sockets.isStopped, sockets.places < self.limits.connections,
        sockets.addresses[address, default: 0] < self.limits.connectionsPerAddress
      else { return false }
      sockets.places += 1
      sockets.addresses[address, default: 0] += 1
      return true
    }
  }

  func release(_ address: String) {
    self.sockets.withLock { sockets in
      sockets.places -= 1
      let left = sockets.addresses[address, default: 1] - 1
      sockets.addresses[address] = left > 0 ? left : nil
    }
  }

  /// Takes a new socket.
  func open(_ link: any GatewayLink, from address: String) -> GatewayConnection {
    let connection = self.sockets.withLock { sockets in
      sockets.lastID &+= 1
      let connection = GatewayConnection(
        id: ConnectionID(number: sockets.lastID), address: address, gateway: self, link: link,
        configuration: self.session)
      sockets.connections[connection.id] = connection
      return connection
    }
    self.metrics.connectionOpened()
    connection.start()
    return connection
  }

  func closed(_ connection: GatewayConnection) {
    let isKnown = self.sockets.withLock { sockets in
      sockets.connections.removeValue(forKey: connection.id) != nil
    }
    guard isKnown else { return }
    self.metrics.connectionClosed()
    self.handle(.disconnected(connection.id))
  }

  /// The sessions of a user that have a socket.
  func registered(_ user: String) -> [SessionKey] { self.pump.read { $0.registered(user) } }

  private func connection(_ id: ConnectionID) -> GatewayConnection? {
    self.sockets.withLock { $0.connections[id] }
  }

  func authenticate(_ attempt: SessionMachine.LoginAttempt, for connection: GatewayConnection) {
    switch self.loginRequests.yield(Login(connection: connection, attempt: attempt)) {
    case .enqueued: break
    case .dropped, .terminated:
      connection.handle(
        .authenticated(
          .failure(RPCError(code: .registrationTimedOut, message: "Gateway registration timeout"))))
    @unknown default: break
    }
  }

  // MARK: - Calls

  /// Takes an event in.
  func handle(_ event: CallSwitch.Event) {
    let now = self.clock.now
    self.pump.step {
      $0.handle(event, at: now)
    } perform: {
      self.perform($0)
    }
  }

  private func perform(_ action: CallSwitch.Action) {
    switch action {
    case .registered(let id, let key):
      guard let connection = self.connection(id) else {
        // Its socket ended while its login was checked: the switch was told so before it knew of it.
        return self.handle(.disconnected(id))
      }
      connection.handle(.registered(key))
    case .reply(let id, let request, let result): self.connection(id)?.handle(.replied(request, result))
    case .send(let id, let request): self.connection(id)?.handle(.sent(request))
    case .ask(let id, let request, let number):
      guard let connection = self.connection(id) else {
        return self.handle(.responded(id, number: number, .refused))
      }
      connection.handle(.asked(request, number: number))
    case .close(let id, .takenOver):
      self.connection(id)?.handle(.closeRequested(code: 1000, reason: "Another connection took the session"))
    case .close(let id, .removed):
      self.connection(id)?.handle(.closeRequested(code: 1008, reason: "The user was removed"))
    case .close(let id, .stopped):
      self.connection(id)?.handle(.closeRequested(code: 1001, reason: "The server stops"))
    case .tellMedia(let media, let command): self.tell(media, command)
    case .record(let record): self.write(record)
    }
  }

  private func tell(_ media: MediaID, _ command: MediaCommand) {
    let peer = self.peers.withLock { peers -> (any ServerMediaPeer)? in
      switch command {
      case .start:
        let peer = self.parts.media.makePeer { [weak self] event in self?.handle(.media(media, event)) }
        peers[media] = peer
        return peer
      case .stop: return peers.removeValue(forKey: media)
      case .renegotiate, .makeOffer, .takeAnswer, .hold, .tones, .candidate, .endOfCandidates:
        return peers[media]
      }
    }
    peer?.handle(command)
  }

  private func write(_ record: CallRecord) {
    self.metrics.ended(record)
    self.parts.records.write(
      StoredCall(record, node: self.node, now: self.clock.now, wallTime: self.parts.wallTime()))
    self.parts.logger.info(
      "call ended",
      metadata: [
        "call": "\(record.id)", "cause": "\(record.reason.hangupCause.map { $0.name } ?? "NONE")",
        "ended_by": "\(record.endedBy.rawValue)",
        "answered": "\(record.answered != nil)",
      ])
    self.parts.observer.callEnded(self.pump.read { $0.callCount })
  }

  /// Brings the gauges up to date.
  func refreshMetrics() {
    let counts = self.pump.read { ($0.registrationCount, $0.legCount, $0.callCount) }
    self.metrics.set(registrations: counts.0, legs: counts.1, calls: counts.2)
  }

  // MARK: - Life

  /// Ends all calls with a cause and closes all sockets; may be called repeatedly.
  func stop() {
    let stopped = self.sockets.withLock { sockets -> [GatewayConnection]? in
      guard !sockets.isStopped else { return nil }
      sockets.isStopped = true
      return Array(sockets.connections.values)
    }
    guard let connections = stopped else { return }
    // Also without sockets: calls outlive them for a while.
    self.handle(.stopped)
    // Those who have not logged in are not the switch's.
    for connection in connections {
      connection.handle(.closeRequested(code: 1001, reason: "The server stops"))
    }
  }

  func run() async throws {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.watchDeadlines() }
      group.addTask { await self.watchUsers() }
      await withGracefulShutdownHandler {
        for await login in self.logins {
          group.addTask {
            let result = await self.parts.desk.check(login.attempt, from: login.connection.address)
            login.connection.handle(.authenticated(result))
          }
        }
      } onGracefulShutdown: {
        self.stop()
        self.loginRequests.finish()
      }
      group.cancelAll()
    }
    // Another thread may still perform the end of the calls; the writer of their records stops after this service.
    await self.pump.idle()
  }

  /// Commands add users to the database from other processes; whoever was added can be called before the first login.
  private func watchUsers() async {
    var known: Set<String>?
    var isFailing = false
    while !Task.isCancelled {
      do {
        try await self.clock.sleep(until: self.clock.now.advanced(by: Self.userTick), tolerance: nil)
      } catch { return }
      do {
        let names = try await self.parts.users.names()
        if known != names {
          self.handle(.usersChanged(names))
          self.parts.observer.callUsersChanged(names)
        }
        known = names
        isFailing = false
      } catch {
        guard !isFailing else { continue }
        isFailing = true
        self.parts.logger.warning("users cannot be looked up", metadata: ["code": "\(error.code)"])
      }
    }
  }

  private func watchDeadlines() async {
    while !Task.isCancelled {
      do {
        try await self.clock.sleep(until: self.clock.now.advanced(by: Self.tick), tolerance: nil)
      } catch { return }
      self.handle(.timePassed)
    }
  }
}
