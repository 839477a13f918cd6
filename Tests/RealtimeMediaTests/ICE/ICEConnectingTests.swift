import RealtimeMedia
import Testing
import VoiceCore

/// RFC 8445: how two agents find a path.
@Suite struct ICEConnectingTests {
  static let server = TransportAddress(.v4(0xc000_02fe), port: 3478)

  @Test func connectsOnOneNetwork() {
    let world = ICEWorld(seed: 1)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    let start = world.now
    world.start()
    #expect(world.run(.seconds(5)) { world.peers.allSatisfy { $0.state == .completed } })
    // Signalling takes 30 ms and a check there and back 40 ms.
    #expect(start.duration(to: world.now) < .milliseconds(250))
    #expect(world.crosses())
    #expect(world.one.selections.last?.local.kind == .host)
    #expect(world.one.agent.selectedPair?.isNominated == true)
    #expect(world.other.agent.selectedPair?.isNominated == true)
    #expect(world.one.warnings == [.onlyHostCandidates])
  }
}
