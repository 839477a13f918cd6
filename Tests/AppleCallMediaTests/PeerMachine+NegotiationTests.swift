import Calls
import Testing
import VoiceCore

@testable import AppleCallMedia

struct NegotiationTests {
  private let now = VoiceInstant()

  private func machine() -> PeerMachine {
    var machine = PeerMachine(tricklesCandidates: true, measuresQuality: false)
    _ = machine.connectionMade()
    return machine
  }

  // MARK: Bad input

  @Test(arguments: [
    "", "candidate:", "candidate:1 1 udp 1 192.0.2.1 99999 typ host", "a=candidate",
    "candidate:1 1 udp 1 192.0.2.1 40000 typ host\r\na=ice-lite",
  ])
  func aCandidateThatCannotBeReadNeverReachesTheFramework(_ line: String) {
    var machine = self.machine()
    guard case .warn(let failure) = machine.remoteCandidate(MediaCandidate(line: line)) else {
      Issue.record("taken: \(line)")
      return
    }
    #expect(failure.code == .callMediaUnacceptable)
    #expect(!failure.message.contains("192.0.2.1"))
  }

  @Test(arguments: [-1, Int.max])
  func aCandidateOfNoSectionIsRefused(_ index: Int) {
    var machine = self.machine()
    var candidate = MediaCandidate.host(1)
    candidate.sdpMLineIndex = index
    guard case .warn = machine.remoteCandidate(candidate) else {
      Issue.record("taken")
      return
    }
  }

  @Test func aFloodOfEarlyCandidatesDoesNotGrowAndIsToldOnce() {
    var machine = self.machine()
    var warnings: [VoiceFailure] = []
    for number in 0..<1000 {
      if case .warn(let failure) = machine.remoteCandidate(.host(number % 200)) { warnings.append(failure) }
    }
    #expect(warnings.map(\.code) == [.callMediaUnacceptable])
    #expect(machine.remoteOfferSet("v=0").candidates.count == 64)
  }

  @Test func anAnswerToNothingIsRefused() {
    let machine = self.machine()
    guard case .refuse(let failure) = machine.plan(forAnswer: "v=0", isFinal: true) else {
      Issue.record("not refused")
      return
    }
    #expect(failure.code == .callMediaUnacceptable)
  }

  // MARK: Candidates

  @Test func candidatesWaitForTheDescriptionThatTheyBelongTo() {
    var machine = self.machine()
    machine.offerSet(isRestart: false)
    #expect(machine.remoteCandidate(.host(1)) == .none)
    #expect(machine.remoteCandidate(.host(2)) == .none)
    let (candidates, _) = machine.remoteAnswerSet("v=0", isFinal: true, at: self.now)
    #expect(candidates == [.host(1), .host(2)])
    #expect(machine.remoteCandidate(.host(3)) == .add(.host(3)))
  }

  @Test func candidatesBehindARestartWaitForItsAnswer() {
    var machine = self.machine()
    machine.offerSet(isRestart: false)
    _ = machine.remoteAnswerSet("v=0", isFinal: true, at: self.now)
    machine.offerSet(isRestart: true)
    #expect(machine.remoteCandidate(.host(1)) == .none)
    #expect(machine.remoteAnswerSet("v=1", isFinal: true, at: self.now).candidates == [.host(1)])
  }

  @Test func theEndOfCandidatesAndNamesOfBrowsersAreTolerated() {
    var machine = self.machine()
    #expect(machine.remoteCandidate(nil) == .none)
    _ = machine.remoteOfferSet("v=0")
    let hidden = MediaCandidate(line: "candidate:1 1 udp 2122260223 1b8a.local 40000 typ host")
    #expect(machine.remoteCandidate(hidden) == .add(hidden))
  }

  // MARK: Answers

  @Test func earlyMediaComesBeforeTheFinalAnswer() {
    var machine = self.machine()
    machine.offerSet(isRestart: false)
    #expect(machine.plan(forAnswer: "v=0", isFinal: false) == .set(.provisionalAnswer))
    #expect(machine.remoteAnswerSet("v=0", isFinal: false, at: self.now).outputs.isEmpty)
    #expect(machine.plan(forAnswer: "v=0", isFinal: true) == .set(.answer))
    _ = machine.remoteAnswerSet("v=0", isFinal: true, at: self.now)
    #expect(machine.plan(forAnswer: "v=0", isFinal: true) == .ignore)
    #expect(machine.plan(forAnswer: "v=1", isFinal: false) == .ignore)
  }

  // MARK: Offers

  @Test func anOfferOfTheOtherSideTakesBackOnesOwn() {
    var machine = self.machine()
    #expect(!machine.mustRollBack)
    machine.offerSet(isRestart: true)
    #expect(machine.mustRollBack)
    machine.rolledBack()
    #expect(!machine.mustRollBack)
  }

  @Test func newCredentialsInAnOfferAreARestart() {
    var machine = self.machine()
    let offer = "v=0\r\na=ice-ufrag:abcd\r\na=mid:0\r\n"
    #expect(machine.remoteOfferSet(offer).isRestart)
    #expect(!machine.remoteOfferSet(offer + "a=inactive\r\n").isRestart)
    #expect(machine.remoteOfferSet("v=0\r\na=ice-ufrag:efgh\r\n").isRestart)
  }
}
