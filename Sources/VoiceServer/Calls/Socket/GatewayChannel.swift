import CallSignaling
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOSSL
import NIOWebSocket
import Synchronization
import VoiceCore
import VoiceWebSocket

/// A connection of the HTTP port: plain HTTP for the routes, or a WebSocket for the gateway.
///
/// A WebSocket has no task of its own: it lives in handlers on its event loop, so that an idle one costs little.
struct GatewayChannel: ServerChildChannel, HTTPChannelHandler {
  /// What a connection turned out to be.
  enum Outcome: Sendable {
    case http(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>)
    case webSocket
  }

  struct Value: ServerChildChannelValue {
    let outcome: EventLoopFuture<Outcome>
    let channel: any Channel
  }

  /// Where clients connect.
  static let paths: Set<String> = ["/", "/calls"]

  let responder: HTTPChannelHandler.Responder
  let gateway: CallGateway
  /// The certificate of the port, or `nil` for a port without TLS.
  var tls: NIOSSLContext?

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      let watch = HandshakeWatch(timeout: self.gateway.limits.handshakeTime)
      try pipeline.addHandler(watch)
      if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
      var configuration = NIOUpgradableHTTPServerPipelineConfiguration(
        upgradeConfiguration: NIOTypedHTTPServerUpgradeConfiguration<Outcome>(
          upgraders: [self.upgrader],
          notUpgradingCompletionHandler: { [isSecure = self.tls != nil] channel in
            channel.eventLoop.makeCompletedFuture {
              try Self.addHTTP(to: channel, isSecure: isSecure, logger: logger)
            }
          }))
      // Requests are read one after the other anyway, and fields are written by a library that checks them.
      configuration.enablePipelining = false
      configuration.enableResponseHeaderValidation = false
      let outcome = try pipeline.configureUpgradableHTTPServerPipeline(configuration: configuration)
      let upgrade = try pipeline.handler(type: NIOTypedHTTPServerUpgradeHandler<Outcome>.self)
      try pipeline.addHandler(UpgradeFilter(gateway: self.gateway), position: .before(upgrade))
      let bound = NIOLoopBound(watch, eventLoop: channel.eventLoop)
      outcome.whenSuccess { _ in channel.pipeline.syncOperations.removeHandler(bound.value, promise: nil) }
      return Value(outcome: outcome, channel: channel)
    }
  }

  func handle(value: Value, logger: Logger) async {
    do {
      switch try await value.outcome.get() {
      case .http(let channel): await self.handleHTTP(asyncChannel: channel, logger: logger)
      case .webSocket: break
      }
    } catch {
      value.channel.close(promise: nil)
    }
  }

  private static func addHTTP(to channel: any Channel, isSecure: Bool, logger: Logger) throws -> Outcome {
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: isSecure))
    try pipeline.addHandler(HTTPConnectionStateHandler(logger: logger))
    return .http(
      try NIOAsyncChannel(
        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true)))
  }

  private var settings: WebSocketSettings {
    var settings = WebSocketSettings()
    settings.maximumMessageSize = self.gateway.limits.frameBytes
    settings.maximumQueuedBytes = self.gateway.limits.outgoingBytes
    settings.handshakeTimeout = self.gateway.limits.handshakeTime
    return settings
  }

  private var upgrader: NIOTypedWebSocketServerUpgrader<Outcome> {
    let settings = self.settings
    return NIOTypedWebSocketServerUpgrader(
      maxFrameSize: settings.maximumMessageSize, enableAutomaticErrorHandling: false,
      // The filter before it lets only those requests through that shall become WebSockets.
      shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
      upgradePipelineHandler: { [gateway] channel, _ in
        WebSocketLink.attach(to: channel, gateway: gateway, settings: settings).map { .webSocket }
      })
  }
}

/// Decides whether the first request becomes a WebSocket (RFC 6455 section 4.2.1); for others it removes the wish from the
/// request, since NIO's handler loses the head of a request whose upgrade it refuses.
private final class UpgradeFilter: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  private let gateway: CallGateway

  init(gateway: CallGateway) {
    self.gateway = gateway
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = Self.unwrapInboundIn(data) else { return context.fireChannelRead(data) }
    let isWebSocket = Self.asksForWebSocket(head) && self.takesPlace(in: context.channel)
    if !isWebSocket { head.headers.remove(name: "upgrade") }
    context.fireChannelRead(Self.wrapInboundOut(.head(head)))
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }

  private static func asksForWebSocket(_ head: HTTPRequestHead) -> Bool {
    let headers = head.headers
    return head.method == .GET && GatewayChannel.paths.contains(String(head.uri.prefix { $0 != "?" }))
      && headers["upgrade"].map { $0.lowercased() } == ["websocket"]
      && headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
      && headers["sec-websocket-version"] == ["13"]
      // 16 bytes in base 64.
      && headers["sec-websocket-key"].count == 1
      && headers["sec-websocket-key"].allSatisfy { $0.utf8.count == 24 }
  }

  private func takesPlace(in channel: any Channel) -> Bool {
    let address = channel.remoteAddress?.ipAddress ?? ""
    guard self.gateway.reserve(address) else { return false }
    channel.closeFuture.whenComplete { [gateway] _ in gateway.release(address) }
    return true
  }
}

/// Cuts a connection that does not send a whole request in time, or when the server stops.
private final class HandshakeWatch: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let timeout: TimeAmount
  private var deadline: Scheduled<Void>?

  init(timeout: Duration) {
    self.timeout = TimeAmount(timeout)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    self.deadline = context.eventLoop.scheduleTask(in: self.timeout) { channel.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.deadline?.cancel()
    self.deadline = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.deadline?.cancel()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }
}

/// Tells the gateway that the server stops.
private final class StopWatch: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  private let gateway: CallGateway

  init(gateway: CallGateway) {
    self.gateway = gateway
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent { self.gateway.stop() }
    context.fireUserInboundEventTriggered(event)
  }
}

/// A WebSocket as the gateway uses it.
final class WebSocketLink: GatewayLink {
  private struct State {
    var connection: GatewayConnection?
    var timer: Scheduled<Void>?
    var isClosed = false
  }

  private let socket: WebSocketConnection
  private let metrics: CallMetrics
  private let state = Mutex(State())

  private init(socket: WebSocketConnection, metrics: CallMetrics) {
    self.socket = socket
    self.metrics = metrics
  }

  /// Makes a client of the gateway of a channel that has just been upgraded.
  static func attach(
    to channel: any Channel, gateway: CallGateway, settings: WebSocketSettings
  ) -> EventLoopFuture<Void> {
    let box = Box()
    return WebSocketConnection.attach(to: channel, role: .server, settings: settings) { _, event in
      box.link.withLock { $0 }?.take(event)
    }.flatMapThrowing { socket in
      // Frames are small: a large buffer for each idle socket would be what it costs most.
      _ = channel.setOption(
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 1024, maximum: 65_536))
      _ = channel.setOption(.socketOption(.tcp_nodelay), value: 1)
      let link = WebSocketLink(socket: socket, metrics: gateway.metrics)
      box.link.withLock { $0 = link }
      try channel.pipeline.syncOperations.addHandler(StopWatch(gateway: gateway))
      let connection = gateway.open(link, from: channel.remoteAddress?.ipAddress ?? "")
      let isClosed = link.state.withLock { state in
        state.connection = connection
        return state.isClosed
      }
      if isClosed || !channel.isActive { connection.closed() }
    }
  }

  /// The link is made after the connection whose events it takes.
  private final class Box: Sendable {
    let link = Mutex<WebSocketLink?>(nil)
  }

  private func take(_ event: WebSocketEvent) {
    let connection = self.state.withLock { $0.connection }
    switch event {
    case .text(let bytes): connection?.receive(bytes)
    case .ping: break
    case .pong: connection?.receivePong()
    case .drained: break
    case .closed:
      let timer = self.state.withLock { state in
        defer {
          state.timer = nil
          state.connection = nil
        }
        state.isClosed = true
        return state.timer
      }
      timer?.cancel()
      connection?.closed()
    }
  }

  // Always over the event loop's queue: what was said first is sent first, on whichever thread.
  func send(_ frame: [UInt8]) {
    self.socket.channel.eventLoop.execute {
      do throws(WebSocketConnection.SendError) {
        try self.socket.send(frame)
      } catch .queueFull {
        // A client that does not read gets no more memory, and a frame that is lost would be worse than the connection.
        self.metrics.slowReaderClosed()
        self.socket.abort()
      } catch {}
    }
  }

  func ping() { self.socket.ping() }

  func close(code: Int, reason: String) {
    self.socket.channel.eventLoop.execute { self.socket.close(code: code, reason: reason) }
  }

  func schedule(in time: Duration, _ body: @escaping @Sendable () -> Void) {
    let timer = self.socket.channel.eventLoop.scheduleTask(in: TimeAmount(time)) { body() }
    let old = self.state.withLock { state -> Scheduled<Void>? in
      guard !state.isClosed else { return timer }
      defer { state.timer = timer }
      return state.timer
    }
    old?.cancel()
  }
}
