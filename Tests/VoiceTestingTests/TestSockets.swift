import NIOCore
import NIOPosix
import Synchronization

/// One end of a TCP connection that keeps everything it receives, and how it ended.
final class TestSocket: Sendable {
  enum End: Hashable, Sendable {
    case finish
    case reset
  }

  private struct State {
    var received: [UInt8] = []
    var end: End?
    var hasEndedOutput = false
    var waiters:
      [(condition: @Sendable (Int, End?) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
  }

  let channel: any Channel
  private let state = Mutex(State())

  fileprivate init(channel: any Channel) {
    self.channel = channel
  }

  /// Connects to a port of the loopback address.
  static func connect(port: Int) async throws -> TestSocket {
    let box = Mutex<TestSocket?>(nil)
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        let socket = TestSocket(channel: channel)
        box.withLock { $0 = socket }
        return channel.pipeline.addHandler(Handler(socket))
      }
      .connect(host: "127.0.0.1", port: port).get()
    return box.withLock { $0 } ?? TestSocket(channel: channel)
  }

  var received: [UInt8] { self.state.withLock { $0.received } }

  func send(_ bytes: [UInt8]) async throws {
    try await self.channel.writeAndFlush(ByteBuffer(bytes: bytes))
  }

  /// Writes without waiting for the bytes to leave; a failure shows as the end of the connection.
  func sendLater(_ bytes: [UInt8]) {
    self.channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
  }

  func endOutput() async throws {
    self.state.withLock { $0.hasEndedOutput = true }
    try await self.channel.close(mode: .output)
  }

  private var hasEndedOutput: Bool { self.state.withLock { $0.hasEndedOutput } }

  func close() async { try? await self.channel.close() }

  /// Waits until at least so many bytes came, or the connection ended, and returns all that came.
  @discardableResult
  func receive(_ count: Int) async -> [UInt8] {
    await self.wait { received, end in received >= count || end != nil }
    return self.received
  }

  /// Waits for the end of what the peer sends.
  func end() async -> End {
    await self.wait { _, end in end != nil }
    return self.state.withLock { $0.end } ?? .finish
  }

  private func wait(_ condition: @escaping @Sendable (Int, End?) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isFulfilled = self.state.withLock { state in
        if condition(state.received.count, state.end) { return true }
        state.waiters.append((condition, continuation))
        return false
      }
      if isFulfilled { continuation.resume() }
    }
  }

  private func update(_ change: (inout [UInt8], inout End?) -> Void) {
    let fulfilled = self.state.withLock { state in
      change(&state.received, &state.end)
      let (count, end) = (state.received.count, state.end)
      let fulfilled = state.waiters.filter { $0.condition(count, end) }.map(\.continuation)
      state.waiters.removeAll { $0.condition(count, end) }
      return fulfilled
    }
    for continuation in fulfilled { continuation.resume() }
  }

  final class Handler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    private let socket: TestSocket

    init(_ socket: TestSocket) { self.socket = socket }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = Array(buffer: self.unwrapInboundIn(data))
      self.socket.update { received, _ in received += bytes }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case ChannelEvent.inputClosed? = event as? ChannelEvent {
        self.socket.update { _, end in end = end ?? .finish }
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      self.socket.update { _, end in end = end ?? .reset }
    }

    /// An orderly end is reported before the channel is closed, unless the output has ended already.
    func channelInactive(context: ChannelHandlerContext) {
      let end: End = self.socket.hasEndedOutput ? .finish : .reset
      self.socket.update { _, known in known = known ?? end }
    }
  }
}

/// Accepts connections on the loopback address and hands them out in order.
final class TestListener: Sendable {
  let channel: any Channel
  private let accepted: Accepted

  private final class Accepted: Sendable {
    let continuation: AsyncStream<TestSocket>.Continuation
    let stream: AsyncStream<TestSocket>

    init() { (self.stream, self.continuation) = AsyncStream.makeStream() }
  }

  private init(channel: any Channel, accepted: Accepted) {
    self.channel = channel
    self.accepted = accepted
  }

  static func start() async throws -> TestListener {
    let accepted = Accepted()
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        let socket = TestSocket(channel: channel)
        return channel.pipeline.addHandler(TestSocket.Handler(socket)).map {
          accepted.continuation.yield(socket)
          return ()
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return TestListener(channel: channel, accepted: accepted)
  }

  var port: Int { self.channel.localAddress?.port ?? 0 }

  func accept() async throws -> TestSocket {
    for await socket in self.accepted.stream { return socket }
    throw CancellationError()
  }

  func close() async { try? await self.channel.close() }
}
