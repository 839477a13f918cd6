import GRPCCore
import SpeechProtocol
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

/// One client cannot take what belongs to others.
@Suite struct CapacityTests {
  static func configuration(
    _ change: (inout ServerConfiguration.Limits) -> Void
  ) -> ServerConfiguration {
    var configuration = Fixture.configuration()
    change(&configuration.limits)
    return configuration
  }

  @Test func withoutAFreeDecoderAContextIsRefusedForNow() async throws {
    let configuration = Self.configuration {
      $0.decoders = 1
      $0.decoderPatience = .zero
    }
    try await withServer(configuration) { running in
      try await running.withClient { client in
        let token = try await client.logIn()
        let (_, outer) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          await stream.waitForStarted()
          let (responses, error) = try await client.stream(token: token) { second in
            try await second.send(Request.config(), Request.start())
            await second.waitForFinished()
          }
          #expect(responses.isEmpty)
          #expect(error?.code == .unavailable)
          #expect(error?.failureCode == "speech.stream.server-overloaded")
          #expect(error?.metadata[stringValues: "grpc-retry-pushback-ms"].first { _ in true } == "1000")
          // A stream between two contexts holds no decoder.
          try await stream.send(Request.stop)
          await stream.waitForFinished()
          let (again, none) = try await client.stream(token: token) { third in
            try await third.send(Request.config(), Request.start(), Request.stop)
          }
          #expect(none == nil && again.count == 2)
        }
        #expect(outer == nil)
      }
    }
  }

  @Test func aClientThatDisappearsGivesItsDecoderBack() async throws {
    let configuration = Self.configuration {
      $0.decoders = 1
      $0.decoderPatience = .seconds(20)
    }
    try await withServer(configuration) { running in
      try await running.withClient { client in
        let token = try await client.logIn()
        let (started, continuation) = AsyncStream<Void>.makeStream()
        let vanishing = Task {
          try await running.withClient { other in
            _ = try await other.stream(token: token) { stream in
              try await stream.send(Request.config(), Request.start())
              await stream.waitForStarted()
              continuation.finish()
              await stream.waitForFinished()
            }
          }
        }
        for await _ in started {}
        vanishing.cancel()
        _ = await vanishing.result
        // The only decoder: this would wait for twenty seconds and then be refused.
        let (responses, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          try await stream.send(audio: RunEngine.audio([3]))
        }
        #expect(error == nil)
        #expect(responses.words == ["w3"])
      }
    }
  }

  @Test func streamsAreLimited() async throws {
    try await withServer(Self.configuration { $0.streams = 1 }) { running in
      try await running.withClient { client in
        let token = try await client.logIn()
        _ = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          await stream.waitForStarted()
          let (_, error) = try await client.stream(token: token) { try await $0.send(Request.config()) }
          #expect(error?.code == .unavailable)
          #expect(error?.failureCode == "speech.stream.server-overloaded")
        }
      }
    }
  }

  @Test(.timeLimit(.minutes(4))) func aClientThatDoesNotReadBlocksOnlyItself() async throws {
    try await withServer(Self.configuration { $0.decoders = 2 }) { running in
      try await running.withClient { client in
        let token = try await client.logIn()
        let (blocked, opened) = AsyncStream<Void>.makeStream()
        let deaf = Task {
          try await running.withClient(window: 65_535) { other in
            let request = StreamingClientRequest<Speechly_Slu_V1_SLURequest>(
              metadata: ["authorization": .string("Bearer \(token)")]
            ) { writer in
              try await writer.write(Request.config())
              for _ in 0..<10_000 {
                try await writer.write(contentsOf: [Request.start(), Request.stop])
              }
            }
            try await Speechly_Slu_V1_SLU.Client(wrapping: other.client).stream(request: request) { _ in
              // Reads nothing at all until it is cancelled.
              opened.finish()
              let nothing = AsyncStream<Never> { _ in }
              for await _ in nothing {}
            }
          }
        }
        for await _ in blocked {}
        // Others are served meanwhile. Once none of the deaf client's contexts begins during three of their streams, it
        // is blocked: its answers wait in 64 KiB of window and a few buffers, and its requests are not read any more.
        var others = 0
        var last = -1
        var streamsWithoutProgress = 0
        while streamsWithoutProgress < 3 {
          let (responses, error) = try await client.stream(token: token) { stream in
            try await stream.send(Request.config(), Request.start())
            try await stream.send(audio: RunEngine.audio([8]))
          }
          try #require(error == nil && responses.words == ["w8"])
          others += 1
          let deafOnes = try await Self.contexts(of: running) - others
          // A server without bounds would take them all.
          try #require(deafOnes < 5000)
          streamsWithoutProgress = deafOnes > 0 && deafOnes == last ? streamsWithoutProgress + 1 : 0
          last = deafOnes
        }
        deaf.cancel()
        _ = await deaf.result
      }
    }
  }

  /// How many contexts the server has begun.
  static func contexts(of running: RunningServer) async throws -> Int {
    let line = try await running.get("/metrics").body.split(separator: "\n")
      .first { $0.hasPrefix("voice_contexts_total ") }
    return Int(line?.split(separator: " ").last ?? "") ?? -1
  }

  @Test(.timeLimit(.minutes(4))) func anIdleStreamIsClosedAndAnIdleContextIsRefused() async throws {
    let clock = TestClock()
    let idleTime = Duration.seconds(60)
    // What the server wrote last it may have written after the first step of the clock.
    let second = Task {
      await clock.waitForTimer(at: VoiceInstant(offset: idleTime * 2))
      clock.advance(by: idleTime)
    }
    defer { second.cancel() }
    try await withServer(Self.configuration { $0.idleTime = idleTime }, clock: clock) { running in
      try await running.withClient { client in
        let token = try await client.logIn()
        let (_, closed) = try await client.stream(token: token) { idle in
          try await idle.send(Request.config(), Request.start(), Request.stop)
          await idle.waitForFinished()
          let (responses, error) = try await client.stream(token: token) { stream in
            try await stream.send(Request.config(), Request.start())
            try await stream.send(audio: RunEngine.audio([6]))
            await stream.wait { if case .tentativeTranscript = $0.streamingResponse { true } else { false } }
            clock.advance(by: idleTime)
            await stream.waitForFinished()
          }
          #expect(responses.words == ["w6"])
          #expect(error?.code == .deadlineExceeded)
          #expect(error?.failureCode == "speech.stream.idle")
          await idle.waitForFinished()
        }
        #expect(closed == nil)
      }
    }
  }
}
