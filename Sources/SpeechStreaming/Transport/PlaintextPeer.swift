import NIOCore
import Synchronization

/// Finds out whether the server at the other end of a connection without TLS expects TLS.
///
/// Such a server answers the first bytes of HTTP/2 with an alert and closes the connection, which to the layers above looks
/// like any other broken connection.
final class PlaintextPeer: Sendable {
  private let hasSentAlert = Atomic(false)

  /// Whether the server has answered with a TLS alert.
  var expectsTLS: Bool { self.hasSentAlert.load(ordering: .acquiring) }

  /// Looks at the first bytes that come over a connection.
  func watch(_ channel: any Channel) -> EventLoopFuture<Void> {
    channel.pipeline.addHandler(FirstBytes { self.received($0) }, position: .first)
  }

  /// A record begins with its type, 21 for an alert, and the major version, which is 3 (RFC 8446 §5.1). As the beginning of a
  /// frame of HTTP/2 these are a length far beyond what is allowed before the settings are agreed.
  func received(_ first: ByteBuffer) {
    guard first.readableBytesView.starts(with: [21, 3]) else { return }
    self.hasSentAlert.store(true, ordering: .releasing)
  }

  private final class FirstBytes: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let report: @Sendable (ByteBuffer) -> Void

    init(report: @escaping @Sendable (ByteBuffer) -> Void) { self.report = report }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      self.report(self.unwrapInboundIn(data))
      context.fireChannelRead(data)
      context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
  }
}
