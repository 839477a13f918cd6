import Dispatch
import Foundation
import NIOCore
import NIOPosix
import SpeechProtocol
import SpeechStreaming
import SwiftProtobuf
import Synchronization
import Testing
import VoiceCore

/// Uses every documented type and member of generation 0.1 as an app does (protocol §1), without `@testable`.
@Suite struct DocumentedInterfaceTests {
  @Test func theClientWorksOnTheDocumentedParts() async throws {
    let slu = PlayedSluClient()
    let recorder = PlayedRecorder()
    let delegate = CollectingDelegate()
    let client = try SpeechClient(
      appId: PlayedIdentity.appId, language: .enUS, prepareOnInit: true, sluClient: slu,
      identityClient: PlayedIdentity(),
      cache: PlayedCache(), audioRecorder: recorder, delegateDispatchQueue: DispatchQueue(label: "test"))
    client.delegate = delegate
    client.start()
    #expect(await delegate.next() == "started")
    client.stop()
    #expect(await delegate.next() == "hello final=true")
    #expect(await delegate.next() == "stopped")
    #expect(slu.calls == ["start en-US 16000", "write 4", "stop"])
    client.suspend()
    try client.resume()
    #expect(recorder.calls.suffix(2) == ["suspend", "resume"])
  }

  @Test func theBlockingInitialiserThrowsWhatTheLoginThrows() {
    struct Refusing: IdentityClientProtocol {
      func authenticate(appId: UUID, deviceId: UUID) -> EventLoopFuture<ApiAccessToken> {
        MultiThreadedEventLoopGroup.singleton.next().makeFailedFuture(VoiceFailure(.unknownApp))
      }
    }
    #expect(throws: VoiceFailure(.unknownApp)) {
      try SpeechClient(
        appId: UUID(), language: .fiFI, prepareOnInit: true, sluClient: PlayedSluClient(),
        identityClient: Refusing(),
        cache: PlayedCache(), audioRecorder: PlayedRecorder(),
        delegateDispatchQueue: DispatchQueue(label: "test"))
    }
  }

  @Test func theConvenienceInitialiserOpensNothingUnlessItIsAskedTo() throws {
    let client = try SpeechClient(appId: UUID(), language: .enUS, prepareOnInit: false)
    #expect(client.state == .stopped)
    let later = try Client(appId: UUID(), prepareOnInit: false)
    #expect(later.state == .stopped)
    #expect(throws: Client.SpeechlyClientInitError.keysMissing) { try Client(prepareOnInit: false) }
  }

  @Test func resultTypesAreMadeAndOrderedAsDocumented() {
    let word = SpeechTranscript(index: 1, value: "b", startOffset: 0.1, endOffset: 0.2, isFinal: true)
    let first = SpeechTranscript(index: 0, value: "a", startOffset: 0, endOffset: 0.1, isFinal: true)
    let entity = SpeechEntity(value: "v", type: "t", startIndex: 0, endIndex: 2, isFinal: false)
    var segment = SpeechSegment(
      segmentId: 3, contextId: "c", isFinal: false, intent: SpeechIntent(value: "i", isFinal: true),
      entities: [entity],
      transcripts: [word, first])
    #expect(segment.id == "c-3")
    #expect(segment.transcripts.map(\.id) == [0, 1])
    segment.transcripts.insert(
      SpeechTranscript(index: 2, value: "c", startOffset: 0, endOffset: 0, isFinal: false), at: 0)
    #expect(segment.transcripts.map(\.index) == [0, 1, 2])
    #expect(entity.id == SpeechEntity.ID(start: 0, end: 2))
    #expect(SpeechIntent.Empty == SpeechIntent(value: "", isFinal: false))
    let context = SpeechContext(id: "c", segments: [segment])
    #expect(context < SpeechContext(id: "d"))
    #expect(context.segments.first?.intent.id == "i")
  }

  @Test func addressesTokensAndChannelsAreMadeAsDocumented() throws {
    let address = try GRPCAddress(addr: "grpc+tls://api.example.com")
    #expect(address == GRPCAddress(host: "api.example.com", port: 443, secure: true))
    #expect(
      try GRPCAddress(addr: "grpc://[::1]:50051") == GRPCAddress(host: "::1", port: 50_051, secure: false))
    #expect(try GRPCAddress(addr: "grpc://host").port == 80)
    #expect(try makeChannel(addr: "grpc://host:1", loopCount: 1).address.port == 1)
    #expect(
      makeTokenCallOptions(token: "t").customMetadata == [.init(name: "authorization", value: "Bearer t")])
    #expect(!"\(makeTokenCallOptions(token: "secret"))".contains("secret"))

    let expiry = Date(timeIntervalSinceNow: 7200)
    let app = UUID()
    let device = UUID()
    let token = ApiAccessToken(
      appId: app, deviceId: device, expiresAt: expiry, scopes: [.SLU, .WLU], tokenString: "x")
    #expect(token.validate(appId: app, deviceId: device, expiresIn: 3600))
    #expect(!token.validate(appId: UUID(), deviceId: device, expiresIn: 3600))
    #expect(!token.validateExpiry(expiresIn: 8000))
  }

  @Test func recorderAndStreamClientAreMadeAsDocumented() async throws {
    let recorder = try AudioRecorder(sampleRate: 16_000, channels: 1, prepareOnInit: false)
    #expect(recorder.sampleRate == 16_000)
    #expect(recorder.channels == 1)
    #expect(throws: AudioRecorder.AudioRecorderError.outputFormatError) {
      try AudioRecorder(sampleRate: 44_100, channels: 2, format: .pcmFormatFloat32)
    }
    let group = PlatformSupport.makeEventLoopGroup(loopCount: 1)
    let slu = try SluClient(addr: "grpc://127.0.0.1:1", loopGroup: group)
    #expect(try await slu.write(data: Data([1, 2])).get() == false)
    try await slu.stop().get()
    try await slu.suspend().get()
    try await slu.resume().get()
    let identity = try IdentityClient(addr: "grpc://127.0.0.1:1", loopGroup: group)
    let caching = CachingIdentityClient(baseClient: identity, cache: PlayedCache())
    await #expect(throws: VoiceFailure.self) {
      try await caching.authenticate(appId: UUID(), deviceId: UUID()).get()
    }
    #expect(try await caching.makeSucceededFuture(5).get() == 5)
  }

  @Test func userDefaultsKeepValues() throws {
    let name = "swift-voice-test-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: name))
    defer { defaults.removePersistentDomain(forName: name) }
    let cache = UserDefaultsCache(storage: defaults)
    #expect(cache.getValue(forKey: "a") == nil)
    cache.setValue("b", forKey: "a")
    #expect(cache.getValue(forKey: "a") == "b")
  }
}

// MARK: - Parts that an app injects

private struct PlayedIdentity: IdentityClientProtocol {
  static let appId = UUID()

  func authenticate(appId: UUID, deviceId: UUID) -> EventLoopFuture<ApiAccessToken> {
    MultiThreadedEventLoopGroup.singleton.next().makeSucceededFuture(
      ApiAccessToken(
        appId: appId, deviceId: deviceId, expiresAt: Date(timeIntervalSinceNow: 86_400), scopes: [.SLU],
        tokenString: "played"))
  }
}

private final class PlayedCache: CacheProtocol {
  private let values = Mutex<[String: String]>([:])
  func setValue(_ value: String, forKey key: String) { self.values.withLock { $0[key] = value } }
  func getValue(forKey key: String) -> String? { self.values.withLock { $0[key] } }
}

/// Answers one word to the first audio and finishes at the stop, like the service of generation 0.1.
private final class PlayedSluClient: SluClientProtocol {
  private struct State {
    weak var delegate: (any SluClientDelegate)?
    var calls: [String] = []
  }

  private let state = Mutex(State())
  private let loop = MultiThreadedEventLoopGroup.singleton.next()

  var calls: [String] { self.state.withLock { $0.calls } }
  var delegate: (any SluClientDelegate)? {
    get { self.state.withLock { $0.delegate } }
    set { self.state.withLock { $0.delegate = newValue } }
  }

  private func note(_ call: String) { self.state.withLock { $0.calls.append(call) } }

  func start(token: ApiAccessToken, config: SluConfig) -> EventLoopFuture<Void> {
    self.note("start \(config.languageCode.rawValue) \(Int(config.sampleRate))")
    self.delegate?.sluClientDidReceiveContextStart(self, contextId: "c")
    return self.loop.makeSucceededVoidFuture()
  }

  func stop() -> EventLoopFuture<Void> {
    self.note("stop")
    self.delegate?.sluClientDidReceiveTranscript(
      self, contextId: "c", segmentId: 0,
      transcript: .with {
        $0.word = "hello"
        $0.endTime = 1
      })
    self.delegate?.sluClientDidReceiveIntent(
      self, contextId: "c", segmentId: 0, intent: .with { $0.intent = "greet" })
    self.delegate?.sluClientDidReceiveSegmentEnd(self, contextId: "c", segmentId: 0)
    self.delegate?.sluClientDidReceiveContextStop(self, contextId: "c")
    self.delegate?.sluClientDidStopStream(self, status: GRPCStatus(code: 0, message: nil))
    return self.loop.makeSucceededVoidFuture()
  }

  func suspend() -> EventLoopFuture<Void> { self.loop.makeSucceededVoidFuture() }
  func resume() -> EventLoopFuture<Void> { self.loop.makeSucceededVoidFuture() }

  func write(data: Data) -> EventLoopFuture<Bool> {
    self.note("write \(data.count)")
    return self.loop.makeSucceededFuture(true)
  }
}

/// Hears two samples, then silence until it is stopped.
private final class PlayedRecorder: AudioRecorderProtocol {
  private struct State {
    weak var delegate: (any AudioRecorderDelegate)?
    var calls: [String] = []
  }

  private let state = Mutex(State())
  let sampleRate = 16_000.0
  let channels: UInt32 = 1

  var calls: [String] { self.state.withLock { $0.calls } }
  var delegate: (any AudioRecorderDelegate)? {
    get { self.state.withLock { $0.delegate } }
    set { self.state.withLock { $0.delegate = newValue } }
  }

  private func note(_ call: String) { self.state.withLock { $0.calls.append(call) } }

  func start() throws {
    self.note("start")
    self.delegate?.audioRecorderDidReceiveData(self, audioData: Data([1, 0, 2, 0]))
  }

  func stop() {
    self.note("stop")
    self.delegate?.audioRecorderDidStop(self)
  }

  func suspend() throws { self.note("suspend") }
  func resume() throws { self.note("resume") }
}

private final class CollectingDelegate: SpeechClientDelegate {
  private let stream: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() { (self.stream, self.continuation) = AsyncStream.makeStream() }

  func next() async -> String? {
    var iterator = self.stream.makeAsyncIterator()
    return await iterator.next()
  }

  func speechlyClientDidStart(_: any SpeechClientProtocol) { self.continuation.yield("started") }
  func speechlyClientDidStop(_: any SpeechClientProtocol) { self.continuation.yield("stopped") }
  func speechlyClientDidUpdateSegment(_: any SpeechClientProtocol, segment: SpeechSegment) {
    if segment.isFinal { self.continuation.yield("\(segment.text) final=\(segment.isFinal)") }
  }
  func speechlyClientDidCatchError(_: any SpeechClientProtocol, error: SpeechClientError) {
    self.continuation.yield("error \(error)")
  }
}
