import Foundation
import SpeechProtocol
import Testing
import VoiceCore

@testable import VoiceServer

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct WebRoutesTests {
  static func fields(_ text: String) -> [String: String] {
    (try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))) ?? [:]
  }

  @Test(arguments: [
    ("", 400, "speech.identity.login-invalid"), ("[1]", 400, "speech.identity.login-invalid"),
    ("{\"appId\": 5}", 400, "speech.identity.login-invalid"),
    ("{\"deviceId\": \"\(Fixture.deviceID)\"}", 400, "speech.identity.login-invalid"),
    ("{\"appId\": \"\(Fixture.appID)\"}", 400, "speech.identity.login-invalid"),
    (
      "{\"appId\": \"\(Fixture.projectID)\", \"deviceId\": \"\(Fixture.deviceID)\"}", 404,
      "speech.identity.unknown-app"
    ),
    (String(repeating: "x", count: 20_000), 400, "speech.identity.login-invalid"),
  ])
  func aWrongLoginIsRefusedInJSON(_ body: String, _ status: Int, _ code: String) async throws {
    try await withServer { running in
      let answer = try await running.post("/login", body)
      #expect(answer.status == status)
      #expect(Self.fields(answer.body)["code"] == code)
      #expect(Self.fields(answer.body)["error"]?.isEmpty == false)
    }
  }

  @Test func logsInForAnAppOrAProject() async throws {
    try await withServer { running in
      for (key, id) in [("appId", Fixture.appID), ("projectId", Fixture.projectID)] {
        let answer = try await running.post(
          "/login", "{\"\(key)\": \"\(id)\", \"deviceId\": \"\(Fixture.deviceID)\"}")
        #expect(answer.status == 200)
        let token = try #require(Self.fields(answer.body)["access_token"])
        let claims = try TokenAuthorityTests.claims(token)
        #expect(claims[key] as? String == id)
        #expect(claims["deviceId"] as? String == Fixture.deviceID)
      }
    }
  }

  @Test func pagesOfOtherOriginsMayLogIn() async throws {
    try await withServer { running in
      var request = URLRequest(url: try running.url("/login"))
      request.httpMethod = "OPTIONS"
      request.setValue("https://example.org", forHTTPHeaderField: "Origin")
      request.setValue("POST", forHTTPHeaderField: "Access-Control-Request-Method")
      let (_, response) = try await URLSession.shared.data(for: request)
      let headers = try #require(response as? HTTPURLResponse)
      #expect(headers.statusCode == 204)
      #expect(headers.value(forHTTPHeaderField: "Access-Control-Allow-Origin") == "*")
      let allowed = headers.value(forHTTPHeaderField: "Access-Control-Allow-Headers") ?? ""
      #expect(allowed.lowercased().contains("content-type"))
    }
  }

  @Test func tellsItsHealthAndNothingElse() async throws {
    try await withServer { running in
      for (path, status, body) in [("/healthz", 200, "ok\n"), ("/readyz", 200, "ready\n"), ("/", 426, ""), ("/x", 404, "")] {
        let page = try await running.get(path)
        #expect(page.status == status)
        #expect(page.body == body)
      }
    }
  }

  @Test func countsWhatHappened() async throws {
    try await withServer { running in
      try await running.withClient { client in
        let token = try await client.logIn()
        _ = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(options: ["rtt": "yes"]), Request.start())
          try await stream.send(audio: RunEngine.audio([1, 2]))
          if let request = await stream.wait(until: { $0.rttRequest.id != 0 }) {
            try await stream.send(Request.roundTrip(request.rttRequest.id))
          }
          try await stream.send(Request.stop)
        }
        _ = try await client.stream(token: token) { try await $0.send(Request.audio(bytes: 2)) }
        _ = try? await client.logIn(app: "x")
      }
      let page = try await running.get("/metrics")
      #expect(page.status == 200)
      let lines = page.body.split(separator: "\n").map(String.init)
      for line in [
        "voice_streams_total 2", "voice_streams_open 0", "voice_contexts_total 1", "voice_contexts_active 0",
        "voice_audio_seconds_total 0.6", "voice_decoders_total 2", "voice_decoders_busy 0",
        "voice_logins_total{result=\"ok\"} 1", "voice_logins_total{result=\"refused\"} 1",
        "voice_failures_total{code=\"speech.stream.order-violated\"} 1",
        "voice_time_to_final_seconds_count 1",
        "voice_round_trip_seconds_count 1", "# TYPE voice_decode_seconds_total counter",
      ] {
        #expect(lines.contains(line), "\(line)")
      }
    }
  }
}
