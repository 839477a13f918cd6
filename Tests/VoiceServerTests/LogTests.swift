import Foundation
import GRPCCore
import Testing
import VoiceCore

@testable import VoiceServer

/// What the log of a whole session must not hold.
@Suite struct LogTests {
  @Test func nothingSecretIsLogged() async throws {
    let log = CapturingLog()
    let secrets = try await withServer(engine: RunEngine(failingWord: "w99"), logger: log.logger) { running in
      let key = try #require(try SigningKeyReader.key(of: running))
      let tokens = try await running.withClient { client in
        let app = try await client.logIn()
        let project = try await client.logIn(project: Fixture.projectID)
        for token in [app, project, Fixture.apiKey, "a-forged-token", app + "x"] {
          _ = try await client.stream(token: token, metadata: ["x-odd": "an-odd-value"]) { stream in
            try await stream.send(Request.config(options: ["resume_tokens": "yes"]))
            try await stream.send(
              Request.start(app: Fixture.appID, options: ["resume_token": "Z2FyYmxlZC10b2tlbg=="]))
            try await stream.send(audio: RunEngine.audio([77, 78]))
            try await stream.send(Request.stop)
          }
          _ = try await client.stream(token: token) { stream in
            try await stream.send(Request.config(), Request.start(app: Fixture.appID))
            try await stream.send(audio: RunEngine.audio([77, 99]))
          }
        }
        _ = try? await client.logIn(app: "not-a-uuid")
        _ = try await running.post(
          "/login", "{\"appId\": \"secret-looking\", \"deviceId\": \"\(Fixture.deviceID)\"}")
        return [app, project]
      }
      return tokens + [String(decoding: key.fileContent.dropLast(), as: UTF8.self)]
    }
    let text = log.text
    // The log is there at all, and says what is needed.
    #expect(
      text.contains("ready") && text.contains("context started") && text.contains("speech.engine.failed"))
    for secret in secrets + [
      Fixture.apiKey, "a-forged-token", Fixture.deviceID, "w77", "w78", "Z2FyYmxlZC10b2tlbg", "an-odd-value",
      "secret-looking", "not-a-uuid",
    ] {
      #expect(!text.contains(secret), "\(secret)")
    }
    for token in secrets { for part in token.split(separator: ".") { #expect(!text.contains(part)) } }
  }
}
