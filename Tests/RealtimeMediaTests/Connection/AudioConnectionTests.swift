import RealtimeMedia
import Testing
import VoiceCore

/// Whole calls in virtual time.
@Suite struct AudioConnectionTests {
  // MARK: Bad input

  @Test func aDescriptionThatCannotBeReadChangesNothing() throws {
    let world = try CallWorld(seed: 1)
    world.openSockets()
    for text in ["", "garbage", "v=0\r\n", String(repeating: "a", count: 100_000)] {
      let failure = #expect(throws: VoiceFailure.self) {
        try world.bob.connection.receivedOffer(text, at: world.now)
      }
      #expect(failure?.code == .callMediaUnacceptable)
    }
    #expect(world.bob.connection.state == .new)
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areConnected })
  }

  @Test func anAnswerThatCannotBeTakenLeavesTheOfferOpen() throws {
    let world = try CallWorld(seed: 2)
    world.openSockets()
    let offer = try world.alice.connection.makeOffer(at: world.now)
    let answer = try world.bob.connection.receivedOffer(offer, at: world.now)
    let failure = #expect(throws: VoiceFailure.self) {
      try world.alice.connection.receivedAnswer(
        answer.replacing("a=setup:active", with: "a=setup:actpass"), at: world.now)
    }
    #expect(failure?.code == .callMediaUnacceptable)
    try world.alice.connection.receivedAnswer(answer, at: world.now)
    #expect(world.run(.seconds(3)) { world.areConnected })
  }

  @Test func anAnswerWithoutAnOfferIsRefused() throws {
    let world = try CallWorld(seed: 3)
    world.openSockets()
    try world.negotiate()
    let other = try CallWorld(seed: 4)
    other.openSockets()
    let foreign = try other.bob.connection.receivedOffer(
      try other.alice.connection.makeOffer(at: other.now), at: other.now)
    #expect(throws: VoiceFailure.self) {
      try world.alice.connection.receivedAnswer(foreign, at: world.now)
    }
    #expect(world.run(.seconds(3)) { world.areConnected })
  }

  @Test func anotherCertificateThanTheAnnouncedOneIsHeardByNobody() throws {
    let world = try CallWorld(seed: 5)
    world.openSockets()
    try world.negotiate { text in
      text.split(separator: "\r\n").map { line in
        guard line.hasPrefix("a=fingerprint:") else { return String(line) }
        return line.dropLast() + (line.hasSuffix("0") ? "1" : "0")
      }.joined(separator: "\r\n") + "\r\n"
    }
    world.run(.seconds(12))
    #expect(world.parties.allSatisfy { $0.connection.state == .failed })
    #expect(
      world.alice.failures.contains(.callMediaInsecure) || world.bob.failures.contains(.callMediaInsecure))
    #expect(world.parties.allSatisfy { $0.packetsSent == 0 && $0.heard.allSatisfy { $0 == 0 } })
  }

  @Test func mediaThatIsForgedChangedOrReplayedIsRefused() throws {
    let world = try CallWorld(seed: 6)
    world.openSockets()
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    var count = 0
    world.onTheWay = { party, bytes in
      guard party === world.alice, bytes.first.map({ $0 >= 128 }) ?? false else { return bytes }
      count += 1
      var changed = bytes
      changed[changed.count - 1] ^= 1
      return count % 10 == 0 ? changed : bytes
    }
    world.run(.seconds(2))
    world.onTheWay = nil
    let refused = world.bob.connection.statistics.packetsRefused
    #expect(refused >= 9)
    world.run(.seconds(1))
    #expect(world.areHeard)
  }

  @Test func randomDatagramsChangeNothing() throws {
    let world = try CallWorld(seed: 7)
    world.openSockets()
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    let id = try #require(world.bob.sockets.keys.first)
    let stranger = TransportAddress(VirtualNetwork.ip("198.51.100.9"), port: 9)
    for round in 0..<2000 {
      var bytes = (0..<Int.random(in: 0...200, using: &world.network.random)).map { _ in
        UInt8.random(in: 0...255, using: &world.network.random)
      }
      // Each kind of datagram in its turn.
      if !bytes.isEmpty { bytes[0] = [0, 1, 20, 22, 23, 64, 128, 144, 255][round % 9] }
      world.bob.connection.received(&bytes, on: id, from: stranger, at: world.now)
      world.perform(world.bob)
    }
    world.run(.seconds(1))
    #expect(world.areConnected)
    #expect(world.areHeard)
  }

  // MARK: Calls

  @Test func bothHearEachOtherSoonAfterTheAnswer() throws {
    let world = try CallWorld(seed: 10)
    world.openSockets()
    let began = world.now
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areConnected })
    #expect(began.duration(to: world.now) < .milliseconds(300))
    #expect(world.run(.seconds(2)) { world.areHeard })
    #expect(world.parties.allSatisfy { $0.states == [.connecting, .connected] })
  }

  @Test func earlyMediaAndTheSameDescriptionAgainMakeOneHandshake() throws {
    let world = try CallWorld(seed: 11)
    world.openSockets()
    let offer = try world.alice.connection.makeOffer(at: world.now)
    let answer = try world.bob.connection.receivedOffer(offer, at: world.now)
    try world.alice.connection.receivedAnswer(answer, isFinal: false, at: world.now)
    #expect(world.run(.seconds(3)) { world.areHeard })
    try world.alice.connection.receivedAnswer(answer, isFinal: true, at: world.now)
    try world.alice.connection.receivedAnswer(answer, isFinal: true, at: world.now)
    world.run(.seconds(1))
    #expect(world.areHeard)
    #expect(world.alice.states == [.connecting, .connected])
  }

  @Test func whoIsOnHoldHearsNothingAndThenAgain() throws {
    let world = try CallWorld(seed: 13)
    world.openSockets()
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    try world.negotiate(.inactive)
    world.run(.seconds(1))
    let sent = world.parties.map(\.packetsSent)
    world.run(.seconds(1))
    #expect(world.parties.map(\.packetsSent) == sent)
    #expect(world.areConnected)
    try world.negotiate(.sendAndReceive)
    #expect(world.run(.seconds(2)) { world.areHeard })
  }

  @Test(arguments: [false, true]) func audioGoesOnWhileIceRestarts(_ byTheCallee: Bool) throws {
    let world = try CallWorld(seed: 14)
    world.openSockets()
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    let before = world.parties.map { $0.states.count }
    let concealed = world.parties.map(\.concealed)
    try world.negotiate(restartingICE: true, from: byTheCallee ? world.bob : world.alice)
    world.run(.seconds(2))
    #expect(world.areHeard)
    #expect(world.parties.map(\.concealed) == concealed)
    // The end of the restart is told, although the old way was good all the time.
    #expect(
      zip(world.parties, before).allSatisfy { party, count in party.states.dropFirst(count) == [.connected] })
  }

  @Test func keysArriveOnceThoughPacketsAreLost() throws {
    let world = try CallWorld(seed: 15)
    world.openSockets()
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    world.network.link = .init(loss: 0.1, delay: .milliseconds(20))
    let keys = "159*#0".compactMap { TelephoneEvent.Key($0) }
    #expect(world.alice.connection.press(keys))
    world.run(.seconds(3))
    #expect(world.bob.keys == "159*#0")
  }

  @Test func aNewNetworkTakesOverWhenTheOldOneIsGone() throws {
    let world = try CallWorld(seed: 16)
    let first = world.addSocket(world.alice, "192.0.2.1")
    world.addSocket(world.bob, "192.0.2.2")
    for party in world.parties { party.connection.socketsAdded(at: world.now) }
    world.run(.milliseconds(50))
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    world.network.setDown(true, "192.0.2.1")
    world.removeSocket(world.alice, first)
    world.addSocket(world.alice, "198.51.100.1")
    let began = world.now
    #expect(world.run(.seconds(3)) { world.areConnected && world.areHeard })
    #expect(began.duration(to: world.now) < .seconds(1))
  }

  @Test func goodbyeIsHeardAtOnce() throws {
    let world = try CallWorld(seed: 17)
    world.openSockets()
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    world.alice.connection.close(at: world.now)
    world.perform(world.alice)
    world.run(.milliseconds(100))
    #expect(world.bob.events.contains(.remoteClosed))
    #expect(world.alice.connection.state == .closed)
  }

  @Test func whoClosesHearsOfNothingButTheEnd() throws {
    let world = try CallWorld(seed: 21)
    world.openSockets()
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    let before = world.alice.states.count
    world.alice.connection.close(at: world.now)
    world.perform(world.alice)
    #expect(world.alice.states.dropFirst(before) == [.closed])
  }

  @Test func whoVanishesIsMissedAndThenGivenUp() throws {
    let world = try CallWorld(seed: 18)
    world.openSockets()
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    world.network.setDown(true, "192.0.2.1")
    #expect(world.run(.seconds(12)) { world.bob.connection.state == .interrupted })
    #expect(world.run(.seconds(40)) { world.bob.connection.state == .failed })
    #expect(world.bob.failures == [.callMediaUnreachable])
  }

  @Test func withoutAWayTheConnectionFailsInTime() throws {
    let world = try CallWorld(seed: 19)
    world.openSockets()
    world.network.setDown(true, "192.0.2.1")
    try world.negotiate()
    #expect(world.run(.seconds(25)) { world.parties.allSatisfy { $0.connection.state == .failed } })
    #expect(world.parties.allSatisfy { $0.failures.first == .callMediaUnreachable })
  }

  @Test func statisticsSayWhatTheNetworkDoes() throws {
    let world = try CallWorld(seed: 20)
    world.openSockets()
    try world.negotiate()
    world.network.link = .init(loss: 0.03, delay: .milliseconds(20), jitter: .milliseconds(10))
    for _ in 0..<20 {
      world.run(.seconds(1))
      for party in world.parties { party.connection.measure(isMuted: false, at: world.now) }
    }
    let statistics = world.bob.connection.statistics
    let roundTrip = try #require(statistics.roundTrip)
    #expect(roundTrip > .milliseconds(75) && roundTrip < .milliseconds(130))
    let share = Double(statistics.reports.packetsLost) / Double(statistics.reports.packetsReceived)
    #expect(share > 0.03 && share < 0.1)
    let window = try #require(statistics.window)
    #expect(window.inboundLevel > 0.1)
    #expect(window.score.map { $0 > 2 && $0 < 4.5 } ?? false)
  }
}
