import RealtimeMedia
import Testing
import VoiceCore

/// What is told when nothing comes though the way is good.
struct MissingMediaTests {
  private static func isMedia(_ bytes: [UInt8]) -> Bool {
    // RTP and not RTCP (RFC 5761 section 4).
    bytes.count > 1 && 128..<192 ~= bytes[0] && !(192..<224 ~= bytes[1] & 0x7f | 0x80)
  }

  private static func tellings(_ party: CallWorld.Party) -> Int { party.events.count { $0 == .mediaMissing } }

  private static func world(seed: UInt64) throws -> CallWorld {
    let world = try CallWorld(seed: seed)
    world.openSockets()
    return world
  }

  @Test func mediaThatNeverComeAreTold() throws {
    let world = try Self.world(seed: 81)
    world.onTheWay = { party, bytes in party === world.alice && Self.isMedia(bytes) ? nil : bytes }
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areConnected })
    world.run(.seconds(3))
    #expect(Self.tellings(world.bob) == 0)
    world.run(.seconds(20))
    #expect(Self.tellings(world.bob) == 1)
    #expect(Self.tellings(world.alice) == 0)
    #expect(world.areConnected)
  }

  @Test func eachSilenceIsToldOnce() throws {
    let world = try Self.world(seed: 82)
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    for count in 1...2 {
      world.onTheWay = { party, bytes in party === world.alice && Self.isMedia(bytes) ? nil : bytes }
      world.run(.seconds(12))
      #expect(Self.tellings(world.bob) == count)
      world.onTheWay = nil
      world.run(.seconds(2))
      #expect(world.areHeard)
    }
  }

  @Test func aHoldAndAMutedMicrophoneAreNoMissingMedia() throws {
    let world = try Self.world(seed: 83)
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    world.alice.isSilent = true
    world.run(.seconds(12))
    try world.negotiate(.inactive)
    world.run(.seconds(12))
    #expect(world.parties.allSatisfy { Self.tellings($0) == 0 })
  }

  /// The interruption is told; that nothing comes over a broken way is no news.
  @Test func aBrokenWayIsNoMissingMedia() throws {
    let world = try Self.world(seed: 84)
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    world.network.setDown(true, "192.0.2.1")
    world.run(.seconds(20))
    #expect(world.bob.states.contains(.interrupted))
    #expect(world.parties.allSatisfy { Self.tellings($0) == 0 })
  }

  /// The other side sends again only when it has found the way good too, which is a little after this one.
  @Test func aWayThatComesBackIsNoMissingMedia() throws {
    let world = try Self.world(seed: 85)
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    world.network.setDown(true, "192.0.2.1")
    world.run(.seconds(12))
    #expect(world.bob.connection.state == .interrupted)
    world.onTheWay = { party, bytes in party === world.alice && Self.isMedia(bytes) ? nil : bytes }
    world.network.setDown(false, "192.0.2.1")
    #expect(world.run(.seconds(5)) { world.areConnected })
    world.run(.milliseconds(300))
    world.onTheWay = nil
    world.run(.seconds(5))
    #expect(world.areHeard)
    #expect(world.parties.allSatisfy { Self.tellings($0) == 0 })
  }
}
