import NIOCore
import NIOPosix
import RealtimeMedia

/// A bound UDP socket.
struct MediaSocket {
  let channel: any Channel

  /// Datagrams that are read in one system call.
  private static let batch = 8
  /// The largest datagram: media and handshakes stay below the MTU.
  private static let largest = 2048

  static func bind(
    _ address: SocketAddress, on loop: any EventLoop, handler: @escaping () -> SocketHandler
  ) -> EventLoopFuture<any Channel> {
    let bound = NIOLoopBound(handler, eventLoop: loop)
    return DatagramBootstrap(group: loop)
      .channelOption(.datagramVectorReadMessageCount, value: Self.batch)
      .channelOption(
        .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.batch * Self.largest)
      )
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(bound.value())
        }
      }
      .bind(to: address)
  }

  func send(_ bytes: [UInt8], to remote: TransportAddress) {
    guard let address = remote.socketAddress else { return }
    var buffer = self.channel.allocator.buffer(capacity: bytes.count)
    buffer.writeBytes(bytes)
    // A datagram that cannot be sent is lost, as on the way; ICE notices a way that carries nothing.
    self.channel.writeAndFlush(AddressedEnvelope(remoteAddress: address, data: buffer), promise: nil)
  }

  func close() { self.channel.close(promise: nil) }
}

/// Hands datagrams of one socket to its session.
final class SocketHandler: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>

  private let id: ICEAgent.SocketID
  private weak var core: SessionCore?
  // Nearly all datagrams come from one address.
  private var last: (socket: SocketAddress, transport: TransportAddress)?

  init(id: ICEAgent.SocketID, core: SessionCore?) {
    self.id = id
    self.core = core
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = self.unwrapInboundIn(data)
    guard let remote = self.address(envelope.remoteAddress) else { return }
    self.core?.received(envelope.data, on: self.id, from: remote)
  }

  /// The kernel reports here that a port was closed; the socket lives on.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {}

  private func address(_ socket: SocketAddress) -> TransportAddress? {
    if let last = self.last, last.socket == socket { return last.transport }
    guard let transport = TransportAddress(socket) else { return nil }
    self.last = (socket, transport)
    return transport
  }
}
