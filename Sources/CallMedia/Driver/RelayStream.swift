import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import RealtimeMedia

/// A connection to a relay over TCP or TLS. Confined to the engine's loop.
final class RelayStream {
  private static let connectTimeout = TimeAmount.seconds(5)

  private let id: ICEAgent.StreamID
  private var channel: (any Channel)?
  private var isClosed = false

  init(id: ICEAgent.StreamID) { self.id = id }

  /// Connects.
  ///
  /// - Parameter tls: The name in the certificate and how it is checked, or `nil` without TLS.
  func open(
    _ address: SocketAddress, tls: (name: String, context: NIOSSLContext)?, on loop: any EventLoop,
    core: SessionCore
  ) {
    let id = self.id
    let bound = NIOLoopBound(WeakCore(core), eventLoop: loop)
    ClientBootstrap(group: loop).connectTimeout(Self.connectTimeout)
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let tls {
            // A name that is an IP address is checked against the certificate without being asked for.
            let isAddress = IPAddress(tls.name) != nil
            try channel.pipeline.syncOperations.addHandler(
              try NIOSSLClientHandler(context: tls.context, serverHostname: isAddress ? nil : tls.name))
          }
          try channel.pipeline.syncOperations.addHandler(
            StreamHandler(id: id, isSecure: tls != nil, core: bound.value.core))
        }
      }
      .connect(to: address).assumeIsolated().whenComplete { result in
        switch result {
        case .success(let channel):
          if self.isClosed { channel.close(promise: nil) } else { self.channel = channel }
        case .failure(let error): bound.value.core?.streamClosed(id, error)
        }
      }
  }

  /// Sends bytes, unless the relay takes nothing: media that is late is worth nothing.
  func send(_ bytes: [UInt8]) {
    guard let channel = self.channel, channel.isWritable else { return }
    channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
  }

  func close() {
    self.isClosed = true
    self.channel?.close(promise: nil)
  }
}

/// Hands what a relay sends to its session.
final class StreamHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let id: ICEAgent.StreamID
  private let isSecure: Bool
  private weak var core: SessionCore?
  private var isOpen = false
  private var error: (any Error)?

  init(id: ICEAgent.StreamID, isSecure: Bool, core: SessionCore?) {
    self.id = id
    self.isSecure = isSecure
    self.core = core
  }

  func channelActive(context: ChannelHandlerContext) {
    if !self.isSecure { self.opened(context) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { self.opened(context) }
    context.fireUserInboundEventTriggered(event)
  }

  private func opened(_ context: ChannelHandlerContext) {
    guard !self.isOpen else { return }
    self.isOpen = true
    // The session gets the channel first, by the future of the connection.
    let id = self.id
    let bound = NIOLoopBound(WeakCore(self.core), eventLoop: context.eventLoop)
    context.eventLoop.execute { bound.value.core?.streamOpened(id) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    self.core?.streamReceived(self.unwrapInboundIn(data), on: self.id)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.core?.streamClosed(self.id, self.error)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The first one is the reason; others follow from it.
    self.error = self.error ?? error
    context.close(promise: nil)
  }
}
