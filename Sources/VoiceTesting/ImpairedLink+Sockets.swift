import Foundation
import NIOCore

extension Channel {
  /// Closes the socket so that its peer gets a reset: a lingering time of zero throws away what is not sent.
  func closeWithReset() {
    if let options = self as? any SocketOptionProvider {
      // The C structure `linger`: on, for 0 seconds.
      options.unsafeSetSocketOption(level: .socket, name: .so_linger, value: (CInt(1), CInt(0)))
        .whenFailure { _ in }
    }
    self.close(promise: nil)
  }

  /// How many written bytes the peer's system has not acknowledged; 0 if that cannot be found out.
  ///
  /// Must be called on the event loop.
  var unacknowledgedBytes: Int {
    let count = try? self.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self)
    {
      UnacknowledgedBytes.count(of: $0)
    }
    return count ?? 0
  }
}

extension NIOBSDSocket.Option {
  /// Lets sockets of one user share a port, if all of them ask for it.
  static let reusePort = Self(rawValue: SO_REUSEPORT)
}

/// The constants and calls of the sockets interface that the event loop library keeps to itself.
enum LoopbackPort {
  /// Takes a free port of the loopback address, without listening at it, until the socket is closed.
  static func reserve() throws -> (socket: NIOBSDSocket.Handle, port: Int) {
    let address = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
    let descriptor = socket(address.protocol.rawValue, Self.number(SOCK_STREAM), 0)
    guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
    do {
      var on: CInt = 1
      // With this option on both, the link's listener may share the port with this socket. With `SO_REUSEADDR` the system would
      // hand the port, as long as nobody listens at it, to any other program that asks for a free one.
      let result = setsockopt(
        descriptor, NIOBSDSocket.OptionLevel.socket.rawValue, NIOBSDSocket.Option.reusePort.rawValue,
        &on, socklen_t(MemoryLayout<CInt>.size))
      guard result == 0, address.withSockAddr({ bind(descriptor, $0, socklen_t($1)) }) == 0 else {
        throw IOError(errnoCode: errno, reason: "bind")
      }
      return (descriptor, try Self.port(of: descriptor))
    } catch {
      close(descriptor)
      throw error
    }
  }

  static func release(_ socket: NIOBSDSocket.Handle) { close(socket) }

  // The constant is a number on Apple platforms and an enumeration with glibc.
  private static func number(_ type: CInt) -> CInt { type }
  private static func number(_ type: some RawRepresentable<UInt32>) -> CInt {
    CInt(bitPattern: type.rawValue)
  }

  private static func port(of descriptor: NIOBSDSocket.Handle) throws -> Int {
    try withUnsafeTemporaryAllocation(byteCount: 128, alignment: 16) { bytes in
      var length = socklen_t(bytes.count)
      let address = bytes.bindMemory(to: sockaddr.self).baseAddress
      guard getsockname(descriptor, address, &length) == 0, length >= 4 else {
        throw IOError(errnoCode: errno, reason: "getsockname")
      }
      // In an address of the internet the port follows the two bytes of the family, in network order.
      return Int(bytes[2]) << 8 | Int(bytes[3])
    }
  }
}
