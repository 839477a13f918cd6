import SpeechPipeline
import SpeechProtocol
import VoiceCore

@testable import VoiceServer

/// A machine with short names for its events.
struct MachineHarness {
  static let ids = (0..<16).map { "aaaaaaaa-0000-4000-8000-00000000000" + String($0, radix: 16) }

  var machine: StreamMachine
  var now = VoiceInstant()
  var used = 0

  init(
    principal: Principal = .application(.demo), limits: ServerConfiguration.Limits = .init()
  ) async throws {
    self.machine = StreamMachine(
      rules: .init(
        principal: principal, apps: AppDirectory(Fixture.configuration()), limits: limits,
        resumeTokens: try await ResumeTokens(key: Fixture.key())),
      openedAt: self.now)
  }

  static func project(limits: ServerConfiguration.Limits = .init()) async throws -> MachineHarness {
    try await MachineHarness(
      principal: .project(ServerConfiguration.App.demo.project), limits: limits)
  }

  mutating func send(_ request: Speechly_Slu_V1_SLURequest) -> [StreamMachine.Action] {
    let id = Self.ids[self.used % Self.ids.count]
    let before = self.machine.contextIDs
    let actions = self.machine.received(request, at: self.now, newContextID: id)
    if self.machine.contextIDs != before, self.machine.contextIDs.contains(id) { self.used += 1 }
    return actions
  }

  /// Brings a machine into the state of the name.
  mutating func reach(_ stage: Stage) {
    switch stage {
    case .awaitingConfig: break
    case .idle: _ = self.send(Request.config())
    case .active:
      self.reach(.idle)
      _ = self.send(Request.start())
      _ = self.machine.contextBegan(Self.ids[0], at: self.now)
    case .idleWithResultsToCome:
      self.reach(.active)
      _ = self.send(Request.stop)
    case .activeWithResultsToCome:
      self.reach(.idleWithResultsToCome)
      _ = self.send(Request.start())
    case .endingWell:
      self.reach(.active)
      _ = self.machine.halfClosed(at: self.now)
    case .endingWithRefusal:
      self.reach(.idleWithResultsToCome)
      _ = self.send(Request.stop)
    case .ended:
      self.reach(.idle)
      _ = self.machine.halfClosed(at: self.now)
    }
  }

  enum Stage: String, CaseIterable, Sendable {
    case awaitingConfig, idle, active, idleWithResultsToCome, activeWithResultsToCome, endingWell,
      endingWithRefusal, ended
  }
}

extension [StreamMachine.Action] {
  /// The refusal of an `.end`, if the last action is one with a refusal.
  var refusal: Refusal? {
    if case .end(let refusal?) = self.last { refusal } else { nil }
  }

  var endsWell: Bool { self.last == .end(nil) }

  var responses: [Speechly_Slu_V1_SLUResponse] {
    self.compactMap { if case .send(let response) = $0 { response } else { nil } }
  }

  var request: StreamMachine.ContextRequest? {
    for case .beginContext(_, let request) in self { return request }
    return nil
  }
}
