import Dispatch
public import Foundation
public import NIOCore
import SpeechPipeline
import Synchronization
public import VoiceAudio
public import VoiceCore
import VoicePlatform

/// Streams speech to a server and receives words, intents and entities while the person still speaks.
///
/// A client is in one of the states of ``State``. ``start()`` opens a context (an utterance) and begins to record at once, before
/// login and connection; ``stop()`` ends it, and results keep coming until the context is finished. What happens is told
/// to the ``delegate`` on `delegateDispatchQueue`, and to every reader of ``events``.
///
/// **Nothing is lost.** Audio is kept until the server has finished the segment that it belongs to. When the connection breaks,
/// the client connects again, sends that audio again and goes on in the same context: what was final stays, times stay
/// linear. Audio that cannot be kept is reported with its length (``VoiceFailure`` `speech.stream.audio-dropped`).
///
/// Three ways to use it:
/// ```swift
/// // 1. As documented by the vendor: ready when the initialiser returns.
/// let client = try SpeechClient(appId: appId, language: .enUS)
/// client.delegate = self
/// client.start()
///
/// // 2. Scoped: closed when the closure returns.
/// try await withSpeechClient(configuration, source: source) { client in
///   client.start()
///   for await event in client.events { … }
/// }
///
/// // 3. Structured: `init(configuration:source:)`, with `run()` in a task of your own.
/// ```
///
/// All methods may be called on any thread and return at once.
public final class SpeechClient: SpeechClientProtocol, SluClientDelegate, AudioRecorderDelegate {
  /// A language tag. (Source: protocol §1.1.)
  public typealias LanguageCode = SluConfig.LanguageCode

  private let driver: SessionDriver
  private let capture: any SpeechCapture
  private let tokens: TokenProvider
  private let onDevice: OnDeviceRecognition?
  private let usesServer: Bool
  private let broadcaster: EventBroadcaster<SpeechEvent>
  private let dispatcher: DelegateDispatcher
  /// Set if the client was made with the documented recorder and stream client.
  private let recorderCapture: RecorderCapture?
  let sluTransport: SluClientTransport?

  // MARK: Creating

  /// Creates a client on a microphone, as the vendor's documentation has it.
  ///
  /// With `prepareOnInit` the initialiser **blocks the calling thread** until the client is logged in and the microphone was
  /// found, for at most 10 seconds. Without it nothing is opened before ``start()``.
  ///
  /// - Parameters:
  ///   - appId: The app.
  ///   - language: The language that will be spoken.
  ///   - prepareOnInit: Whether to log in and look for the microphone now.
  ///   - identityAddr: The address of the identity service; by default `VOICE_SERVER`, else `grpc://127.0.0.1:50051`.
  ///   - sluAddr: The address of the recognition service; the same default.
  ///   - eventLoopGroup: Where networking runs.
  ///   - delegateDispatchQueue: The serial queue on which the delegate is called.
  /// - Throws: ``VoiceFailure``, which tells apart: `network.server.unreachable`, `network.server.timed-out`,
  ///   `network.tls.failed`, `network.address.invalid`, `speech.identity.unknown-app`, `speech.identity.language-not-offered`,
  ///   `speech.identity.credentials-rejected`, `audio.input.no-device`, `audio.input.permission-denied`, `audio.input.busy`.
  public convenience init(
    appId: UUID,
    language: LanguageCode,
    prepareOnInit: Bool = true,
    identityAddr: String = GRPCAddress.defaultAddress,
    sluAddr: String = GRPCAddress.defaultAddress,
    eventLoopGroup: any EventLoopGroup = PlatformSupport.makeEventLoopGroup(loopCount: 1),
    delegateDispatchQueue: DispatchQueue = DispatchQueue(
      label: "com.speechly.iosclient.SpeechClient.delegateQueue")
  ) throws {
    try self.init(
      app: .app(appId), language: language, prepareOnInit: prepareOnInit, identityAddr: identityAddr,
      sluAddr: sluAddr, eventLoopGroup: eventLoopGroup, delegateDispatchQueue: delegateDispatchQueue)
  }

  convenience init(
    app: App, language: LanguageCode, prepareOnInit: Bool, identityAddr: String, sluAddr: String,
    eventLoopGroup: any EventLoopGroup, delegateDispatchQueue: DispatchQueue
  ) throws {
    var configuration = Configuration(app: app, language: language)
    configuration.identityAddress = identityAddr
    configuration.speechAddress = sluAddr
    configuration.eventLoopGroup = eventLoopGroup
    try self.init(
      configuration: configuration, source: Microphone(), delegateDispatchQueue: delegateDispatchQueue)
    self.runInBackground()
    if prepareOnInit { try self.prepareBlocking() }
  }

  /// Creates a client from its parts, as the vendor's documentation has it.
  ///
  /// The client becomes the delegate of `sluClient` and `audioRecorder`.
  ///
  /// - Throws: As ``init(appId:language:prepareOnInit:identityAddr:sluAddr:eventLoopGroup:delegateDispatchQueue:)``.
  public convenience init(
    appId: UUID,
    language: LanguageCode,
    prepareOnInit: Bool,
    sluClient: any SluClientProtocol,
    identityClient: any IdentityClientProtocol,
    cache: any CacheProtocol,
    audioRecorder: any AudioRecorderProtocol,
    delegateDispatchQueue: DispatchQueue
  ) throws {
    let configuration = Configuration(app: .app(appId), language: language)
    let recorder = RecorderCapture(recorder: audioRecorder)
    let transport = SluClientTransport(
      client: sluClient,
      config: SluConfig(
        sampleRate: audioRecorder.sampleRate, channels: audioRecorder.channels, languageCode: language))
    self.init(
      configuration: configuration, store: CacheStore(cache: cache), transport: transport, capture: recorder,
      clock: MonotonicClock(), delegateDispatchQueue: delegateDispatchQueue, recorderCapture: recorder,
      sluTransport: transport, login: identityClient.login(appId: appId))
    sluClient.delegate = self
    audioRecorder.delegate = self
    self.runInBackground()
    if prepareOnInit { try self.prepareBlocking() }
  }

  /// Creates a client that does nothing until ``run()`` is called.
  ///
  /// - Parameters:
  ///   - configuration: The app, the language, the server, the limits.
  ///   - source: What is listened to.
  ///   - delegateDispatchQueue: The serial queue on which the delegate is called.
  /// - Throws: ``VoiceFailure`` `network.address.invalid`.
  public convenience init(
    configuration: Configuration,
    source: any AudioSource,
    delegateDispatchQueue: DispatchQueue = DispatchQueue(label: "swift-voice.SpeechClient.delegate")
  ) throws {
    let group = configuration.eventLoopGroup ?? PlatformSupport.makeEventLoopGroup(loopCount: 1)
    let identity = IdentityService(
      endpoint: GRPCEndpoint(
        address: try GRPCAddress.parse(configuration.identityAddress), eventLoopGroup: group,
        trustedCertificates: configuration.trustedCertificates),
      language: configuration.language.rawValue, timeout: configuration.loginTimeout)
    let transport = GRPCSpeechTransport(
      endpoint: GRPCEndpoint(
        address: try GRPCAddress.parse(configuration.speechAddress), eventLoopGroup: group,
        trustedCertificates: configuration.trustedCertificates))
    try self.init(
      configuration: configuration, source: source, transport: transport, clock: MonotonicClock(),
      delegateDispatchQueue: delegateDispatchQueue
    ) { [scope = configuration.app.loginScope] deviceId throws(VoiceFailure) in
      try await identity.login(scope, deviceId: deviceId)
    }
  }

  /// Creates a client on a transport and a login of one's own, for tests and for other wires.
  ///
  /// - Parameters:
  ///   - transport: Runs the streams.
  ///   - clock: The time that waits and time-outs are measured on.
  ///   - login: Gets a token for the given device; throws a ``VoiceFailure``.
  public convenience init(
    configuration: Configuration,
    source: any AudioSource,
    transport: any SpeechTransport,
    clock: any VoiceClock = MonotonicClock(),
    delegateDispatchQueue: DispatchQueue = DispatchQueue(label: "swift-voice.SpeechClient.delegate"),
    login: @escaping @Sendable (_ deviceId: UUID) async throws(VoiceFailure) -> ApiAccessToken
  ) throws {
    self.init(
      configuration: configuration, store: configuration.store ?? SystemSecureStore.standard(),
      transport: transport,
      capture: SourceCapture(source: source), clock: clock, delegateDispatchQueue: delegateDispatchQueue,
      recorderCapture: nil, sluTransport: nil
    ) { deviceId, _ throws(VoiceFailure) in try await login(deviceId) }
  }

  private init(
    configuration: Configuration, store: any SecureStore, transport: any SpeechTransport,
    capture: any SpeechCapture, clock: any VoiceClock, delegateDispatchQueue: DispatchQueue,
    recorderCapture: RecorderCapture?, sluTransport: SluClientTransport?,
    login: @escaping TokenProvider.KeepingLogin
  ) {
    let broadcaster = EventBroadcaster<SpeechEvent>(capacity: configuration.eventCapacity) { count in
      .failed(
        VoiceFailure(
          .eventsDropped, message: "A reader of events was too slow: \(count) events were dropped."))
    }
    let dispatcher = DelegateDispatcher(queue: delegateDispatchQueue)
    let deliver: @Sendable (SpeechEvent) -> Void = { event in
      broadcaster.publish(event)
      dispatcher.dispatch(event)
    }
    let tokens = TokenProvider(
      settings: TokenProvider.Settings(
        scope: configuration.app.loginScope, deviceId: configuration.deviceId,
        server: configuration.identityAddress,
        store: store, report: { deliver(.failed($0)) }),
      keepingLogin: login)
    self.broadcaster = broadcaster
    self.dispatcher = dispatcher
    self.capture = capture
    self.tokens = tokens
    self.onDevice = configuration.onDevice
    self.usesServer = configuration.usesServer
    self.recorderCapture = recorderCapture
    self.sluTransport = sluTransport
    self.driver = SessionDriver(
      configuration: configuration.machineConfiguration,
      parts: SessionDriver.Parts(
        transport: transport, engine: configuration.onDevice.map(PipelineTransport.init), tokens: tokens,
        capture: capture, clock: clock, paths: configuration.paths,
        deliver: deliver))
    dispatcher.attach(self)
  }

  deinit {
    self.driver.submit(.closeRequested(isAbrupt: true))
  }

  // MARK: Running

  /// Runs the client until it is closed or the task is cancelled; needed with ``init(configuration:source:delegateDispatchQueue:)`` only.
  public func run() async {
    await self.driver.run()
    self.broadcaster.finish()
  }

  /// Logs in, loads the recogniser if there is one on the device, and checks that recording is possible; optional, since
  /// ``start()`` does all that when needed.
  ///
  /// A client that can recognise on the device is ready without its server.
  ///
  /// - Throws: ``VoiceFailure`` as the blocking initialiser; without a server also the `speech.engine.*` codes.
  public func prepare() async throws(VoiceFailure) {
    try await self.capture.prepare()
    guard let onDevice = self.onDevice else {
      _ = try await self.tokens.token(refresh: false)
      return
    }
    do throws(VoiceFailure) {
      try await onDevice.pool.load()
    } catch {
      guard self.usesServer else { throw error }
      self.driver.submit(.noticed(error))
      _ = try await self.tokens.token(refresh: false)
      return
    }
    guard self.usesServer else { return }
    do throws(VoiceFailure) {
      _ = try await self.tokens.token(refresh: false)
    } catch {
      self.driver.submit(.noticed(error))
    }
  }

  /// Finishes the open context, then ends the client for good.
  public func close() {
    self.driver.submit(.closeRequested(isAbrupt: false))
  }

  func runInBackground() {
    // The documented initialisers promise a client that works without more ado, so somebody must own its run loop: the loop
    // owns itself and ends when the client is closed or released.
    let driver = self.driver
    let broadcaster = self.broadcaster
    Task {
      await driver.run()
      broadcaster.finish()
    }
  }

  private func prepareBlocking() throws {
    let outcome = Mutex<Result<Void, VoiceFailure>?>(nil)
    let done = DispatchSemaphore(value: 0)
    let capture = self.capture
    let tokens = self.tokens
    let task = Task(executorPreference: LoginExecutor.shared) {
      do throws(VoiceFailure) {
        try await capture.prepare()
        _ = try await tokens.token(refresh: false)
        outcome.withLock { $0 = .success(()) }
      } catch {
        outcome.withLock { $0 = .failure(error) }
      }
      done.signal()
    }
    if done.wait(timeout: .now() + .seconds(10)) == .timedOut {
      task.cancel()
      self.driver.submit(.closeRequested(isAbrupt: true))
      throw VoiceFailure(.serverTimedOut, message: "The client was not ready within 10 seconds.")
    }
    do {
      try outcome.withLock { $0 }?.get()
    } catch {
      self.driver.submit(.closeRequested(isAbrupt: true))
      throw error
    }
  }

  // MARK: Faces

  /// What the client is doing.
  public var state: State { self.driver.state }

  /// The events from now on, for one reader; each access is a new reader.
  ///
  /// A reader that falls more than `Configuration.eventCapacity` events behind loses the oldest and is told how many
  /// (`client.events.dropped`).
  public var events: EventBroadcaster<SpeechEvent>.Subscription { self.broadcaster.subscribe() }

  /// Who is told what happens; held weakly. May be set on any thread, also inside a delegate call.
  public var delegate: (any SpeechClientDelegate)? {
    get { self.dispatcher.delegate }
    set { self.dispatcher.delegate = newValue }
  }

  public func start() {
    self.driver.submit(.startRequested(appId: nil, options: [:]))
  }

  /// Starts a new context with settings of its own.
  ///
  /// - Parameters:
  ///   - appId: The app that understands this context; needed after a project login.
  ///   - options: Options of the protocol (§2.4), such as `["silence_triggered_segmentation": ["500"]]`; they take precedence over those
  ///     of the configuration.
  public func start(appId: UUID?, options: [String: [String]] = [:]) {
    self.driver.submit(.startRequested(appId: appId?.uuidString.lowercased(), options: options))
  }

  func start(appIdentifier: String) {
    self.driver.submit(.startRequested(appId: appIdentifier, options: [:]))
  }

  public func stop() {
    self.driver.submit(.stopRequested)
  }

  public func suspend() {
    do {
      try self.capture.suspend()
    } catch {
      self.driver.submit(.noticed(Self.audioFailure(error)))
    }
    self.driver.submit(.suspendRequested)
  }

  public func resume() throws {
    try self.capture.resume()
    self.driver.submit(.resumeRequested)
  }

  /// Tells the client that the network has changed: a waiting client tries again at once.
  public func networkPathChanged() {
    self.driver.submit(.pathChanged)
  }

  static func audioFailure(_ error: any Error) -> VoiceFailure {
    error as? VoiceFailure ?? VoiceFailure(.inputDeviceFailed, cause: error)
  }
}

// MARK: - Conformances of the documented class

extension SpeechClient {
  public func audioRecorderDidStop(_ audioRecorder: any AudioRecorderProtocol) {
    self.recorderCapture?.recorderStopped()
  }

  public func audioRecorderDidReceiveData(_ audioRecorder: any AudioRecorderProtocol, audioData: Data) {
    self.recorderCapture?.recorderReceived(audioData)
  }

  public func audioRecorderDidCatchError(_ audioRecorder: any AudioRecorderProtocol, error: any Error) {
    self.recorderCapture?.recorderFailed(Self.audioFailure(error))
  }
}
