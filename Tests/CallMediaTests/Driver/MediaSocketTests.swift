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
