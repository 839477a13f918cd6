public import CallSignaling
public import Calls
import Synchronization
public import VoiceCore

/// A gateway that follows a script: to see what an app does when a gateway answers late, wrongly, twice or not at all.
///
/// In memory it is a client's transport; everything then happens within the client's own calls, so that with a `TestClock`
/// nothing is left to chance. On a socket (``listen(port:)``) it is a gateway for any client.
///
/// ```swift
/// var script = ScriptedGateway.Script()
/// script.replies[.modify] = [.drop]
/// let gateway = ScriptedGateway(script)
/// let client = TxClient(media: ScriptedMedia(), transport: gateway.transport, paths: nil)
/// ```
public final class ScriptedGateway: Sendable {
  /// One connection, as the gateway sees it.
  struct Link: Sendable {
    var send: @Sendable ([UInt8]) -> Void
    var close: @Sendable (Int) -> Void
    var cut: @Sendable () -> Void
    var isSilent = false
    var sessionID: String?
    var hasAttached = false
  }

  struct KnownCall: Sendable {
    var sessionID: String
    var isEstablished = false
    var hold = HoldState.active
  }

  struct Waiter: Sendable {
    let id: Int
    let method: SignalingMethod
    let count: Int
    let continuation: CheckedContinuation<ClientRequest, any Error>
  }

  struct State: Sendable {
    var lastWaiter = 0
    var script: Script
    var links: [Int: Link] = [:]
    var nextLink = 0
    var calls: [CallID: KnownCall] = [:]
    /// Server requests have integer ids (telnyx.md section 0.1).
    var nextID = 138_417
    var description = 0
    var requests: [ClientRequest] = []
    var frames: [[UInt8]] = []
    var acknowledgements = 0
    var reports: [DebugReport] = []
    var results: [JSON] = []
    var waiters: [Waiter] = []
    var queue: [@Sendable () -> Void] = []
    var isPerforming = false
  }

  let state: Mutex<State>
  let clock: any VoiceClock

  /// Creates a gateway.
  public init(_ script: Script = Script(), clock: any VoiceClock = MonotonicClock()) {
    self.state = Mutex(State(script: script))
    self.clock = clock
  }

  /// What the gateway does from now on.
  public var script: Script {
    get { self.state.withLock { $0.script } }
    set { self.state.withLock { $0.script = newValue } }
  }

  /// Connects clients in memory.
  public var transport: any SignalingTransport { MemoryTransport(gateway: self) }

  // MARK: Looking

  /// The requests that came, in order.
  public var requests: [ClientRequest] { self.state.withLock { $0.requests } }

  /// The frames that came, in order, as they came.
  public var frames: [[UInt8]] { self.state.withLock { $0.frames } }

  /// How many of the gateway's requests were confirmed.
  public var acknowledgements: Int { self.state.withLock { $0.acknowledgements } }

  /// How clients answered the gateway's requests, in order; errors are not among them.
  public var results: [JSON] { self.state.withLock { $0.results } }

  /// The statistics that clients sent, in order.
  public var reports: [DebugReport] { self.state.withLock { $0.reports } }

  /// How many connections there are.
  public var connections: Int { self.state.withLock { $0.links.count } }

  /// The calls that the gateway knows.
  public var calls: [CallID] { self.state.withLock { Array($0.calls.keys) } }

  /// Waits until a request came for the n-th time, be it past or to come.
  ///
  /// - Throws: `CancellationError`.
  public func request(_ method: SignalingMethod, count: Int = 1) async throws -> ClientRequest {
    let id = self.state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let found = self.state.withLock { state -> Result<ClientRequest, any Error>? in
          let requests = state.requests.filter { $0.method == method }
          if requests.count >= count, count > 0 { return .success(requests[count - 1]) }
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiters.append(Waiter(id: id, method: method, count: count, continuation: continuation))
          return nil
        }
        if let found { continuation.resume(with: found) }
      }
    } onCancel: {
      let cancelled = self.state.withLock { state in
        defer { state.waiters.removeAll { $0.id == id } }
        return state.waiters.filter { $0.id == id }
      }
      for waiter in cancelled { waiter.continuation.resume(throwing: CancellationError()) }
    }
  }

  // MARK: Acting

  /// Sends a request to every client.
  public func send(_ request: ServerRequest) {
    self.act { state in
      let frames = self.frame(request, &state)
      return state.links.values.filter { !$0.isSilent }.map { link in { link.send(frames) } }
    }
  }

  /// Sends any text to every client.
  public func send(raw text: String) {
    self.act { state in
      state.links.values.filter { !$0.isSilent }.map { link in { link.send(Array(text.utf8)) } }
    }
  }

  /// Calls every client.
  public func invite(_ id: CallID, from caller: String = "bob", headers: [CustomHeader] = []) {
    self.act { state in
      guard let link = state.links.values.first(where: { $0.sessionID != nil && !$0.isSilent }) else {
        return []
      }
      state.calls[id] = KnownCall(sessionID: link.sessionID ?? "")
      var message = ServerCallMessage(callID: id, sdp: self.describe(&state))
      message.callerIDName = caller
      message.callerIDNumber = caller
      message.customHeaders = headers
      let frame = self.frame(.invite(message), &state)
      return [{ link.send(frame) }]
    }
  }

  /// Ends a call.
  public func bye(_ id: CallID, _ cause: HangupCause = .normalClearing, sipCode: Int? = nil) {
    self.state.withLock { $0.calls[id] = nil }
    self.send(.bye(ByeMessage(callID: id, cause: cause, sipCode: sipCode)))
  }

  /// Cuts every connection, without a close frame.
  public func cut() {
    self.act { state in
      defer { state.links = [:] }
      return state.links.values.map { link in link.cut }
    }
  }

  /// Closes every connection with a code.
  public func close(_ code: Int) {
    self.act { state in
      defer { state.links = [:] }
      return state.links.values.map { link in { link.close(code) } }
    }
  }

  /// Makes every connection look open and be dead.
  public func goSilent() {
    self.state.withLock { state in
      for id in state.links.keys { state.links[id]?.isSilent = true }
    }
  }

  /// Forgets every call.
  public func forgetCalls() {
    self.state.withLock { $0.calls = [:] }
  }

  // MARK: Connections

  func accept(_ link: Link) -> Int {
    self.state.withLock { state in
      state.nextLink += 1
      state.links[state.nextLink] = link
      return state.nextLink
    }
  }

  func nextRefusal() -> Refusal? {
    self.state.withLock { state in
      state.script.refusals.isEmpty ? nil : state.script.refusals.removeFirst()
    }
  }

  func ended(_ link: Int) {
    self.state.withLock { _ = $0.links.removeValue(forKey: link) }
  }

  func isListening(_ link: Int) -> Bool {
    self.state.withLock { $0.links[link].map { !$0.isSilent } ?? false }
  }

  // MARK: Order

  /// Changes the state, then does what follows, in the order of the changes and without the lock.
  func act(_ body: (inout State) -> [@Sendable () -> Void]) {
    let mayPerform = self.state.withLock { state in
      let work = body(&state)
      state.queue += work
      guard !state.isPerforming, !state.queue.isEmpty else { return false }
      state.isPerforming = true
      return true
    }
    guard mayPerform else { return }
    while true {
      let batch = self.state.withLock { state in
        defer { state.queue = [] }
        if state.queue.isEmpty { state.isPerforming = false }
        return state.queue
      }
      guard !batch.isEmpty else { return }
      for work in batch { work() }
    }
  }

  // MARK: Frames

  var codec: SignalingCodec { SignalingCodec(dialect: self.script.dialect) }

  func frame(_ request: ServerRequest, _ state: inout State) -> [UInt8] {
    state.nextID += 1
    return SignalingCodec(dialect: state.script.dialect)
      .encode(request, id: .integer(state.nextID), voiceSDKID: state.script.voiceSDKID)
  }

  func describe(_ state: inout State) -> SDP {
    state.description += 1
    return .scripted(number: 5_000 + state.description)
  }
}

/// Connects a client with a gateway in the same process.
private struct MemoryTransport: SignalingTransport {
  let gateway: ScriptedGateway

  func open(
    _ url: String, onEvent: @escaping @Sendable (SignalingTransportEvent) -> Void
  ) -> any SignalingConnection {
    let connection = MemoryConnection(gateway: self.gateway, onEvent: onEvent)
    switch self.gateway.nextRefusal() {
    case .unreachable: onEvent(.failed(VoiceFailure(.serverUnreachable)))
    case .silent: break
    case nil: connection.open()
    }
    return connection
  }
}

/// One connection in memory; once it has ended nothing comes from it.
private final class MemoryConnection: SignalingConnection {
  private struct State {
    var link: Int?
    var isOver = false
  }

  private let gateway: ScriptedGateway
  private let onEvent: @Sendable (SignalingTransportEvent) -> Void
  private let state = Mutex(State())

  init(gateway: ScriptedGateway, onEvent: @escaping @Sendable (SignalingTransportEvent) -> Void) {
    self.gateway = gateway
    self.onEvent = onEvent
  }

  func open() {
    let link = self.gateway.accept(
      ScriptedGateway.Link(
        send: { [weak self] bytes in self?.tell(.received(bytes)) },
        close: { [weak self] code in self?.end(.closed(code: code)) },
        cut: { [weak self] in self?.end(.failed(VoiceFailure(.callConnectionLost))) }))
    self.state.withLock { $0.link = link }
    self.tell(.opened)
  }

  private func tell(_ event: SignalingTransportEvent) {
    guard !self.state.withLock({ $0.isOver }) else { return }
    self.onEvent(event)
  }

  private func end(_ event: SignalingTransportEvent?) {
    let link = self.state.withLock { state -> Int?? in
      guard !state.isOver else { return nil }
      state.isOver = true
      return .some(state.link)
    }
    guard let link else { return }
    if let link { self.gateway.ended(link) }
    if let event { self.onEvent(event) }
  }

  private var link: Int? { self.state.withLock { $0.isOver ? nil : $0.link } }

  func send(_ frame: [UInt8]) {
    guard let link = self.link else { return }
    self.gateway.received(frame, on: link)
  }

  func ping() {
    guard let link = self.link, self.gateway.isListening(link) else { return }
    self.tell(.pong)
  }

  func close() {
    guard let link = self.link, self.gateway.isListening(link) else { return }
    self.end(.closed(code: 1000))
  }

  func abort() { self.end(nil) }
}
