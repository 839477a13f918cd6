import GRPCCore
import SpeechPipeline
import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceCore

@testable import VoiceServer

/// Idle streams and shutdown.
@Suite struct StreamMachineTimeTests {
  typealias Stage = MachineHarness.Stage
  static let ids = MachineHarness.ids
  static let idle = ServerConfiguration.Limits().idleTime

  @Test func asksForACheckWhenItOpens() async throws {
    let harness = try await MachineHarness()
    #expect(harness.machine.opened() == [.scheduleIdleCheck(at: harness.now.advanced(by: Self.idle))])
  }

  @Test(arguments: Stage.allCases)
  func aStreamOnWhichNothingHappensIsClosed(_ stage: Stage) async throws {
    var harness = try await MachineHarness()
    harness.reach(stage)
    harness.now = harness.now.advanced(by: Self.idle)
    let again = StreamMachine.Action.scheduleIdleCheck(at: harness.now.advanced(by: Self.idle))
    let actions = harness.machine.idleCheckDue(at: harness.now)
    switch stage {
    case .awaitingConfig:
      #expect(actions.refusal?.failure.code == .streamIdle)
      #expect(actions.refusal?.status == .deadlineExceeded)
    case .idle: #expect(actions == [.end(nil)])
    case .active:
      #expect(actions == [.finishContext(id: Self.ids[0]), again])
      #expect(
        harness.machine.contextFinished(Self.ids[0], at: harness.now).refusal?.failure.code == .streamIdle)
    case .activeWithResultsToCome: #expect(actions == [.finishContext(id: Self.ids[1]), again])
    case .idleWithResultsToCome, .endingWell, .endingWithRefusal: #expect(actions == [again])
    case .ended: #expect(actions == [])
    }
  }

  @Test func audioCountsAsLife() async throws {
    var harness = try await MachineHarness()
    harness.reach(.active)
    harness.now = harness.now.advanced(by: .seconds(59))
    _ = harness.send(Request.audio(bytes: 1))
    harness.now = harness.now.advanced(by: .seconds(59))
    #expect(
      harness.machine.idleCheckDue(at: harness.now)
        == [.scheduleIdleCheck(at: harness.now.advanced(by: .seconds(1)))])
  }

  @Test func everyMessageCountsAsLifeBetweenContexts() async throws {
    var harness = try await MachineHarness()
    harness.reach(.idle)
    harness.now = harness.now.advanced(by: .seconds(59))
    _ = harness.send(.init())
    harness.now = harness.now.advanced(by: .seconds(59))
    #expect(
      harness.machine.idleCheckDue(at: harness.now)
        == [.scheduleIdleCheck(at: harness.now.advanced(by: .seconds(1)))])
  }

  @Test(arguments: [
    .init(), Request.audio(bytes: 0), Request.roundTrip(9), .with { $0.event.event = .UNRECOGNIZED(9) },
  ])
  func messagesWithoutAudioDoNotKeepAContext(_ message: Request.Message) async throws {
    var harness = try await MachineHarness()
    harness.reach(.active)
    for _ in 0..<5 {
      harness.now = harness.now.advanced(by: .seconds(10))
      _ = harness.send(message)
      harness.machine.dealtWith(at: harness.now)
      #expect(harness.machine.idleCheckDue(at: harness.now).count == 1)
    }
    harness.now = harness.now.advanced(by: .seconds(10))
    let again = StreamMachine.Action.scheduleIdleCheck(at: harness.now.advanced(by: Self.idle))
    #expect(
      harness.machine.idleCheckDue(at: harness.now) == [.finishContext(id: Self.ids[0]), again])
    #expect(
      harness.machine.contextFinished(Self.ids[0], at: harness.now).refusal?.failure.code == .streamIdle)
  }

  @Test func aContextWithHardlyAnyAudioIsBoundedInTime() async throws {
    var harness = try await MachineHarness()
    harness.reach(.active)
    let limit = harness.now.advanced(by: ServerConfiguration.Limits().contextDuration + Self.idle)
    // Each message alone is life enough.
    while harness.now.duration(to: limit) > .seconds(50) {
      harness.now = harness.now.advanced(by: .seconds(50))
      _ = harness.send(Request.audio(bytes: 2))
    }
    #expect(harness.machine.idleCheckDue(at: harness.now) == [.scheduleIdleCheck(at: limit)])
    #expect(harness.machine.idleCheckDue(at: limit).first == .finishContext(id: Self.ids[0]))
    let refusal = harness.machine.contextFinished(Self.ids[0], at: limit).refusal
    #expect(refusal?.failure.code == .contextTooLong)
    #expect(refusal?.status == .outOfRange)
  }

  @Test func theTimeThatTheServerTakesIsNotTheClients() async throws {
    var harness = try await MachineHarness()
    harness.reach(.active)
    // Each message takes the server ten minutes; the client sends the next at once.
    for _ in 0..<10 {
      _ = harness.send(Request.audio(samples: 1))
      harness.now = harness.now.advanced(by: .seconds(600))
      harness.machine.dealtWith(at: harness.now)
      #expect(
        harness.machine.idleCheckDue(at: harness.now)
          == [.scheduleIdleCheck(at: harness.now.advanced(by: Self.idle))])
    }
  }

  @Test(arguments: Stage.allCases)
  func whenTheServerDrainsNothingNewBegins(_ stage: Stage) async throws {
    var harness = try await MachineHarness()
    harness.reach(stage)
    let actions = harness.machine.drainBegan()
    switch stage {
    case .awaitingConfig, .idle:
      #expect(actions.refusal?.failure.code == .serverStopping)
      #expect(actions.refusal?.status == .unavailable)
      #expect(actions.refusal?.retryAfter == .seconds(1))
    case .active, .activeWithResultsToCome, .idleWithResultsToCome, .endingWell, .endingWithRefusal, .ended:
      #expect(actions == [])
    }
  }

  @Test func aRunningContextMayFinishWhileTheServerDrains() async throws {
    var harness = try await MachineHarness()
    harness.reach(.active)
    #expect(harness.machine.drainBegan() == [])
    #expect(harness.send(Request.audio(samples: 1)).count == 1)
    #expect(harness.send(Request.stop) == [.finishContext(id: Self.ids[0])])
    let last = harness.machine.contextFinished(Self.ids[0], at: harness.now)
    #expect(last.responses.count == 1)
    #expect(last.refusal?.failure.code == .serverStopping)
  }

  @Test func aClientThatIsDoneWhileTheServerDrainsEndsWell() async throws {
    var harness = try await MachineHarness()
    harness.reach(.active)
    _ = harness.machine.drainBegan()
    _ = harness.send(Request.stop)
    #expect(harness.machine.halfClosed(at: harness.now) == [])
    #expect(harness.machine.contextFinished(Self.ids[0], at: harness.now).endsWell)
  }

  @Test func resultsToComeAreDeliveredWhileTheServerDrains() async throws {
    var harness = try await MachineHarness()
    harness.reach(.idleWithResultsToCome)
    #expect(harness.machine.drainBegan() == [])
    #expect(harness.send(Request.start()) == [.ignore(.streamEnding)])
    let last = harness.machine.contextFinished(Self.ids[0], at: harness.now)
    #expect(last.responses.count == 1)
    #expect(last.refusal?.failure.code == .serverStopping)
  }

  @Test(arguments: Stage.allCases)
  func afterTheDrainTimeEverythingEnds(_ stage: Stage) async throws {
    var harness = try await MachineHarness()
    harness.reach(stage)
    let contexts = harness.machine.contextIDs
    let actions = harness.machine.drainElapsed()
    if stage == .ended {
      #expect(actions == [])
    } else {
      #expect(actions == contexts.map { .cancelContext(id: $0) } + [.end(StreamMachine.stopping)])
    }
    #expect(harness.machine.state == .ended)
    #expect(harness.machine.contextIDs == [])
  }
}
