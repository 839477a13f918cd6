import RealtimeMedia
import VoiceCore
import VoiceTesting

/// Carries datagrams and streams between addresses in virtual time; the same seed gives the same course.
///
/// Addresses live in *realms*: 0 is the public network, and each NAT has a realm behind it, in which addresses of
/// other realms may occur once more. A realm without a NAT is a network of its own.
///
/// ```swift
/// let network = VirtualNetwork(seed: 1)
/// let home = network.addNAT(.portRestricted, "192.0.2.1")
/// let endpoint = network.open("10.0.0.2", port: 5000, in: home)
/// network.send(bytes, from: endpoint, to: peer)
/// while let next = network.nextEvent { for arrival in network.advance(to: next) { … } }
/// ```
final class VirtualNetwork {
  /// Where somebody listens.
  struct Endpoint: Hashable {
    let realm: Int
    let address: TransportAddress
  }

  /// What happens to what an address sends and receives; both ends' are added.
  struct Link {
    var loss = 0.0
    var delay = Duration.milliseconds(10)
    /// Up to this is added, each time anew, so packets overtake each other.
    var jitter = Duration.zero
    var duplication = 0.0
  }

  enum Arrival {
    case datagram([UInt8], to: Endpoint, from: TransportAddress)
    case streamOpened(Int)
    case streamReceived(Int, [UInt8])
    case streamClosed(Int)
  }

  private struct Interface: Hashable {
    let realm: Int
    let ip: IPAddress
  }

  private enum Event {
    case datagram([UInt8], realm: Int, to: TransportAddress, from: TransportAddress)
    case toServer(TransportAddress, stream: Int, bytes: [UInt8]?)
    case toClient(stream: Int, Arrival)
  }

  private(set) var now = VoiceInstant(offset: .seconds(1000))
  var random: SeededGenerator
  /// For addresses without a link of their own.
  var link = Link()
  private(set) var datagramsSent = 0
  private var links: [Interface: Link] = [:]
  private var down: Set<Interface> = []
  private var interfaces: Set<Interface> = []
  private var endpoints: Set<Endpoint> = []
  private var nats: [Int: VirtualNAT] = [:]
  private var realms = 1
  private var servers: [TransportAddress: VirtualTURNServer] = [:]
  private var events: [(at: VoiceInstant, number: Int, event: Event)] = []
  private var eventNumber = 0
  private var streams: [Int: (client: Interface, server: TransportAddress, seen: TransportAddress)] = [:]
  private var streamTimes: [Int: VoiceInstant] = [:]
  private var nextPort: UInt16 = 20000

  init(seed: UInt64) { self.random = SeededGenerator(seed: seed) }

  // MARK: Building

  /// Adds a NAT; the number of the realm behind it comes back.
  func addNAT(
    _ kind: VirtualNAT.Kind, _ address: String, in outer: Int = 0, hairpins: Bool = false,
    blocksUDP: Bool = false, lifetime: Duration = .seconds(60)
  ) -> Int {
    let realm = self.addRealm()
    let ip = Self.ip(address)
    self.nats[realm] = VirtualNAT(
      kind: kind, address: ip, outer: outer, hairpins: hairpins, blocksUDP: blocksUDP, lifetime: lifetime)
    return realm
  }

  /// Adds a network that nothing else reaches.
  func addRealm() -> Int {
    defer { self.realms += 1 }
    return self.realms
  }

  /// Adds a STUN and TURN server to the public network.
  @discardableResult
  func addServer(_ address: TransportAddress, users: [String: String] = [:]) -> VirtualTURNServer {
    let server = VirtualTURNServer(address: address, users: users, seed: self.random.next())
    self.servers[address] = server
    self.interfaces.insert(Interface(realm: 0, ip: address.ip))
    return server
  }

  /// Begins to listen; port 0 takes a free one.
  func open(_ address: String, port: UInt16 = 0, in realm: Int = 0) -> Endpoint {
    self.nextPort += 1
    let ip = Self.ip(address)
    let endpoint = Endpoint(
      realm: realm, address: TransportAddress(ip, port: port == 0 ? self.nextPort : port))
    self.endpoints.insert(endpoint)
    self.interfaces.insert(Interface(realm: realm, ip: ip))
    return endpoint
  }

  func close(_ endpoint: Endpoint) { self.endpoints.remove(endpoint) }

  func setLink(_ link: Link, of address: String, in realm: Int = 0) {
    self.links[Interface(realm: realm, ip: Self.ip(address))] = link
  }

  /// Takes an address from the network, or gives it back; what is under way to it is lost.
  func setDown(_ isDown: Bool, _ address: String, in realm: Int = 0) {
    let interface = Interface(realm: realm, ip: Self.ip(address))
    if isDown { self.down.insert(interface) } else { self.down.remove(interface) }
  }

  static func ip(_ text: String) -> IPAddress { IPAddress(text) ?? .v4(0) }

  // MARK: Sending

  func send(_ bytes: [UInt8], from endpoint: Endpoint, to destination: TransportAddress) {
    guard self.endpoints.contains(endpoint) else { return }
    self.transmit(bytes, realm: endpoint.realm, from: endpoint.address, to: destination)
  }

  /// What a server sends, which needs no endpoint.
  func sendFromServer(_ bytes: [UInt8], from source: TransportAddress, to destination: TransportAddress) {
    self.transmit(bytes, realm: 0, from: source, to: destination)
  }

  private func transmit(
    _ bytes: [UInt8], realm: Int, from source: TransportAddress, to destination: TransportAddress
  ) {
    self.datagramsSent += 1
    var (realm, source) = (realm, source)
    let sender = Interface(realm: realm, ip: source.ip)
    guard !self.down.contains(sender) else { return }
    var left: Set<IPAddress> = []
    while !self.interfaces.contains(Interface(realm: realm, ip: destination.ip)),
      !self.nats.values.contains(where: { $0.outer == realm && $0.address == destination.ip })
    {
      guard let nat = self.nats[realm], !nat.blocksUDP, nat.address.isV6 == source.ip.isV6 else { return }
      guard let mapped = self.nats[realm]?.translateOut(source, to: destination, at: self.now) else { return }
      if !nat.hairpins { left.insert(nat.address) }
      source = mapped
      realm = nat.outer
    }
    guard !left.contains(destination.ip) else { return }
    let sending = self.links[sender] ?? self.link
    let receiving = self.links[self.receiver(realm, destination)] ?? self.link
    let copies = self.chance(sending.duplication) ? 2 : 1
    for _ in 0..<copies where !self.chance(sending.loss) && !self.chance(receiving.loss) {
      let delay = self.delay(sending) + self.delay(receiving)
      self.schedule(delay, .datagram(bytes, realm: realm, to: destination, from: source))
    }
  }

  /// Who would get it, for the link that it has.
  private func receiver(_ realm: Int, _ destination: TransportAddress) -> Interface {
    var (realm, destination) = (realm, destination)
    while let (inner, nat) = self.nats.first(where: {
      $0.value.outer == realm && $0.value.address == destination.ip
    }),
      let inside = nat.inside(of: destination.port)
    { (realm, destination) = (inner, inside) }
    return Interface(realm: realm, ip: destination.ip)
  }

  private func chance(_ probability: Double) -> Bool {
    probability > 0 && Double.random(in: 0..<1, using: &self.random) < probability
  }

  private func delay(_ link: Link) -> Duration {
    guard link.jitter > .zero else { return link.delay }
    return link.delay + link.jitter * Int64.random(in: 0...1000, using: &self.random) / 1000
  }

  private func schedule(_ delay: Duration, _ event: Event) {
    let at = self.now.advanced(by: delay)
    self.eventNumber += 1
    // The latest come first, so that the next one is taken from the end.
    var (low, high) = (0, self.events.count)
    while low < high {
      let middle = (low + high) / 2
      if self.events[middle].at > at { low = middle + 1 } else { high = middle }
    }
    self.events.insert((at, self.eventNumber, event), at: low)
  }

  // MARK: Streams

  /// Connects to a server; `streamOpened` or `streamClosed` comes.
  func connect(_ stream: Int, from endpoint: Endpoint, to server: TransportAddress) {
    let client = Interface(realm: endpoint.realm, ip: endpoint.address.ip)
    var seen = endpoint.address
    var realm = endpoint.realm
    while let nat = self.nats[realm] {
      seen = TransportAddress(nat.address, port: 30000 &+ UInt16(truncatingIfNeeded: stream))
      realm = nat.outer
    }
    seen.port = 30000 &+ UInt16(truncatingIfNeeded: stream)
    let delay = self.streamDelay(client) * 2
    guard self.servers[server]?.acceptsStreams == true, !self.down.contains(client), realm == 0 else {
      return self.schedule(delay, .toClient(stream: stream, .streamClosed(stream)))
    }
    self.streams[stream] = (client, server, seen)
    self.streamTimes[stream] = self.now.advanced(by: delay)
    self.schedule(delay, .toClient(stream: stream, .streamOpened(stream)))
  }

  func sendOnStream(_ bytes: [UInt8], _ stream: Int) {
    guard let state = self.streams[stream] else { return }
    // Cut anywhere: nothing says that what is written at once is read at once.
    let cut = bytes.isEmpty ? 0 : Int.random(in: 0...bytes.count, using: &self.random)
    for part in [Array(bytes[..<cut]), Array(bytes[cut...])] where !part.isEmpty {
      self.inOrder(stream, .toServer(state.server, stream: stream, bytes: part))
    }
  }

  func closeStream(_ stream: Int) {
    guard let state = self.streams[stream] else { return }
    self.inOrder(stream, .toServer(state.server, stream: stream, bytes: nil))
  }

  func sendToClient(_ bytes: [UInt8], _ stream: Int) {
    let cut = bytes.isEmpty ? 0 : Int.random(in: 0...bytes.count, using: &self.random)
    for part in [Array(bytes[..<cut]), Array(bytes[cut...])] where !part.isEmpty {
      self.inOrder(stream, .toClient(stream: stream, .streamReceived(stream, part)))
    }
  }

  func closeFromServer(_ stream: Int) {
    self.inOrder(stream, .toClient(stream: stream, .streamClosed(stream)))
  }

  private func streamDelay(_ client: Interface) -> Duration {
    let link = self.links[client] ?? self.link
    // What is lost comes after the retransmission.
    return self.delay(link) + self.delay(self.link) + (self.chance(link.loss) ? .milliseconds(250) : .zero)
  }

  private func inOrder(_ stream: Int, _ event: Event) {
    guard let client = self.streams[stream]?.client, !self.down.contains(client) else { return }
    let at = max(self.streamTimes[stream] ?? self.now, self.now.advanced(by: self.streamDelay(client)))
    self.streamTimes[stream] = at
    self.schedule(self.now.duration(to: at), event)
  }

  // MARK: Time

  var nextEvent: VoiceInstant? {
    var next = self.events.last?.at
    for server in self.servers.values {
      if let wake = server.nextExpiry { next = min(next ?? wake, wake) }
    }
    return next
  }

  /// Lets time pass, and hands over what arrives until then.
  func advance(to instant: VoiceInstant) -> [Arrival] {
    var arrivals: [Arrival] = []
    while let next = self.events.last, next.at <= instant {
      self.events.removeLast()
      self.now = max(self.now, next.at)
      if let arrival = self.handle(next.event) { arrivals.append(arrival) }
      if !arrivals.isEmpty, self.events.last.map({ $0.at > self.now }) ?? true, self.now < instant {
        return arrivals
      }
    }
    self.now = max(self.now, instant)
    for server in self.servers.values { server.expire(at: self.now) }
    return arrivals
  }

  private func handle(_ event: Event) -> Arrival? {
    switch event {
    case .datagram(let bytes, let realm, let destination, let source):
      return self.deliver(bytes, realm, destination, source)
    case .toServer(let address, let stream, let bytes):
      guard let server = self.servers[address], let seen = self.streams[stream]?.seen else { return nil }
      if let bytes {
        server.streamReceived(bytes, stream, from: seen, in: self)
      } else {
        server.streamClosed(stream)
        self.streams[stream] = nil
      }
      return nil
    case .toClient(let stream, let arrival):
      if case .streamClosed = arrival { self.streams[stream] = nil }
      return arrival
    }
  }

  private func deliver(
    _ bytes: [UInt8], _ realm: Int, _ destination: TransportAddress, _ source: TransportAddress
  ) -> Arrival? {
    var (realm, destination) = (realm, destination)
    while let inner = self.nats.first(where: { $0.value.outer == realm && $0.value.address == destination.ip }
    )?.key {
      guard self.nats[inner]?.blocksUDP == false,
        let inside = self.nats[inner]?.translateIn(destination.port, from: source, at: self.now)
      else { return nil }
      (realm, destination) = (inner, inside)
    }
    guard !self.down.contains(Interface(realm: realm, ip: destination.ip)) else { return nil }
    let endpoint = Endpoint(realm: realm, address: destination)
    if self.endpoints.contains(endpoint) { return .datagram(bytes, to: endpoint, from: source) }
    if realm == 0 {
      for server in self.servers.values where server.takes(destination) {
        server.received(bytes, at: destination, from: source, in: self)
      }
    }
    return nil
  }
}
