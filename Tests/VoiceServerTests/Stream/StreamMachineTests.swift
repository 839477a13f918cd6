import Foundation
import GRPCCore
import SpeechPipeline
import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceCore

@testable import VoiceServer

/// Every state meets every event.
@Suite struct StreamMachineTests {
  typealias Stage = MachineHarness.Stage
  static let ids = MachineHarness.ids

  static func harness(_ stage: Stage) async throws -> MachineHarness {
    var harness = try await MachineHarness()
    harness.reach(stage)
    return harness
  }

  // MARK: config

  @Test(arguments: Stage.allCases)
  func aConfigComesFirstAndOnce(_ stage: Stage) async throws {
    var harness = try await Self.harness(stage)
    let actions = harness.send(Request.config())
    switch stage {
    case .awaitingConfig: #expect(actions == [])
    case .idle:
      #expect(actions.refusal?.status == .failedPrecondition)
      #expect(actions.refusal?.failure.code == .orderViolated)
    case .active:
      #expect(actions.first == .cancelContext(id: Self.ids[0]))
      #expect(actions.refusal?.status == .failedPrecondition)
    case .idleWithResultsToCome:
      #expect(actions == [])
      #expect(
        harness.machine.contextFinished(Self.ids[0], at: harness.now).refusal?.status == .failedPrecondition)
    case .activeWithResultsToCome:
      #expect(actions == [.cancelContext(id: Self.ids[1])])
      #expect(
        harness.machine.contextFinished(Self.ids[0], at: harness.now).refusal?.status == .failedPrecondition)
    case .endingWell, .endingWithRefusal, .ended: #expect(actions == [.ignore(.streamEnding)])
    }
  }

  @Test(arguments: [
    (Request.config(channels: 0), "0 channels"), (Request.config(channels: -1), "-1 channels"),
    (Request.config(channels: 17), "17 channels"), (Request.config(rate: 0), "0 Hz"),
    (Request.config(rate: 7999), "7999 Hz"), (Request.config(rate: 48_001), "48001 Hz"),
    (Request.config(rate: .min), "Hz"),
    (Request.config(language: "fi-FI"), "language combination is invalid"),
    (Request.config(options: ["silence_triggered_segmentation": "soon"]), "silence_triggered_segmentation"),
    (Request.config(options: ["silence_triggered_segmentation": "-1"]), "milliseconds"),
    (Request.config(options: ["silence_triggered_segmentation": "99999999999999999999"]), "milliseconds"),
    (Request.Message.with { $0.config.encoding = .UNRECOGNIZED(7) }, "encoding 7"),
  ])
  func aConfigThatCannotBeUsedIsRefusedWithTheReason(
    _ config: Speechly_Slu_V1_SLURequest, _ reason: String
  ) async throws {
    var harness = try await MachineHarness()
    let refusal = harness.send(config).refusal
    #expect(refusal?.status == .invalidArgument)
    #expect(refusal?.failure.message.contains(reason) == true)
    #expect(harness.machine.state == .ended)
  }

  @Test(arguments: [
    Request.config(rate: 8000), Request.config(rate: 48_000), Request.config(channels: 16),
    Request.config(language: "en-US"), Request.config(language: "EN-us"),
    Request.config(options: ["timezone": "Europe/Helsinki", "vocabulary": "x", "": ""]),
  ])
  func aConfigThatCanBeUsedIsTaken(_ config: Speechly_Slu_V1_SLURequest) async throws {
    var harness = try await MachineHarness()
    #expect(harness.send(config) == [])
    guard case .idle = harness.machine.state else {
      Issue.record("not idle")
      return
    }
  }

  @Test func theWrongLanguageSaysWhatIsRight() async throws {
    var harness = try await MachineHarness()
    let refusal = harness.send(Request.config(language: "fi-FI")).refusal
    #expect(refusal?.failure.code == .languageNotOffered)
    #expect(
      refusal?.failure.message
        == "The app id and language combination is invalid. Use en-US, or leave the language empty.")
  }

  // MARK: start

  @Test(arguments: Stage.allCases, [Request.start(), Request.startEvent])
  func aStartBeginsAContext(_ stage: Stage, _ start: Speechly_Slu_V1_SLURequest) async throws {
    var harness = try await Self.harness(stage)
    let actions = harness.send(start)
    switch stage {
    case .awaitingConfig:
      #expect(actions.refusal?.status == .invalidArgument)
      #expect(actions.refusal?.failure.code == .orderViolated)
    case .idle:
      #expect(actions.count == 1)
      #expect(actions.request?.sampleRate == 16_000)
      #expect(actions.request?.app.uuidString == Fixture.appID)
      #expect(harness.machine.contextIDs == [Self.ids[0]])
    case .idleWithResultsToCome:
      #expect(actions.request != nil)
      #expect(harness.machine.contextIDs == [Self.ids[0], Self.ids[1]])
    case .active:
      #expect(actions.first == .cancelContext(id: Self.ids[0]))
      #expect(actions.refusal?.status == .failedPrecondition)
      #expect(actions.refusal?.failure.message.contains("Send stop before") == true)
    case .activeWithResultsToCome:
      #expect(actions == [.cancelContext(id: Self.ids[1])])
    case .endingWell, .endingWithRefusal, .ended: #expect(actions == [.ignore(.streamEnding)])
    }
  }

  @Test func resultsOfTheOldContextMayComeAfterTheNextStarted() async throws {
    var harness = try await Self.harness(.activeWithResultsToCome)
    #expect(
      harness.machine.contextBegan(Self.ids[1], at: harness.now).responses.map(\.audioContext) == [
        Self.ids[1]
      ])
    let word = RecognizedWord(text: "late", start: .zero, end: .zero)
    let late = harness.machine.recognized([.word(segment: 0, index: 0, word)], in: Self.ids[0]).responses
    #expect(late.map(\.audioContext) == [Self.ids[0]])
    let last = harness.machine.contextFinished(Self.ids[0], at: harness.now).responses
    #expect(last.map(\.audioContext) == [Self.ids[0]])
    #expect(harness.machine.contextIDs == [Self.ids[1]])
  }

  // MARK: stop

  @Test(arguments: Stage.allCases, [Request.stop, Request.stopEvent])
  func aStopFinishesTheContext(_ stage: Stage, _ stop: Speechly_Slu_V1_SLURequest) async throws {
    var harness = try await Self.harness(stage)
    let actions = harness.send(stop)
    switch stage {
    case .awaitingConfig: #expect(actions.refusal?.status == .invalidArgument)
    case .idle:
      #expect(actions.refusal?.status == .failedPrecondition)
      #expect(actions.refusal?.failure.message.contains("Send start before stop") == true)
    case .active: #expect(actions == [.finishContext(id: Self.ids[0])])
    case .activeWithResultsToCome: #expect(actions == [.finishContext(id: Self.ids[1])])
    case .idleWithResultsToCome:
      #expect(actions == [])
      #expect(
        harness.machine.contextFinished(Self.ids[0], at: harness.now).refusal?.status == .failedPrecondition)
    case .endingWell, .endingWithRefusal, .ended: #expect(actions == [.ignore(.streamEnding)])
    }
  }

  // MARK: audio

  @Test(arguments: Stage.allCases)
  func audioBelongsToAContext(_ stage: Stage) async throws {
    var harness = try await Self.harness(stage)
    let actions = harness.send(Request.audio(samples: 3))
    let samples = [Int16](repeating: 0x0101, count: 3)
    switch stage {
    case .awaitingConfig: #expect(actions.refusal?.status == .invalidArgument)
    case .idle:
      #expect(actions.refusal?.status == .failedPrecondition)
      #expect(actions.refusal?.failure.message.contains("Send start before audio") == true)
    case .active: #expect(actions == [.append(id: Self.ids[0], samples)])
    case .activeWithResultsToCome: #expect(actions == [.append(id: Self.ids[1], samples)])
    case .idleWithResultsToCome: #expect(actions == [])
    case .endingWell, .endingWithRefusal, .ended: #expect(actions == [.ignore(.streamEnding)])
    }
  }

  @Test(arguments: [(999_999, true), (1_000_000, false), (1_000_001, false)])
  func aChunkOfAMegabyteIsTooLarge(_ bytes: Int, _ isTaken: Bool) async throws {
    var harness = try await Self.harness(.active)
    let actions = harness.send(Request.audio(bytes: bytes))
    if isTaken {
      guard case .append(_, let samples) = actions.first else {
        Issue.record("not taken")
        return
      }
      #expect(samples.count == bytes / 2)
    } else {
      #expect(actions.first == .cancelContext(id: Self.ids[0]))
      #expect(actions.refusal?.status == .resourceExhausted)
      #expect(actions.refusal?.failure.code == .chunkTooLarge)
    }
  }

  @Test func aSampleMayBeCutBetweenTwoMessages() async throws {
    var harness = try await Self.harness(.active)
    #expect(harness.send(Request.audio(bytes: 1)) == [])
    #expect(harness.send(Request.audio(bytes: 0)) == [])
    #expect(harness.send(Request.audio(bytes: 1)) == [.append(id: Self.ids[0], [0x0101])])
  }

  @Test func halfASampleDoesNotReachTheNextContext() async throws {
    var harness = try await Self.harness(.active)
    _ = harness.send(Request.audio(bytes: 3))
    _ = harness.send(Request.stop)
    _ = harness.send(Request.start())
    #expect(harness.send(Request.audio(bytes: 2)) == [.append(id: Self.ids[1], [0x0101])])
  }

  @Test func aContextThatIsTooLongDeliversWhatWasHeardAndThenIsRefused() async throws {
    var limits = ServerConfiguration.Limits()
    limits.contextDuration = .seconds(1)
    var harness = try await MachineHarness(limits: limits)
    harness.reach(.active)
    // Exactly the limit is allowed.
    #expect(harness.send(Request.audio(samples: 16_000)).count == 1)
    let actions = harness.send(Request.audio(samples: 1))
    #expect(actions == [.finishContext(id: Self.ids[0])])
    #expect(harness.send(Request.audio(samples: 1)) == [.ignore(.streamEnding)])
    #expect(harness.send(Request.stop) == [.ignore(.streamEnding)])
    let word = RecognizedWord(text: "heard", start: .zero, end: .zero)
    #expect(
      harness.machine.recognized([.word(segment: 0, index: 0, word)], in: Self.ids[0]).responses.count == 1)
    let last = harness.machine.contextFinished(Self.ids[0], at: harness.now)
    #expect(last.responses.count == 1)
    #expect(last.refusal?.status == .outOfRange)
    #expect(last.refusal?.failure.code == .contextTooLong)
  }

  @Test func theLimitOfAContextIsMeasuredInItsOwnRate() async throws {
    var limits = ServerConfiguration.Limits()
    limits.contextDuration = .seconds(1)
    var harness = try await MachineHarness(limits: limits)
    _ = harness.send(Request.config(channels: 2, rate: 8000))
    _ = harness.send(Request.start())
    guard case .append(_, let samples) = harness.send(Request.audio(bytes: 40_000)).first else {
      Issue.record("nothing taken")
      return
    }
    #expect(samples.count == 8000)
  }

  // MARK: half close

  @Test(arguments: Stage.allCases)
  func halfCloseFinishesTheWorkAndEndsWell(_ stage: Stage) async throws {
    var harness = try await Self.harness(stage)
    let actions = harness.machine.halfClosed(at: harness.now)
    switch stage {
    case .awaitingConfig, .idle: #expect(actions == [.end(nil)])
    case .active:
      #expect(actions == [.finishContext(id: Self.ids[0])])
      #expect(harness.machine.contextFinished(Self.ids[0], at: harness.now).endsWell)
    case .idleWithResultsToCome:
      #expect(actions == [])
      #expect(harness.machine.contextFinished(Self.ids[0], at: harness.now).endsWell)
    case .activeWithResultsToCome:
      #expect(actions == [.finishContext(id: Self.ids[1])])
      #expect(!harness.machine.contextFinished(Self.ids[0], at: harness.now).endsWell)
      #expect(harness.machine.contextFinished(Self.ids[1], at: harness.now).endsWell)
    case .endingWell:
      #expect(actions == [])
      #expect(harness.machine.contextFinished(Self.ids[0], at: harness.now).endsWell)
    case .endingWithRefusal:
      #expect(actions == [])
      #expect(harness.machine.contextFinished(Self.ids[0], at: harness.now).refusal != nil)
    case .ended: #expect(actions == [])
    }
  }

  // MARK: results

  @Test func startedComesOnceTheRecogniserHasTheContext() async throws {
    var harness = try await Self.harness(.idle)
    #expect(harness.send(Request.start()).responses == [])
    let responses = harness.machine.contextBegan(Self.ids[0], at: harness.now).responses
    #expect(responses.count == 1)
    #expect(responses.first?.streamingResponse == .started(.init()))
    #expect(responses.first?.audioContext == Self.ids[0])
  }

  @Test(arguments: Stage.allCases)
  func resultsOfAnUnknownContextAreIgnored(_ stage: Stage) async throws {
    var harness = try await Self.harness(stage)
    let state = harness.machine.state
    let refusal = Refusal(.engineFailed, "x")
    #expect(harness.machine.contextBegan("x", at: harness.now) == [.ignore(.unknownContext)])
    #expect(harness.machine.recognized([], in: "x") == [.ignore(.unknownContext)])
    #expect(harness.machine.contextFinished("x", at: harness.now) == [.ignore(.unknownContext)])
    #expect(harness.machine.contextFailed("x", refusal) == [.ignore(.unknownContext)])
    #expect(harness.machine.state == state)
  }

  @Test(arguments: Stage.allCases)
  func aContextThatFailsEndsTheStream(_ stage: Stage) async throws {
    var harness = try await Self.harness(stage)
    guard let id = harness.machine.contextIDs.first else { return }
    let others = harness.machine.contextIDs.dropFirst()
    let refusal = Refusal(.engineFailed, "x")
    #expect(refusal.status == .internalError)
    let actions = harness.machine.contextFailed(id, refusal)
    #expect(actions == others.map { .cancelContext(id: $0) } + [.end(refusal)])
    #expect(harness.machine.state == .ended)
  }

  @Test func overloadSaysWhenToTryAgain() async throws {
    var harness = try await Self.harness(.idle)
    _ = harness.send(Request.start())
    let refusal = harness.machine.contextFailed(Self.ids[0], Refusal(.serverOverloaded, "x")).refusal
    #expect(refusal?.status == .unavailable)
    #expect(refusal?.retryAfter == .seconds(1))
    let error = RPCError(try #require(refusal))
    #expect(Array(error.metadata[stringValues: "voice-failure-code"]) == ["speech.stream.server-overloaded"])
    #expect(Array(error.metadata[stringValues: "grpc-retry-pushback-ms"]) == ["1000"])
    #expect(Array(error.metadata[binaryValues: "grpc-status-details-bin"]).count == 1)
  }

  @Test(arguments: Stage.allCases)
  func whatIsNewerThanThisServerIsIgnored(_ stage: Stage) async throws {
    var harness = try await Self.harness(stage)
    let actions = harness.send(.init())
    switch stage {
    case .awaitingConfig: #expect(actions.refusal?.status == .invalidArgument)
    case .idle, .active, .idleWithResultsToCome, .activeWithResultsToCome:
      #expect(actions == [.ignore(.unknownMessage)])
    case .endingWell, .endingWithRefusal, .ended: #expect(actions == [.ignore(.streamEnding)])
    }
  }
}
