import Calls
import Testing
import VoiceCore
import VoiceTesting

@testable import AppleCallMedia

struct PeerMachineTests {
  private let start = VoiceInstant()

  private func at(_ seconds: Int) -> VoiceInstant { VoiceInstant(offset: .seconds(seconds)) }

  /// A machine with a connection.
  private func machine(trickles: Bool = false, measures: Bool = false) -> PeerMachine {
    var machine = PeerMachine(tricklesCandidates: trickles, measuresQuality: measures)
    #expect(machine.connectionMade() == 1)
    return machine
  }

  /// A machine whose offer was answered.
  private func described(measures: Bool = false) -> PeerMachine {
    var machine = self.machine(measures: measures)
    machine.offerSet(isRestart: false)
    _ = machine.remoteAnswerSet("v=0", isFinal: true, at: self.start)
    return machine
  }

  private func connected(measures: Bool = false) -> PeerMachine {
    var machine = self.described(measures: measures)
    _ = machine.happened(.stateChanged(.connected), generation: 1, at: self.start)
    return machine
  }

  // MARK: Media

  @Test func tellsOnceThatAudioFlows() {
    var machine = self.described()
    #expect(machine.happened(.stateChanged(.connecting), generation: 1, at: self.start).words == [])
    #expect(machine.happened(.stateChanged(.connected), generation: 1, at: self.start).words == ["connected"])
    #expect(machine.happened(.stateChanged(.connected), generation: 1, at: self.start).words == [])
    #expect(machine.deadline == nil)
  }

  @Test func anInterruptionThatEndsIsNoFailure() {
    var machine = self.connected()
    #expect(
      machine.happened(.stateChanged(.disconnected), generation: 1, at: self.start).words == ["interrupted"])
    #expect(machine.deadline == self.at(30))
    #expect(machine.timePassed(at: self.at(29)).words == [])
    #expect(
      machine.happened(.stateChanged(.connected), generation: 1, at: self.at(29)).words == ["connected"])
    #expect(machine.timePassed(at: self.at(30)).words == [])
  }

  @Test func anInterruptionThatLastsIsTheEnd() {
    var machine = self.connected()
    _ = machine.happened(.stateChanged(.disconnected), generation: 1, at: self.start)
    #expect(machine.timePassed(at: self.at(30)).words == ["call.media.unreachable", "failed"])
    #expect(machine.happened(.stateChanged(.failed), generation: 1, at: self.at(31)).words == [])
  }

  @Test func withoutAWayTheFrameworkMayWaitForEverAndThePeerDoesNot() {
    var machine = self.described()
    #expect(machine.deadline == self.at(20))
    #expect(machine.timePassed(at: self.at(20)).words == ["call.media.unreachable", "failed"])
    #expect(machine.deadline == nil)
  }

  @Test(arguments: [
    ([ConnectionEvent.IceState.failed], "call.media.unreachable"),
    ([.checking], "call.media.unreachable"),
    ([.checking, .connected], "call.media.insecure"),
    ([.checking, .completed], "call.media.insecure"),
    ([.connected, .disconnected, .failed], "call.media.unreachable"),
  ])
  func tellsAHandshakeThatFailedFromALostWay(_ states: [ConnectionEvent.IceState], _ code: String) {
    var machine = self.described()
    for state in states { _ = machine.happened(.iceStateChanged(state), generation: 1, at: self.start) }
    #expect(
      machine.happened(.stateChanged(.failed), generation: 1, at: self.start).words == [code, "failed"])
  }

  @Test func aFailureAfterTheHandshakeIsALostWay() {
    var machine = self.connected()
    _ = machine.happened(.iceStateChanged(.connected), generation: 1, at: self.start)
    #expect(
      machine.happened(.stateChanged(.failed), generation: 1, at: self.start).words
        == ["call.media.unreachable", "failed"])
  }

  @Test func aNewAnswerGivesAFailedConnectionAnotherChance() {
    var machine = self.connected()
    _ = machine.happened(.stateChanged(.failed), generation: 1, at: self.start)
    machine.offerSet(isRestart: true)
    #expect(machine.remoteAnswerSet("v=1", isFinal: true, at: self.at(5)).outputs.words == [])
    #expect(machine.deadline == self.at(25))
    #expect(machine.happened(.stateChanged(.connected), generation: 1, at: self.at(6)).words == ["connected"])
  }

  @Test func whoRestartedIsToldAlsoIfTheOldWayWasGood() {
    var machine = self.connected()
    machine.offerSet(isRestart: true)
    #expect(machine.remoteAnswerSet("v=1", isFinal: true, at: self.at(5)).outputs.words == ["connected"])
  }

  @Test func aConnectionThatTheFrameworkClosesHasFailed() {
    var machine = self.connected()
    #expect(
      machine.happened(.stateChanged(.closed), generation: 1, at: self.start).words
        == ["call.media.failed", "failed"])
  }

  @Test func whatAReplacedConnectionTellsCountsForNothing() {
    var machine = self.connected()
    #expect(machine.connectionMade() == 2)
    for event in [ConnectionEvent.stateChanged(.failed), .stateChanged(.closed), .gatheringEnded] {
      #expect(machine.happened(event, generation: 1, at: self.start).words == [])
    }
    #expect(machine.happened(.stateChanged(.connected), generation: 2, at: self.start).words == ["connected"])
  }

  @Test func stopsOnceAndTellsNothingAfterwards() {
    var machine = self.connected(measures: true)
    #expect(machine.stopped() == true)
    #expect(machine.stopped() == false)
    #expect(machine.deadline == nil)
    #expect(machine.happened(.stateChanged(.failed), generation: 1, at: self.start).words == [])
    #expect(machine.timePassed(at: self.at(100)).words == [])
    #expect(machine.muted(true).words == [])
    #expect(machine.remoteCandidate(.host(1)) == .none)
  }

  @Test(arguments: [
    (false, false, "sends true, plays true"), (true, false, "sends false, plays true"),
    (false, true, "sends false, plays false"), (true, true, "sends false, plays false"),
  ])
  func holdStopsBothDirectionsAndMuteOne(_ isMuted: Bool, _ isHeld: Bool, _ words: String) {
    var machine = self.machine()
    _ = machine.muted(isMuted)
    #expect(machine.held(isHeld).words == [words])
  }

  @Test func aServerIsComplainedOfOnceAndNotWithItsPassword() {
    var machine = self.machine()
    let outputs = machine.happened(
      .serverFailed(url: "turn:relay.example.org:3478", code: 401), generation: 1, at: self.start)
    #expect(outputs.words == ["call.media.relay-failed"])
    #expect(
      machine.happened(
        .serverFailed(url: "turn:relay.example.org:3478", code: 701), generation: 1, at: self.start
      ).words == [])
  }

  // MARK: Candidates of this side

  @Test func aDescriptionWaitsForCandidatesNoLongerThanTwoSeconds() {
    var machine = self.machine()
    #expect(machine.localDescriptionBegins(isRestart: false, at: self.start) == true)
    #expect(
      machine.happened(.candidateFound(.host(1)), generation: 1, at: self.start).words == [])
    #expect(machine.deadline == self.at(2))
    #expect(machine.timePassed(at: self.at(2)).words == ["gathered"])
    #expect(machine.happened(.gatheringEnded, generation: 1, at: self.at(3)).words == [])
  }

  @Test func onlyTheFirstDescriptionAndRestartsLookForCandidates() {
    var machine = self.machine()
    #expect(machine.localDescriptionBegins(isRestart: false, at: self.start) == true)
    #expect(machine.happened(.gatheringEnded, generation: 1, at: self.start).words == ["gathered"])
    #expect(machine.localDescriptionBegins(isRestart: false, at: self.start) == false)
    #expect(machine.localDescriptionBegins(isRestart: true, at: self.start) == true)
  }

  @Test func trickledCandidatesAreToldAndNotWaitedFor() {
    var machine = self.machine(trickles: true)
    #expect(machine.localDescriptionBegins(isRestart: false, at: self.start) == false)
    #expect(
      machine.happened(.candidateFound(.host(1)), generation: 1, at: self.start).words
        == ["candidate \(MediaCandidate.host(1).line)"])
    #expect(machine.happened(.gatheringEnded, generation: 1, at: self.start).words == ["candidate end"])
  }

  // MARK: Random events

  @Test func keepsItsPromisesWhateverComes() {
    for seed in 0..<300 {
      var random = SeededGenerator(seed: UInt64(seed))
      var machine = self.machine(trickles: Bool.random(using: &random), measures: true)
      var now = self.start
      for _ in 0..<200 {
        now = now.advanced(by: .milliseconds(Int.random(in: 0...9000, using: &random)))
        let before = machine.media
        let words = self.randomStep(&machine, at: now, using: &random).words
        if machine.isStopped { #expect(words == []) }
        // Each end is told, once, and only ends are.
        if !machine.isStopped {
          #expect(words.contains("failed") == (before != .failed && machine.media == .failed))
        }
        if words.contains("connected") { #expect(machine.media == .connected) }
        if words.contains("interrupted") { #expect(before == .connected) }
        if let deadline = machine.deadline { #expect(deadline <= now.advanced(by: .seconds(30))) }
      }
    }
  }

  private func randomStep(
    _ machine: inout PeerMachine, at now: VoiceInstant, using random: inout SeededGenerator
  ) -> [PeerMachine.Output] {
    let states: [ConnectionEvent.State] = [.new, .connecting, .connected, .disconnected, .failed]
    let generation = machine.generation - Int.random(in: 0...1, using: &random)
    switch Int.random(in: 0..<9, using: &random) {
    case 0, 1, 2:
      return machine.happened(
        .stateChanged(states.randomElement(using: &random) ?? .new), generation: generation, at: now)
    case 3: return machine.happened(.gatheringEnded, generation: generation, at: now)
    case 4:
      _ = machine.localDescriptionBegins(isRestart: true, at: now)
      machine.offerSet(isRestart: true)
      return []
    case 5:
      return machine.remoteAnswerSet("v=0", isFinal: Bool.random(using: &random), at: now).outputs
        .filter { _ in !machine.isStopped }
    case 6: return machine.timePassed(at: now)
    case 7:
      if Int.random(in: 0..<100, using: &random) == 0 { _ = machine.stopped() }
      return []
    default: return machine.measured(ConnectionReport(entries: [:]), generation: generation, at: now)
    }
  }
}
