import Foundation
import NIOCore
import RealtimeMedia

extension TransportAddress {
  /// Creates an address from one of a socket; `nil` for those without a port.
  init?(_ address: SocketAddress) {
    let ip: IPAddress?
    switch address {
    case .v4(let v4):
      ip = withUnsafeBytes(of: v4.address.sin_addr) { IPAddress(bytes: $0) }
    case .v6(let v6):
      ip = withUnsafeBytes(of: v6.address.sin6_addr) { IPAddress(bytes: $0) }
    case .unixDomainSocket: return nil
    }
    guard let ip, let port = address.port else { return nil }
    self.init(ip, port: UInt16(clamping: port))
  }

  /// The address for a socket; `nil` cannot happen with bytes of these lengths.
  var socketAddress: SocketAddress? {
    var bytes = ByteBuffer()
    bytes.writeBytes(self.ip.bytes)
    return try? SocketAddress(packedIPAddress: bytes, port: Int(self.port))
  }
}
