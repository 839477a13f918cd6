import Foundation
import NIOCore
import NIOPosix
import RealtimeMedia

/// Finds the addresses of a host, the best first.
typealias HostLookup =
  @Sendable (_ host: String, _ port: UInt16, _ loop: any EventLoop) -> EventLoopFuture<[TransportAddress]>

/// Why the system has no address of a host, in its own words.
struct LookupError: Error, CustomStringConvertible {
  let description: String
}

enum SystemLookup {
  /// Threads of their own: the system blocks for as long as the resolver is silent, and nothing else may wait for that.
  private static let threads: NIOThreadPool = {
    let threads = NIOThreadPool(numberOfThreads: 4)
    threads.start()
    return threads
  }()

  /// Asks the system's resolver.
  static let lookup: HostLookup = { host, port, loop in
    Self.threads.runIfActive(eventLoop: loop) { try Self.addresses(of: host, port: port) }
  }

  /// Blocks for as long as the resolver takes.
  ///
  /// - Returns: The addresses in the order of RFC 6724, as the system sorts them.
  /// - Throws: ``LookupError`` if there is no such host, it has no address, or nobody tells.
  static func addresses(of host: String, port: UInt16) throws -> [TransportAddress] {
    var first: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), nil, &first)
    guard status == 0 else { throw LookupError(description: String(cString: gai_strerror(status))) }
    defer { freeaddrinfo(first) }
    var addresses: [TransportAddress] = []
    for info in sequence(first: first, next: { $0?.pointee.ai_next }).lazy.compactMap({ $0 }) {
      // Each comes once for each kind of socket.
      if let address = Self.address(of: info.pointee), !addresses.contains(address) {
        addresses.append(address)
      }
    }
    guard !addresses.isEmpty else { throw LookupError(description: "no address of IPv4 or IPv6") }
    return addresses
  }

  private static func address(of info: addrinfo) -> TransportAddress? {
    guard let pointer = UnsafeRawPointer(info.ai_addr) else { return nil }
    switch info.ai_family {
    case AF_INET: return TransportAddress(SocketAddress(pointer.loadUnaligned(as: sockaddr_in.self)))
    case AF_INET6: return TransportAddress(SocketAddress(pointer.loadUnaligned(as: sockaddr_in6.self)))
    default: return nil
    }
  }
}
