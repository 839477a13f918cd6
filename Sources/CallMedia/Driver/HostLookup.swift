import NIOCore
import NIOPosix
import RealtimeMedia

/// Finds the address of a host.
typealias HostLookup =
  @Sendable (_ host: String, _ port: UInt16, _ loop: any EventLoop) -> EventLoopFuture<TransportAddress>

enum SystemLookup {
  /// Threads of their own: the system blocks for as long as the resolver is silent, and nothing else may wait for that.
  private static let threads: NIOThreadPool = {
    let threads = NIOThreadPool(numberOfThreads: 4)
    threads.start()
    return threads
  }()

  /// Asks the system's resolver.
  static let lookup: HostLookup = { host, port, loop in
    Self.threads.runIfActive(eventLoop: loop) {
      guard
        let resolved = TransportAddress(try SocketAddress.makeAddressResolvingHost(host, port: Int(port)))
      else { throw SocketAddressError.unsupported }
      return resolved
    }
  }
}
