import NIOCore
import NIOWebSocket

/// A rule of RFC 6455 that the other end broke, and the close code for it.
struct WebSocketViolation: Error, Hashable {
  var code: Int
  var reason: String

  static func protocolError(_ reason: String) -> Self { Self(code: 1002, reason: reason) }
  static let binary = Self(code: 1003, reason: "only text messages are spoken here")
  static let encoding = Self(code: 1007, reason: "a text is not UTF-8")
  static let tooBig = Self(code: 1009, reason: "a message is too long")

  /// What an error of NIO's decoder or aggregator means; `nil` for an error of the transport.
  init?(_ error: any Error) {
    switch error {
    case let violation as WebSocketViolation: self = violation
    case NIOWebSocketError.invalidFrameLength: self = .tooBig
    case NIOWebSocketError.fragmentedControlFrame: self = .protocolError("a control frame is fragmented")
    case NIOWebSocketError.multiByteControlFrameLength: self = .protocolError("a control frame is too long")
    case let error as NIOWebSocketFrameAggregator.Error:
      switch error {
      case .accumulatedFrameSizeIsTooLarge, .tooManyFragments: self = .tooBig
      case .nonFinalFragmentSizeIsTooSmall: self = .protocolError("a fragment is too small")
      case .receivedNewFrameWithoutFinishingPrevious: self = .protocolError("a message begins within another")
      case .didReceiveFragmentBeforeReceivingTextOrBinaryFrame:
        self = .protocolError("a continuation continues nothing")
      }
    default: return nil
    }
  }

  init(code: Int, reason: String) {
    self.code = code
    self.reason = reason
  }
}

/// Refuses what NIO's decoder lets pass: reserved bits and opcodes, wrong masking, and binary messages before they are gathered.
final class WebSocketFrameCheck: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias InboundOut = WebSocketFrame

  private let expectsMask: Bool
  private var hasFailed = false

  init(expectsMask: Bool) {
    self.expectsMask = expectsMask
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !self.hasFailed else { return }
    let frame = Self.unwrapInboundIn(data)
    if let violation = self.violation(of: frame) {
      self.hasFailed = true
      context.fireErrorCaught(violation)
    } else {
      context.fireChannelRead(data)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    self.hasFailed = true
    context.fireErrorCaught(error)
  }

  private func violation(of frame: WebSocketFrame) -> WebSocketViolation? {
    if frame.rsv1 || frame.rsv2 || frame.rsv3 { return .protocolError("a reserved bit is set") }
    if (frame.maskKey != nil) != self.expectsMask {
      return .protocolError(
        self.expectsMask ? "a client's frame is not masked" : "a server's frame is masked")
    }
    switch frame.opcode {
    case .text, .continuation, .ping, .pong, .connectionClose: return nil
    case .binary: return .binary
    default: return .protocolError("an opcode is reserved")
    }
  }
}
