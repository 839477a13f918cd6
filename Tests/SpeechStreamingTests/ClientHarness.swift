import Dispatch
import Foundation
import SpeechProtocol
import SwiftProtobuf
import Synchronization
import VoiceCore
import VoicePlatform
import VoiceTesting

@testable import SpeechStreaming

/// A client with a microphone, a server and a clock that the test plays.
struct ClientHarness: Sendable {
  let client: SpeechClient
  let source = ManualAudioSource()
  let transport = InMemorySpeechTransport()
  let clock = TestClock()
  let logins = Atomic2()
  let recorder = DelegateRecorder()

  init(
    configure: (inout SpeechClient.Configuration) -> Void = { _ in },
    login: (@Sendable (UUID) async throws(VoiceFailure) -> ApiAccessToken)? = nil
  ) throws {
    var configuration = SpeechClient.Configuration(
      app: .app(ApiAccessToken.forTests.appId), language: "en-US")
    configuration.store = MemorySecureStore()
    configuration.paths = nil
    configuration.postRoll = .zero
    configure(&configuration)
    let logins = self.logins
    self.client = try SpeechClient(
      configuration: configuration, source: self.source, transport: self.transport, clock: self.clock,
      login: { deviceId throws(VoiceFailure) in
        logins.increment()
        guard let login else { return .forTests }
        return try await login(deviceId)
      })
    self.client.delegate = self.recorder
  }

  /// Runs the client for the time of a closure.
  func run<R: Sendable>(_ body: @Sendable @escaping (ClientHarness) async throws -> R) async throws -> R {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await self.client.run() }
      let result = try await body(self)
      group.cancelAll()
      return result
    }
  }

  /// Starts a context that the server acknowledges.
  func connect(_ context: String = "ctx") async throws -> InMemorySpeechStream {
    self.client.start()
    await self.source.captureStarted()
    guard let stream = await self.transport.nextStream() else { throw HarnessError.noStream }
    try await self.expect("config", of: stream)
    try await self.expect("start", of: stream)
    stream.send(.started(context))
    return stream
  }

  /// The next request, which must be of the given kind.
  @discardableResult
  func expect(_ kind: String, of stream: InMemorySpeechStream) async throws -> Speechly_Slu_V1_SLURequest {
    guard let request = await stream.nextRequest() else { throw HarnessError.streamEnded }
    let found =
      switch request.streamingRequest {
      case .config: "config"
      case .start: "start"
      case .audio: "audio"
      case .stop: "stop"
      case .rttResponse: "rtt"
      case .event: "event"
      case nil: "nothing"
      }
    guard found == kind else { throw HarnessError.unexpected("expected \(kind), got \(found)") }
    return request
  }

  enum HarnessError: Error {
    case noStream
    case streamEnded
    case unexpected(String)
  }
}

final class Atomic2: Sendable {
  private let value = Atomic(0)
  func increment() { self.value.wrappingAdd(1, ordering: .relaxed) }
  var count: Int { self.value.load(ordering: .relaxed) }
}

extension Speechly_Slu_V1_SLUResponse {
  static func started(_ context: String) -> Self {
    .with {
      $0.audioContext = context
      $0.started = .init()
    }
  }

  static func finished(_ context: String) -> Self {
    .with {
      $0.audioContext = context
      $0.finished = .init()
    }
  }

  static func word(_ text: String, _ index: Int, _ context: String = "ctx", segment: Int = 0) -> Self {
    .with {
      $0.audioContext = context
      $0.segmentID = Int32(segment)
      $0.transcript.word = text
      $0.transcript.index = Int32(index)
    }
  }

  static func intent(_ name: String, _ context: String = "ctx", segment: Int = 0) -> Self {
    .with {
      $0.audioContext = context
      $0.segmentID = Int32(segment)
      $0.intent.intent = name
    }
  }

  static func segmentEnd(_ context: String = "ctx", segment: Int = 0) -> Self {
    .with {
      $0.audioContext = context
      $0.segmentID = Int32(segment)
      $0.segmentEnd = .init()
    }
  }
}

/// Keeps what a delegate is told, in order, and lets a test wait for it.
final class DelegateRecorder: SpeechClientDelegate {
  private let calls = Mutex<[String]>([])
  private let stream: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() {
    (self.stream, self.continuation) = AsyncStream.makeStream()
  }

  var all: [String] { self.calls.withLock { $0 } }

  /// Waits for the next call that begins with the given text and returns all calls so far.
  @discardableResult
  func wait(for prefix: String) async -> [String] {
    var iterator = self.stream.makeAsyncIterator()
    while let call = await iterator.next() {
      if call.hasPrefix(prefix) { break }
    }
    return self.all
  }

  private func add(_ call: String) {
    self.calls.withLock { $0.append(call) }
    self.continuation.yield(call)
  }

  func speechlyClientDidCatchError(_: any SpeechClientProtocol, error: SpeechClientError) {
    self.add("error \(error)")
  }
  func speechlyClientDidStart(_: any SpeechClientProtocol) { self.add("start") }
  func speechlyClientDidStop(_: any SpeechClientProtocol) { self.add("stop") }
  func speechlyClientDidUpdateSegment(_: any SpeechClientProtocol, segment: SpeechSegment) {
    self.add("segment \(segment.segmentId) \(segment.text)\(segment.isFinal ? " final" : "")")
  }
  func speechlyClientDidReceiveTranscript(
    _: any SpeechClientProtocol, contextId: String, segmentId: Int, transcript: SpeechTranscript
  ) { self.add("word \(transcript.value)") }
  func speechlyClientDidReceiveEntity(
    _: any SpeechClientProtocol, contextId: String, segmentId: Int, entity: SpeechEntity
  ) { self.add("entity \(entity.value)") }
  func speechlyClientDidReceiveIntent(
    _: any SpeechClientProtocol, contextId: String, segmentId: Int, intent: SpeechIntent
  ) { self.add("intent \(intent.value)") }
  func speechlyClientDidFail(_: any SpeechClientProtocol, failure: VoiceFailure) {
    self.add("failed \(failure.code)")
  }
  func speechlyClientDidRecover(_: any SpeechClientProtocol, recovery: SpeechRecovery) {
    self.add("recovered")
  }
  func speechlyClientDidDegrade(_: any SpeechClientProtocol, degradation: SpeechDegradation) {
    self.add("degraded \(degradation.failure.code)")
  }
  func speechlyClientDidFinish(_: any SpeechClientProtocol, context: SpeechContext) {
    self.add("finish \(context.text)")
  }
  func speechlyClientDidStartContext(_: any SpeechClientProtocol) { self.add("startContext") }
  func speechlyClientDidStopContext(_: any SpeechClientProtocol) { self.add("stopContext") }
}

enum MemorySecureStoreForTests {
  static func make() -> any SecureStore { MemorySecureStore() }
}
