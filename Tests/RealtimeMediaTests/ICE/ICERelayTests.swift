import RealtimeMedia
import Testing
import VoiceCore

/// Servers that refuse, do not answer, go away or name others, as an agent sees them.
@Suite struct ICERelayTests {
  static let server = ICEConnectingTests.server

  static func world(_ configuration: ICEAgent.Configuration, seed: UInt64) -> ICEWorld {
    let world = ICEWorld(seed: seed, configuration)
    world.network.addServer(self.server, users: ["ann": "secret"])
    return world
  }

  @Test(arguments: [ICEAgent.Server.Transport.udp, .tcp])
  func aWrongPasswordIsAWarningAndTheCallGoesOn(_ transport: ICEAgent.Server.Transport) {
    let configuration = ICEConnectingTests.turn(transport, password: "guess")
    let world = Self.world(configuration, seed: 1)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(ICEConnectingTests.connected(world))
    world.run(.seconds(10))
    let refused = configuration.servers.map { ICEWarning.serverRefused($0, .wrongCredentials) }
    #expect(world.one.warnings == refused + [.onlyHostCandidates])
    #expect(world.one.gatheringEnded == 1)
    // A wrong password is not tried again.
    #expect(world.one.state == .completed)
  }

  @Test func aWrongPasswordWithNothingButARelayFails() {
    let world = Self.world(ICEConnectingTests.turn(password: "guess", relayOnly: true), seed: 2)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(world.run(.seconds(16)) { world.one.state == .failed })
    #expect(world.one.warnings.contains(.noCandidates))
    #expect(world.one.agent.failure == .noLocalCandidates)
  }

  /// RFC 8445 section 7.1.1: that of a candidate that is seen, also of a relay; all but the type is that of the relay.
  @Test(arguments: [ICEAgent.Server.Transport.udp, .tcp])
  func checksCarryThePriorityOfACandidateThatIsSeen(_ transport: ICEAgent.Server.Transport) throws {
    let world = Self.world(ICEConnectingTests.turn(transport, relayOnly: true), seed: 10)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.one.keepsCandidates = true
    world.start()
    #expect(ICEConnectingTests.connected(world))
    let seen = try #require(world.other.agent.selectedPair?.remote)
    let relay = try #require(world.one.candidates.first { $0.kind == .relayed })
    #expect(seen.kind == .peerReflexive && seen.address == relay.address && seen.port == relay.port)
    #expect(seen.priority >> 24 == ICECandidate.priority(.peerReflexive) >> 24)
    #expect(seen.priority & 0xff_ffff == relay.priority & 0xff_ffff)
  }

  @Test(arguments: [ICEAgent.Server.Transport.udp, .tcp])
  func aServerThatDoesNotAnswerIsAWarning(_ transport: ICEAgent.Server.Transport) {
    var configuration = ICEConnectingTests.turn(transport)
    let missing = TransportAddress(VirtualNetwork.ip("192.0.2.77"), port: 3478)
    configuration.servers[0].address = missing
    if transport == .udp { configuration.servers.append(.init(.stun, missing)) }
    let world = Self.world(configuration, seed: 3)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.one, "203.0.113.1")
    let start = world.now
    world.start()
    #expect(world.run(.seconds(10)) { world.one.gatheringEnded == 1 })
    #expect(start.duration(to: world.now) <= .milliseconds(5200))
    #expect(
      Set(world.one.warnings)
        == Set(configuration.servers.map { .serverUnreachable($0) } + [.onlyHostCandidates]))
    // Trying goes on, but is not told again.
    world.run(.seconds(60))
    #expect(world.one.warnings.count == configuration.servers.count + 1)
  }

  /// A permission of a relay is for all ports of an address (RFC 8656 section 9).
  @Test(arguments: [ICEAgent.Server.Transport.udp, .tcp])
  func tellsWhoTheOtherOneIsAmongThoseThatARelayLetsIn(_ transport: ICEAgent.Server.Transport) {
    let world = Self.world(ICEConnectingTests.turn(transport, relayOnly: true), seed: 9)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(ICEConnectingTests.connected(world))
    #expect(world.crosses())
    #expect(world.one.strangers.isEmpty)
    guard let relay = world.other.agent.selectedPair?.remote, case .ip(let ip) = relay.address else {
      Issue.record("there is no relay")
      return
    }
    let stranger = world.network.open("198.51.100.2", port: 9)
    world.network.send([22, 9, 9], from: stranger, to: TransportAddress(ip, port: relay.port))
    world.run(.seconds(1))
    #expect(world.one.strangers == [[22, 9, 9]])
  }

  @Test func theSameServerTwiceIsOneRelay() {
    var configuration = ICEConnectingTests.turn()
    configuration.servers += configuration.servers
    let world = Self.world(configuration, seed: 21)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(world.run(.seconds(1)) { world.one.gatheringEnded == 1 })
    world.run(.seconds(20))
    #expect(world.one.warnings.isEmpty)
    #expect(world.one.candidates.count { $0.kind == .relayed } == 1)
  }

  @Test(arguments: [ICEAgent.Server.Transport.tcp, .tls])
  func aSTUNServerThatIsNotOverUDPIsAWarning(_ transport: ICEAgent.Server.Transport) {
    let server = ICEAgent.Server(.stun, Self.server, transport: transport)
    let world = Self.world(.init(servers: [server]), seed: 22)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    world.run(.seconds(1))
    #expect(world.one.warnings == [.serverNotUsed(server), .onlyHostCandidates])
  }

  @Test func followsToAnotherServerButNotForEver() {
    let world = Self.world(ICEConnectingTests.turn(relayOnly: true), seed: 4)
    let second = TransportAddress(VirtualNetwork.ip("192.0.2.252"), port: 3478)
    let third = world.network.addServer(second, users: ["ann": "secret"])
    let first = world.network.addServer(Self.server, users: ["ann": "secret"])
    first.alternate = second
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(ICEConnectingTests.connected(world))
    #expect(world.crosses())
    #expect(third.allocationCount == 1)
    let circle = Self.world(ICEConnectingTests.turn(), seed: 5)
    circle.network.addServer(Self.server, users: ["ann": "secret"]).alternate = Self.server
    circle.addSocket(circle.one, "198.51.100.1")
    circle.start()
    circle.run(.seconds(5))
    let server = ICEConnectingTests.turn().servers[0]
    #expect(circle.one.warnings.contains(.serverRefused(server, .tooManyRedirections)))
  }

  @Test(arguments: [ICEAgent.Server.Transport.udp, .tcp])
  func getsANewRelayWhenTheServerForgotTheOld(_ transport: ICEAgent.Server.Transport) {
    let configuration = ICEConnectingTests.turn(transport, relayOnly: true)
    let world = ICEWorld(seed: 6, configuration)
    let server = world.network.addServer(Self.server, users: ["ann": "secret"])
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(ICEConnectingTests.connected(world))
    server.forget()
    if transport == .tcp { world.network.closeFromServer(1) }
    world.run(.seconds(transport == .tcp ? 10 : 600))
    // The peer has learnt the new relay's address from the signalled candidate.
    #expect(world.one.candidates.count == 2)
    #expect(server.allocationCount == 1)
  }

  /// A NAT gives a silent socket another port, for which the relay has no allocation: both sides had relays that led nowhere, and
  /// every restart described them again.
  @Test func aRestartAfterALongFailureUsesRelaysThatAreThere() {
    let configuration = ICEConnectingTests.turn(relayOnly: true)
    let world = ICEWorld(seed: 12, configuration, configuration)
    world.network.addServer(Self.server, users: ["ann": "secret"])
    let realms = [1, 2].map { world.network.addNAT(.symmetric, "203.0.113.\($0)", lifetime: .seconds(30)) }
    for (peer, realm) in zip(world.peers, realms) { world.addSocket(peer, "10.0.0.1", in: realm) }
    world.start()
    #expect(ICEConnectingTests.connected(world))
    for realm in realms { world.network.setDown(true, "10.0.0.1", in: realm) }
    world.run(.seconds(60))
    #expect(world.peers.allSatisfy { $0.state == .failed })
    for realm in realms { world.network.setDown(false, "10.0.0.1", in: realm) }
    world.run(.seconds(3))
    for peer in world.peers { #expect(peer.candidates.count { $0.kind == .relayed } == 2) }
    world.restart(world.one)
    world.restart(world.other)
    #expect(ICEConnectingTests.connected(world))
    #expect(world.peers.allSatisfy { $0.warnings.isEmpty })
  }

  /// What a relay says is worth waiting for, but not long.
  @Test func aRestartWaitsForRelaysASecondAtMost() {
    let world = Self.world(ICEConnectingTests.turn(), seed: 13)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(ICEConnectingTests.connected(world))
    world.run(.seconds(5))
    let answered = world.now
    world.restart(world.one)
    #expect(world.run(.seconds(5)) { world.one.gatheringEnded == 2 })
    #expect(answered.duration(to: world.now) < .milliseconds(500))
    world.run(.seconds(5))
    world.network.setDown(true, "198.51.100.1")
    let asked = world.now
    world.restart(world.one)
    #expect(world.run(.seconds(5)) { world.one.gatheringEnded == 3 })
    #expect(asked.duration(to: world.now) <= .milliseconds(1010))
  }

  @Test func staleNoncesAreRenewedDuringACall() {
    let world = ICEWorld(seed: 7, ICEConnectingTests.turn(relayOnly: true))
    let server = world.network.addServer(Self.server, users: ["ann": "secret"])
    server.nonceUses = 1
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(ICEConnectingTests.connected(world))
    for _ in 0..<40 {
      world.run(.seconds(60))
      #expect(world.crosses())
    }
    #expect(server.staleAnswers > 10)
    #expect(world.one.warnings.isEmpty)
    #expect(world.areCompleted)
  }

  @Test func relaysOverIPv6() {
    let address = TransportAddress(VirtualNetwork.ip("2001:db8::254"), port: 3478)
    let server = ICEAgent.Server(.turn, address, username: "ann", password: "secret", relayIsV6: true)
    let world = ICEWorld(seed: 8, .init(servers: [server], relayOnly: true))
    world.network.addServer(address, users: ["ann": "secret"])
    world.addSocket(world.one, "2001:db8::1")
    world.addSocket(world.other, "2001:db8::2")
    world.start()
    #expect(ICEConnectingTests.connected(world))
    #expect(world.crosses())
    #expect(world.one.candidates.map(\.address) == [.ip(address.ip)])
  }

  /// UDP is blocked altogether, as in some offices: the relay over TCP and the peer's own path find each other.
  @Test func isReachableThoughUDPIsBlockedOnBothSides() {
    let configuration = ICEConnectingTests.turn(.tls)
    let world = ICEWorld(seed: 9, configuration, configuration)
    world.network.addServer(Self.server, users: ["ann": "secret"])
    for (index, peer) in world.peers.enumerated() {
      let home = world.network.addNAT(.portRestricted, "192.0.2.\(index + 1)", blocksUDP: true)
      world.addSocket(peer, "10.0.0.2", in: home)
    }
    world.start()
    #expect(ICEConnectingTests.connected(world))
    #expect(world.crosses())
    #expect(world.peers.allSatisfy { $0.agent.selectedPair?.local.kind == .relayed })
    #expect(world.peers.allSatisfy { $0.agent.sendingPath == .relayed })
  }
}
