import NIOCore
import NIOPosix
import Synchronization
import VoiceCore

/// When a connection wants to be told the time.
struct LinkWake: Sendable {
  var connection: Int
  var instant: VoiceInstant
}

/// The sockets of an ``ImpairedLink``; everything behind ``run(_:)`` happens on one event loop.
final class LinkDriver: Sendable {
  /// The part that lives on the event loop.
  final class Core {
    let clock: any VoiceClock
    let wakes: AsyncStream<LinkWake>.Continuation
    weak var link: ImpairedLink?
    var plan: LinkPlan
    var relays: [Int: LinkRelay] = [:]
    /// Connections whose socket to the target is being made.
    var connecting: [Int: any Channel] = [:]
    var nextNumber = 0
    var isStopped = false

    init(plan: LinkPlan, clock: any VoiceClock, wakes: AsyncStream<LinkWake>.Continuation) {
      self.plan = plan
      self.clock = clock
      self.wakes = wakes
    }

    func cutAll(_ ending: LinkPlan.Ending) {
      for relay in self.relays.values { relay.cut(ending) }
    }

    func cut(_ connection: Int, _ ending: LinkPlan.Ending) {
      self.relays[connection]?.cut(ending)
    }

    func setPlan(_ plan: LinkPlan) {
      self.plan = plan
      for relay in self.relays.values { relay.replan(plan.connection(relay.number)) }
    }

    func timeReached(connection: Int) {
      self.relays[connection]?.timeReached()
    }

    func changed(_ relay: LinkRelay) {
      self.link?.record(
        ImpairedLink.Connection(
          id: relay.number, bytesToTarget: relay.forwardedBytes(.toTarget),
          bytesToClient: relay.forwardedBytes(.toClient), ending: relay.ending, isClosed: relay.isClosed))
      if relay.isClosed { self.relays[relay.number] = nil }
    }

    func stop() {
      self.isStopped = true
      for channel in self.connecting.values { channel.closeWithReset() }
      for relay in self.relays.values { relay.abort() }
      self.relays = [:]
    }
  }

  let port: Int
  private let targetHost: String
  private let targetPort: Int
  private let loop: any EventLoop
  private let core: NIOLoopBoundBox<Core>
  private let listener = Mutex<(any Channel)?>(nil)
  /// A bound socket that never listens: it keeps the port from others while connections are refused.
  private let placeholder: NIOBSDSocket.Handle

  init(
    targetHost: String, targetPort: Int, plan: LinkPlan, clock: any VoiceClock,
    wakes: AsyncStream<LinkWake>.Continuation
  ) throws {
    self.targetHost = targetHost
    self.targetPort = targetPort
    do {
      (self.placeholder, self.port) = try LoopbackPort.reserve()
    } catch {
      throw VoiceFailure(.portInUse, message: "The link finds no free port.", cause: error)
    }
    self.loop = MultiThreadedEventLoopGroup.singleton.next()
    self.core = NIOLoopBoundBox.makeBoxSendingValue(
      Core(plan: plan, clock: clock, wakes: wakes), eventLoop: self.loop)
  }

  deinit { LoopbackPort.release(self.placeholder) }

  /// Runs on the event loop and returns when it is done.
  func run(_ body: @escaping @Sendable (Core) -> Void) async {
    // The event loop is never shut down, so this cannot fail.
    try? await self.loop.submit { body(self.core.value) }.get()
  }

  func attach(_ link: ImpairedLink) async {
    await self.run { [weak link] in $0.link = link }
  }

  func listen() async throws {
    guard self.listener.withLock({ $0 == nil }) else { return }
    let bootstrap = ServerBootstrap(group: self.loop)
      .serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelOption(.socketOption(.reusePort), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { client in
        client.eventLoop.makeCompletedFuture {
          let handler = LinkRelayHandler(sends: .toTarget, onActive: { self.accepted(client) })
          try client.pipeline.syncOperations.addHandler(handler)
        }
      }
    do {
      let listener = try await bootstrap.bind(host: "127.0.0.1", port: self.port).get()
      self.listener.withLock { $0 = listener }
    } catch {
      throw VoiceFailure(.portInUse, message: "The link cannot listen at port \(self.port).", cause: error)
    }
  }

  func stopListening() async {
    let listener = self.listener.withLock { listener in
      defer { listener = nil }
      return listener
    }
    try? await listener?.close()
  }

  func stop() async {
    await self.stopListening()
    await self.run { $0.stop() }
  }

  /// Makes the socket to the target, for a client that is not read until there is one.
  ///
  /// The client's socket is handed over by then: a listener that is closed takes with it what it has not handed over.
  private func accepted(_ client: any Channel) {
    let core = self.core.value
    let number = core.nextNumber
    core.nextNumber += 1
    core.link?.record(ImpairedLink.Connection(id: number))
    guard !core.isStopped, !core.plan.connection(number).isRejected else {
      return core.rejected(number, client)
    }
    core.connecting[number] = client
    ClientBootstrap(group: self.loop)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .channelOption(.autoRead, value: false)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { target in
        target.eventLoop.makeCompletedFuture {
          try target.pipeline.syncOperations.addHandler(LinkRelayHandler(sends: .toClient))
        }
      }
      .connect(host: self.targetHost, port: self.targetPort)
      .assumeIsolated()
      .flatMapThrowing { target in try core.connected(number, client: client, target: target) }
      .whenFailure { _ in core.rejected(number, client) }
  }
}

extension LinkDriver.Core {
  fileprivate func connected(_ number: Int, client: any Channel, target: any Channel) throws {
    self.connecting[number] = nil
    guard !self.isStopped, client.isActive else {
      target.closeWithReset()
      return self.rejected(number, client)
    }
    let clientHandler = try client.pipeline.syncOperations.handler(type: LinkRelayHandler.self)
    let targetHandler = try target.pipeline.syncOperations.handler(type: LinkRelayHandler.self)
    let seeds = SeededGenerator(seed: self.plan.seed &+ UInt64(number))
    let relay = LinkRelay(
      number: number, client: client, target: target,
      machine: LinkConnectionMachine(plan: self.plan.connection(number), generator: seeds),
      environment: LinkRelay.Environment(
        now: { [clock] in clock.now },
        wake: { [wakes] in wakes.yield(LinkWake(connection: number, instant: $0)) },
        changed: { [weak self] in self?.changed($0) }))
    self.relays[number] = relay
    relay.opened()
    targetHandler.attach(relay)
    clientHandler.attach(relay)
  }

  /// Resets a client that gets no connection to the target.
  fileprivate func rejected(_ number: Int, _ client: any Channel) {
    self.connecting[number] = nil
    client.closeWithReset()
    var connection = ImpairedLink.Connection(id: number)
    connection.ending = .reset
    connection.isClosed = true
    self.link?.record(connection)
  }
}
