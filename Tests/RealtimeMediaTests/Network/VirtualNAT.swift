import RealtimeMedia
import VoiceCore

/// A NAT with one address, by the words of RFC 3489; RFC 4787 says the same in terms of mapping and filtering.
struct VirtualNAT {
  enum Kind: CaseIterable {
    case fullCone
    case addressRestricted
    case portRestricted
    case symmetric
  }

  private struct Key: Hashable {
    let inside: TransportAddress
    /// Only where each destination has a mapping of its own.
    let destination: TransportAddress?
  }

  private struct Mapping {
    let key: Key
    var sentTo: Set<TransportAddress> = []
    var lastUsed: VoiceInstant
  }

  let kind: Kind
  let address: IPAddress
  let outer: Int
  let hairpins: Bool
  let blocksUDP: Bool
  /// A mapping without packets from inside ends after this.
  let lifetime: Duration
  private var ports: [Key: UInt16] = [:]
  private var mappings: [UInt16: Mapping] = [:]
  private var nextPort: UInt16 = 40000

  init(
    kind: Kind, address: IPAddress, outer: Int, hairpins: Bool, blocksUDP: Bool, lifetime: Duration
  ) {
    self.kind = kind
    self.address = address
    self.outer = outer
    self.hairpins = hairpins
    self.blocksUDP = blocksUDP
    self.lifetime = lifetime
  }

  func inside(of port: UInt16) -> TransportAddress? { self.mappings[port]?.key.inside }

  mutating func translateOut(
    _ inside: TransportAddress, to destination: TransportAddress, at now: VoiceInstant
  ) -> TransportAddress? {
    let key = Key(inside: inside, destination: self.kind == .symmetric ? destination : nil)
    if let port = self.ports[key], let mapping = self.mappings[port],
      mapping.lastUsed.advanced(by: self.lifetime) < now
    {
      self.ports[key] = nil
      self.mappings[port] = nil
    }
    let port: UInt16
    if let known = self.ports[key] {
      port = known
    } else {
      self.nextPort = self.nextPort == 65535 ? 1024 : self.nextPort + 1
      port = self.nextPort
      self.ports[key] = port
      self.mappings[port] = Mapping(key: key, lastUsed: now)
    }
    self.mappings[port]?.lastUsed = now
    self.mappings[port]?.sentTo.insert(destination)
    return TransportAddress(self.address, port: port)
  }

  func translateIn(_ port: UInt16, from source: TransportAddress, at now: VoiceInstant) -> TransportAddress? {
    guard let mapping = self.mappings[port], now <= mapping.lastUsed.advanced(by: self.lifetime) else {
      return nil
    }
    let isLetIn =
      switch self.kind {
      case .fullCone: true
      case .addressRestricted: mapping.sentTo.contains { $0.ip == source.ip }
      case .portRestricted, .symmetric: mapping.sentTo.contains(source)
      }
    return isLetIn ? mapping.key.inside : nil
  }
}
