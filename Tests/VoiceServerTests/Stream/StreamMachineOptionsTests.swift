import Foundation
import GRPCCore
import SpeechPipeline
import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceCore

@testable import VoiceServer

/// Apps, options and round trips.
@Suite struct StreamMachineOptionsTests {
  static let ids = MachineHarness.ids

  // MARK: Apps

  @Test(arguments: [
    (Fixture.foreignID, RPCError.Code.permissionDenied, VoiceFailure.Code.unknownApp),
    ("00000000-0000-4000-8000-00000000dead", .notFound, .unknownApp),
    ("", .invalidArgument, .requestInvalid), ("kitchen", .invalidArgument, .loginInvalid),
  ])
  func withAProjectsLoginEveryStartNamesAnAppOfTheProject(
    _ app: String, _ status: RPCError.Code, _ code: VoiceFailure.Code
  ) async throws {
    for event in [Request.start(app: app), .with { $0.event.appID = app }] {
      var harness = try await MachineHarness.project()
      _ = harness.send(Request.config())
      let refusal = harness.send(event).refusal
      #expect(refusal?.status == status)
      #expect(refusal?.failure.code == code)
    }
  }

  @Test(arguments: [Fixture.appID, Fixture.siblingID, Fixture.siblingID.lowercased()])
  func withAProjectsLoginEachContextHasItsApp(_ app: String) async throws {
    var harness = try await MachineHarness.project()
    _ = harness.send(Request.config())
    #expect(harness.send(Request.start(app: app)).request?.app == UUID(uuidString: app))
  }

  @Test func withAProjectsLoginTheLanguageIsCheckedAtTheStart() async throws {
    var harness = try await MachineHarness.project()
    #expect(harness.send(Request.config(language: "fi-FI")) == [])
    #expect(harness.send(Request.start(app: Fixture.appID)).refusal?.failure.code == .languageNotOffered)
  }

  @Test(arguments: [
    ("", true), (Fixture.appID, true), (Fixture.siblingID, false), (Fixture.foreignID, false),
  ])
  func withAnAppsLoginAStartMayOnlyNameThatApp(_ app: String, _ isTaken: Bool) async throws {
    var harness = try await MachineHarness()
    _ = harness.send(Request.config())
    let actions = harness.send(Request.start(app: app))
    #expect((actions.request != nil) == isTaken)
    if !isTaken { #expect(actions.refusal?.status == .permissionDenied) }
  }

  // MARK: Silence

  @Test(
    arguments: [
      (nil, nil, nil), ("360", nil, 360), (nil, "720", 720), ("360", "720", 720), ("360", "0", nil),
      ("0", nil, nil),
    ] as [(String?, String?, Int?)])
  func theSilenceOfTheStartCountsBeforeThatOfTheConfig(
    _ config: String?, _ start: String?, _ milliseconds: Int?
  ) async throws {
    let key = "silence_triggered_segmentation"
    var harness = try await MachineHarness()
    _ = harness.send(Request.config(options: config.map { [key: $0] } ?? [:]))
    let request = harness.send(Request.start(options: start.map { [key: $0] } ?? [:])).request
    #expect(request?.silence == milliseconds.map { .milliseconds($0) })
  }

  @Test func withoutTheOptionTheAppDecides() async throws {
    var harness = try await MachineHarness.project()
    _ = harness.send(Request.config())
    #expect(harness.send(Request.start(app: Fixture.siblingID)).request?.silence == .milliseconds(720))
    _ = harness.send(Request.stop)
    let off = Request.start(app: Fixture.siblingID, options: ["silence_triggered_segmentation": "0"])
    #expect(try #require(harness.send(off).request).silence == nil)
    _ = harness.send(Request.stop)
    // The option of one start does not outlive it.
    #expect(harness.send(Request.start(app: Fixture.siblingID)).request?.silence == .milliseconds(720))
  }

  // MARK: What is said

  @Test func theVocabularyAndTheTimeZoneArePassedOn() async throws {
    var harness = try await MachineHarness()
    var config = Request.config(options: ["vocabulary_bias": "0.25", "timezone": "Europe/Helsinki"])
    config.config.options.append(
      .with {
        $0.key = "vocabulary"
        $0.value = ["bluetooth", " living   room ", ""]
      })
    _ = harness.send(config)
    let first = harness.send(Request.start()).request
    #expect(first?.vocabulary == ["bluetooth", "living room"])
    #expect(first?.vocabularyBias == 0.25)
    #expect(first?.timeZone?.identifier == "Europe/Helsinki")
    #expect(first?.takesAppSilence == true)
    _ = harness.send(Request.stop)
    let options = ["vocabulary": "radio", "vocabulary_bias": "1", "silence_triggered_segmentation": "0"]
    let second = harness.send(Request.start(options: options)).request
    #expect(second?.vocabulary == ["radio"])
    #expect(second?.vocabularyBias == 1)
    #expect(second?.takesAppSilence == false)
    _ = harness.send(Request.stop)
    #expect(harness.send(Request.start()).request?.vocabulary == ["bluetooth", "living room"])
  }

  @Test func withoutOptionsThereIsNoVocabulary() async throws {
    var harness = try await MachineHarness()
    _ = harness.send(Request.config(options: ["timezone": ""]))
    let request = harness.send(Request.start()).request
    #expect(request?.vocabulary == [])
    #expect(request?.vocabularyBias == 0.5)
    #expect(request?.timeZone == nil)
  }

  @Test(arguments: [
    ("vocabulary_bias", ["much"], "0 to 1"), ("vocabulary_bias", ["1.1"], "0 to 1"),
    ("vocabulary_bias", ["-0.1"], "0 to 1"), ("vocabulary_bias", ["nan"], "0 to 1"),
    ("vocabulary_bias", [], "0 to 1"), ("timezone", ["Europe/Atlantis"], "IANA"),
    ("timezone", ["../../etc/passwd"], "IANA"),
    ("vocabulary", [String](repeating: "word", count: 1001), "at most 1000"),
    ("vocabulary", ["fine", String(repeating: "x", count: 101)], "at most 100 characters"),
  ])
  func anOptionThatCannotBeUsedIsRefusedWithTheReason(
    _ key: String, _ values: [String], _ reason: String
  ) async throws {
    for asConfig in [true, false] {
      var harness = try await MachineHarness()
      var config = Request.config()
      var start = Request.start()
      if asConfig {
        config.config.options = [
          .with {
            $0.key = key; $0.value = values
          }
        ]
      } else {
        start.start.options = [
          .with {
            $0.key = key; $0.value = values
          }
        ]
      }
      let refusal = harness.send(config).refusal ?? harness.send(start).refusal
      #expect(refusal?.failure.code == .requestInvalid)
      #expect(refusal?.status == .invalidArgument)
      #expect(refusal?.failure.message.contains(reason) == true)
      #expect(refusal?.failure.message.contains(key) == true)
    }
  }

  // MARK: Resume tokens

  static let adaptation = RecognizerAdaptation(bytes: [7, 8, 9])

  static func token(seed: UInt64 = 1) async throws -> String {
    let tokens = try await ResumeTokens(key: Fixture.key(seed: seed))
    return Data(tokens.seal(Self.adaptation) ?? []).base64EncodedString()
  }

  @Test func aTokenOfThisServerIsTakenUp() async throws {
    var harness = try await MachineHarness()
    _ = harness.send(Request.config())
    let actions = harness.send(Request.start(options: ["resume_token": try await Self.token()]))
    #expect(actions.count == 1)
    #expect(actions.request?.adaptation == Self.adaptation)
  }

  @Test func anyOtherTokenIsIgnoredWithAFreshStart() async throws {
    for token in ["", "yes", "!", try await Self.token(seed: 2)] {
      var harness = try await MachineHarness()
      _ = harness.send(Request.config())
      let actions = harness.send(Request.start(options: ["resume_token": token]))
      #expect(actions.first == .ignore(.resumeTokenNotOurs))
      #expect(actions.request != nil)
      #expect(actions.request?.adaptation == nil)
    }
  }

  @Test func aTokenInTheConfigBelongsToNoContext() async throws {
    var harness = try await MachineHarness()
    _ = harness.send(Request.config(options: ["resume_token": try await Self.token()]))
    #expect(harness.send(Request.start()).request?.adaptation == nil)
  }

  @Test(
    arguments: [
      ([:], [:], false), (["resume_tokens": "yes"], [:], true), ([:], ["resume_tokens": "yes"], true),
      (["resume_tokens": "yes"], ["resume_tokens": "no"], false), (["resume_tokens": "maybe"], [:], false),
    ] as [([String: String], [String: String], Bool)])
  func segmentEndsHaveTokensOnlyIfAskedFor(
    _ config: [String: String], _ start: [String: String], _ hasToken: Bool
  ) async throws {
    var harness = try await MachineHarness()
    _ = harness.send(Request.config(options: config))
    _ = harness.send(Request.start(options: start))
    let summary = SegmentSummary(resumePoint: ResumePoint(sample: 1600, adaptation: Self.adaptation))
    let word = RecognizedWord(text: "a", start: .zero, end: .milliseconds(100))
    let end = harness.machine.recognized(
      [.word(segment: 0, index: 0, word), .segmentEnded(segment: 0, summary)],
      in: Self.ids[0]
    ).responses.last
    #expect((end?.segmentEnd.resumeToken.isEmpty == false) == hasToken)
    #expect(end?.segmentEnd.nextSample == (hasToken ? 1600 : 0))
  }

  // MARK: Round trips

  @Test(
    arguments: [
      ([:], [:], false), (["rtt": "yes"], [:], true), ([:], ["rtt": "yes"], true),
      (["rtt": "yes"], ["rtt": "no"], false),
      (["rtt": "1"], [:], false),
    ] as [([String: String], [String: String], Bool)])
  func roundTripsAreMeasuredOnlyIfAskedFor(
    _ config: [String: String], _ start: [String: String], _ isAsked: Bool
  ) async throws {
    var harness = try await MachineHarness()
    _ = harness.send(Request.config(options: config))
    _ = harness.send(Request.start(options: start))
    let responses = harness.machine.contextBegan(Self.ids[0], at: harness.now).responses
    #expect(responses.count == (isAsked ? 2 : 1))
    guard isAsked else { return }
    let id = try #require(responses.last?.rttRequest.id)
    harness.now = harness.now.advanced(by: .milliseconds(42))
    #expect(harness.send(Request.roundTrip(id)) == [.recordRoundTrip(.milliseconds(42))])
    #expect(harness.send(Request.roundTrip(id)) == [.ignore(.unknownRoundTrip)])
  }

  @Test(arguments: MachineHarness.Stage.allCases)
  func anAnswerToNoQuestionIsIgnored(_ stage: MachineHarness.Stage) async throws {
    var harness = try await MachineHarness()
    harness.reach(stage)
    let actions = harness.send(Request.roundTrip(5))
    switch stage {
    case .awaitingConfig: #expect(actions.refusal?.status == .invalidArgument)
    case .idle, .active, .idleWithResultsToCome, .activeWithResultsToCome:
      #expect(actions == [.ignore(.unknownRoundTrip)])
    case .endingWell, .endingWithRefusal, .ended: #expect(actions == [.ignore(.streamEnding)])
    }
  }

  @Test func unansweredMeasurementsAreBounded() async throws {
    var harness = try await MachineHarness()
    _ = harness.send(Request.config(options: ["rtt": "yes"]))
    var asked = 0
    for _ in 0..<40 {
      _ = harness.send(Request.start())
      guard let id = harness.machine.contextIDs.first else { break }
      asked += harness.machine.contextBegan(id, at: harness.now).responses.count - 1
      _ = harness.send(Request.stop)
      _ = harness.machine.contextFinished(id, at: harness.now)
    }
    #expect(asked == 16)
  }
}
