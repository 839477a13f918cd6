import NIOCore
import RealtimeMedia

extension TransportAddress {
  /// Creates an address from one of a socket; `nil` for those without a port.
  init?(_ address: SocketAddress) {
    guard let port = address.port, let ip = address.ipAddress.flatMap({ IPAddress($0) }) else { return nil }
    self.init(ip, port: UInt16(clamping: port))
  }

  /// The address for a socket; `nil` cannot happen with bytes of these lengths.
  var socketAddress: SocketAddress? {
    try? SocketAddress(packedIPAddress: ByteBuffer(bytes: self.ip.bytes), port: Int(self.port))
  }
}
