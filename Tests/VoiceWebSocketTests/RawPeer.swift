import NIOCore
import NIOPosix
import Synchronization

/// An end of a TCP connection that writes and reads plain bytes, to break the rules with.
final class RawPeer: Sendable {
  private final class Collector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    let continuation: AsyncStream<[UInt8]>.Continuation
    let greeting: String

    init(_ continuation: AsyncStream<[UInt8]>.Continuation, greeting: String) {
      self.continuation = continuation
      self.greeting = greeting
    }

    func channelActive(context: ChannelHandlerContext) {
      context.writeAndFlush(NIOAny(ByteBuffer(string: self.greeting)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let buffer = Self.unwrapInboundIn(data)
      self.continuation.yield(Array(buffer.readableBytesView))
    }

    func channelInactive(context: ChannelHandlerContext) { self.continuation.finish() }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  let channel: any Channel
  private let bytes: AsyncStream<[UInt8]>
  private let unread = Mutex<[UInt8]>([])

  private init(channel: any Channel, bytes: AsyncStream<[UInt8]>) {
    self.channel = channel
    self.bytes = bytes
  }

  struct NotUpgraded: Error { let head: String? }

  /// Connects and writes the greeting at once, so that a test that has to wait for a core does not miss the other end's deadline.
  static func connect(port: Int, greeting: String) async throws -> RawPeer {
    let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Collector(continuation, greeting: greeting))
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    return RawPeer(channel: channel, bytes: stream)
  }

  /// Connects and upgrades.
  static func open(port: Int) async throws -> RawPeer {
    let peer = try await RawPeer.connect(
      port: port,
      greeting: "GET /p?q HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
    let head = await peer.head()
    guard head?.hasPrefix("HTTP/1.1 101 ") == true else { throw NotUpgraded(head: head) }
    return peer
  }

  /// A listener that answers each connection's first bytes with `answer`, or never.
  static func listen(answer: String?) async throws -> any Channel {
    try await self.listen { _ in answer.map { Array($0.utf8) } }
  }

  /// A listener that answers what it reads.
  static func listen(answer: @escaping @Sendable (_ request: String) -> [UInt8]?) async throws -> any Channel
  {
    final class Answerer: ChannelInboundHandler {
      typealias InboundIn = ByteBuffer
      let answer: @Sendable (String) -> [UInt8]?
      init(_ answer: @escaping @Sendable (String) -> [UInt8]?) { self.answer = answer }
      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let request = String(decoding: Self.unwrapInboundIn(data).readableBytesView, as: UTF8.self)
        guard let answer = self.answer(request) else { return }
        context.writeAndFlush(NIOAny(ByteBuffer(bytes: answer)), promise: nil)
      }
      func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
    return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Answerer(answer))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  func write(_ bytes: [UInt8]) {
    self.channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
  }

  /// Writes one frame, masked as a client's has to be unless the test wants otherwise.
  func frame(_ first: UInt8, _ payload: [UInt8], isMasked: Bool = true, length: UInt64? = nil) {
    var bytes: [UInt8] = [first]
    let mask: UInt8 = isMasked ? 0x80 : 0
    let count = length ?? UInt64(payload.count)
    switch count {
    case ..<126: bytes.append(mask | UInt8(count))
    case ..<65536: bytes += [mask | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
    default: bytes += [mask | 127] + (0..<8).map { UInt8((count >> (56 - 8 * UInt64($0))) & 0xFF) }
    }
    if isMasked {
      let key: [UInt8] = [1, 2, 3, 4]
      bytes += key + payload.enumerated().map { $1 ^ key[$0 % 4] }
    } else {
      bytes += payload
    }
    self.write(bytes)
  }

  /// Reads until the condition holds for what has not been taken, or the connection ends.
  private func take(until count: ([UInt8]) -> Int?) async -> [UInt8]? {
    while true {
      let taken = self.unread.withLock { unread -> [UInt8]? in
        guard let length = count(unread), length <= unread.count else { return nil }
        defer { unread.removeFirst(length) }
        return Array(unread.prefix(length))
      }
      if let taken { return taken }
      var iterator = self.bytes.makeAsyncIterator()
      guard let more = await iterator.next() else { return nil }
      self.unread.withLock { $0 += more }
    }
  }

  /// The head of an HTTP answer.
  func head() async -> String? {
    let end = Array("\r\n\r\n".utf8)
    return await self.take { unread in
      unread.indices.first { unread[$0...].starts(with: end) }.map { $0 + 4 }
    }
    .map { String(decoding: $0, as: UTF8.self) }
  }

  /// The next frame of the other end, or `nil` at the end of the connection.
  func nextFrame() async -> (first: UInt8, payload: [UInt8])? {
    var header = 2
    guard
      let bytes = await self.take(until: { unread in
        guard unread.count >= 2 else { return nil }
        switch unread[1] & 0x7F {
        case 126:
          guard unread.count >= 4 else { return nil }
          header = 4
          return 4 + Int(unread[2]) << 8 + Int(unread[3])
        default:
          header = 2
          return 2 + Int(unread[1] & 0x7F)
        }
      })
    else { return nil }
    return (bytes[0], Array(bytes.dropFirst(header)))
  }

  /// The code of the close frame that comes next, if it is one.
  func closeCode() async -> Int? {
    guard let frame = await self.nextFrame(), frame.first == 0x88, frame.payload.count >= 2 else {
      return nil
    }
    return Int(frame.payload[0]) << 8 + Int(frame.payload[1])
  }

  /// Waits until the other end has closed the connection.
  func isClosed() async -> Bool {
    while await self.nextFrame() != nil {}
    return true
  }
}
