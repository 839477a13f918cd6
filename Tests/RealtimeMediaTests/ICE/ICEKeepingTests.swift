import RealtimeMedia
import Testing
import VoiceCore

/// RFC 7675, restarts, and paths that come and go.
@Suite struct ICEKeepingTests {
  static func world(seed: UInt64) -> ICEWorld {
    let world = ICEWorld(seed: seed)
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(world.run(.seconds(5)) { world.areCompleted })
    return world
  }

  @Test func asksForConsentEvery4To6Seconds() {
    let world = Self.world(seed: 1)
    let before = world.one.agent.counts
    world.run(.seconds(120))
    let sent = world.one.agent.counts.consentChecksSent - before.consentChecksSent
    #expect((20...30).contains(sent))
    #expect(world.one.agent.counts.answersReceived - before.answersReceived >= sent - 1)
    #expect(world.one.state == .completed)
  }

  @Test func isDisconnectedWhenAnswersAreMissingAndReturns() {
    let world = Self.world(seed: 2)
    let cut = world.now
    world.network.setDown(true, "198.51.100.2")
    #expect(world.run(.seconds(12)) { world.one.state == .disconnected })
    // At most six seconds to the next check and five without an answer.
    #expect(cut.duration(to: world.now) <= .milliseconds(11_100))
    world.network.setDown(false, "198.51.100.2")
    let back = world.now
    #expect(world.run(.seconds(5)) { world.areConnected })
    #expect(back.duration(to: world.now) < .milliseconds(700))
    #expect(world.crosses())
  }

  @Test func failsThirtySecondsAfterTheLastAnswer() {
    let world = Self.world(seed: 3)
    world.run(.seconds(7))
    let before = world.now
    world.network.setDown(true, "198.51.100.2")
    #expect(world.run(.seconds(40)) { world.one.state == .failed })
    let took = before.duration(to: world.now)
    #expect(took > .seconds(23) && took <= .milliseconds(30_100))
    #expect(world.one.agent.failure == .consentExpired)
    #expect(world.one.agent.sendingPath == nil)
    // Nothing is sent any more (RFC 7675 section 5.1).
    let sent = world.one.datagramsSent
    world.run(.seconds(60))
    #expect(world.one.datagramsSent == sent)
  }

  @Test func aRestartFromOneSideKeepsTheOldPathUntilThereIsANewOne() {
    let world = Self.world(seed: 4)
    world.hasMedia = true
    world.run(.seconds(1))
    let before = world.now
    let old = world.one.agent.localCredentials
    world.one.keepsCandidates = false
    world.restart(world.one)
    #expect(world.one.agent.localCredentials != old)
    #expect(world.one.isConnected)
    // The answer takes its time.
    world.run(.seconds(3))
    #expect(world.areConnected)
    let selections = world.one.selections.count
    world.restart(world.other)
    #expect(world.run(.seconds(5)) { world.areCompleted })
    #expect(world.one.selections.count > selections)
    world.run(.seconds(1))
    for peer in world.peers { #expect(world.longestGap(peer, since: before) < .milliseconds(60)) }
    #expect(world.crosses())
  }

  @Test func aRestartFromBothSidesAtOnceConnects() {
    let world = Self.world(seed: 5)
    world.hasMedia = true
    world.run(.seconds(1))
    let before = world.now
    world.restart(world.one)
    world.restart(world.other)
    world.run(.seconds(3))
    #expect(world.areCompleted)
    for peer in world.peers { #expect(world.longestGap(peer, since: before) < .milliseconds(60)) }
  }

  @Test func aRestartChangesWhoControls() {
    let world = Self.world(seed: 6)
    world.other.agent.setRole(.controlling)
    world.restart(world.other)
    world.one.agent.setRole(.controlled)
    world.restart(world.one)
    #expect(world.run(.seconds(5)) { world.areCompleted })
    #expect(world.other.agent.role == .controlling)
    #expect(world.crosses())
  }

  @Test func aRestartAfterFailureConnects() {
    let world = Self.world(seed: 7)
    world.network.setDown(true, "198.51.100.2")
    #expect(world.run(.seconds(40)) { world.peers.allSatisfy { $0.state == .failed } })
    world.network.setDown(false, "198.51.100.2")
    world.restart(world.one)
    world.restart(world.other)
    #expect(world.run(.seconds(5)) { world.areCompleted })
    #expect(world.crosses())
  }

  @Test func aRestartThatFindsNothingWarnsAndKeepsTheOldPath() {
    let world = Self.world(seed: 8)
    world.one.agent.restart(at: world.now)
    world.one.agent.setRemote(userFragment: "nobody", password: "nobody-has-this-password", at: world.now)
    world.perform(world.one)
    world.run(.seconds(20))
    #expect(world.one.warnings.contains(.restartFailed))
    #expect(world.one.isConnected)
    #expect(world.crosses())
  }

  /// Whether there is an error among answers (RFC 8489 section 5: class 3, method 1).
  private static func isRefusal(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x01, 0x11]) }

  @Test func aRestartWithoutAnAnswerChangesNoRoleAndIsUndone() {
    let world = Self.world(seed: 11)
    var refusals = 0
    world.drops = { _, bytes, _ in
      if Self.isRefusal(bytes) { refusals += 1 }
      return false
    }
    let before = world.other.agent.localCredentials
    world.other.agent.restart(as: .controlling, at: world.now)
    world.perform(world.other)
    world.run(.seconds(60))
    #expect(refusals == 0)
    #expect(world.areConnected && world.crosses())
    #expect(world.other.agent.role == .controlled && world.one.agent.role == .controlling)
    #expect(world.other.agent.localCredentials != before)
    world.other.agent.rollBack()
    #expect(world.other.agent.localCredentials == before)
    world.run(.seconds(10))
    #expect(world.areCompleted)
  }

  @Test func aFailedAgentStaysSoUntilItsRestartIsAnswered() {
    let world = Self.world(seed: 12)
    world.network.setDown(true, "198.51.100.2")
    #expect(world.run(.seconds(40)) { world.one.state == .failed && world.other.state == .failed })
    world.network.setDown(false, "198.51.100.2")
    world.restart(world.one)
    world.run(.seconds(20))
    #expect(world.one.state == .failed)
    world.restart(world.other)
    #expect(world.run(.seconds(5)) { world.areCompleted })
    #expect(world.crosses())
  }

  /// With a restart under way both sides may have another idea of the roles on the pairs of before.
  @Test func aPeerThatRefusesTheRoleOnOldPairsIsAskedInTheOther() {
    let world = Self.world(seed: 13)
    world.one.agent.restart(as: .controlled, at: world.now)
    world.perform(world.one)
    world.one.agent.setRemote(userFragment: "nobody", password: "nobody-has-this-password", at: world.now)
    world.perform(world.one)
    #expect(world.one.agent.role == .controlled)
    var refusals = 0
    world.drops = { _, bytes, _ in
      if Self.isRefusal(bytes) { refusals += 1 }
      return false
    }
    world.run(.seconds(60))
    #expect(refusals <= 1)
    #expect(world.one.isConnected && world.crosses())
  }

  /// Two interfaces on one side; the one in use is silent all of a sudden, and nobody is told.
  @Test(arguments: [0, 1])
  func aSecondPathTakesOverWhenTheFirstGoesSilent(_ side: Int) {
    var worst = Duration.zero
    for seed in 0..<50 {
      let world = ICEWorld(seed: 100 + UInt64(seed))
      world.stallHint = .milliseconds(300)
      let (moving, still) = (world.peers[side], world.peers[1 - side])
      world.network.link = .init(delay: .milliseconds(15), jitter: .milliseconds(10))
      world.addSocket(moving, "198.51.100.1")
      world.addSocket(moving, "203.0.113.1")
      world.addSocket(still, "198.51.100.2")
      world.start()
      #expect(world.run(.seconds(5)) { world.areCompleted })
      world.hasMedia = true
      world.run(.milliseconds(2000 + 130 * seed))
      let down = world.now
      guard let path = moving.agent.selectedPair?.local.address else { continue }
      world.network.setDown(true, path.description)
      world.run(.seconds(5))
      for peer in world.peers { worst = max(worst, world.longestGap(peer, since: down)) }
      #expect(world.areConnected)
    }
    print("silent path, side \(side): longest gap of 50 runs \(worst)")
    #expect(worst < .seconds(1))
  }

  /// The interface goes away and the driver says so.
  @Test(arguments: [0, 1])
  func aSecondPathTakesOverAtOnceWhenASocketIsRemoved(_ side: Int) {
    var worst = Duration.zero
    for seed in 0..<50 {
      let world = ICEWorld(seed: 200 + UInt64(seed))
      let (moving, still) = (world.peers[side], world.peers[1 - side])
      let first = world.addSocket(moving, "198.51.100.1")
      world.addSocket(moving, "203.0.113.1")
      world.addSocket(still, "198.51.100.2")
      world.start()
      #expect(world.run(.seconds(5)) { world.areCompleted })
      world.hasMedia = true
      world.run(.milliseconds(2000 + 130 * seed))
      let down = world.now
      world.network.setDown(true, "198.51.100.1")
      world.removeSocket(moving, first)
      #expect(moving.isConnected)
      world.run(.seconds(5))
      #expect(world.longestGap(still, since: down) < .milliseconds(100))
      worst = max(worst, world.longestGap(moving, since: down))
    }
    print("removed socket, side \(side): longest gap of 50 runs \(worst)")
    #expect(worst < .seconds(1))
  }

  /// The only interface goes away, and another one comes later: nothing is signalled.
  @Test(arguments: [0, 1])
  func aNewSocketTakesOver(_ side: Int) {
    let world = ICEWorld(seed: 300)
    let (moving, still) = (world.peers[side], world.peers[1 - side])
    let first = world.addSocket(moving, "198.51.100.1")
    world.addSocket(still, "198.51.100.2")
    world.start()
    #expect(world.run(.seconds(5)) { world.areCompleted })
    world.hasMedia = true
    world.run(.seconds(2))
    world.network.setDown(true, "198.51.100.1")
    world.removeSocket(moving, first)
    #expect(moving.state == .disconnected)
    #expect(moving.agent.sendingPath == nil)
    world.run(.milliseconds(500))
    moving.keepsCandidates = true
    let new = world.now
    world.addSocket(moving, "203.0.113.1")
    #expect(world.run(.seconds(1)) { world.peers.allSatisfy { ($0.data.last?.at ?? new) > new } })
    let took = new.duration(to: world.now)
    print("new socket, side \(side): media both ways after \(took)")
    #expect(took < .seconds(1))
    world.run(.seconds(2))
    #expect(world.areConnected)
    #expect(world.crosses())
  }

  @Test func keepsMappingsOfSTUNOpenAndTellsWhenTheyChange() {
    let world = ICEWorld(seed: 9, ICEConnectingTests.stun)
    let server = world.network.addServer(ICEConnectingTests.server)
    // A NAT that forgets after 20 s.
    let home = world.network.addNAT(.fullCone, "192.0.2.1", lifetime: .seconds(20))
    world.addSocket(world.one, "10.0.0.2", in: home)
    world.one.agent.noMoreSockets(at: world.now)
    world.run(.seconds(120))
    #expect(world.one.candidates.map(\.kind) == [.host, .serverReflexive])
    // Without answers and questions for a while, the mapping is a new one.
    world.network.setDown(true, "10.0.0.2", in: home)
    world.run(.seconds(60))
    world.network.setDown(false, "10.0.0.2", in: home)
    world.run(.seconds(60))
    #expect(world.one.candidates.map(\.kind) == [.host, .serverReflexive, .serverReflexive])
    #expect(server.allocationCount == 0)
  }

  @Test func aClosedAgentDoesNothing() {
    let world = Self.world(seed: 10)
    world.one.agent.close(at: world.now)
    world.perform(world.one)
    #expect(world.one.state == .closed)
    let sent = world.one.datagramsSent
    world.run(.seconds(60))
    world.restart(world.one)
    world.addSocket(world.one, "198.51.100.7")
    #expect(world.one.datagramsSent == sent)
    #expect(world.one.agent.nextWake == nil)
    #expect(world.other.state == .failed)
  }
}
