import RealtimeMedia
import Testing
import VoiceCore

/// What a gateway makes of two clients that are back after an outage: each gets what the other said last, as an offer.
@Suite struct CrossedDescriptionTests {
  private static func fragment(of description: String) -> String? {
    description.split(separator: "\r\n").first { $0.hasPrefix("a=ice-ufrag:") }.map { String($0) }
  }

  /// A call, and the descriptions that were agreed on.
  private static func agreed(seed: UInt64) throws -> (world: CallWorld, offer: String, answer: String) {
    let world = try CallWorld(seed: seed)
    world.openSockets()
    let offer = try world.alice.connection.makeOffer(at: world.now)
    let answer = try world.bob.connection.receivedOffer(offer, at: world.now)
    try world.alice.connection.receivedAnswer(answer, at: world.now)
    return (world, offer, answer)
  }

  /// A call whose way failed on both sides, and the descriptions that were agreed on.
  private static func failed(seed: UInt64) throws -> (world: CallWorld, offer: String, answer: String) {
    let (world, offer, answer) = try Self.agreed(seed: seed)
    #expect(world.run(.seconds(3)) { world.areHeard })
    world.onTheWay = { _, _ in nil }
    #expect(world.run(.seconds(60)) { world.parties.allSatisfy { $0.connection.state == .failed } })
    world.onTheWay = nil
    return (world, offer, answer)
  }

  private static func asOffer(_ description: String) -> String {
    description.replacing("a=setup:active", with: "a=setup:actpass")
      .replacing("a=setup:passive", with: "a=setup:actpass")
  }

  /// Both made new credentials, and each answered the other's with newer ones, which nobody told the other.
  @Test func bothSidesThatFailedComeTogetherWithTwoMoreAnswers() throws {
    let (world, offer, answer) = try Self.failed(seed: 1)
    let (alice, bob) = (world.alice.connection, world.bob.connection)
    let mine = try alice.receivedOffer(Self.asOffer(answer), isReattach: true, at: world.now)
    let theirs = try bob.receivedOffer(Self.asOffer(offer), isReattach: true, at: world.now)
    #expect(Self.fragment(of: mine) != Self.fragment(of: offer))
    #expect(Self.fragment(of: theirs) != Self.fragment(of: answer))
    let again = try bob.receivedOffer(mine, at: world.now)
    #expect(Self.fragment(of: again) == Self.fragment(of: theirs))
    let last = try alice.receivedOffer(again, at: world.now)
    #expect(Self.fragment(of: last) == Self.fragment(of: mine))
    for party in world.parties { world.perform(party) }
    #expect(world.run(.seconds(10)) { world.areConnected })
    #expect(world.run(.seconds(2)) { world.areHeard })
    // What was confirmed is renewed by the next restart again, whoever offers it.
    try world.negotiate(restartingICE: true)
    #expect(world.run(.seconds(5)) { world.areHeard })
    try world.negotiate(restartingICE: true, from: world.bob)
    #expect(world.run(.seconds(5)) { world.areHeard })
  }

  /// A side that failed before the other one was asked with what it knew already, and did nothing with it.
  @Test func aSideThatFailedBeginsAnewWhenAskedWithWhatItKnows() throws {
    let (world, offer, answer) = try Self.failed(seed: 4)
    let (alice, bob) = (world.alice.connection, world.bob.connection)
    let question = offer.replacing("a=setup:actpass", with: "a=setup:passive")
    let theirs = try bob.receivedOffer(question, at: world.now)
    #expect(Self.fragment(of: theirs) != Self.fragment(of: answer))
    let mine = try alice.receivedOffer(theirs, at: world.now)
    let again = try bob.receivedOffer(mine, at: world.now)
    #expect(Self.fragment(of: again) == Self.fragment(of: theirs))
    for party in world.parties { world.perform(party) }
    #expect(world.run(.seconds(10)) { world.areConnected })
    #expect(world.run(.seconds(2)) { world.areHeard })
  }

  /// An own offer of a restart means that the other side knows what is used here, so the answer is new (RFC 8839 section 4.4.1.1.1).
  @Test func aRestartIsAnsweredWithNewCredentialsAlsoBeforeTheFirstCheck() throws {
    let (world, _, answer) = try Self.agreed(seed: 2)
    let restart = try world.alice.connection.makeOffer(restartingICE: true, at: world.now)
    let renewed = try world.bob.connection.receivedOffer(restart, at: world.now)
    #expect(Self.fragment(of: renewed) != Self.fragment(of: answer))
    try world.alice.connection.receivedAnswer(renewed, at: world.now)
    for party in world.parties { world.perform(party) }
    #expect(world.run(.seconds(5)) { world.areHeard })
  }

  /// A way that works stays, although the client attaches.
  @Test func aSideThatDidNotFailKeepsItsWay() throws {
    let (world, offer, answer) = try Self.agreed(seed: 3)
    #expect(world.run(.seconds(3)) { world.areHeard })
    let mine = try world.alice.connection.receivedOffer(
      Self.asOffer(answer), isReattach: true, at: world.now)
    #expect(Self.fragment(of: mine) == Self.fragment(of: offer))
    let theirs = try world.bob.connection.receivedOffer(mine, at: world.now)
    #expect(Self.fragment(of: theirs) == Self.fragment(of: answer))
    #expect(world.areConnected)
    #expect(world.run(.seconds(1)) { world.areHeard })
  }
}
