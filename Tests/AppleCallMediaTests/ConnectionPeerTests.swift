import CallMedia
import CallSignaling
import RealtimeMedia
import Synchronization
import Testing
import VoiceCore
import VoicePlatform
import VoiceTesting

@testable import AppleCallMedia
@testable import Calls

struct ConnectionPeerTests {
  /// A peer with the connections that it made, and what it told.
  private final class World: Sendable {
    private let made = Mutex<[ScriptedConnection]>([])
    private let told = Mutex<[String]>([])
    private let waiting = Mutex<[(word: String, heard: PeerReply<Void>)]>([])
    let clock = TestClock()
    let audio = CallAudio()

    var connections: [ScriptedConnection] { self.made.withLock { $0 } }
    var events: [String] { self.told.withLock { $0 } }

    func peer(
      trickles: Bool = true, measures: Bool = false, permission: MicrophonePermissionState = .granted,
      script: @escaping @Sendable (ScriptedConnection) throws -> Void = { _ in }
    ) -> ConnectionPeer {
      let setup = MediaPeerSetup(
        callID: CallID("1"), iceServers: [TxIceServer(urls: ["stun:stun.example.org"])], forcesRelay: true,
        tricklesCandidates: trickles, audio: self.audio, preferredCodecs: [], measuresQuality: measures,
        report: { event in self.hear(event.word) })
      return ConnectionPeer(setup, permission: FixedMicrophonePermission(permission), clock: self.clock) {
        settings, tell in
        let connection = ScriptedConnection(settings, tell: tell)
        try script(connection)
        self.made.withLock { $0.append(connection) }
        return connection
      }
    }

    /// Waits until the peer tells something, from now on.
    func hearing(_ word: String) -> PeerReply<Void> {
      let heard = PeerReply<Void>()
      self.waiting.withLock { $0.append((word, heard)) }
      return heard
    }

    private func hear(_ word: String) {
      self.told.withLock { $0.append(word) }
      for one in self.waiting.withLock({ $0 }) where one.word == word { one.heard.resolve(.success(())) }
    }

    func connection(_ index: Int = 0) throws -> ScriptedConnection {
      let made = self.connections
      try #require(made.indices.contains(index))
      return made[index]
    }
  }

  private let world = World()

  // MARK: Failures

  @Test(arguments: [MicrophonePermissionState.denied, .restricted])
  func withoutPermissionThereIsNoConnection(_ state: MicrophonePermissionState) async throws {
    let peer = self.world.peer(permission: state)
    let failure = await #expect(throws: VoiceFailure.self) { try await peer.makeOffer() }
    #expect(failure?.code == .microphoneDenied)
    #expect(self.world.connections.isEmpty)
  }

  @Test func whatTheFrameworkDoesNotTakeIsUnacceptableAndNotQuoted() async throws {
    let peer = self.world.peer { $0.fail("set remote offer") }
    let failure = await #expect(throws: VoiceFailure.self) {
      try await peer.makeAnswer(to: "v=0", isReattach: false)
    }
    #expect(failure?.code == .callMediaUnacceptable)
    #expect(failure?.description.contains("secret") == false)
    #expect(failure?.debugDescription.contains("secret") == true)
  }

  @Test func anAnswerThatCannotBeMadeLeavesTheCallAsItWas() async throws {
    let peer = self.world.peer { $0.fail("make answer") }
    await #expect(throws: VoiceFailure(.callMediaFailed)) {
      try await peer.makeAnswer(to: "v=0", isReattach: false)
    }
    #expect(try self.world.connection().steps.last == "set remote rollback")
  }

  @Test func aCandidateThatTheFrameworkRefusesEndsNothing() async throws {
    let peer = self.world.peer { $0.fail("add \(MediaCandidate.host(1).line)") }
    _ = try await peer.makeAnswer(to: "v=0", isReattach: false)
    await peer.addRemoteCandidate(.host(1))
    await peer.addRemoteCandidate(MediaCandidate(line: "nonsense"))
    #expect(self.world.events == ["call.media.unacceptable", "call.media.unacceptable"])
  }

  @Test func aFrameworkThatNeverAnswersDoesNotKeepACallThatEnds() async throws {
    let asked = PeerReply<Void>()
    let peer = self.world.peer { connection in
      connection.beSilent(on: "make offer")
      Task { asked.resolve(Result.success(try await connection.asked("make offer"))) }
    }
    let offer = Task { try await peer.makeOffer() }
    try await asked.value()
    offer.cancel()
    await #expect(throws: CancellationError.self) { try await offer.value }
    await peer.stop()
    #expect(try self.world.connection().steps.last == "close")
  }

  // MARK: Calls

  @Test func aCallIsOfferedAnsweredAndEndedOnce() async throws {
    let peer = self.world.peer()
    peer.setMuted(true)
    #expect(try await peer.makeOffer() == SDP("offer with candidates"))
    await peer.addRemoteCandidate(.host(1))
    try await peer.applyRemote("v=0", isFinal: false)
    try await peer.applyRemote("v=0", isFinal: true)
    try await peer.applyRemote("v=0", isFinal: true)
    let connection = try self.world.connection()
    connection.tell(.stateChanged(.connected))
    await peer.stop()
    await peer.stop()
    connection.tell(.stateChanged(.closed))
    #expect(self.world.events == ["connected"])
    #expect(connection.settings.relayOnly)
    #expect(connection.settings.iceServers.map(\.urls) == [["stun:stun.example.org"]])
    #expect(
      connection.steps == [
        "sends false, plays true", "make offer", "set local offer", "set remote provisionalAnswer",
        "sends false, plays true", "add \(MediaCandidate.host(1).line)", "set remote answer",
        "sends false, plays true", "close",
      ])
    await #expect(throws: VoiceFailure.self) { try await peer.makeOffer() }
    #expect(self.world.connections.count == 1)
  }

  @Test func anOfferWaitsForCandidatesThatAreNotTold() async throws {
    let peer = self.world.peer(trickles: false)
    async let offer = peer.makeOffer()
    let deadline = await self.world.clock.nextTimer()
    #expect(deadline == VoiceInstant(offset: .seconds(2)))
    try await self.world.connection().asked("set local offer")
    try self.world.connection().tell(.gatheringEnded)
    #expect(try await offer == SDP("offer with candidates"))
    #expect(self.world.events == [])
  }

  @Test func anOfferGoesWithoutCandidatesThatDoNotCome() async throws {
    let peer = self.world.peer(trickles: false)
    async let offer = peer.makeOffer()
    self.world.clock.advance(to: await self.world.clock.nextTimer())
    #expect(try await offer == SDP("offer with candidates"))
  }

  @Test func aReattachIsANewConnectionAndTheOldOneIsClosedAndUnheard() async throws {
    let peer = self.world.peer()
    _ = try await peer.makeOffer()
    peer.setHeld(true)
    _ = try await peer.makeAnswer(to: "v=0", isReattach: true)
    let (old, new) = (try self.world.connection(), try self.world.connection(1))
    #expect(old.steps.last == "close")
    #expect(
      new.steps == [
        "sends false, plays false", "set remote offer", "make answer", "set local answer",
        "sends false, plays false",
      ])
    old.tell(.stateChanged(.failed))
    new.tell(.stateChanged(.connected))
    #expect(self.world.events == ["connected"])
  }

  @Test func anOfferThatMeetsOnesOwnTakesItBack() async throws {
    let peer = self.world.peer()
    _ = try await peer.makeOffer()
    try await peer.applyRemote("v=0", isFinal: true)
    _ = try await peer.makeRestartOffer()
    _ = try await peer.makeAnswer(to: "v=1", isReattach: false)
    #expect(
      try self.world.connection().steps.suffix(6) == [
        "set local offer", "set local rollback", "set remote offer", "make answer", "set local answer",
        "sends true, plays true",
      ])
    #expect(try self.world.connection().steps.contains("make restart offer"))
    #expect(self.world.connections.count == 1)
  }

  @Test func anInterruptionThatLastsFailsByTheClock() async throws {
    let peer = self.world.peer()
    _ = try await peer.makeAnswer(to: "v=0", isReattach: false)
    let connection = try self.world.connection()
    connection.tell(.stateChanged(.connected))
    connection.tell(.stateChanged(.disconnected))
    let clock = self.world.clock
    let failed = self.world.hearing("failed")
    await clock.waitForTimer(at: VoiceInstant(offset: .seconds(30)))
    clock.advance(by: .seconds(30))
    try await failed.value()
    #expect(self.world.events == ["connected", "interrupted", "call.media.unreachable", "failed"])
  }

  @Test func programsAreToldThatTheyHaveNoSamples() async throws {
    let peer = self.world.peer()
    let failure = await #expect(throws: VoiceFailure.self) { try await self.world.audio.send([1]) }
    #expect(failure?.code == .callSamplesUnavailable)
    for await _ in self.world.audio.frames { Issue.record("heard something") }
    await peer.stop()
  }

  @Test func statisticsAreThereOnceTheCallIsConnected() async throws {
    let peer = self.world.peer(measures: true)
    #expect(await peer.statistics() == nil)
    _ = try await peer.makeAnswer(to: "v=0", isReattach: false)
    #expect(await peer.statistics() == nil)
    try self.world.connection().tell(.stateChanged(.connected))
    #expect(await peer.statistics()?.reports.packetsReceived == 100)
    await peer.stop()
    #expect(await peer.statistics() == nil)
  }
}
