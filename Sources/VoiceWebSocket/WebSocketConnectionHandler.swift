import NIOCore
import NIOWebSocket
import Synchronization

/// The end of the pipeline: turns frames into events, and keeps the rules of closing (RFC 6455 sections 5.5.1 and 7).
///
/// States: *open*; *closing* (a close frame was sent, the other end's is awaited until a deadline); *closed*.
final class WebSocketConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private enum State {
    case open
    case closing(WebSocketClosure)
    case closed
  }

  private let role: WebSocketConnection.Role
  private let closeTimeout: Duration
  private let onEvent: @Sendable (WebSocketConnection, WebSocketEvent) -> Void
  private var connection: WebSocketConnection?
  private var context: ChannelHandlerContext?
  private var deadline: Scheduled<Void>?
  private var state = State.open

  init(
    role: WebSocketConnection.Role, closeTimeout: Duration,
    onEvent: @escaping @Sendable (WebSocketConnection, WebSocketEvent) -> Void
  ) {
    self.role = role
    self.closeTimeout = closeTimeout
    self.onEvent = onEvent
  }

  /// Ties the handler to its connection until that has ended; the connection knows the handler through the channel alone.
  func attach(_ connection: WebSocketConnection) {
    self.connection = connection
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.finish(WebSocketClosure(origin: .lost))
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.finish(WebSocketClosure(origin: .lost))
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = Self.unwrapInboundIn(data)
    switch (self.state, frame.opcode) {
    case (.closed, _): break
    case (.open, .text):
      var payload = frame.unmaskedData
      let bytes = payload.readBytes(length: payload.readableBytes) ?? []
      // The validation must come before the event: what a receiver gets is UTF-8 (RFC 6455 section 8.1).
      guard bytes.isValidUTF8 else { return self.fail(.encoding) }
      self.report(.text(bytes))
    case (.open, .ping), (.closing, .ping):
      if case .open = self.state {
        self.write(.pong, frame.unmaskedData)
        self.report(.ping)
      }
    case (.open, .pong): self.report(.pong)
    case (.open, .connectionClose): self.receivedClose(frame.unmaskedData, context: context)
    case (.closing(let closure), .connectionClose):
      // Which end closes TCP first is the server's business (RFC 6455 section 7.1.1); the deadline covers a server that does not.
      self.finish(closure)
      context.close(promise: nil)
    case (.open, .binary): self.fail(.binary)
    case (.open, _): self.fail(.protocolError("a frame is out of order"))
    case (.closing, _): break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let violation = WebSocketViolation(error) {
      self.fail(violation)
    } else {
      self.finish(WebSocketClosure(origin: .lost, reason: "the connection broke"))
      context.close(promise: nil)
    }
  }

  // MARK: - What the connection asks for, on its event loop

  func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer, promise: EventLoopPromise<Void>? = nil) {
    guard let context = self.context, case .open = self.state else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    context.writeAndFlush(
      Self.wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, maskKey: self.mask(), data: data)),
      promise: promise)
  }

  func close(code: Int, reason: String) {
    self.beginClosing(
      code: code, reason: reason, closure: WebSocketClosure(origin: .local, code: code, reason: reason))
  }

  func abort() {
    self.finish(WebSocketClosure(origin: .local))
    self.context?.close(promise: nil)
  }

  func report(_ event: WebSocketEvent) {
    guard let connection = self.connection else { return }
    self.onEvent(connection, event)
  }

  // MARK: -

  private func fail(_ violation: WebSocketViolation) {
    guard case .open = self.state else { return }
    let closure = WebSocketClosure(origin: .violation, code: violation.code, reason: violation.reason)
    // Nothing that comes later is trusted: the end is reported now, the close frame is a courtesy.
    self.beginClosing(code: violation.code, reason: violation.reason, closure: closure)
    self.finish(closure)
  }

  private func receivedClose(_ payload: ByteBuffer, context: ChannelHandlerContext) {
    var payload = payload
    if payload.readableBytes == 0 {
      return self.answerClose(code: nil, WebSocketClosure(origin: .remote), context: context)
    }
    guard let code = payload.readInteger(as: UInt16.self).map(Int.init), Self.mayBeSent(code) else {
      return self.fail(.protocolError("a close code is not one"))
    }
    let bytes = payload.readBytes(length: payload.readableBytes) ?? []
    guard bytes.isValidUTF8 else { return self.fail(.encoding) }
    let reason = String(decoding: bytes, as: UTF8.self)
    self.answerClose(
      code: code, WebSocketClosure(origin: .remote, code: code, reason: reason), context: context)
  }

  private func answerClose(code: Int?, _ closure: WebSocketClosure, context: ChannelHandlerContext) {
    // Before the write: it may complete at once, and closing the channel then is no loss of the connection.
    self.state = .closing(closure)
    let channel = context.channel
    let frame = WebSocketFrame(
      fin: true, opcode: .connectionClose, maskKey: self.mask(),
      data: self.closePayload(code: code, reason: ""))
    context.writeAndFlush(Self.wrapOutboundOut(frame)).whenComplete { _ in channel.close(promise: nil) }
    self.finish(closure)
  }

  private func beginClosing(code: Int, reason: String, closure: WebSocketClosure) {
    guard case .open = self.state, let context = self.context else { return }
    self.write(.connectionClose, self.closePayload(code: code, reason: reason))
    self.state = .closing(closure)
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    let channel = context.channel
    self.deadline = context.eventLoop.scheduleTask(in: TimeAmount(self.closeTimeout)) {
      bound.value.finish(closure)
      channel.close(promise: nil)
    }
  }

  private func finish(_ closure: WebSocketClosure) {
    switch self.state {
    case .open: self.end(closure)
    case .closing(let begun):
      // A violation ends for the app at once, while the channel still waits for the other end's close frame.
      if begun.origin != .violation || self.connection != nil { self.end(begun) }
    case .closed: break
    }
  }

  private func end(_ closure: WebSocketClosure) {
    if closure.origin != .violation || self.context?.channel.isActive != true {
      self.deadline?.cancel()
      self.deadline = nil
      self.state = .closed
    }
    guard let connection = self.connection else { return }
    self.connection = nil
    connection.ended()
    self.onEvent(connection, .closed(closure))
  }

  private func mask() -> WebSocketMaskingKey? {
    self.role == .client ? .random() : nil
  }

  private func closePayload(code: Int?, reason: String) -> ByteBuffer {
    var buffer = ByteBuffer()
    guard let code else { return buffer }
    buffer.writeInteger(UInt16(truncatingIfNeeded: code))
    // A control frame holds 125 bytes (RFC 6455 section 5.5).
    var reason = reason
    while reason.utf8.count > 123 { reason.removeLast() }
    buffer.writeString(reason)
    return buffer
  }

  /// Whether an end may send the close code (RFC 6455 section 7.4 and the registry that it founded).
  private static func mayBeSent(_ code: Int) -> Bool {
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}

extension [UInt8] {
  fileprivate var isValidUTF8: Bool {
    String(validating: self, as: UTF8.self) != nil
  }
}
