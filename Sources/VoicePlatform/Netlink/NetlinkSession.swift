/// Keeps the network path by the messages of a routing socket.
///
/// States: *reading* one table after the other (links, addresses, routes), and *following* what changes. When
/// messages were lost it starts again. Bytes come in, requests and paths go out; it owns no socket.
struct NetlinkSession {
  enum Action: Hashable {
    /// Send a request to the kernel.
    case send([UInt8])
    /// The path is known, or may have changed.
    case report(NetworkPath)
    /// The kernel refuses to answer: the path cannot be watched.
    case fail(Int32)
  }

  private enum State: Hashable {
    case reading(table: Int)
    case following
    case failed
  }

  private struct Link: Hashable {
    var name: String
    var flags: UInt32
  }

  private struct Address: Hashable {
    var link: Int
    var text: String
  }

  private struct Route: Hashable {
    var link: Int
    var gateway: String?
  }

  private static let tables = [
    NetlinkMessage.MessageType.getLink, NetlinkMessage.MessageType.getAddress,
    NetlinkMessage.MessageType.getRoute,
  ]

  private var state = State.following
  private var sequence: UInt32 = 0
  private var links: [Int: Link] = [:]
  private var addresses: Set<Address> = []
  private var routes: Set<Route> = []

  /// Begins, or begins again after messages were lost.
  mutating func start() -> [Action] {
    self.links = [:]
    self.addresses = []
    self.routes = []
    return self.read(table: 0)
  }

  /// A datagram came.
  mutating func received(_ bytes: [UInt8]) -> [Action] {
    var actions: [Action] = []
    var mayHaveChanged = false
    for message in NetlinkMessage.parse(bytes) {
      switch message {
      case .overrun:
        return actions + self.start()
      case .done(let sequence):
        actions += self.tableEnded(sequence)
      case .error(let status, let sequence):
        actions += self.answered(status, sequence)
      case .link, .address, .defaultRoute:
        self.apply(message)
        mayHaveChanged = true
      case .other:
        break
      }
    }
    if mayHaveChanged, self.state == .following { actions.append(.report(self.path)) }
    return actions
  }

  private mutating func read(table: Int) -> [Action] {
    guard table < Self.tables.count else {
      self.state = .following
      return [.report(self.path)]
    }
    self.state = .reading(table: table)
    self.sequence &+= 1
    return [.send(NetlinkMessage.dumpRequest(Self.tables[table], sequence: self.sequence))]
  }

  private mutating func tableEnded(_ sequence: UInt32) -> [Action] {
    switch self.state {
    case .reading(let table) where sequence == self.sequence: self.read(table: table + 1)
    case .reading, .following, .failed: []
    }
  }

  private mutating func answered(_ status: Int32, _ sequence: UInt32) -> [Action] {
    guard status < 0, sequence == self.sequence else { return [] }
    switch self.state {
    case .reading:
      self.state = .failed
      return [.fail(status == .min ? .max : -status)]
    case .following, .failed:
      return []
    }
  }

  private mutating func apply(_ message: NetlinkMessage) {
    switch message {
    case .link(let index, _, _, isRemoved: true):
      self.links[index] = nil
      self.addresses = self.addresses.filter { $0.link != index }
      self.routes = self.routes.filter { $0.link != index }
    case .link(let index, let name, let flags, isRemoved: false):
      self.links[index] = Link(name: name ?? self.links[index]?.name ?? "interface \(index)", flags: flags)
      // The kernel drops the routes of an interface that goes down, and does not tell.
      if flags & NetlinkMessage.LinkFlag.up == 0 { self.routes = self.routes.filter { $0.link != index } }
    case .address(let index, let text, let isUsable, let isRemoved):
      let address = Address(link: index, text: text)
      if isRemoved || !isUsable { self.addresses.remove(address) } else { self.addresses.insert(address) }
    case .defaultRoute(let index, let gateway, let isRemoved):
      let route = Route(link: index, gateway: gateway)
      if isRemoved { self.routes.remove(route) } else { self.routes.insert(route) }
    case .done, .error, .overrun, .other:
      break
    }
  }

  private var path: NetworkPath {
    let needed = NetlinkMessage.LinkFlag.up | NetlinkMessage.LinkFlag.running
    let usable = self.links.filter {
      $0.value.flags & needed == needed && $0.value.flags & NetlinkMessage.LinkFlag.loopback == 0
    }
    let interfaces = usable.compactMap { index, link -> NetworkPath.Interface? in
      let addresses = self.addresses.filter { $0.link == index }.map(\.text).sorted()
      return addresses.isEmpty ? nil : NetworkPath.Interface(name: link.name, addresses: addresses)
    }
    let gateways = self.routes.filter { usable[$0.link] != nil }.map { $0.gateway ?? "on-link" }
    return NetworkPath(interfaces: interfaces.sorted { $0.name < $1.name }, gateways: gateways.sorted())
  }
}
