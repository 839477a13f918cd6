import Calls
import Synchronization
import VoiceCore

@testable import AppleCallMedia

/// A connection that answers at once, or not at all.
final class ScriptedConnection: PeerConnecting {
  struct Refusal: Error {
    var text = "Failed to parse: a=secret"
  }

  private struct State {
    var steps: [String] = []
    var failing: Set<String> = []
    var silent: Set<String> = []
    var local: String?
    var asked: [(step: String, told: PeerReply<Void>)] = []
  }

  private let state = Mutex(State())
  let settings: ConnectionSettings
  let tell: @Sendable (ConnectionEvent) -> Void

  init(_ settings: ConnectionSettings, tell: @escaping @Sendable (ConnectionEvent) -> Void) {
    self.settings = settings
    self.tell = tell
  }

  var steps: [String] { self.state.withLock { $0.steps } }

  func fail(_ step: String) { self.state.withLock { _ = $0.failing.insert(step) } }

  func beSilent(on step: String) { self.state.withLock { _ = $0.silent.insert(step) } }

  /// Waits until something was asked.
  func asked(_ step: String) async throws {
    let told = PeerReply<Void>()
    self.state.withLock { state in
      if state.steps.contains(step) { told.resolve(.success(())) } else { state.asked.append((step, told)) }
    }
    try await told.value()
  }

  private func did(_ step: String) {
    let asked = self.state.withLock { state in
      state.steps.append(step)
      return state.asked.filter { $0.step == step }
    }
    for one in asked { one.told.resolve(.success(())) }
  }

  private func perform(_ step: String) async throws {
    let (fails, isSilent) = self.state.withLock { ($0.failing.contains(step), $0.silent.contains(step)) }
    self.did(step)
    if isSilent { try await PeerReply<Void>().value() }
    if fails { throw Refusal() }
  }

  var localDescription: String? { self.state.withLock { $0.local } }

  func makeOffer(restartingICE: Bool) async throws -> String {
    try await self.perform(restartingICE ? "make restart offer" : "make offer")
    return "offer"
  }

  func makeAnswer() async throws -> String {
    try await self.perform("make answer")
    return "answer"
  }

  func setLocal(_ kind: DescriptionKind, _ text: String) async throws {
    try await self.perform("set local \(kind)")
    self.state.withLock { $0.local = "\(text) with candidates" }
  }

  func setRemote(_ kind: DescriptionKind, _ text: String) async throws {
    try await self.perform("set remote \(kind)")
  }

  func add(_ candidate: MediaCandidate) async throws { try await self.perform("add \(candidate.line)") }

  func setAudio(sends: Bool, plays: Bool) { self.did("sends \(sends), plays \(plays)") }

  func measure() async throws -> ConnectionReport {
    try await self.perform("measure")
    return ConnectionReportTests.usual
  }

  func close() { self.did("close") }
}
