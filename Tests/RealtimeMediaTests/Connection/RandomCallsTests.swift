import Foundation
import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

/// Calls over random networks, to which random things happen. The limit is for the long form on two cores.
@Suite(.timeLimit(.minutes(120))) struct RandomCallsTests {
  enum Outcome: Hashable {
    case heard
    case stuck(String)
  }

  private static let stun = TransportAddress(VirtualNetwork.ip("192.0.2.254"), port: 3478)
  private static let turn = TransportAddress(VirtualNetwork.ip("192.0.2.253"), port: 3478)

  /// Each side behind a NAT or none; where there is one, there are a STUN server and at least one relay.
  private static func world(using random: inout SeededGenerator) throws -> (
    CallWorld, places: [(String, Int)]
  ) {
    let choices: [VirtualNAT.Kind?] = [nil, nil, nil] + VirtualNAT.Kind.allCases
    let nats = [0, 1].map { _ in choices.randomElement(using: &random) ?? nil }
    let hasNAT = nats.contains { $0 != nil }
    let relays = [hasNAT, hasNAT && Bool.random(using: &random)]
    let configurations = relays.map { hasRelay in
      var configuration = AudioConnection.Configuration()
      if hasNAT { configuration.ice.servers.append(.init(.stun, Self.stun)) }
      if hasRelay {
        configuration.ice.servers.append(.init(.turn, Self.turn, username: "ann", password: "secret"))
      }
      return configuration
    }
    let world = try CallWorld(seed: random.next(), configurations[0], configurations[1])
    world.network.addServer(Self.stun)
    world.network.addServer(Self.turn, users: ["ann": "secret"])
    world.network.link = .init(
      loss: Double.random(in: 0...0.1, using: &random),
      delay: .milliseconds(Int.random(in: 1...100, using: &random)),
      jitter: .milliseconds(Int.random(in: 0...80, using: &random)),
      duplication: Double.random(in: 0...0.1, using: &random))
    let realms = world.openSockets(behind: nats)
    let places = zip(["192.0.2.1", "192.0.2.2"], zip(nats, realms)).map { address, place in
      (place.0 == nil ? address : "10.0.0.1", place.1)
    }
    return (world, places)
  }

  /// A call with NATs, relays, loss, delay, jitter and duplication; holds, restarts, keys and outages in between; a good network in
  /// the end.
  static func course(seed: UInt64) throws -> Outcome {
    var random = SeededGenerator(seed: seed)
    let (world, places) = try Self.world(using: &random)
    try world.negotiate()
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      world.run(.milliseconds(Int.random(in: 0...2000, using: &random)))
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        let directions: [MediaDirection] = [.inactive, .sendOnly, .receiveOnly, .sendAndReceive]
        try world.negotiate(
          directions.randomElement(using: &random), from: world.parties.randomElement(using: &random))
      case 1: try world.negotiate(restartingICE: true, from: world.parties.randomElement(using: &random))
      case 2: _ = world.alice.connection.press([.init("5"), .init("#")].compactMap { $0 })
      case 3:
        let (address, realm) = places[Int.random(in: 0...1, using: &random)]
        world.network.setDown(true, address, in: realm)
        world.run(.milliseconds(Int.random(in: 0...40_000, using: &random)))
        world.network.setDown(false, address, in: realm)
      default: world.alice.isSilent.toggle()
      }
    }
    world.alice.isSilent = false
    world.network.link = .init(loss: 0.01, delay: .milliseconds(20), jitter: .milliseconds(5))
    return try Self.end(of: world)
  }

  /// What failed in the outage has to come back by a restart; what did not has to come back by itself.
  private static func end(of world: CallWorld) throws -> Outcome {
    for party in world.parties { party.heard = [] }
    if !world.run(.seconds(20), until: { world.areConnected }) {
      guard world.parties.allSatisfy({ $0.connection.state != .failed || !$0.failures.isEmpty }) else {
        return .stuck("a failure without a reason")
      }
      try world.negotiate(.sendAndReceive, restartingICE: true)
    } else {
      try world.negotiate(.sendAndReceive)
    }
    try world.negotiate(.sendAndReceive, from: world.bob)
    if world.run(.seconds(20), until: { world.areConnected && world.areHeard }) { return .heard }
    return .stuck("\(world.parties.map { "\($0.connection.state) \($0.failures)" })")
  }

  /// How many parts there are, so that they run beside each other.
  private static let parts: UInt64 = 8

  /// 24 calls, or 10,000 with `VOICE_LONG_TESTS=1`, which takes an hour without optimisation (`make test-long` has it), or as many as
  /// `VOICE_RANDOM_CALLS` says.
  @Test(arguments: 0..<Self.parts) func callsOverRandomNetworksAreHeardInTheEnd(part: UInt64) throws {
    let environment = ProcessInfo.processInfo.environment
    let count =
      environment["VOICE_RANDOM_CALLS"].flatMap { UInt64($0) }
      ?? (environment["VOICE_LONG_TESTS"] == nil ? 24 : 10_000)
    for seed in stride(from: part + 1, through: count, by: Int(Self.parts)) {
      switch try Self.course(seed: seed) {
      case .heard: break
      case .stuck(let how): Issue.record("seed \(seed): \(how)")
      }
    }
  }
}
