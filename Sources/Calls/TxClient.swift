import CallSignaling
public import Dispatch
public import Foundation
import Synchronization
public import VoiceCore
public import VoicePlatform
import VoiceWebSocket

/// Registers with a gateway, places and takes calls, and keeps both over changes of the network.
///
/// ```swift
/// // As documented:
/// let client = TxClient()
/// client.delegate = self
/// try client.connect(txConfig: TxConfig(sipUser: "alice", password: password))
///
/// // With async:
/// try client.connect(txConfig: config)
/// try await client.ready()
/// let call = try await client.call("bob")
/// try await call.answered()
/// ```
///
/// What happens is told to the ``delegate`` on its queue, and to every reader of ``events``. A lost connection comes back by
/// itself, also without calls, and its calls with it. Several clients in one process share nothing. A client that is released
/// hangs up. All methods may be called on any thread.
public final class TxClient: Sendable {
  let driver: ClientDriver
  let broadcaster: EventBroadcaster<ClientEvent>
  private let dispatcher: DelegateDispatcher
  private let log = Mutex<ClientLog>(ClientLog())
  private let sessionID: String

  /// Creates a client that is not connected.
  ///
  /// - Parameters:
  ///   - media: Makes the audio of calls.
  ///   - transport: Carries frames to the gateway.
  ///   - paths: Says when the network changed; `nil` relies on silence alone.
  ///   - clock: The time that waits and time-outs are measured on.
  ///   - random: The source of ids and of jitter.
  ///   - delegateQueue: The serial queue on which the delegate is called.
  public convenience init(
    media: (any MediaPeerFactory)? = nil, transport: any SignalingTransport = WebSocketTransport(),
    paths: (any NetworkPathMonitor)? = SystemNetworkPathMonitor.shared,
    clock: any VoiceClock = MonotonicClock(),
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    delegateQueue: DispatchQueue = DispatchQueue(label: "swift-voice.TxClient.delegate")
  ) {
    self.init(
      parts: ClientDriver.Parts(
        transport: transport, media: media ?? WebRTCMedia(), clock: clock,
        paths: paths.map { MonitoredPaths(monitor: $0) },
        wallClock: { Int(Date().timeIntervalSince1970) }),
      random: random, delegateQueue: delegateQueue)
  }

  /// Creates a client that is not connected, with the system's network and time.
  public convenience init() {
    self.init(media: nil)
  }

  init(parts: ClientDriver.Parts, random: any RandomNumberGenerator & Sendable, delegateQueue: DispatchQueue)
  {
    self.driver = ClientDriver(parts: parts, random: random)
    self.broadcaster = EventBroadcaster(capacity: 4096) { count in
      .failed(
        VoiceFailure(
          .eventsDropped, message: "A reader of events was too slow: \(count) events were dropped."))
    }
    self.dispatcher = DelegateDispatcher(queue: delegateQueue)
    self.sessionID = self.driver.makeID()
    let (broadcaster, dispatcher) = (self.broadcaster, self.dispatcher)
    let deliver: @Sendable (ClientEvent) -> Void = { event in
      broadcaster.publish(event)
      dispatcher.dispatch(event)
    }
    self.driver.attach(
      ClientDriver.Listener(
        notify: { [weak self] notice in self?.notify(notice, deliver) },
        notifyCall: { call, notice in Self.notify(notice, of: call, deliver) },
        log: { [weak self] level, message in self?.log.withLock { $0 }.write(level, message) }))
  }

  deinit {
    self.driver.shutDown()
    self.broadcaster.finish()
  }

  // MARK: Faces

  /// Who is told what happens; held weakly.
  public var delegate: (any TxClientDelegate)? {
    get { self.dispatcher.delegate }
    set { self.dispatcher.delegate = newValue }
  }

  /// The events from now on, for one reader; each access is a new reader.
  public var events: EventBroadcaster<ClientEvent>.Subscription { self.broadcaster.subscribe() }

  /// The calls that are not over.
  public var calls: [UUID: Call] {
    Dictionary(
      self.driver.calls.compactMap { call in (call.callInfo?.callId).map { ($0, call) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// Whether a connection to the gateway is open.
  public func isConnected() -> Bool { self.driver.read { $0.isConnected } }

  /// Whether calls can be made and come in.
  public var isRegistered: Bool { self.driver.read(\.isReady) }

  /// The session, which stays the same over reconnections; made when the client is.
  public func getSessionId() -> String { self.driver.read { $0.session?.sessionID } ?? self.sessionID }

  /// The call with an id, or `nil`.
  public func getCall(callId: UUID) -> Call? { self.calls[callId] }

  /// The codecs that the media peers speak.
  public func getSupportedAudioCodecs() -> [TxCodecCapability] { self.driver.parts.media.supportedCodecs }

  // MARK: Connecting

  /// Connects, logs in and registers; ``TxClientDelegate/onClientReady()`` says when that is done.
  ///
  /// On a client that is connected already: with the same gateway, new credentials are taken on the live connection and
  /// calls go on; with another gateway, the calls end with goodbyes and the client moves there.
  ///
  /// - Throws: ``TxError/clientConfigurationFailed(reason:)``, or ``VoiceFailure`` `network.address.invalid`.
  public func connect(
    txConfig: TxConfig, serverConfiguration: TxServerConfiguration = TxServerConfiguration()
  ) throws {
    try self.connect(txConfig, serverConfiguration, push: nil)
  }

  /// - Parameter push: What a push message said that woke the app.
  func connect(
    _ txConfig: TxConfig, _ serverConfiguration: TxServerConfiguration, push: [String: String]?
  ) throws {
    try txConfig.validateParams()
    self.log.withLock { $0 = ClientLog(level: txConfig.logLevel, logger: txConfig.customLogger) }
    var session = ClientSession(
      server: serverConfiguration, identity: .credentials(txConfig.credentials),
      userVariables: txConfig.userVariables,
      pushVariables: txConfig.pushVariables,
      userAgent:
        "swift-voice\(txConfig.enableMissedCallNotifications ? "-mpn" : "")-\(ClientSession.version)",
      dialect: txConfig.dialect, settings: ClientSettings(txConfig), sessionID: self.getSessionId())
    session.fromPush = push != nil
    // An id that is none is as good as no id.
    session.pushedCall = push?["call_id"].flatMap { UUID(uuidString: $0) }
      .map { CallID($0.uuidString.lowercased()) }
    try self.connect(session)
  }

  /// Connects to an assistant without credentials; `onClientReady` says when a call can be made.
  ///
  /// A gateway whose address cannot be read is reported as a failure.
  public func anonymousLogin(
    targetId: String, targetType: String = "ai_assistant", targetVersionId: String? = nil,
    userVariables: [String: String] = [:], reconnection: Bool = false,
    serverConfiguration: TxServerConfiguration = TxServerConfiguration()
  ) {
    var request = AnonymousLoginRequest(
      targetType: targetType, targetID: targetId, targetVersionID: targetVersionId, reconnection: reconnection
    )
    for (name, value) in userVariables.sorted(by: { $0.key < $1.key }) {
      request.userVariables[name] = .string(value)
    }
    let session = ClientSession(
      server: serverConfiguration, identity: .anonymous(request), userVariables: JSONObject(),
      pushVariables: JSONObject(),
      userAgent: "swift-voice-\(ClientSession.version)", dialect: .telnyx, sessionID: self.getSessionId())
    do {
      try self.connect(session)
    } catch {
      self.notify(
        .failed(error as? VoiceFailure ?? VoiceFailure(.addressInvalid, cause: error)), self.deliver)
    }
  }

  private var deliver: @Sendable (ClientEvent) -> Void {
    let (broadcaster, dispatcher) = (self.broadcaster, self.dispatcher)
    return { event in
      broadcaster.publish(event)
      dispatcher.dispatch(event)
    }
  }

  private func connect(_ session: ClientSession) throws {
    do throws(WebSocketFailure) {
      _ = try session.server.address(voiceSDKID: nil)
    } catch {
      throw error.failure
    }
    self.driver.connect(session)
    self.watchToken(of: session)
  }

  /// Takes new credentials, a new push token or new settings of pushes on the live connection; calls go on.
  ///
  /// ``ClientEvent/loginRefreshed`` says that the gateway took them, a failure `call.login.refused` that it did not and that
  /// the old ones go on.
  ///
  /// - Throws: ``TxError``: a configuration that is incomplete, or `socketNotConnected` before ``connect(txConfig:serverConfiguration:)``.
  public func updateLogin(txConfig: TxConfig) throws {
    try txConfig.validateParams()
    guard var session = self.driver.read({ $0.session }) else {
      throw TxError.socketConnectionFailed(reason: .socketNotConnected)
    }
    session.identity = .credentials(txConfig.credentials)
    session.userVariables = txConfig.userVariables
    session.pushVariables = txConfig.pushVariables
    self.driver.submit(.loginChanged(session))
    self.watchToken(of: session)
  }

  /// Tells the gateway another push token on the live connection.
  ///
  /// - Throws: ``TxError`` `socketNotConnected` before ``connect(txConfig:serverConfiguration:)``.
  public func updatePushToken(_ token: String, provider: String = "ios") throws {
    guard var session = self.driver.read({ $0.session }) else {
      throw TxError.socketConnectionFailed(reason: .socketNotConnected)
    }
    for name in ["push_device_token", "push_notification_provider"] {
      let value = JSON.string(name == "push_device_token" ? token : provider)
      session.userVariables[name] = value
      session.pushVariables[name] = value
    }
    self.driver.submit(.loginChanged(session))
  }

  /// Hangs up every call, says goodbye, and closes the connection.
  ///
  /// It returns at once; ``disconnected()`` waits. The client can be connected again afterwards.
  public func disconnect() {
    self.driver.submit(.disconnectRequested)
  }

  /// Does what ``disconnect()`` does, and waits until the gateway has confirmed the goodbyes, for 5 seconds at most.
  public func disconnected() async {
    let done = self.disconnection.wait()
    self.disconnect()
    for await _ in done {}
  }

  let disconnection = Signal()
  let readiness = Signal()

  /// A warning before a token ends (telnyx.md section 1.9: 120 s).
  private func watchToken(of session: ClientSession) {
    let seconds = session.token.flatMap { TokenExpiry.secondsSince1970(of: $0) }
    let left = seconds.flatMap { seconds -> Int? in
      let (left, overflows) = seconds.subtractingReportingOverflow(self.driver.parts.wallClock())
      return overflows ? nil : left
    }
    // Far ends are those of tokens that do not end; their seconds may not fit a duration.
    let delay = left.flatMap { $0 < 1 << 32 ? Duration.seconds(max(0, $0 - 120)) : nil }
    self.driver.submit(.tokenWarningDue(in: delay))
  }

  // MARK: Telling

  private func notify(_ notice: ClientMachine.Notice, _ deliver: @Sendable (ClientEvent) -> Void) {
    switch notice {
    case .socketConnected: deliver(.socketConnected)
    case .socketDisconnected: deliver(.socketDisconnected)
    case .ready:
      deliver(.ready)
      self.readiness.send(.success(()))
    case .refreshed: deliver(.loginRefreshed)
    case .sessionUpdated(let id): deliver(.sessionUpdated(sessionId: id))
    case .failed(let failure): deliver(.failed(failure))
    case .gaveUp(let failure): self.readiness.send(.failure(failure))
    case .disconnected:
      // Who waits for the connection that follows goes on waiting.
      if !self.driver.read(\.isWanted) { self.readiness.send(.failure(VoiceFailure(.callNotConnected))) }
      self.disconnection.send(.success(()))
    case .pushDisabled(let success, let message): deliver(.pushDisabled(success: success, message: message))
    case .pushedCallGone(let id, let reason):
      deliver(.pushedCallEnded(callId: id.flatMap { UUID(uuidString: $0.text) }, reason: reason))
      if let failure = reason.failure { deliver(.failed(failure)) }
    case .assistant(let message): deliver(.assistant(message))
    case .unhandled(let request): deliver(.unhandled(request))
    }
  }

  private static func notify(
    _ notice: ClientMachine.CallNotice, of call: Call, _ deliver: @Sendable (ClientEvent) -> Void
  ) {
    switch notice {
    case .incoming(let wasPushed):
      deliver(.incomingCall(call))
      if wasPushed { deliver(.pushCall(call)) }
    case .stateChanged(let state):
      call.publish(.stateUpdated(state))
      deliver(.callStateUpdated(call, state))
    case .holdChanged(let state): call.publish(.holdConfirmed(isHeld: state == .held))
    case .otherSideHeld(let isHeld): call.publish(.heldByOtherSide(isHeld))
    case .earlyMedia: call.publish(.earlyMedia)
    case .info(let message): call.publish(.info(message))
    case .tonesDelivered(let tones): call.publish(.tonesDelivered(tones))
    case .failed(let failure):
      call.publish(.failed(failure))
      deliver(.failed(failure))
    case .ended(let reason, let report):
      call.publish(.ended(reason))
      if reason.origin != .local { deliver(.remoteCallEnded(call, reason: reason)) }
      if let report { deliver(.callReported(report)) }
    }
  }
}

/// Where one client's log lines go, and from which level on.
struct ClientLog: Sendable {
  var level = LogLevel.none
  var logger: (any TxLogger)?

  func write(_ level: LogLevel, _ message: String) {
    guard self.level != .none, level <= self.level else { return }
    (self.logger ?? StandardErrorLogger()).log(level: level, message: message)
  }
}
