import RealtimeMedia
import Testing
import VoiceCore

/// Offers that get no answer, a bad one, or another offer.
@Suite struct OpenOfferTests {
  private static func connected(seed: UInt64) throws -> CallWorld {
    let world = try CallWorld(seed: seed)
    world.openSockets()
    try world.negotiate()
    try #require(world.run(.seconds(3)) { world.areHeard })
    return world
  }

  private static func userFragment(_ text: String) throws -> String {
    let audio = try #require(try SessionDescription(parsing: text).media.first)
    return try #require(audio.iceUserFragment)
  }

  @Test(arguments: [false, true]) func aRestartWithoutAnAnswerChangesNothing(_ byTheCallee: Bool) throws {
    let world = try Self.connected(seed: 1)
    let (one, other) = byTheCallee ? (world.bob, world.alice) : (world.alice, world.bob)
    let before = world.parties.map(\.states)
    _ = try one.connection.makeOffer(restartingICE: true, at: world.now)
    world.perform(one)
    world.run(.seconds(60))
    #expect(world.areHeard)
    #expect(world.parties.map(\.states) == before)
    // Who vanishes now is missed as ever.
    let address = try #require(other.sockets.values.first?.address.ip)
    world.network.setDown(true, address.description)
    #expect(world.run(.seconds(12)) { one.connection.state == .interrupted })
    #expect(world.run(.seconds(31)) { one.connection.state == .failed })
    #expect(one.failures == [.callMediaUnreachable])
  }

  @Test func aNewNetworkTakesOverWhileARestartWaits() throws {
    let world = try Self.connected(seed: 2)
    _ = try world.alice.connection.makeOffer(restartingICE: true, at: world.now)
    world.perform(world.alice)
    let first = try #require(world.alice.sockets.keys.first)
    world.network.setDown(true, "192.0.2.1")
    world.removeSocket(world.alice, first)
    world.addSocket(world.alice, "198.51.100.1")
    #expect(world.run(.seconds(2)) { world.areConnected && world.areHeard })
  }

  @Test func theNextOfferHasTheCredentialsOfBeforeARestartThatGotNoAnswer() throws {
    let world = try Self.connected(seed: 3)
    let before = try Self.userFragment(try world.alice.connection.makeOffer(at: world.now))
    let restart = try Self.userFragment(
      try world.alice.connection.makeOffer(restartingICE: true, at: world.now))
    #expect(restart != before)
    #expect(try Self.userFragment(try world.alice.connection.makeOffer(.sendOnly, at: world.now)) == before)
  }

  @Test func anOfferThatIsRepeatedWithItsCandidatesStillRestarts() throws {
    let world = try Self.connected(seed: 8)
    let restart = try world.alice.connection.makeOffer(restartingICE: true, at: world.now)
    let repeated = try world.alice.connection.repeatOffer()
    #expect(try Self.userFragment(repeated) == Self.userFragment(restart))
    let answer = try world.bob.connection.receivedOffer(repeated, at: world.now)
    let selections = world.alice.connection.statistics.ice.selections
    try world.alice.connection.receivedAnswer(answer, at: world.now)
    #expect(
      world.run(.seconds(3)) { world.alice.connection.statistics.ice.selections > selections })
    #expect(world.areHeard)
  }

  @Test func aRestartThatCannotBeTakenChangesNothing() throws {
    let world = try Self.connected(seed: 4)
    let mine = try Self.userFragment(try world.bob.connection.makeOffer(at: world.now))
    let offer = try world.alice.connection.makeOffer(restartingICE: true, at: world.now)
    world.perform(world.alice)
    #expect(throws: VoiceFailure.self) {
      try world.bob.connection.receivedOffer(offer.replacing("a=rtcp-mux\r\n", with: ""), at: world.now)
    }
    #expect(try Self.userFragment(try world.bob.connection.makeOffer(at: world.now)) == mine)
    world.run(.seconds(20))
    #expect(world.areHeard)
    #expect(world.parties.allSatisfy { $0.states == [.connecting, .connected] })
  }

  /// The other side's offer wins, and does not restart: so the answer has to have the credentials of before (RFC 8839 section 4.4.1.1).
  @Test func anAnswerHasTheCredentialsOfBeforeThoughAnOwnRestartWasOpen() throws {
    let world = try Self.connected(seed: 5)
    let before = try Self.userFragment(try world.alice.connection.makeOffer(at: world.now))
    _ = try world.alice.connection.makeOffer(restartingICE: true, at: world.now)
    let offer = try world.bob.connection.makeOffer(.inactive, at: world.now)
    let answer = try world.alice.connection.receivedOffer(offer, at: world.now)
    #expect(try Self.userFragment(answer) == before)
    try world.bob.connection.receivedAnswer(answer, at: world.now)
    world.run(.seconds(1))
    try world.negotiate(.sendAndReceive, from: world.bob)
    #expect(world.run(.seconds(2)) { world.areHeard })
  }

  @Test func anAnswerThatKeepsItsCredentialsIsRefusedAndTheOldWayIsKept() throws {
    let world = try Self.connected(seed: 6)
    let plain = try world.alice.connection.makeOffer(at: world.now)
    let answer = try world.bob.connection.receivedOffer(plain, at: world.now)
    _ = try world.alice.connection.makeOffer(restartingICE: true, at: world.now)
    #expect(throws: VoiceFailure.self) { try world.alice.connection.receivedAnswer(answer, at: world.now) }
    world.run(.seconds(40))
    #expect(world.areHeard)
    try world.negotiate(restartingICE: true)
    #expect(world.run(.seconds(2)) { world.areHeard })
  }

  /// A provisional answer that is never made final belongs to the offer of its time.
  @Test func anAnswerBelongsToTheLastOfferAlsoAfterAProvisionalOne() throws {
    let world = try CallWorld(seed: 7)
    world.openSockets()
    let first = try world.alice.connection.makeOffer(at: world.now)
    let early = try world.bob.connection.receivedOffer(first, at: world.now)
    try world.alice.connection.receivedAnswer(early, isFinal: false, at: world.now)
    #expect(world.run(.seconds(3)) { world.areHeard })
    let hold = try world.alice.connection.makeOffer(.sendOnly, at: world.now)
    let answer = try world.bob.connection.receivedOffer(hold, at: world.now)
    try world.alice.connection.receivedAnswer(answer, at: world.now)
    #expect(world.alice.connection.agreed?.direction == .sendOnly)
  }
}
