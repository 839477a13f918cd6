import Foundation
import GRPCCore
import Logging
import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

/// What the log of a whole session must not hold.
@Suite struct LogTests {
  @Test func whatIsTheServersFaultIsAnErrorWithItsCause() {
    struct Secret: Error { var token = "a-secret-token" }
    let log = CapturingLog()
    let failure = VoiceFailure(
      .unexpected, message: "It broke.",
      cause: VoiceFailure(.dataFolderNotWritable, message: "The disk is gone.", cause: Secret()))
    Refusal(failure).log("call refused", to: log.logger)
    #expect(log.text.hasPrefix("error call refused"))
    for part in ["client.unexpected", "It broke.", "The disk is gone.", "Secret"] {
      #expect(log.text.contains(part), "\(part)")
    }
    #expect(!log.text.contains("a-secret-token"))
  }

  @Test func whatIsTheClientsFaultIsNoError() {
    let log = CapturingLog()
    Refusal(.requestInvalid, "No.").log("call refused", to: log.logger, ["method": "m"])
    #expect(log.text.hasPrefix("info call refused"))
    #expect(log.text.contains("speech.stream.request-invalid"))
  }

  @Test func aFailingRecogniserIsAnErrorInTheLog() async throws {
    let log = CapturingLog()
    try await withServer(engine: RunEngine(failingWord: "w9"), logger: log.logger) { running in
      try await running.withClient { client in
        let token = try await client.logIn()
        let (_, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          try await stream.send(audio: RunEngine.audio([9]))
        }
        #expect(error?.code == .internalError)
        _ = try? await client.logIn(app: "x")
      }
    }
    let lines = log.text.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("error stream refused") && $0.contains("speech.engine.failed") })
    #expect(lines.contains { $0.hasPrefix("info login refused") })
  }

  @Test(.timeLimit(.minutes(4)))
  func aRecogniserThatCannotBeReplacedIsAnErrorInTheLogAndTriedAgain() async throws {
    let log = CapturingLog()
    var configuration = Fixture.configuration()
    configuration.limits.decoders = 1
    configuration.limits.decoderPatience = .seconds(60)
    let engine = ScriptedEngine(
      words: [.init("hello", at: .milliseconds(100))],
      faults: [.init(.process(at: .zero)), .init(.reload, code: .modelMissing)])
    let metrics = try await withServer(configuration, engine: engine, logger: log.logger) { running in
      try await running.withClient { client in
        let token = try await client.logIn()
        let (_, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          try await stream.send(audio: RunEngine.audio([1, 2]))
        }
        #expect(error?.code == .internalError)
        try await log.waitForLine(with: "cannot be replaced")
        let (responses, none) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          try await stream.send(audio: RunEngine.audio([1, 2]))
          try await stream.send(Request.stop)
        }
        #expect(none == nil)
        #expect(responses.words == ["hello"])
        return try await running.get("/metrics").body
      }
    }
    let line = log.text.split(separator: "\n").first { $0.contains("cannot be replaced") }
    #expect(line?.hasPrefix("error ") == true)
    #expect(line?.contains("speech.engine.model-missing") == true)
    #expect(metrics.contains(#"code="speech.engine.model-missing""#))
  }

  @Test func aFullOrMissingDataFolderIsAnErrorOfCallsAndNoPathIsTold() async throws {
    let log = CapturingLog()
    let folder = try Fixture.Folder()
    try await withServer(dataFolder: folder.path, logger: log.logger) { running in
      try Data().write(to: URL(fileURLWithPath: folder.path + "/batch"))
      try await running.withClient { client in
        let error = await #expect(throws: RPCError.self) {
          _ = try await client.batch.processAudio(metadata: TestClient.metadata(Fixture.apiKey)) { writer in
            try await writer.write(
              .with {
                $0.appID = Fixture.appID
                $0.config.encoding = .linear16
                $0.audio = Data([1, 2])
              })
          }
        }
        #expect(error?.failureCode == "server.data-folder.not-writable")
        #expect(error?.message.contains(folder.path) == false)
      }
    }
    let lines = log.text.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("error call refused") && $0.contains(folder.path + "/batch") })
  }

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
