import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import CallMedia

/// The pacer on a real loop.
@Suite(.timeLimit(.minutes(4)))
struct MediaPacerTests {
  /// Takes longer over each step than there is time for it, up to a number of them.
  private final class Busy: PacedMember {
    let pacer: MediaPacer
    let steps: Int
    private(set) var done = 0
    private(set) var wasOverloaded = false
    var onOverload: () -> Void = {}
    var onEnd: () -> Void = {}

    init(pacer: MediaPacer, steps: Int) {
      self.pacer = pacer
      self.steps = steps
    }

    func tick() {
      let end = NIODeadline.now() + .milliseconds(24)
      while NIODeadline.now() < end {}
      self.done += 1
      guard self.done == self.steps else { return }
      self.pacer.remove(self)
      self.onEnd()
    }

    func skip(_ steps: Int) {}

    func overloaded() {
      self.wasOverloaded = true
      self.onOverload()
    }
  }

  private final class Counter: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    let read: () -> Void
    init(read: @escaping () -> Void) { self.read = read }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { self.read() }
  }

  private struct Result: Sendable {
    var datagrams: Int
    var wasOverloaded: Bool
  }

  /// Its steps were always due, and the loop ran them before it looked at a socket: calls broke off.
  @Test func socketsAreReadWhileTheThreadIsOverloaded() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let count = NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: loop)
    let receiver = try await DatagramBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Counter { count.value += 1 })
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let sender = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).get()
    let address = try #require(receiver.localAddress)
    let ended = loop.makePromise(of: Result.self)
    try await loop.submit {
      let pacer = MediaPacer(loop: loop, overload: Overload())
      let member = Busy(pacer: pacer, steps: 400)
      member.onOverload = {
        for _ in 0..<3 {
          sender.writeAndFlush(
            AddressedEnvelope(remoteAddress: address, data: ByteBuffer(string: "x")), promise: nil)
        }
      }
      member.onEnd = { [unowned member] in
        ended.succeed(Result(datagrams: count.value, wasOverloaded: member.wasOverloaded))
      }
      pacer.add(member)
    }.get()
    let result = try await ended.futureResult.get()
    #expect(result.wasOverloaded)
    #expect(result.datagrams == 3)
    try await sender.close()
    try await receiver.close()
    try await group.shutdownGracefully()
  }
}
