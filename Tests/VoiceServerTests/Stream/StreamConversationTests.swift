import GRPCCore
import Logging
import SpeechPipeline
import SpeechProtocol
import SwiftProtobuf
import Synchronization
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

@Suite struct StreamConversationTests {
  private final class Responses: RPCWriterProtocol, Sendable {
    private let taken = Mutex<[Speechly_Slu_V1_SLUResponse]>([])

    var all: [Speechly_Slu_V1_SLUResponse] { self.taken.withLock { $0 } }

    func write(_ element: Speechly_Slu_V1_SLUResponse) async throws {
      self.taken.withLock { $0.append(element) }
    }

    func write(contentsOf elements: some Sequence<Speechly_Slu_V1_SLUResponse>) async throws {
      for element in elements { try await self.write(element) }
    }
  }

  private static func audio(_ samples: [Int16]) -> Speechly_Slu_V1_SLURequest {
    .with {
      $0.audio.append(
        contentsOf: samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
    }
  }

  /// The client sends config, start, audio and stop at once, while another holds the only decoder.
  @Test func aClientThatTheServerLetsWaitIsNotIdle() async throws {
    let clock = TestClock()
    let pool = RecognizerPool(engine: RunEngine(), size: 1, clock: clock)
    try await pool.load()
    let holder = try await pool.beginContext(ContextOptions(), patience: .zero)
    let limits = ServerConfiguration.Limits()
    let responses = Responses()
    let conversation = StreamConversation(
      rules: .init(
        principal: .application(.demo), apps: AppDirectory(Fixture.configuration()), limits: limits,
        resumeTokens: try await ResumeTokens(key: Fixture.key())),
      services: .init(
        pool: pool, clock: clock, metrics: ServerMetrics(factory: PrometheusRegistry()), phase: ServerPhase(),
        decoderPatience: .seconds(600)),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      writer: RPCWriter(wrapping: responses))
    _ = await conversation.take(.opened)
    _ = await conversation.take(.request(Request.config()))
    async let started = conversation.take(.request(Request.start()))
    await clock.waitForTimer(at: clock.now.advanced(by: .seconds(600)))
    clock.advance(by: limits.idleTime + .seconds(1))
    async let checked = conversation.take(.idleCheckDue)
    holder.cancel()
    let outcomes = await [started, checked]
    #expect(outcomes.allSatisfy { $0 == nil })
    for request in [Self.audio(RunEngine.audio([7])), Request.stop] {
      #expect(await conversation.take(.request(request)) == nil)
    }
    #expect(responses.all.words == ["w7"])
    guard case .ended(nil)? = await conversation.take(.halfClosed) else {
      Issue.record("the call does not end well")
      return
    }
  }
}
