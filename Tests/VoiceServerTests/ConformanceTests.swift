import Foundation
import SpeechProtocol
import Synchronization
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

/// The protocol document's conformance list (section 7), played by a client that shares no code with the server.
@Suite struct ConformanceTests {
  typealias Report = PythonPeer.Report

  static func play(
    _ cases: [String], against server: RunningServer, tokens: [String: String] = [:]
  ) async throws -> [String: Report] {
    let reports = Mutex<[String: Report]>([:])
    try await PythonPeer.run(cases, against: server, tokens: tokens) { report in
      reports.withLock { $0[report.case] = report }
    }
    let all = reports.withLock { $0 }
    #expect(Set(all.keys) == Set(cases))
    for report in all.values {
      // Whatever was sent keeps the rules, also on streams that end with an error.
      var rules = ResponseRules(allowsRoundTrips: report.case == "rtt_option")
      for message in try report.messages { rules.check(message) }
      if report.status == "OK" { rules.finish() }
      #expect(rules.violations.isEmpty, "\(report.case)")
    }
    return all
  }

  @Test func logins() async throws {
    try await withServer { server in
      let reports = try await Self.play(
        [
          "login_v1", "login_v1_wrong_id", "login_v2_application", "login_v2_project", "login_v2_wrong_id",
          "login_json", "login_json_wrong_id",
        ], against: server)
      for name in ["login_v1", "login_v2_application", "login_v2_project", "login_json"] {
        let report = try #require(reports[name])
        #expect(report.status == (name == "login_json" ? "200" : "OK"))
        let claims = try TokenAuthorityTests.claims(try #require(report.token))
        #expect(claims[name == "login_v2_project" ? "projectId" : "appId"] != nil)
      }
      #expect(reports["login_json"]?.origin == "*")
      #expect(reports["login_v1_wrong_id"]?.status == "NOT_FOUND")
      #expect(reports["login_v1_wrong_id"]?.failure == "speech.identity.unknown-app")
      #expect(reports["login_v2_wrong_id"]?.status == "INVALID_ARGUMENT")
      #expect(reports["login_v2_wrong_id"]?.failure == "speech.identity.login-invalid")
      #expect(reports["login_json_wrong_id"]?.status == "404")
      #expect(reports["login_json_wrong_id"]?.details?.contains("no app") == true)
      for name in ["login_v2_application", "login_v2_project"] {
        let report = try #require(reports[name])
        #expect(report.validFor == 86_400)
        #expect(report.expiresAt == report.expiresAtEpoch)
        #expect(report.hasZone == true)
      }
    }
  }

  /// Cases that end well: the words of each context, in order.
  static let good: [String: [[String]]] = [
    "start_and_stop": [["w1", "w2"]], "events": [["w1", "w2"]], "two_contexts": [["w1"], ["w2"]],
    "start_before_results": [1, 2, 3].map { Array(repeating: "w\($0)", count: 10) },
    "half_close_after_stop": [Array(repeating: ["w1", "w2", "w3"], count: 5).flatMap { $0 }],
    "half_close_without_stop": [["w1"]], "chunk_below_limit": [[]], "five_minutes": [["w1", "w2"]],
    "silence": [[]], "rate_8000": [["w3"]], "empty_language": [["w1"]], "right_language": [["w1"]],
    "project_app": [["w1"], ["w2"]], "rtt_default": [["w1"]], "rtt_option": [["w1"]],
  ]

  @Test func streamsThatEndWell() async throws {
    try await withServer { server in
      let reports = try await Self.play(Self.good.keys.sorted(), against: server)
      for (name, words) in Self.good {
        let report = try #require(reports[name])
        #expect(report.status == "OK", "\(name): \(report.details ?? "")")
        let messages = try report.messages
        #expect(messages.contextIDs.map { messages.of($0).words } == words, "\(name)")
        #expect(report.kinds?.contains("rtt_request") == (name == "rtt_option"), "\(name)")
      }
      #expect(reports["silence"]?.kinds == ["started", "finished"])
      #expect(try await server.get("/metrics").body.contains("voice_round_trip_seconds_count 1"))
    }
  }

  /// Cases that end with an error: status, failure code, and a part of the message.
  static let bad: [String: (status: String, failure: String, text: String)] = [
    "audio_before_start": ("FAILED_PRECONDITION", "speech.stream.order-violated", "Send start before audio"),
    "stop_before_start": ("FAILED_PRECONDITION", "speech.stream.order-violated", "Send start before stop"),
    "start_twice": ("FAILED_PRECONDITION", "speech.stream.order-violated", "Send stop before"),
    "config_twice": ("FAILED_PRECONDITION", "speech.stream.order-violated", "first message only"),
    "missing_config": ("INVALID_ARGUMENT", "speech.stream.order-violated", "Send config as the first"),
    "wrong_channels": ("INVALID_ARGUMENT", "speech.stream.request-invalid", "0 channels"),
    "wrong_rate": ("INVALID_ARGUMENT", "speech.stream.request-invalid", "4000 Hz"),
    "chunk_at_limit": ("RESOURCE_EXHAUSTED", "speech.stream.chunk-too-large", "1000000 bytes"),
    "chunk_above_limit": ("RESOURCE_EXHAUSTED", "speech.stream.chunk-too-large", "1000001 bytes"),
    "chunk_far_above_limit": ("RESOURCE_EXHAUSTED", "speech.stream.chunk-too-large", "5000000 bytes"),
    "five_minutes_and_a_second": ("OUT_OF_RANGE", "speech.stream.context-too-long", "Send stop and start"),
    "wrong_language": (
      "INVALID_ARGUMENT", "speech.identity.language-not-offered", "app id and language combination is invalid"
    ),
    "project_foreign_app": (
      "PERMISSION_DENIED", "speech.identity.unknown-app", "does not belong to the project"
    ),
    "project_without_app": ("INVALID_ARGUMENT", "speech.stream.request-invalid", "app id is missing"),
    "expired_token": ("PERMISSION_DENIED", "speech.identity.token-expired", "Log in again"),
    "foreign_token": ("PERMISSION_DENIED", "speech.identity.credentials-rejected", "Log in again"),
    "garbled_token": ("PERMISSION_DENIED", "speech.identity.credentials-rejected", "Log in again"),
    "no_token": ("UNAUTHENTICATED", "speech.identity.credentials-rejected", "authorization: Bearer"),
  ]

  @Test func streamsThatEndWithAnError() async throws {
    try await withServer { server in
      let key = try #require(try SigningKeyReader.key(of: server))
      let now = Int64(Date().timeIntervalSince1970)
      let tokens = [
        "expired": try await Fixture.authority(key: key, now: now - 90_000).issue(
          .application(Fixture.appID), deviceID: Fixture.deviceID
        ).text,
        "foreign": try await Fixture.authority(key: Fixture.key(seed: 9), now: now).issue(
          .application(Fixture.appID), deviceID: Fixture.deviceID
        ).text,
      ]
      let reports = try await Self.play(Self.bad.keys.sorted(), against: server, tokens: tokens)
      for (name, expected) in Self.bad {
        let report = try #require(reports[name])
        #expect(report.status == expected.status, "\(name): \(report.details ?? "")")
        #expect(report.failure == expected.failure, "\(name)")
        #expect(report.details?.contains(expected.text) == true, "\(name): \(report.details ?? "")")
      }
      // What was heard within the five minutes is delivered before the error.
      #expect(reports["five_minutes_and_a_second"]?.words == ["w1", "w2"])
      #expect(reports["five_minutes_and_a_second"]?.kinds?.last == "finished")
    }
  }

  @Test func aClientThatIsKilledGivesItsDecoderBack() async throws {
    var configuration = Fixture.configuration()
    configuration.limits.decoders = 1
    configuration.limits.decoderPatience = .seconds(30)
    try await withServer(configuration) { server in
      let report = try #require(try await Self.play(["disappear"], against: server)["disappear"])
      #expect(report.held == "started")
      #expect(report.status == "OK")
      #expect(report.words == ["w4"])
    }
  }

  @Test func aServerThatStopsSaysSo() async throws {
    var configuration = Fixture.configuration()
    configuration.drainTime = .milliseconds(200)
    try await withServer(configuration) { running in
      let reports = Mutex<[Report]>([])
      try await PythonPeer.run(["shutdown"], against: running) { report in
        if report.event == "started" { running.server.beginGracefulShutdown() }
        reports.withLock { $0.append(report) }
      }
      let last = try #require(reports.withLock { $0.last })
      #expect(last.status == "UNAVAILABLE")
      #expect(last.failure == "speech.stream.server-stopping")
      #expect(last.pushback == "1000")
    }
  }
}
