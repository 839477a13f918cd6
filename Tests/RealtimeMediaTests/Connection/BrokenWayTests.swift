import RealtimeMedia
import Testing
import VoiceCore

struct BrokenWayTests {
  private static func connected(seed: UInt64) throws -> AudioConnectionWorld {
    let world = try AudioConnectionWorld(seed: seed)
    try world.agree()
    let time = world.run(for: .seconds(5)) { world.one.isHearing && world.other.isHearing }
    try #require(time != nil, "\(world.one.events), \(world.one.connection.statistics)")
    _ = world.run(for: .seconds(2))
    return world
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func audioReturnsOverTheOtherWayWithinASecond(seed: UInt64) throws {
    let world = try Self.connected(seed: seed)
    let way = try #require(world.one.way)
    world.brokenWays = [way]
    _ = world.run(for: .milliseconds(300))
    try #require(!world.one.isHearing && !world.other.isHearing)
    let time = world.run(for: .seconds(10)) { world.one.isHearing && world.other.isHearing }
    #expect(try #require(time) <= .milliseconds(600))
    #expect(world.one.way == 3 - way)
    #expect(!world.one.events.contains(.stateChanged(.interrupted)))
  }

  @Test func bothWaysBrokenInterruptTheCallAfterFiveSeconds() throws {
    let world = try Self.connected(seed: 1)
    world.brokenWays = [1, 2]
    let time = world.run(for: .seconds(20)) { world.one.connection.state == .interrupted }
    #expect(try #require(time) <= .milliseconds(5500))
    world.brokenWays = [1]
    let back = world.run(for: .seconds(5)) { world.one.isHearing && world.other.isHearing }
    #expect(try #require(back) < .seconds(2))
  }

  @Test func aCallOnHoldIsNotTakenForABrokenWay() throws {
    let world = try Self.connected(seed: 1)
    try world.agree(.inactive)
    _ = world.run(for: .milliseconds(500))
    let before = world.one.connection.statistics.ice.consentChecksSent
    _ = world.run(for: .milliseconds(3000))
    #expect(world.one.connection.statistics.ice.consentChecksSent - before <= 2)
  }
}
