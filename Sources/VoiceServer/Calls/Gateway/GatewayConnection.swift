import CallSignaling
import VoiceCore

/// What carries the frames of one client: a WebSocket, or a test.
///
/// Every method may be called on any thread and returns at once; frames are sent in the order in which they came.
protocol GatewayLink: Sendable {
  func send(_ frame: [UInt8])
  func ping()
  func close(code: Int, reason: String)
  /// Calls the body once after a time; a later request replaces an earlier one.
  func schedule(in time: Duration, _ body: @escaping @Sendable () -> Void)
}

/// One client of the gateway: steps its ``SessionMachine``, reads and writes its frames.
final class GatewayConnection: Sendable {
  let id: ConnectionID
  /// Where the socket comes from.
  let address: String
  private let gateway: CallGateway
  private let link: any GatewayLink
  private let pump: ActionPump<SessionMachine, SessionMachine.Action>

  init(
    id: ConnectionID, address: String, gateway: CallGateway, link: any GatewayLink,
    configuration: SessionMachine.Configuration
  ) {
    self.id = id
    self.address = address
    self.gateway = gateway
    self.link = link
    self.pump = ActionPump(SessionMachine(configuration: configuration, at: gateway.clock.now))
  }

  /// Begins to watch the time.
  func start() { self.watchTime() }

  /// A text frame came.
  func receive(_ bytes: [UInt8]) {
    self.gateway.metrics.frameReceived()
    let event: SessionMachine.Event
    do throws(FrameError) {
      let frame = try SignalingCodec(limits: self.gateway.frameLimits).decode(ClientRequest.self, from: bytes)
      event = .frameReceived(frame)
    } catch {
      self.gateway.metrics.frameRefused()
      event = .frameInvalid(error)
    }
    self.handle(event)
  }

  /// The socket answered a ping.
  func receivePong() { self.handle(.pongReceived) }

  /// The socket is gone.
  func closed() {
    self.handle(.socketClosed)
    self.gateway.closed(self)
  }

  /// Takes an event in.
  func handle(_ event: SessionMachine.Event) {
    let now = self.gateway.clock.now
    self.pump.step {
      $0.handle(event, at: now)
    } perform: {
      self.perform($0)
    }
  }

  private func perform(_ action: SessionMachine.Action) {
    switch action {
    case .reply(let id, let result):
      let codec = SignalingCodec()
      let sticky = self.gateway.stickyToken
      switch result {
      case .success(let result): self.send(codec.encode(result, id: id, voiceSDKID: sticky))
      case .failure(let error): self.send(codec.encode(error, id: id, voiceSDKID: sticky))
      }
    case .send(let request, let id, let dialect):
      self.send(
        SignalingCodec(dialect: dialect).encode(
          request, id: .integer(id), voiceSDKID: self.gateway.stickyToken))
    case .authenticate(let attempt): self.gateway.authenticate(attempt, for: self)
    case .register(let key, let id, let isAnonymous):
      self.gateway.handle(.loggedIn(self.id, key, request: id, isAnonymous: isAnonymous))
    case .forward(let request, let id): self.gateway.handle(.requested(self.id, request, id: id))
    case .respond(let number, let response):
      self.gateway.handle(.responded(self.id, number: number, response))
    case .pingSocket: self.link.ping()
    case .close(let code, let reason): self.link.close(code: code, reason: reason)
    case .ignore: break
    }
  }

  private func send(_ bytes: [UInt8]) {
    self.gateway.metrics.frameSent()
    self.link.send(bytes)
  }

  /// Deadlines only move on, so one timer that looks again is enough.
  private func watchTime() {
    guard let deadline = self.pump.read({ $0.deadline }) else { return }
    let now = self.gateway.clock.now
    self.link.schedule(in: max(.milliseconds(10), now.duration(to: deadline))) { [weak self] in
      guard let self else { return }
      self.handle(.timePassed)
      self.watchTime()
    }
  }
}
