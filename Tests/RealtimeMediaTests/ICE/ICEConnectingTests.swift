import RealtimeMedia
import Testing
import VoiceCore

/// RFC 8445, 8838 and 8839: how two agents find a path.
@Suite struct ICEConnectingTests {
  static let server = TransportAddress(VirtualNetwork.ip("192.0.2.254"), port: 3478)
  static let stun = ICEAgent.Configuration(servers: [.init(.stun, server)])

  static func turn(
    _ transport: ICEAgent.Server.Transport = .udp, password: String = "secret", relayOnly: Bool = false
  ) -> ICEAgent.Configuration {
    .init(
      servers: [.init(.turn, server, transport: transport, username: "ann", password: password)],
      relayOnly: relayOnly)
  }

  static func connected(_ world: ICEWorld, within duration: Duration = .seconds(10)) -> Bool {
    world.run(duration) { world.areConnected }
  }

  @Test func connectsOnOneNetwork() {
    let world = ICEWorld(seed: 1)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    let start = world.now
    world.start()
    #expect(world.run(.seconds(5)) { world.areCompleted })
    // Signalling takes 30 ms and a check there and back 40 ms.
    #expect(start.duration(to: world.now) < .milliseconds(250))
    #expect(world.crosses())
    #expect(world.one.selections.last?.local.kind == .host)
    #expect(world.one.agent.selectedPair?.isNominated == true)
    #expect(world.other.agent.selectedPair?.isNominated == true)
    #expect(world.one.warnings == [.onlyHostCandidates])
  }

  @Test func saysThatThereIsNoCandidateAndFails() {
    let world = ICEWorld(seed: 2)
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(world.run(.seconds(16)) { world.peers.allSatisfy { $0.state == .failed } })
    #expect(world.one.warnings == [.noCandidates])
    #expect(world.one.agent.failure == .noLocalCandidates)
    #expect(world.other.agent.failure == .noPairAnswered)
  }

  @Test func connectsOverLoopbackOnly() {
    let world = ICEWorld(seed: 3)
    let machine = world.network.addRealm()
    world.addSocket(world.one, "127.0.0.1", in: machine)
    world.addSocket(world.other, "127.0.0.1", in: machine)
    world.start()
    #expect(Self.connected(world))
    #expect(world.crosses())
  }

  @Test func connectsOverIPv6AndPairsNoOtherFamily() {
    let world = ICEWorld(seed: 4)
    world.addSocket(world.one, "2001:db8::1")
    world.addSocket(world.one, "fe80::1")
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "2001:db8::2")
    world.start()
    #expect(Self.connected(world))
    #expect(world.crosses())
    #expect(world.one.selections.last?.local.address == .ip(VirtualNetwork.ip("2001:db8::1")))
    // One pair was possible, and no other one was ever checked.
    #expect(world.one.agent.counts.checksSent == 1)
  }

  @Test func isReachedThroughAPeerReflexiveCandidateWhenThePeerSignalsNone() {
    let world = ICEWorld(seed: 5)
    let home = world.network.addNAT(.portRestricted, "192.0.2.1")
    world.one.keepsCandidates = true
    world.addSocket(world.one, "10.0.0.2", in: home)
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(Self.connected(world))
    #expect(world.crosses())
    #expect(world.other.selections.last?.remote.kind == .peerReflexive)
    #expect(world.one.selections.last?.local.kind == .peerReflexive)
  }

  @Test func toleratesNamesOfMulticastDNSAndOtherTransports() {
    let world = ICEWorld(seed: 6)
    world.one.keepsCandidates = true
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    for text in [
      "candidate:1 1 udp 2113937151 4d52bd1c-9b86-4b24-9e54-a6c1ec8ef5a5.local 50000 typ host",
      "candidate:2 1 tcp 1518280447 198.51.100.1 9 typ host tcptype active",
      "candidate:3 2 udp 2113937150 198.51.100.1 50001 typ host",
      "candidate:4 1 udp 2113937150 198.51.100.1 0 typ host",
    ] {
      if let candidate = try? ICECandidate(parsing: text) {
        world.other.agent.addRemote(candidate, at: world.now)
      } else {
        Issue.record("\(text) is not read")
      }
    }
    world.start()
    #expect(Self.connected(world))
    #expect(world.other.selections.last?.remote.kind == .peerReflexive)
    #expect(world.other.agent.counts.checksSent == 1)
  }

  @Test func acceptsChecksThatComeBeforeTheAnswer() {
    let world = ICEWorld(seed: 7)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    // The offer is there; the answer comes long after the peer's first checks.
    world.signalCredentials(of: world.one)
    world.run(.milliseconds(400))
    #expect(world.one.agent.counts.checksReceived > 0)
    #expect(world.one.state == .new)
    world.signalCredentials(of: world.other)
    #expect(world.run(.milliseconds(150)) { world.areConnected })
    #expect(world.crosses())
  }

  @Test(arguments: VirtualNAT.Kind.allCases, VirtualNAT.Kind.allCases)
  func crossesNATsAsFarAsTheyLet(_ first: VirtualNAT.Kind, _ second: VirtualNAT.Kind) {
    let world = ICEWorld(seed: 8, Self.stun, Self.stun)
    world.network.addServer(Self.server)
    world.addSocket(world.one, "10.0.0.2", in: world.network.addNAT(first, "192.0.2.1"))
    world.addSocket(world.other, "10.0.0.2", in: world.network.addNAT(second, "192.0.2.2"))
    world.start()
    let kinds = [first, second]
    let isPossible =
      !kinds.contains(.symmetric) || !(kinds.filter { $0 == .symmetric || $0 == .portRestricted }.count == 2)
    #expect(Self.connected(world, within: .seconds(14)) == isPossible)
    if isPossible {
      #expect(world.crosses())
    } else {
      #expect(world.run(.seconds(3)) { world.peers.allSatisfy { $0.state == .failed } })
      #expect(world.peers.allSatisfy { $0.agent.failure == .noPairAnswered })
    }
    #expect(world.peers.allSatisfy { $0.candidates.map(\.kind) == [.host, .serverReflexive] })
    #expect(world.peers.allSatisfy { $0.warnings.isEmpty })
  }

  @Test func connectsBehindOneNATWithoutHairpin() {
    let world = ICEWorld(seed: 9, Self.stun, Self.stun)
    world.network.addServer(Self.server)
    let home = world.network.addNAT(.symmetric, "192.0.2.1")
    world.addSocket(world.one, "10.0.0.2", in: home)
    world.addSocket(world.other, "10.0.0.3", in: home)
    world.start()
    #expect(Self.connected(world))
    #expect(world.one.selections.last?.remote.kind == .host)
  }

  @Test func connectsThroughTwoNATsOfOneProviderByHairpin() {
    let world = ICEWorld(seed: 10, Self.stun, Self.stun)
    world.network.addServer(Self.server)
    let provider = world.network.addNAT(.fullCone, "192.0.2.1", hairpins: true)
    let first = world.network.addNAT(.portRestricted, "100.64.0.1", in: provider)
    let second = world.network.addNAT(.portRestricted, "100.64.0.2", in: provider)
    world.addSocket(world.one, "10.0.0.2", in: first)
    world.addSocket(world.other, "10.0.0.2", in: second)
    world.start()
    #expect(Self.connected(world))
    #expect(world.crosses())
  }

  @Test func oneSideOnlyChecksAPeerWithAllCandidatesThatIsLite() {
    let world = ICEWorld(seed: 11, roles: (.controlled, .controlled))
    world.addSocket(world.one, "198.51.100.1")
    let peer = LitePeer(agent: world.one.agent.localCredentials)
    let endpoint = world.network.open("198.51.100.9", port: 7000)
    world.one.agent.addRemote(
      .init(
        foundation: "1", priority: 2_130_706_431, address: .ip(endpoint.address.ip), port: 7000, kind: .host),
      at: world.now)
    world.one.agent.setRemote(
      userFragment: peer.credentials.userFragment, password: peer.credentials.password, isLite: true,
      at: world.now)
    world.perform(world.one)
    // The lite peer is played by the drop hook, which sees what is sent to it.
    world.drops = { [unowned world] _, bytes, _ in
      guard let answer = peer.answer(bytes, from: world.one) else { return false }
      world.network.send(
        answer, from: endpoint, to: world.one.sockets.values.first?.address ?? endpoint.address)
      return true
    }
    #expect(world.run(.seconds(3)) { world.one.agent.selectedPair?.isNominated == true })
    #expect(world.one.agent.role == .controlling)
    #expect(peer.nominations > 0)
    #expect(peer.wrong == 0)
  }

  @Test func relaysBetweenSymmetricNATs() {
    let world = ICEWorld(seed: 12, Self.turn(), Self.turn())
    let server = world.network.addServer(Self.server, users: ["ann": "secret"])
    world.addSocket(world.one, "10.0.0.2", in: world.network.addNAT(.symmetric, "192.0.2.1"))
    world.addSocket(world.other, "10.0.0.2", in: world.network.addNAT(.symmetric, "192.0.2.2"))
    world.start()
    #expect(Self.connected(world))
    #expect(world.crosses())
    #expect(server.relayedDatagrams > 0)
    #expect(world.one.candidates.map(\.kind).contains(.relayed))
    // A channel is bound for the pair that is sent on.
    world.run(.seconds(1))
    #expect(world.crosses())
    #expect(server.channelData > 0)
    for peer in world.peers {
      peer.agent.close(at: world.now)
      world.perform(peer)
    }
    world.run(.seconds(1))
    #expect(server.allocationCount == 0)
  }

  @Test(arguments: [ICEAgent.Server.Transport.udp, .tcp, .tls])
  func showsOnlyTheRelayIfNothingElseIsAllowed(_ transport: ICEAgent.Server.Transport) {
    let world = ICEWorld(seed: 13, Self.turn(transport, relayOnly: true))
    world.network.addServer(Self.server, users: ["ann": "secret"])
    let home = world.network.addNAT(.portRestricted, "192.0.2.1", blocksUDP: transport != .udp)
    world.addSocket(world.one, "10.0.0.2", in: home)
    world.addSocket(world.other, "198.51.100.2")
    var seen: Set<IPAddress> = []
    world.drops = { peer, _, address in
      if peer == 1 { seen.insert(address.ip) }
      return false
    }
    world.start()
    #expect(Self.connected(world))
    #expect(world.crosses())
    #expect(world.one.candidates.map(\.kind) == [.relayed])
    #expect(world.one.candidates.first?.relatedAddress == .ip(.v4(0)))
    #expect(seen == [Self.server.ip])
  }

  @Test func usesADirectPathThoughARelayAnsweredFirst() {
    let world = ICEWorld(seed: 14, Self.turn(), Self.turn())
    world.network.addServer(Self.server, users: ["ann": "secret"])
    world.network.setLink(.init(delay: .milliseconds(400)), of: "198.51.100.2")
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(Self.connected(world))
    world.run(.seconds(5))
    #expect(world.peers.allSatisfy { $0.agent.selectedPair?.local.kind != .relayed })
    #expect(world.peers.allSatisfy { $0.agent.selectedPair?.remote.kind != .relayed })
  }

  @Test func nominatesAtOnceIfNothingBetterIsLeft() {
    let world = ICEWorld(seed: 15)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    // 30 ms to signal, then two checks of 40 ms each, and 50 ms between checks.
    #expect(world.run(.milliseconds(180)) { world.one.agent.selectedPair?.isNominated == true })
  }

  @Test func staysBelowTheLimitOfPairs() {
    let world = ICEWorld(seed: 16)
    for index in 1...12 { world.addSocket(world.one, "198.51.100.\(index)") }
    for index in 101...120 { world.addSocket(world.other, "198.51.100.\(index)") }
    for index in 101...120 { world.network.setDown(true, "198.51.100.\(index)") }
    world.start()
    world.run(.seconds(14))
    // One check each 50 ms and no more, however many pairs there are.
    #expect(world.one.agent.counts.checksSent <= 280)
    #expect(world.one.state == .checking)
    world.run(.seconds(2))
    #expect(world.one.state == .failed)
  }
}

/// A peer that only answers (RFC 8445 section 2.5).
private final class LitePeer {
  let credentials = ICEAgent.Credentials(userFragment: "lite", password: "abcdefghijklmnopqrstuv")
  let agent: ICEAgent.Credentials
  private(set) var nominations = 0
  private(set) var wrong = 0

  init(agent: ICEAgent.Credentials) { self.agent = agent }

  func answer(_ bytes: [UInt8], from peer: ICEWorld.Peer) -> [UInt8]? {
    let key = STUNMessage.Integrity.sha1(STUNMessage.shortTermKey(password: self.credentials.password))
    guard let received = try? ReceivedSTUNMessage(parsing: bytes), received.message.kind == .request,
      let source = peer.sockets.values.first?.address
    else { return nil }
    let user = STUNAttribute.username("\(self.credentials.userFragment):\(self.agent.userFragment)")
    if !received.isAuthentic(key) || !received.message.attributes.contains(user) { self.wrong += 1 }
    if received.message.attributes.contains(.useCandidate) { self.nominations += 1 }
    return received.message.answer(.success, attributes: [.xorMappedAddress(source)])
      .encoded(integrity: key, fingerprint: true)
  }
}
