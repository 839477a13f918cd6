import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import VoiceWebSocket

@testable import VoiceTesting

/// A port at which the first connections go wrong in a given way each, and the further ones reach a scripted gateway.
///
/// Bytes of the test's own can be put between the frames of the gateway.
final class TroubledGateway: Sendable {
  /// How a connection goes wrong before it is a WebSocket.
  enum Opening: Sendable {
    /// These bytes answer the client's first ones; then the connection stays open.
    case answers(String)
    /// These bytes answer the client's first ones, one every 5 ms; then nothing more.
    case drips(String)
    case closes
  }

  private struct State {
    var openings: [Opening]
    var accepted = 0
    var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var injectors: [NIOLoopBound<Injector>] = []
  }

  /// Writes below the frames of the gateway.
  private final class Injector: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    private var context: ChannelHandlerContext?
    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }
    func write(_ bytes: [UInt8]) {
      self.context?.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
    }
  }

  private final class Misbehaving: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let opening: Opening
    private var hasAnswered = false

    init(_ opening: Opening) { self.opening = opening }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !self.hasAnswered else { return }
      self.hasAnswered = true
      switch self.opening {
      case .answers(let text): context.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: nil)
      case .drips(let text): self.drip(Array(text.utf8)[...], context)
      case .closes: context.close(promise: nil)
      }
    }

    private func drip(_ bytes: ArraySlice<UInt8>, _ context: ChannelHandlerContext) {
      guard let first = bytes.first, context.channel.isActive else { return }
      context.writeAndFlush(NIOAny(ByteBuffer(bytes: [first])), promise: nil)
      context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(5)) {
        self.drip(bytes.dropFirst(), context)
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  let gateway = ScriptedGateway()
  private let state: Mutex<State>
  private let channel = Mutex<(any Channel)?>(nil)

  private init(_ openings: [Opening]) {
    self.state = Mutex(State(openings: openings))
  }

  static func listen(_ openings: [Opening] = []) async throws -> TroubledGateway {
    let server = TroubledGateway(openings)
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try server.accept(channel) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    server.channel.withLock { $0 = channel }
    return server
  }

  var url: String { "ws://127.0.0.1:\(self.channel.withLock { $0?.localAddress?.port } ?? 0)/calls" }

  func close() async {
    try? await self.channel.withLock { $0 }?.close()
  }

  /// Waits until so many connections were accepted.
  func accepted(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = self.state.withLock { state in
        if state.accepted < count { state.waiters.append((count, continuation)) }
        return state.accepted >= count
      }
      if isThere { continuation.resume() }
    }
  }

  /// Writes bytes to every client as they are.
  func inject(_ bytes: [UInt8]) {
    for injector in self.state.withLock({ $0.injectors }) {
      injector.eventLoop.execute { injector.value.write(bytes) }
    }
  }

  /// Writes an unmasked frame to every client.
  func injectFrame(_ first: UInt8, _ payload: [UInt8], length: UInt64? = nil) {
    let count = length ?? UInt64(payload.count)
    var head: [UInt8] = [first]
    switch count {
    case ..<126: head.append(UInt8(count))
    case ..<65536: head += [126, UInt8(count >> 8), UInt8(count & 0xFF)]
    default: head += [127] + (0..<8).map { UInt8((count >> (56 - 8 * UInt64($0))) & 0xFF) }
    }
    self.inject(head + payload)
  }

  private func accept(_ channel: any Channel) throws {
    let (opening, due) = self.state.withLock { state in
      state.accepted += 1
      let due = state.waiters.filter { $0.count <= state.accepted }.map(\.continuation)
      state.waiters.removeAll { $0.count <= state.accepted }
      return (state.openings.isEmpty ? nil : state.openings.removeFirst(), due)
    }
    for waiter in due { waiter.resume() }
    let pipeline = channel.pipeline.syncOperations
    if let opening { return try pipeline.addHandler(Misbehaving(opening)) }
    let injector = Injector()
    try pipeline.addHandler(injector)
    let bound = NIOLoopBound(injector, eventLoop: channel.eventLoop)
    self.state.withLock { $0.injectors.append(bound) }
    let upgrader = WebSocketUpgrade.upgrader { _, _ in self.gateway.receiver() }
    _ = try pipeline.configureUpgradableHTTPServerPipeline(
      configuration: .init(
        upgradeConfiguration: NIOTypedHTTPServerUpgradeConfiguration(
          upgraders: [upgrader],
          notUpgradingCompletionHandler: { channel in
            channel.eventLoop.makeFailedFuture(ChannelError.inappropriateOperationForState)
          })))
  }
}
