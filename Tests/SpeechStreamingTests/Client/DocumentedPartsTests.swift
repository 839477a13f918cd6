import Dispatch
import Foundation
import NIOCore
import NIOPosix
import SpeechProtocol
import Synchronization
import Testing
import VoiceCore
import VoiceTesting

@testable import SpeechStreaming

/// The client on the documented parts, with the recorder and the caching identity client of this package.
@Suite(.timeLimit(.minutes(2))) struct DocumentedPartsTests {
  @Test func whatTheRecorderMissesIsTimeAndNotTheEnd() async throws {
    let source = ManualAudioSource()
    let recorder = AudioRecorder(
      source: source, audioQueue: DispatchQueue(label: "audio"),
      delegateQueue: DispatchQueue(label: "delegate"))
    let slu = ScriptedSluClient()
    let delegate = DelegateRecorder()
    let client = try SpeechClient(
      appId: CountingIdentity.appId, language: .enUS, prepareOnInit: false, sluClient: slu,
      identityClient: CountingIdentity(), cache: MapCache(), audioRecorder: recorder,
      delegateDispatchQueue: DispatchQueue(label: "client"))
    client.delegate = delegate
    client.start()
    await source.captureStarted()
    source.send([1, 2])
    source.skip(3, notice: VoiceFailure(.inputOverrun))
    source.send([4])
    #expect(await slu.written(12) == Data([1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 4, 0]))
    // Before the end, to which a busy machine may add a device that takes too long to stop.
    let calls = await delegate.wait(for: "failed")
    #expect(calls.filter { $0.hasPrefix("failed") } == ["failed audio.input.overrun"])
    client.stop()
    await source.captureStopped()
    #expect(!source.isCapturing)
    _ = await delegate.wait(for: "stopContext")
  }

  @Test func aRecorderThatFailsIsStopped() async throws {
    let recorder = FailingRecorder()
    let delegate = DelegateRecorder()
    let client = try SpeechClient(
      appId: CountingIdentity.appId, language: .enUS, prepareOnInit: false, sluClient: ScriptedSluClient(),
      identityClient: CountingIdentity(), cache: MapCache(), audioRecorder: recorder,
      delegateDispatchQueue: DispatchQueue(label: "client"))
    client.delegate = delegate
    client.start()
    let calls = await delegate.wait(for: "stopContext")
    #expect(calls.contains("failed audio.input.unplugged"))
    await recorder.stopped()
  }

  @Test func aRejectedTokenIsReplacedThoughTheIdentityClientKeepsIt() async throws {
    let identity = CountingIdentity()
    let slu = ScriptedSluClient(refusals: 1)
    let delegate = DelegateRecorder()
    let client = try SpeechClient(
      appId: CountingIdentity.appId, language: .enUS, prepareOnInit: false, sluClient: slu,
      identityClient: CachingIdentityClient(baseClient: identity, cache: MapCache()), cache: MapCache(),
      audioRecorder: AudioRecorder(
        source: ManualAudioSource(), audioQueue: DispatchQueue(label: "audio"),
        delegateQueue: DispatchQueue(label: "delegate")),
      delegateDispatchQueue: DispatchQueue(label: "client"))
    client.delegate = delegate
    let events = client.events
    client.start()
    for await event in events {
      if case .stateChanged(.started) = event { break }
      if case .finished = event { break }
    }
    #expect(client.state == .started(contextId: "c"))
    #expect(identity.logins == 2)
    #expect(slu.tokens == ["token 1", "token 2"])
  }
}

// MARK: - Parts

/// Makes a token of its own for every login.
private final class CountingIdentity: IdentityClientProtocol, Promisable {
  static let appId = UUID()
  private let count = Atomic(0)
  var logins: Int { self.count.load(ordering: .relaxed) }

  func authenticate(appId: UUID, deviceId: UUID) -> EventLoopFuture<ApiAccessToken> {
    let number = self.count.wrappingAdd(1, ordering: .relaxed).newValue
    return self.makeSucceededFuture(
      ApiAccessToken(
        appId: appId, deviceId: deviceId, expiresAt: Date(timeIntervalSinceNow: 86_400), scopes: [.SLU],
        tokenString: "token \(number)"))
  }

  func makeSucceededFuture<T: Sendable>(_ value: T) -> EventLoopFuture<T> {
    MultiThreadedEventLoopGroup.singleton.next().makeSucceededFuture(value)
  }

  func makeFailedFuture<T: Sendable>(_ error: any Error) -> EventLoopFuture<T> {
    MultiThreadedEventLoopGroup.singleton.next().makeFailedFuture(error)
  }
}

private final class MapCache: CacheProtocol {
  private let values = Mutex<[String: String]>([:])
  func setValue(_ value: String, forKey key: String) { self.values.withLock { $0[key] = value } }
  func getValue(forKey key: String) -> String? { self.values.withLock { $0[key] } }
}

/// Acknowledges every context that it does not refuse, and keeps what is written.
private final class ScriptedSluClient: SluClientProtocol {
  private struct State {
    weak var delegate: (any SluClientDelegate)?
    var refusals: Int
    var tokens: [String] = []
  }

  private let state: Mutex<State>
  private let audio: AsyncStream<Data>
  private let write: AsyncStream<Data>.Continuation
  private let loop = MultiThreadedEventLoopGroup.singleton.next()

  init(refusals: Int = 0) {
    self.state = Mutex(State(refusals: refusals))
    (self.audio, self.write) = AsyncStream.makeStream()
  }

  var tokens: [String] { self.state.withLock { $0.tokens } }
  var delegate: (any SluClientDelegate)? {
    get { self.state.withLock { $0.delegate } }
    set { self.state.withLock { $0.delegate = newValue } }
  }

  /// Waits until so many bytes were written.
  func written(_ count: Int) async -> Data {
    var result = Data()
    for await data in self.audio {
      result.append(data)
      if result.count >= count { break }
    }
    return result
  }

  func start(token: ApiAccessToken, config: SluConfig) -> EventLoopFuture<Void> {
    let isRefused = self.state.withLock { state in
      state.tokens.append(token.tokenString)
      defer { state.refusals = max(0, state.refusals - 1) }
      return state.refusals > 0
    }
    guard !isRefused else { return self.loop.makeFailedFuture(VoiceFailure(.credentialsRejected)) }
    self.delegate?.sluClientDidReceiveContextStart(self, contextId: "c")
    return self.loop.makeSucceededVoidFuture()
  }

  func stop() -> EventLoopFuture<Void> {
    self.delegate?.sluClientDidReceiveContextStop(self, contextId: "c")
    return self.loop.makeSucceededVoidFuture()
  }

  func suspend() -> EventLoopFuture<Void> { self.loop.makeSucceededVoidFuture() }
  func resume() -> EventLoopFuture<Void> { self.loop.makeSucceededVoidFuture() }

  func write(data: Data) -> EventLoopFuture<Bool> {
    self.write.yield(data)
    return self.loop.makeSucceededFuture(true)
  }
}

/// Reports a failure as soon as it is started, and goes on until somebody stops it.
private final class FailingRecorder: AudioRecorderProtocol {
  private struct State {
    weak var delegate: (any AudioRecorderDelegate)?
  }

  private let state = Mutex(State())
  private let (stops, stopping) = AsyncStream.makeStream(of: Void.self)
  let sampleRate = 16_000.0
  let channels: UInt32 = 1

  /// Waits until somebody stops it.
  func stopped() async {
    for await _ in self.stops { return }
  }

  var delegate: (any AudioRecorderDelegate)? {
    get { self.state.withLock { $0.delegate } }
    set { self.state.withLock { $0.delegate = newValue } }
  }

  func start() throws {
    self.delegate?.audioRecorderDidCatchError(self, error: VoiceFailure(.inputDeviceLost))
  }

  func stop() {
    self.stopping.yield()
    self.delegate?.audioRecorderDidStop(self)
  }

  func suspend() throws {}
  func resume() throws {}
}
