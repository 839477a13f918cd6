import Foundation
import SpeechPipeline
import SpeechStreaming
import Testing
import VoiceAudio
import VoiceCore
import VoicePlatform
import VoiceTesting

/// The client against an independent server: Python's gRPC, which does what a script says.
///
/// The server hears markers: audio whose words tell if a single sample is missing, doubled or moved.
@Suite(.serialized) struct ScriptedServerTests {
  static let audio = MarkerAudio(sentences: 3, wordsPerSentence: 4, seed: 7)

  @Test func wordsEntitiesAndIntentsOfAnOrderlyServerArriveWhole() async throws {
    let run = try await Self.run(script: "{}")
    #expect(run.words == Self.audio.words.map(\.text))
    #expect(run.utterance.failures.isEmpty)
    #expect(run.utterance.context.segments.map(\.intent.value) == ["say", "say", "say"])
    #expect(run.utterance.context.segments.map(\.entities.count) == [1, 1, 1])
    #expect(run.utterance.tentativeUpdates > 0)
  }

  // MARK: Broken rules

  /// What a server may do without breaking a rule.
  static let allowed = [
    "empty-response", "rtt-request", "gaps-in-segment-ids", "unknown-fields", "huge-times", "negative-times",
  ]

  @Test(arguments: [
    "result-before-started", "started-twice", "unknown-context", "context-not-uuid", "empty-response",
    "rtt-request",
    "final-word-repeated", "final-word-tentative", "final-entity-repeated", "final-entity-tentative",
    "entity-inverted",
    "second-intent", "tentative-intent-late", "missing-intent", "empty-segment", "event-after-segment-end",
    "segment-end-twice", "event-after-finished", "finished-twice", "gaps-in-segment-ids", "unknown-fields",
    "huge-times",
    "negative-times",
  ])
  func aBrokenRuleCostsNoWord(rule: String) async throws {
    let run = try await Self.run(script: #"{"streams": [{"violations": ["\#(rule)"]}]}"#)
    #expect(run.words == Self.audio.words.map(\.text))
    let codes = run.utterance.failures.map(\.code)
    // What comes after the end of the context finds nobody who listens.
    let isLate = rule == "event-after-finished" || rule == "finished-twice"
    if Self.allowed.contains(rule) {
      #expect(codes == [])
    } else if !isLate {
      #expect(codes.contains(.protocolViolated))
    }
  }

  @Test func aSegmentThatNeverEndsIsDeliveredAsAGuess() async throws {
    var audio = MarkerAudio()
    audio.pause(length: 2000)
    audio.say(5, length: 3000)
    let run = try await Self.run(
      script: #"{"streams": [{"violations": ["missing-segment-end"]}]}"#, audio: audio)
    #expect(run.words == audio.words.map(\.text))
    #expect(run.utterance.failures.map(\.code) == [.segmentUnfinished])
    #expect(run.utterance.context.segments.map(\.isFinal) == [false])
  }

  @Test func theErrorFieldOfOldServersIsReported() async throws {
    let run = try await Self.run(script: #"{"streams": [{"violations": ["finished-with-error"]}]}"#)
    #expect(run.words == Self.audio.words.map(\.text))
    #expect(run.utterance.failures.map(\.code) == [.serverFailed])
  }

  // MARK: Broken connections

  @Test(arguments: ["reset", "finish"], [1, 5_000, 40_000, 90_000])
  func aConnectionThatBreaksWhileSomebodySpeaksLosesNothing(ending: String, bytes: Int) async throws {
    let run = try await Self.run(
      script: #"{"streams": [{"steps": [{"when": "audio", "bytes": \#(bytes), "do": "\#(ending)"}]}]}"#)
    #expect(run.words == Self.audio.words.map(\.text))
    #expect(run.utterance.recoveries == 1)
  }

  @Test func aServerThatGoesSilentIsReplaced() async throws {
    let run = try await Self.run(
      script: #"{"streams": [{"steps": [{"when": "stop", "do": "silence"}]}]}"#,
      configure: { $0.replyTimeout = .seconds(2) })
    #expect(run.words == Self.audio.words.map(\.text))
    // On a busy machine the second stream may begin too late as well.
    #expect(Set(run.utterance.failures.map(\.code)) == [.serverTimedOut])
  }

  @Test func aServerThatIsKilledBetweenStopAndFinishLosesNothing() async throws {
    let run = try await Self.run(
      script: #"{"streams": [{"steps": [{"when": "stop", "do": "reset"}]}]}"#)
    #expect(run.words == Self.audio.words.map(\.text))
  }

  @Test func anOverloadedServerIsLeftAloneForAsLongAsItAsks() async throws {
    let clock = ContinuousClock()
    let start = clock.now
    let run = try await Self.run(
      script: #"{"streams": [{"reject": {"code": "UNAVAILABLE", "message": "busy", "pushback": 700}}]}"#)
    #expect(run.words == Self.audio.words.map(\.text))
    #expect(run.utterance.failures.map(\.code) == [.serverOverloaded])
    #expect(start.duration(to: clock.now) >= .milliseconds(700))
  }

  // MARK: Login

  @Test func aTokenThatIsRejectedIsReplacedOnceAndNobodyNotices() async throws {
    let run = try await Self.run(
      script: #"{"streams": [{"reject": {"code": "PERMISSION_DENIED", "message": "the token has expired"}}]}"#
    )
    #expect(run.words == Self.audio.words.map(\.text))
    #expect(run.utterance.failures == [])
    #expect(run.logins == 2)
  }

  @Test(arguments: [
    (#"{"do": "status", "code": "NOT_FOUND", "message": "no such app"}"#, VoiceFailure.Code.unknownApp),
    (
      #"{"do": "status", "code": "INVALID_ARGUMENT", "message": "app id and language combination is invalid"}"#,
      .languageNotOffered
    ),
    (#"{"do": "status", "code": "PERMISSION_DENIED", "message": "no"}"#, .credentialsRejected),
    (#"{"do": "status", "code": "UNAUTHENTICATED", "message": "no"}"#, .credentialsRejected),
    (#"{"do": "never"}"#, .serverTimedOut),
    (#"{"token": "garbled"}"#, .tokenUnreadable),
    (#"{"token": "empty"}"#, .tokenUnreadable),
    (#"{"token": "wrong-device"}"#, .tokenUnreadable),
    (#"{"token": "wrong-app"}"#, .tokenUnreadable),
  ])
  func loginFailuresAreToldApart(login: String, code: VoiceFailure.Code) async throws {
    try await withPeerProcess(
      "Tests/Peers/scripted_slu_server.py", arguments: ["--script", #"{"logins": [\#(login)]}"#]
    ) { peer in
      let port = try #require(try await peer.event("listening")["port"]?.int)
      var configuration = Self.configuration(port: port)
      if code == .serverTimedOut { configuration.loginTimeout = .seconds(1) }
      let client = try SpeechClient(
        configuration: configuration, source: SilenceSource(duration: .seconds(1)))
      do throws(VoiceFailure) {
        try await client.prepare()
        Issue.record("the login succeeded")
      } catch {
        #expect(error.code == code)
      }
    }
  }

  // MARK: Helpers

  private struct Run: Sendable {
    var utterance: Utterance
    var logins: Int
    var words: [String] { self.utterance.context.segments.flatMap(\.transcripts).map(\.value) }
  }

  private static func configuration(port: Int) -> SpeechClient.Configuration {
    var configuration = SpeechClient.Configuration(app: .app(UUID()), language: "en-US")
    configuration.identityAddress = "grpc://127.0.0.1:\(port)"
    configuration.speechAddress = "grpc://127.0.0.1:\(port)"
    configuration.store = MemorySecureStore()
    configuration.paths = nil
    configuration.postRoll = .zero
    configuration.retry = RetryPolicy(base: .milliseconds(10), cap: .milliseconds(100), budget: .seconds(60))
    return configuration
  }

  private static func run(
    script: String, audio: MarkerAudio = Self.audio,
    configure: (inout SpeechClient.Configuration) -> Void = { _ in }
  ) async throws -> Run {
    // Words of the server's own recogniser are written as those of the markers.
    let separator = script == "{}" ? "" : ", "
    let script = #"{"wordFormat": "{value}x{length}@{place}""# + separator + script.dropFirst()
    return try await withPeerProcess("Tests/Peers/scripted_slu_server.py", arguments: ["--script", script]) {
      peer in
      let port = try #require(try await peer.event("listening")["port"]?.int)
      var configuration = Self.configuration(port: port)
      configure(&configuration)
      let utterance = try await recognize(SamplesSource(samples: audio.samples), configuration)
      var logins = 0
      for await event in peer.events {
        if event.name == "login" { logins += 1 }
        if event.name == "received", event["kind"]?.string == "stop" { break }
      }
      return Run(utterance: utterance, logins: logins)
    }
  }
}
