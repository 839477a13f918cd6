import Foundation
import NIOCore
import NIOPosix
import RealtimeMedia

/// A bound UDP socket.
///
/// NIO reads from it. Datagrams are sent past NIO, which closes a socket for good when the network cannot be reached for a
/// moment, or when one of several addresses of the other side has no route; and which would copy each of them.
struct MediaSocket {
  let channel: any Channel
  private let descriptor: Int32
  // Nearly all datagrams go to one address, of which the system wants another form.
  private let last: NIOLoopBoundBox<(transport: TransportAddress, socket: SocketAddress)?>

  /// Datagrams that are read in one system call.
  private static let batch = 8
  /// The largest datagram: media and handshakes stay below the MTU.
  private static let largest = 2048
  /// `SOCK_DGRAM`, which is a number here and an enumeration there.
  private static let datagramKind: Int32 = 2

  static func bind(
    _ address: SocketAddress, on loop: any EventLoop, handler: @escaping () -> SocketHandler
  ) -> EventLoopFuture<MediaSocket> {
    let descriptor: Int32
    do {
      descriptor = try Self.open(address)
    } catch {
      return loop.makeFailedFuture(error)
    }
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
      // The channel owns the descriptor from here on.
      .withBoundSocket(descriptor)
      .map {
        MediaSocket(
          channel: $0, descriptor: descriptor, last: NIOLoopBoundBox(nil, eventLoop: $0.eventLoop))
      }
  }

  private static func open(_ address: SocketAddress) throws -> Int32 {
    let descriptor = socket(address.protocol == .inet6 ? AF_INET6 : AF_INET, Self.datagramKind, 0)
    guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let status = address.withSockAddr { pointer, length in
      Foundation.bind(descriptor, pointer, socklen_t(length))
    }
    guard status == 0 else {
      let error = IOError(errnoCode: errno, reason: "bind")
      Foundation.close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Sends one datagram.
  ///
  /// One that cannot be sent is lost, as on the way: ICE notices a way that carries nothing. On the loop of the socket only.
  func send(_ bytes: [UInt8], to remote: TransportAddress) {
    // A channel that is closed has given its descriptor back.
    guard self.channel.isActive, let address = self.address(remote) else { return }
    bytes.withUnsafeBytes { bytes in
      address.withSockAddr { pointer, length in
        _ = sendto(self.descriptor, bytes.baseAddress, bytes.count, 0, pointer, socklen_t(length))
      }
    }
  }

  private func address(_ transport: TransportAddress) -> SocketAddress? {
    if let last = self.last.value, last.transport == transport { return last.socket }
    guard let socket = transport.socketAddress else { return nil }
    self.last.value = (transport, socket)
    return socket
  }

  /// Where it is bound to.
  var local: TransportAddress? { self.channel.localAddress.flatMap { TransportAddress($0) } }

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

  func channelInactive(context: ChannelHandlerContext) { self.core?.socketClosed(self.id) }

  /// The kernel reports here that a port was closed; the socket lives on.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {}

  private func address(_ socket: SocketAddress) -> TransportAddress? {
    if let last = self.last, last.socket == socket { return last.transport }
    guard let transport = TransportAddress(socket) else { return nil }
    self.last = (socket, transport)
    return transport
  }
}
