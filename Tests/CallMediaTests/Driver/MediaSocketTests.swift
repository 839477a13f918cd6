import NIOCore
import NIOPosix
import RealtimeMedia
import Testing

@testable import CallMedia

struct MediaSocketTests {
  /// Another network, and one that nobody has, cannot be reached from a loopback address.
  @Test(arguments: ["198.51.100.1", "240.0.0.1", "255.255.255.255"])
  func outlivesDatagramsThatCannotBeSent(remote: String) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let address = TransportAddress(try #require(IPAddress(remote)), port: 9)
    let isOpen = try await loop.flatSubmit {
      do {
        return MediaSocket.bind(try SocketAddress(ipAddress: "127.0.0.1", port: 0), on: loop) {
          SocketHandler(id: ICEAgent.SocketID(rawValue: 1), core: nil)
        }.assumeIsolated().map { socket in
          for _ in 0..<3 { socket.send([1, 2, 3], to: address) }
          defer { socket.close() }
          return socket.channel.isActive
        }.nonisolated()
      } catch {
        return loop.makeFailedFuture(error)
      }
    }.get()
    #expect(isOpen)
    try await group.shutdownGracefully()
  }

  @Test func sendsEachDatagramWhereItBelongs() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let (received, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    var receivers: [any Channel] = []
    for name in UInt8(1)...2 {
      receivers.append(
        try await DatagramBootstrap(group: loop)
          .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
              try channel.pipeline.syncOperations.addHandler(Collector(name: name, continuation))
            }
          }
          .bind(host: "127.0.0.1", port: 0).get())
    }
    let addresses = try receivers.map { try #require($0.localAddress.flatMap { TransportAddress($0) }) }
    let socket = try await loop.flatSubmit {
      do {
        return MediaSocket.bind(try SocketAddress(ipAddress: "127.0.0.1", port: 0), on: loop) {
          SocketHandler(id: ICEAgent.SocketID(rawValue: 1), core: nil)
        }
      } catch {
        return loop.makeFailedFuture(error)
      }
    }.get()
    // To the first, the first, the second and the first again.
    var arrived = received.makeAsyncIterator()
    for (place, number) in [(0, UInt8(1)), (0, 2), (1, 3), (0, 4)] {
      try await loop.submit { socket.send([number], to: addresses[place]) }.get()
      #expect(await arrived.next() == [UInt8(place + 1), number])
    }
    try await socket.channel.close().get()
    try await group.shutdownGracefully()
  }

  /// Notes what comes, with its own name before it.
  private final class Collector: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let name: UInt8
    private let found: AsyncStream<[UInt8]>.Continuation

    init(name: UInt8, _ found: AsyncStream<[UInt8]>.Continuation) {
      self.name = name
      self.found = found
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      self.found.yield([self.name] + self.unwrapInboundIn(data).data.readableBytesView)
    }
  }

  @Test func tellsThatAnAddressIsNotOfThisMachine() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    await #expect(throws: IOError.self) {
      try await loop.flatSubmit {
        do {
          return MediaSocket.bind(try SocketAddress(ipAddress: "198.51.100.1", port: 0), on: loop) {
            SocketHandler(id: ICEAgent.SocketID(rawValue: 1), core: nil)
          }.map { $0.close() }
        } catch {
          return loop.makeFailedFuture(error)
        }
      }.get()
    }
    try await group.shutdownGracefully()
  }
}
