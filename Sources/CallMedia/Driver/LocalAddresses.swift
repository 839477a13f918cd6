import NIOCore
import RealtimeMedia

/// The addresses of this machine that calls can use.
enum LocalAddresses {
  /// Addresses of interfaces, without loopback and link-local ones; loopback alone if there is nothing else.
  static func current() -> [IPAddress] {
    let all = ((try? System.enumerateDevices()) ?? []).compactMap { device in
      device.address.flatMap { TransportAddress($0)?.ip }
    }
    return Self.usable(all)
  }

  /// What of a machine's addresses is used, in a stable order: IPv4 first, since more networks let it through.
  static func usable(_ all: [IPAddress]) -> [IPAddress] {
    var seen: Set<IPAddress> = []
    let unique = all.filter { seen.insert($0).inserted }
    let outside = unique.filter { !$0.isLoopback && !$0.isLinkLocal }
    let chosen = outside.isEmpty ? unique.filter(\.isLoopback) : outside
    return chosen.filter { !$0.isV6 } + chosen.filter(\.isV6)
  }
}
