public import NIOCore
import NIOWebSocket
import Synchronization

/// One end of an open WebSocket (RFC 6455), for text messages.
///
/// Get one from ``WebSocketConnector`` or ``WebSocketListener``, or with ``attach(to:role:settings:onEvent:)`` on a channel
/// that was upgraded elsewhere. Its events arrive on its event loop, in order, the end exactly once and last. Every
/// method may be called on any thread.
public final class WebSocketConnection: Sendable {
  /// Which end this is.
  public enum Role: Hashable, Sendable {
    case client
    case server
  }

  /// Why a message was not sent.
  public enum SendError: Error, Hashable, Sendable {
    /// The connection is closing or closed.
    case closed
    /// The other end does not read: as many bytes as the settings allow wait to be written.
    case queueFull
  }

  private struct Queue {
    var bytes = 0
    var isOpen = true
    var hasRefused = false
  }

  /// Which end this is.
  public let role: Role
  /// The channel underneath.
  public let channel: any Channel
  private let limit: Int
  private let queue = Mutex(Queue())
  private let handler: NIOLoopBound<WebSocketConnectionHandler>

  init(role: Role, channel: any Channel, limit: Int, handler: NIOLoopBound<WebSocketConnectionHandler>) {
    self.role = role
    self.channel = channel
    self.limit = limit
    self.handler = handler
  }

  /// The bytes that wait to be written.
  public var queuedBytes: Int { self.queue.withLock { $0.bytes } }

  /// Whether messages can be sent.
  public var isOpen: Bool { self.queue.withLock { $0.isOpen } }

  /// Makes a connection of a channel that has just been upgraded.
  ///
  /// The channel must hold NIO's frame encoder and decoder (as `NIOTypedWebSocketServerUpgrader` adds them with
  /// `maxFrameSize:` and without automatic error handling) and no other handler of frames.
  ///
  /// - Parameters:
  ///   - onEvent: Called on the channel's event loop.
  public static func attach(
    to channel: any Channel, role: Role, settings: WebSocketSettings = WebSocketSettings(),
    onEvent: @escaping @Sendable (WebSocketConnection, WebSocketEvent) -> Void
  ) -> EventLoopFuture<WebSocketConnection> {
    channel.eventLoop.submit {
      let handler = WebSocketConnectionHandler(
        role: role, closeTimeout: settings.closeTimeout, onEvent: onEvent)
      let connection = WebSocketConnection(
        role: role, channel: channel, limit: settings.maximumQueuedBytes,
        handler: NIOLoopBound(handler, eventLoop: channel.eventLoop))
      handler.attach(connection)
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(WebSocketFrameCheck(expectsMask: role == .server))
      try pipeline.addHandler(
        NIOWebSocketFrameAggregator(
          minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: max(2, settings.maximumFragmentCount),
          maxAccumulatedFrameSize: settings.frameLimit))
      try pipeline.addHandler(handler)
      return connection
    }
  }

  /// Sends a text message, which must be UTF-8.
  ///
  /// - Throws: ``SendError/closed`` or ``SendError/queueFull``; nothing was sent then.
  public func send(_ text: [UInt8]) throws(SendError) {
    let size = text.count
    let refusal = self.queue.withLock { queue -> SendError? in
      guard queue.isOpen else { return .closed }
      guard queue.bytes + size <= self.limit else {
        queue.hasRefused = true
        return .queueFull
      }
      queue.bytes += size
      return nil
    }
    if let refusal { throw refusal }
    self.onLoop { handler in
      let written = self.channel.eventLoop.makePromise(of: Void.self)
      written.futureResult.whenComplete { _ in
        if self.wrote(size) { self.handler.value.report(.drained) }
      }
      handler.write(.text, ByteBuffer(bytes: text), promise: written)
    }
  }

  /// Sends a text message.
  public func send(_ text: String) throws(SendError) {
    try self.send(Array(text.utf8))
  }

  /// Asks the other end for a sign of life; ``WebSocketEvent/pong`` is the answer.
  public func ping() {
    self.onLoop { $0.write(.ping, ByteBuffer()) }
  }

  /// Closes the connection: sends a close frame after what is queued, and waits for the other end's until a deadline.
  ///
  /// - Parameters:
  ///   - code: A code of RFC 6455 section 7.4, 1000 for a normal end.
  ///   - reason: A short text for developers.
  public func close(code: Int = 1000, reason: String = "") {
    self.queue.withLock { $0.isOpen = false }
    self.onLoop { $0.close(code: code, reason: reason) }
  }

  /// Cuts the connection at once, without a close frame.
  public func abort() {
    self.queue.withLock { $0.isOpen = false }
    self.onLoop { $0.abort() }
  }

  /// Stops or goes on reading from the other end, for a receiver that cannot keep up.
  public func setReading(_ reads: Bool) {
    self.channel.setOption(.autoRead, value: reads).whenFailure { _ in }
    if reads { self.channel.read() }
  }

  func ended() {
    self.queue.withLock { $0.isOpen = false }
  }

  /// Notes what was written, and says whether a sender waits for that.
  private func wrote(_ size: Int) -> Bool {
    self.queue.withLock { queue in
      queue.bytes -= size
      guard queue.isOpen, queue.hasRefused, queue.bytes <= self.limit / 2 else { return false }
      queue.hasRefused = false
      return true
    }
  }

  private func onLoop(_ body: @escaping @Sendable (WebSocketConnectionHandler) -> Void) {
    let handler = self.handler
    if self.channel.eventLoop.inEventLoop {
      body(handler.value)
    } else {
      self.channel.eventLoop.execute { body(handler.value) }
    }
  }
}
