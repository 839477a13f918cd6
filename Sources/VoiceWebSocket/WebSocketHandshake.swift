public import NIOCore
import NIOHTTP1
import NIOSSL
import NIOTLS

/// Cuts a connection whose handshake takes too long, such as that of a client which sends its request byte by byte.
///
/// Add it first on a server's channel that is to be upgraded; ``WebSocketListener`` does. It takes itself out when
/// the upgrade is done.
public final class WebSocketHandshakeDeadline: ChannelInboundHandler, RemovableChannelHandler {
  public typealias InboundIn = NIOAny

  private let timeout: TimeAmount
  private var deadline: Scheduled<Void>?

  /// Creates a handler that closes the channel after `timeout`, unless it was removed by then.
  public init(timeout: Duration) {
    self.timeout = TimeAmount(timeout)
  }

  public func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    self.deadline = context.eventLoop.scheduleTask(in: self.timeout) { channel.close(promise: nil) }
  }

  public func handlerRemoved(context: ChannelHandlerContext) {
    self.deadline?.cancel()
    self.deadline = nil
  }

  public func channelInactive(context: ChannelHandlerContext) {
    self.deadline?.cancel()
    context.fireChannelInactive()
  }

  public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.fireChannelRead(data)
  }
}

/// Watches a client's pipeline for errors of TLS, and for the end of the connection, while it is being opened.
final class HandshakeWatch: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let failed: (WebSocketFailure) -> Void
  private var stage: WebSocketFailure.Stage

  init(isSecure: Bool, failed: @escaping (WebSocketFailure) -> Void) {
    self.stage = isSecure ? .securing : .upgrading
    self.failed = failed
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted = event as? TLSUserEvent { self.stage = .upgrading }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    self.failed(Self.failure(of: error, stage: self.stage))
    context.fireErrorCaught(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.failed(
      self.stage == .securing ? .tlsFailed(reason: "the server closed the connection") : .closed(self.stage))
    context.fireChannelInactive()
  }

  static func failure(of error: any Error, stage: WebSocketFailure.Stage) -> WebSocketFailure {
    switch error {
    case let failure as WebSocketFailure: failure
    case let error as NIOSSLError: .tlsFailed(reason: Self.reason(of: error))
    case let error as BoringSSLError: .tlsFailed(reason: Self.reason(of: .handshakeFailed(error)))
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      .tlsFailed(reason: "the certificate is for another host")
    case is HTTPParserError: .notHTTP
    case is NIOHTTPClientUpgradeError: .upgradeInvalid("the answer to the challenge is wrong")
    default: .closed(stage)
    }
  }

  /// Says what a person can do something about; the library's own text is kept for the rest.
  private static func reason(of error: NIOSSLError) -> String {
    let text = String(describing: error)
    if text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("unableToValidateCertificate") {
      return "the server's certificate is not signed by an authority that is trusted here"
    }
    if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") {
      return "the server does not speak TLS"
    }
    if text.contains("UNKNOWN_CA") || text.contains("uncleanShutdown") {
      return "the server closed the connection"
    }
    return text
  }
}

/// Notes how the server answers the request for the upgrade, before NIO decides about it.
final class UpgradeAnswerWatch: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart

  private let answered: (HTTPResponseHead) -> Void
  private var isDone = false

  init(answered: @escaping (HTTPResponseHead) -> Void) {
    self.answered = answered
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // After the head of 101 come frames of another type.
    guard !self.isDone, case .head(let head) = Self.unwrapInboundIn(data) else {
      return context.fireChannelRead(data)
    }
    self.isDone = true
    self.answered(head)
    context.fireChannelRead(data)
  }
}
