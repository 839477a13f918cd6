public import NIOCore
public import NIOHTTP1
import NIOPosix
public import NIOSSL
public import NIOWebSocket

/// The server's side of the upgrade (RFC 6455 section 4.2), for a server's own HTTP pipeline.
public enum WebSocketUpgrade {
  /// Receives what happens on a connection, on its event loop.
  public typealias Receiver = @Sendable (WebSocketConnection, WebSocketEvent) -> Void

  /// Makes the upgrader for a server's HTTP pipeline.
  ///
  /// A request that is refused goes on to the pipeline's handler of plain requests.
  ///
  /// - Parameters:
  ///   - settings: The limits of the connections.
  ///   - isAccepted: Decides about a request for an upgrade, by its path for example.
  ///   - receiver: Makes the receiver of a new connection's events.
  public static func upgrader(
    settings: WebSocketSettings = WebSocketSettings(),
    isAccepted: @escaping @Sendable (HTTPRequestHead) -> Bool = { _ in true },
    receiver: @escaping @Sendable (any Channel, HTTPRequestHead) -> Receiver
  ) -> NIOTypedWebSocketServerUpgrader<WebSocketConnection> {
    NIOTypedWebSocketServerUpgrader(
      maxFrameSize: settings.frameLimit, enableAutomaticErrorHandling: false,
      shouldUpgrade: { channel, head in
        channel.eventLoop.makeSucceededFuture(isAccepted(head) ? HTTPHeaders() : nil)
      },
      upgradePipelineHandler: { channel, head in
        WebSocketConnection.attach(
          to: channel, role: .server, settings: settings, onEvent: receiver(channel, head))
      })
  }
}

/// A server that speaks nothing but WebSocket, on a port of its own.
///
/// Requests that ask for something else get HTTP 426; handshakes that take too long are cut.
public final class WebSocketListener: Sendable {
  private let channel: any Channel

  private init(channel: any Channel) {
    self.channel = channel
  }

  /// The port that is listened at.
  public var port: Int { self.channel.localAddress?.port ?? 0 }

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - host: The address to listen at.
  ///   - port: The port, 0 for a free one.
  ///   - tls: The certificate and key for `wss`, or `nil` for `ws`.
  ///   - group: The event loops; by default those of the process.
  ///   - settings: The limits of the connections.
  ///   - receiver: Makes the receiver of a new connection's events.
  /// - Throws: An error of NIO if the port cannot be had.
  public static func listen(
    host: String = "127.0.0.1", port: Int = 0, tls: TLSConfiguration? = nil,
    group: (any EventLoopGroup)? = nil,
    settings: WebSocketSettings = WebSocketSettings(),
    receiver: @escaping @Sendable (any Channel, HTTPRequestHead) -> WebSocketUpgrade.Receiver
  ) async throws -> WebSocketListener {
    let context = try tls.map { try NIOSSLContext(configuration: $0) }
    let upgrader = WebSocketUpgrade.upgrader(settings: settings, receiver: receiver)
    let channel = try await ServerBootstrap(group: group ?? MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try Self.configure(channel, tls: context, settings: settings, upgrader: upgrader)
        }
      }
      .bind(host: host, port: port).get()
    return WebSocketListener(channel: channel)
  }

  /// Stops listening; open connections stay.
  public func close() async {
    // Closing twice is not an error for the one who asks.
    try? await self.channel.close()
  }

  private static func configure(
    _ channel: any Channel, tls: NIOSSLContext?, settings: WebSocketSettings,
    upgrader: NIOTypedWebSocketServerUpgrader<WebSocketConnection>
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    let deadline = WebSocketHandshakeDeadline(timeout: settings.handshakeTimeout)
    try pipeline.addHandler(deadline)
    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
    let upgraded = try pipeline.configureUpgradableHTTPServerPipeline(
      configuration: .init(
        upgradeConfiguration: NIOTypedHTTPServerUpgradeConfiguration<WebSocketConnection>(
          upgraders: [upgrader],
          notUpgradingCompletionHandler: { channel in
            Self.refuse(channel)
            return channel.eventLoop.makeFailedFuture(ChannelError.inappropriateOperationForState)
          })))
    let bound = NIOLoopBound(deadline, eventLoop: channel.eventLoop)
    upgraded.whenSuccess { _ in channel.pipeline.syncOperations.removeHandler(bound.value, promise: nil) }
  }

  /// Answers a request that asks for no upgrade (RFC 9110 section 15.5.22).
  private static func refuse(_ channel: any Channel) {
    let headers: HTTPHeaders = [
      "Upgrade": "websocket", "Connection": "Upgrade, close", "Content-Length": "0",
    ]
    let head = HTTPResponseHead(version: .http1_1, status: .upgradeRequired, headers: headers)
    channel.write(HTTPServerResponsePart.head(head), promise: nil)
    channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in channel.close(promise: nil) }
  }
}
