import GRPCCore
import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceCore

@testable import VoiceServer

/// What becomes of streams when the server is asked to stop.
@Suite struct ShutdownTests {
  static func configuration(drain: Duration) -> ServerConfiguration {
    var configuration = Fixture.configuration()
    configuration.drainTime = drain
    return configuration
  }

  @Test func aRunningContextMayFinish() async throws {
    try await withServer(Self.configuration(drain: .seconds(600))) { running in
      try await running.withClient { client in
        let token = try await client.logIn()
        let (responses, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          try await stream.send(audio: RunEngine.audio([1]))
          await stream.waitForStarted()
          running.server.beginGracefulShutdown()
          // The health of the server says so, and HTTP is there until the end.
          await running.waitForPhase(.draining)
          #expect(try await running.get("/readyz").status == 503)
          try await stream.send(audio: RunEngine.audio([2]))
          try await stream.send(Request.stop)
        }
        #expect(responses.words == ["w1", "w2"])
        #expect(StreamingTests.violations(responses).isEmpty)
        // The client may have closed its side before the server said that it is stopping, or after.
        #expect(error == nil || error?.failureCode == "speech.stream.server-stopping")
      }
    }
  }

  @Test func aContextThatGoesOnIsEndedAfterTheDrainTime() async throws {
    try await withServer(Self.configuration(drain: .milliseconds(100))) { running in
      try await running.withClient { client in
        let token = try await client.logIn()
        let (responses, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          await stream.waitForStarted()
          running.server.beginGracefulShutdown()
          await stream.waitForFinished()
        }
        #expect(responses.count == 1)
        #expect(error?.code == .unavailable)
        #expect(error?.failureCode == "speech.stream.server-stopping")
        #expect(error?.metadata[stringValues: "grpc-retry-pushback-ms"].first { _ in true } == "1000")
      }
    }
  }

  @Test func anIdleStreamIsEndedAtOnce() async throws {
    try await withServer(Self.configuration(drain: .seconds(600))) { running in
      try await running.withClient { client in
        let token = try await client.logIn()
        let (_, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start(), Request.stop)
          await stream.waitForFinished()
          running.server.beginGracefulShutdown()
          await stream.waitForFinished()
        }
        #expect(error?.code == .unavailable)
        #expect(error?.failureCode == "speech.stream.server-stopping")
      }
    }
  }

  @Test func healthIsToldToThoseWhoWatch() async throws {
    try await withServer(Self.configuration(drain: .seconds(600))) { running in
      try await running.withClient { client in
        let health = Grpc_Health_V1_Health.Client(wrapping: client.client)
        #expect(try await health.check(.init()).status == .serving)
        #expect(try await health.check(.with { $0.service = "speechly.slu.v1.SLU" }).status == .serving)
        await #expect(throws: RPCError.self) { try await health.check(.with { $0.service = "none.such" }) }
        let statuses = try await health.watch(.init()) { response in
          var statuses: [Grpc_Health_V1_HealthCheckResponse.ServingStatus] = []
          for try await message in response.messages {
            statuses.append(message.status)
            if message.status == .serving { running.server.beginGracefulShutdown() }
          }
          return statuses
        }
        #expect(statuses == [.serving, .notServing])
      }
    }
  }
}

extension RunningServer {
  func waitForPhase(_ phase: ServerPhase.Value) async {
    for await value in self.server.phase.values() where value >= phase { return }
  }
}
