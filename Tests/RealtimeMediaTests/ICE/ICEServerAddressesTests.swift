import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

/// Servers with an IPv6 and an IPv4 address: each is used where it can be reached.
@Suite struct ICEServerAddressesTests {
  private static let v4 = ICEConnectingTests.server
  private static let v6 = TransportAddress(VirtualNetwork.ip("2001:db8::254"), port: 3478)
  private static let missing = TransportAddress(VirtualNetwork.ip("2001:db8::77"), port: 3478)

  private static func turn(
    _ address: TransportAddress, _ alternative: TransportAddress, _ transport: ICEAgent.Server.Transport
  ) -> ICEAgent.Server {
    .init(
      .turn, address, alternative: alternative, transport: transport, username: "ann", password: "secret")
  }

  private static func world(_ servers: [ICEAgent.Server], seed: UInt64) -> ICEWorld {
    let world = ICEWorld(seed: seed, .init(servers: servers))
    _ = Self.serve(world)
    return world
  }

  /// The server at its two addresses, that of IPv4 first.
  private static func serve(_ world: ICEWorld) -> [VirtualTURNServer] {
    [Self.v4, Self.v6].map { world.network.addServer($0, users: ["ann": "secret"]) }
  }

  /// A name whose first address is of IPv6 left sockets of IPv4 behind a NAT without the one address they can be reached at.
  @Test(arguments: [(Self.v6, Self.v4), (Self.v4, Self.v6)])
  func aSocketLearnsItsAddressFromTheServerOfItsIPVersion(
    _ first: TransportAddress, _ second: TransportAddress
  ) {
    let world = Self.world([.init(.stun, first, alternative: second)], seed: 1)
    let home = world.network.addNAT(.portRestricted, "192.0.2.1")
    world.addSocket(world.one, "2001:db8::1")
    world.addSocket(world.one, "10.0.0.2", in: home)
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(world.run(.seconds(1)) { world.one.gatheringEnded == 1 })
    let reflexive = world.one.candidates.filter { $0.kind == .serverReflexive }
    #expect(reflexive.map(\.address) == [.ip(VirtualNetwork.ip("192.0.2.1"))])
    #expect(ICEConnectingTests.connected(world))
    #expect(world.one.warnings.isEmpty)
  }

  @Test func aSocketRelaysByTheServerOfItsIPVersion() {
    let world = Self.world([Self.turn(Self.missing, Self.v4, .udp)], seed: 2)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(world.run(.seconds(1)) { world.one.gatheringEnded == 1 })
    #expect(world.one.candidates.count { $0.kind == .relayed } == 1)
    #expect(world.one.warnings.isEmpty)
  }

  /// One relay is enough, so one of the two addresses that does not answer is no news.
  @Test func aRelayThatOneIPVersionReachesIsReached() {
    let world = Self.world([Self.turn(Self.missing, Self.v4, .udp)], seed: 3)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.one, "2001:db8::1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    world.run(.seconds(20))
    #expect(world.one.candidates.count { $0.kind == .relayed } == 1)
    #expect(world.one.warnings.isEmpty)
  }

  @Test(arguments: [ICEAgent.Server.Transport.tcp, .tls])
  func aStreamTriesTheOtherAddressAtOnce(_ transport: ICEAgent.Server.Transport) {
    let world = Self.world([Self.turn(Self.missing, Self.v4, transport)], seed: 4)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    let start = world.now
    world.start()
    #expect(world.run(.seconds(20)) { world.one.gatheringEnded == 1 })
    #expect(start.duration(to: world.now) <= .milliseconds(5500))
    #expect(world.one.candidates.count { $0.kind == .relayed } == 1)
    #expect(world.one.warnings.isEmpty)
  }

  @Test(arguments: ICEAgent.Server.Transport.allCases)
  func aServerThatNoAddressReachesIsOneWarning(_ transport: ICEAgent.Server.Transport) {
    let other = TransportAddress(VirtualNetwork.ip("192.0.2.77"), port: 3478)
    let server = Self.turn(Self.missing, other, transport)
    let world = Self.world([server], seed: 5)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.one, "2001:db8::1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    world.run(.seconds(90))
    #expect(world.one.warnings.count { $0 == .serverUnreachable(server) } == 1)
    #expect(world.areCompleted)
  }

  /// The first description waits two seconds for relays, and a path of IPv6 may swallow everything.
  @Test func aStreamToTheFirstOfTwoAddressesHasASecond() {
    var agent = ICEAgent(
      configuration: .init(servers: [Self.turn(Self.v6, Self.v4, .tls)]), role: .controlling,
      random: SeededGenerator(seed: 6))
    let start = VoiceInstant()
    func opened() -> [TransportAddress] {
      var addresses: [TransportAddress] = []
      while let output = agent.poll() {
        if case .openStream(_, let server) = output { addresses.append(server.address) }
      }
      return addresses
    }
    agent.noMoreSockets(at: start)
    #expect(opened() == [Self.v6])
    agent.timePassed(at: start.advanced(by: .milliseconds(999)))
    #expect(opened() == [])
    agent.timePassed(at: start.advanced(by: .seconds(1)))
    #expect(opened() == [Self.v4])
    agent.timePassed(at: start.advanced(by: .milliseconds(5999)))
    #expect(opened() == [])
    // A server that is just slow has all the time afterwards.
    agent.timePassed(at: start.advanced(by: .seconds(6)))
    agent.timePassed(at: start.advanced(by: .seconds(7)))
    #expect(opened() == [Self.v6])
    agent.timePassed(at: start.advanced(by: .milliseconds(11_999)))
    #expect(opened() == [])
  }

  /// Two addresses were two ways to try at once, for ever.
  @Test func aServerThatHangsUpIsNotAskedWithoutAPause() {
    // Both of IPv4, because these servers relay what is of their own version alone.
    let second = TransportAddress(VirtualNetwork.ip("192.0.2.253"), port: 3478)
    let server = Self.turn(Self.v4, second, .tcp)
    let world = ICEWorld(seed: 7, .init(servers: [server]))
    for address in [Self.v4, second] {
      world.network.addServer(address, users: ["ann": "secret"]).hangsUp = true
    }
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    world.run(.seconds(30))
    #expect((1...40).contains(world.one.candidates.count { $0.kind == .relayed }))
    #expect(world.one.warnings == [.serverUnreachable(server)])
  }

  @Test func aServerThatAllowsOneAllocationServes() {
    let world = ICEWorld(seed: 8, .init(servers: [Self.turn(Self.v6, Self.v4, .udp)]))
    Self.serve(world).last?.refusal = 486
    world.addSocket(world.one, "2001:db8::1")
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    world.run(.seconds(5))
    #expect(world.one.candidates.count { $0.kind == .relayed } == 1)
    #expect(world.one.warnings.isEmpty)
  }

  @Test func aServerThatNoSocketCanAskIsAWarning() {
    let server = ICEAgent.Server(.turn, Self.v6, username: "ann", password: "secret")
    let world = Self.world([server, .init(.stun, Self.v4)], seed: 9)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(world.run(.seconds(1)) { world.one.gatheringEnded == 1 })
    #expect(world.one.warnings.contains(.serverUnreachable(server)))
    #expect(!world.one.warnings.contains(.serverUnreachable(.init(.stun, Self.v4))))
  }
}
