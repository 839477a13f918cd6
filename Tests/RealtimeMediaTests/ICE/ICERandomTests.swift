import Foundation
import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

/// Random networks, and random input.
@Suite struct ICERandomTests {
  struct Course {
    var isPossible = false
    var isConnected = false
    var text = ""
    var world: ICEWorld
  }

  /// Two agents in a random network: none to two NATs on each side, STUN, TURN over each transport, one or two
  /// interfaces, IPv4 or IPv6, loss up to 15 %, delay, jitter and duplication, both or wrong roles.
  static func course(seed: UInt64) -> Course {
    var random = SeededGenerator(seed: seed)
    let stun = TransportAddress(VirtualNetwork.ip("192.0.2.254"), port: 3478)
    let turn = TransportAddress(VirtualNetwork.ip("192.0.2.253"), port: 3478)
    let hasSTUN = Int.random(in: 0..<4, using: &random) > 0
    let roles: [(ICEAgent.Role, ICEAgent.Role)] = [
      (.controlling, .controlled), (.controlling, .controlled), (.controlled, .controlling),
      (.controlling, .controlling), (.controlled, .controlled),
    ]
    var relays: [ICEAgent.Server.Transport?] = []
    for _ in 0..<2 {
      let choices: [ICEAgent.Server.Transport?] = [nil, nil, nil, .udp, .tcp, .tls]
      relays.append(choices.randomElement(using: &random) ?? nil)
    }
    let configurations = relays.map { transport in
      var servers: [ICEAgent.Server] = []
      if hasSTUN { servers.append(.init(.stun, stun)) }
      if let transport {
        servers.append(.init(.turn, turn, transport: transport, username: "ann", password: "secret"))
      }
      return ICEAgent.Configuration(servers: servers)
    }
    let world = ICEWorld(
      seed: random.next(), configurations[0], configurations[1],
      roles: roles.randomElement(using: &random) ?? roles[0])
    world.network.addServer(stun)
    world.network.addServer(turn, users: ["ann": "secret"])
    world.network.link = .init(
      loss: Double.random(in: 0...0.08, using: &random),
      delay: .milliseconds(Int.random(in: 1...80, using: &random)),
      jitter: .milliseconds(Int.random(in: 0...60, using: &random)),
      duplication: Double.random(in: 0...0.1, using: &random))
    world.signallingDelay = .milliseconds(Int.random(in: 1...500, using: &random))
    var nats: [VirtualNAT.Kind?] = []
    var realms: [Int] = []
    let shares = Int.random(in: 0..<10, using: &random) == 0
    for side in 0..<2 {
      if side == 1, shares {
        nats.append(nats[0])
        realms.append(realms[0])
        continue
      }
      let choices: [VirtualNAT.Kind?] = [nil] + VirtualNAT.Kind.allCases
      let kind = choices.randomElement(using: &random) ?? nil
      nats.append(kind)
      realms.append(kind.map { world.network.addNAT($0, "192.0.2.\(side + 1)") } ?? 0)
    }
    let usesV6 = nats.allSatisfy { $0 == nil } && Bool.random(using: &random)
    for (side, peer) in world.peers.enumerated() {
      let prefix = nats[side] == nil ? "198.51.100" : "10.0.0"
      let count = Int.random(in: 1...2, using: &random)
      for index in 0..<count {
        // Both sides may have the same address behind their NATs.
        let last = (shares || nats[side] == nil ? side * 10 : 0) + index + 1
        world.addSocket(peer, "\(prefix).\(last)", in: realms[side])
      }
      if usesV6 { world.addSocket(peer, "2001:db8::\(side + 1)") }
    }
    world.start()
    var course = Course(world: world)
    course.isPossible = Self.isPossible(nats, shares: shares, hasSTUN: hasSTUN, relays: relays)
    course.text = "seed \(seed): NATs \(nats), shared \(shares), STUN \(hasSTUN), relays \(relays)"
    return course
  }

  /// What must work, and what cannot.
  static func isPossible(
    _ nats: [VirtualNAT.Kind?], shares: Bool, hasSTUN: Bool, relays: [ICEAgent.Server.Transport?]
  ) -> Bool {
    if shares || nats.contains(nil) { return true }
    // A relay lets in those whose address it was told, and so does a NAT.
    let knows = relays.map { hasSTUN || $0 != nil }
    let kinds = nats.compactMap { $0 }
    if relays[0] != nil && knows[1] || relays[1] != nil && knows[0] { return true }
    // A relay over UDP tells the address of the socket as well.
    let isSeen = relays.map { hasSTUN || $0 == .udp }
    let restricted = kinds.count { $0 == .portRestricted || $0 == .symmetric }
    if isSeen == [true, true] { return !(kinds.contains(.symmetric) && restricted == 2) }
    // If only one is known to the other, it has to let strangers in.
    return isSeen[0] && nats[0] == .fullCone || isSeen[1] && nats[1] == .fullCone
  }

  static var total: Int {
    ProcessInfo.processInfo.environment["VOICE_LONG_TESTS"] == "1" ? 10_000 : 200
  }

  @Test func anyTwoAgentsConnectOrFailInTime() {
    let firstSeed: UInt64 = 1
    var (connected, failed, steps) = (0, 0, 0)
    var slowest = Duration.zero
    for seed in firstSeed..<firstSeed + UInt64(Self.total) {
      let course = Self.course(seed: seed)
      let world = course.world
      let begin = world.now
      let isSettled = world.run(.seconds(25)) {
        world.areConnected || (world.one.state == .failed && world.other.state == .failed)
      }
      steps += world.steps
      guard isSettled else {
        Issue.record("\(course.text): \(world.one.state), \(world.other.state)")
        continue
      }
      if world.areConnected {
        connected += 1
        slowest = max(slowest, begin.duration(to: world.now))
        #expect(course.isPossible, "\(course.text)")
        #expect(world.crosses(within: .seconds(2)), "\(course.text)")
        world.run(.seconds(3))
        #expect(world.one.agent.role != world.other.agent.role, "\(course.text)")
        #expect(world.crosses(within: .seconds(2)), "\(course.text)")
      } else {
        failed += 1
        #expect(!course.isPossible, "\(course.text)")
        #expect(world.peers.allSatisfy { $0.agent.failure == .noPairAnswered }, "\(course.text)")
        #expect(world.peers.allSatisfy { $0.selections.isEmpty }, "\(course.text)")
      }
      // Time passes only for a reason.
      #expect(world.steps < 6000, "\(course.text)")
    }
    print(
      "\(Self.total) pairs of agents from seed \(firstSeed): \(connected) connected, the slowest in \(slowest), "
        + "\(failed) could not and failed; \(steps) steps")
    #expect(connected > 0 && failed > 0)
  }

  /// Any bytes, in any order with any other event: nothing traps, and nothing is sent without bounds.
  @Test func randomEventsNeverTrap() {
    let rounds = ProcessInfo.processInfo.environment["VOICE_LONG_TESTS"] == "1" ? 2000 : 50
    for seed in 0..<UInt64(rounds) {
      var random = SeededGenerator(seed: seed)
      let world = Self.course(seed: seed).world
      world.run(.milliseconds(Int.random(in: 0...3000, using: &random)))
      var captured: [[UInt8]] = []
      world.drops = { _, bytes, _ in
        if captured.count < 200 { captured.append(bytes) }
        return false
      }
      for _ in 0..<150 {
        let peer = world.peers[Int.random(in: 0..<2, using: &random)]
        Self.disturb(peer, world, captured, &random)
        world.perform(peer)
        if Bool.random(using: &random) { world.run(.milliseconds(Int.random(in: 1...700, using: &random))) }
        if let wake = peer.agent.nextWake {
          peer.agent.timePassed(at: max(wake, world.now))
          world.perform(peer)
        }
      }
      #expect(world.one.agent.signalledCandidates.count <= 100)
      #expect(world.steps < 60_000, "seed \(seed): \(world.steps)")
    }
  }

  static func disturb(
    _ peer: ICEWorld.Peer, _ world: ICEWorld, _ captured: [[UInt8]], _ random: inout SeededGenerator
  ) {
    let now = world.now
    let socket =
      peer.sockets.keys.sorted { $0.rawValue < $1.rawValue }.randomElement(using: &random)
      ?? .init(rawValue: 99)
    let source = TransportAddress(.v4(random.next()), port: UInt16.random(in: 0...65535, using: &random))
    var bytes = captured.randomElement(using: &random) ?? []
    if bytes.isEmpty || Int.random(in: 0..<3, using: &random) == 0 {
      bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
    } else if Bool.random(using: &random) {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      bytes[place] = UInt8.random(in: 0...255, using: &random)
    }
    let known = world.peers.flatMap { $0.sockets.values.map(\.address) }.randomElement(using: &random)
    switch Int.random(in: 0..<22, using: &random) {
    case 0...4: peer.agent.received(bytes[...], on: socket, from: source, at: now)
    case 5...8: peer.agent.received(bytes[...], on: socket, from: known ?? source, at: now)
    case 9:
      let server = TransportAddress(VirtualNetwork.ip("192.0.2.253"), port: 3478)
      peer.agent.received(bytes[...], on: socket, from: server, at: now)
    case 10: peer.agent.streamReceived(bytes, .init(rawValue: Int.random(in: 0...3, using: &random)), at: now)
    case 11: peer.agent.streamClosed(.init(rawValue: Int.random(in: 0...3, using: &random)), at: now)
    case 12: peer.agent.streamOpened(.init(rawValue: Int.random(in: 0...3, using: &random)), at: now)
    case 13: peer.agent.timePassed(at: now.advanced(by: .seconds(Int.random(in: -10...10, using: &random))))
    case 14: world.restart(peer)
    case 15: world.signalCredentials(of: peer)
    case 16: world.removeSocket(peer, socket)
    case 17: world.addSocket(peer, "203.0.113.\(Int.random(in: 1...99, using: &random))")
    case 18:
      peer.agent.setRole(Bool.random(using: &random) ? .controlling : .controlled)
      peer.agent.remoteCandidatesEnded(at: now)
    case 19:
      let candidate = ICECandidate(
        foundation: "x", priority: random.next(), address: .ip(source.ip), port: source.port, kind: .relayed)
      peer.agent.addRemote(candidate, at: now)
    case 20: peer.agent.checkNow(at: now)
    default:
      if Int.random(in: 0..<30, using: &random) == 0 { peer.agent.close(at: now) }
      peer.agent.send(bytes, at: now)
    }
  }
}
