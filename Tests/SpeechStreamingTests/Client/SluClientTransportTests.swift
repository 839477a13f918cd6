import Foundation
import NIOCore
import NIOPosix
import SpeechProtocol
import Synchronization
import Testing
import VoiceCore

@testable import SpeechStreaming

@Suite(.timeLimit(.minutes(4))) struct SluClientTransportTests {
  private static var start: Speechly_Slu_V1_SLURequest {
    var request = Speechly_Slu_V1_SLURequest()
    request.start = .init()
    return request
  }

  /// A stream whose server takes nothing any more is given up, and hangs in the client until that begins the next one.
  @Test func aStreamThatHungDoesNotMakeTheNextOneDeaf() async {
    let client = HangingSluClient()
    let transport = SluClientTransport(
      client: client, config: SluConfig(sampleRate: 16_000, channels: 1, languageCode: .enUS))
    let first = SpeechRequestQueue(accepted: {})
    let hung = Task {
      await transport.runStream(token: .forTests, requests: SpeechRequests(queue: first), receive: { _ in })
    }
    first.send(Self.start)
    var audio = Speechly_Slu_V1_SLURequest()
    audio.audio = Data([0, 0])
    first.send(audio)
    await client.waitForWrite()
    hung.cancel()

    let (responses, heard) = AsyncStream<String>.makeStream()
    let second = SpeechRequestQueue(accepted: {})
    let next = Task {
      await transport.runStream(
        token: .forTests, requests: SpeechRequests(queue: second),
        receive: { heard.yield($0.audioContext) })
    }
    second.send(Self.start)
    // It ends only now, after the next one has begun.
    _ = await hung.value
    transport.received("next") { $0.started = .init() }
    for await context in responses {
      #expect(context == "next")
      break
    }
    next.cancel()
    second.finish()
    _ = await next.value
  }
}

/// Answers no write before the next start.
private final class HangingSluClient: SluClientProtocol {
  private struct State {
    weak var delegate: (any SluClientDelegate)?
    var hanging: EventLoopPromise<Bool>?
  }

  private let state = Mutex(State())
  private let writes: AsyncStream<Void>
  private let written: AsyncStream<Void>.Continuation
  private let loop = MultiThreadedEventLoopGroup.singleton.next()

  init() { (self.writes, self.written) = AsyncStream.makeStream() }

  var delegate: (any SluClientDelegate)? {
    get { self.state.withLock { $0.delegate } }
    set { self.state.withLock { $0.delegate = newValue } }
  }

  func waitForWrite() async { for await _ in self.writes { break } }

  func start(token: ApiAccessToken, config: SluConfig) -> EventLoopFuture<Void> {
    let hanging = self.state.withLock { state in
      defer { state.hanging = nil }
      return state.hanging
    }
    hanging?.succeed(false)
    return self.loop.makeSucceededVoidFuture()
  }

  func stop() -> EventLoopFuture<Void> { self.loop.makeSucceededVoidFuture() }
  func suspend() -> EventLoopFuture<Void> { self.loop.makeSucceededVoidFuture() }
  func resume() -> EventLoopFuture<Void> { self.loop.makeSucceededVoidFuture() }

  func write(data: Data) -> EventLoopFuture<Bool> {
    let promise = self.loop.makePromise(of: Bool.self)
    self.state.withLock { $0.hanging = promise }
    self.written.yield()
    return promise.futureResult
  }
}
