import CallSignaling
import Calls
import Foundation
import Synchronization
import VoiceCore
import VoicePlatform
import VoiceTesting

/// A client, its media and its gateway in memory, on a clock that the test moves.
final class CallsWorld: Sendable {
  let clock = TestClock()
  let gateway: ScriptedGateway
  let media: ScriptedMedia
  let paths = ManualNetworkPathMonitor()
  let client: TxClient
  let log: EventRecorder<ClientEvent>

  init(_ script: ScriptedGateway.Script = .init(), media: ScriptedMedia.Script = .init(), seed: UInt64 = 1) {
    self.gateway = ScriptedGateway(script, clock: self.clock)
    self.media = ScriptedMedia(media)
    self.client = TxClient(
      media: self.media, transport: self.gateway.transport, paths: self.paths, clock: self.clock,
      random: SeededGenerator(seed: seed))
    self.log = EventRecorder(self.client.events)
  }

  static let server = TxServerConfiguration(signalingServer: URL(string: "ws://gateway.test:7443/calls?a=b"))
  static let config = TxConfig(sipUser: "alice", password: "secret")

  func connect(_ config: TxConfig = CallsWorld.config) throws {
    try self.client.connect(txConfig: config, serverConfiguration: Self.server)
  }

  /// Connects and waits for the registration.
  static func ready(
    _ script: ScriptedGateway.Script = .init(), media: ScriptedMedia.Script = .init(),
    config: TxConfig = CallsWorld.config
  ) async throws -> CallsWorld {
    let world = CallsWorld(script, media: media)
    try world.connect(config)
    try await world.client.ready()
    return world
  }

  /// Places a call and waits until audio flows.
  func activeCall(_ destination: String = "bob") async throws -> (Call, EventRecorder<CallEvent>) {
    let call = try await self.client.call(destination)
    try await call.answered()
    await self.mediaIsDone(of: call)
    // The state is there before it is told; what the recorder gets begins after that.
    _ = await self.log.first { event in
      if case .callStateUpdated(let told, .ACTIVE) = event { told === call } else { false }
    }
    let log = EventRecorder(call.events)
    return (call, log)
  }

  /// Waits until the peer of a call has both descriptions.
  func mediaIsDone(of call: Call) async {
    await self.peer(of: call)?.hasBothDescriptions()
  }

  func peer(of call: Call) -> ScriptedMediaPeer? {
    call.callInfo.flatMap { self.media.peer(of: CallID($0.callId.uuidString)) }
  }
}

/// Keeps what a client logs.
final class LogLines: TxLogger {
  private let lines = Mutex<[(level: LogLevel, message: String)]>([])

  var all: [(level: LogLevel, message: String)] { self.lines.withLock { $0 } }

  func log(level: LogLevel, message: String) { self.lines.withLock { $0.append((level, message)) } }
}

/// Keeps the events of a sequence; waits for the first that satisfies a condition, be it past or to come.
final class EventRecorder<Event: Sendable>: Sendable {
  private struct State {
    var events: [Event] = []
    var isFinished = false
    var waiters:
      [(condition: @Sendable (Event) -> Bool, from: Int, continuation: CheckedContinuation<Event?, Never>)] =
        []
  }

  private let state = Mutex(State())
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(_ events: EventBroadcaster<Event>.Subscription) {
    let task = Task { [weak self] in
      for await event in events { self?.record(event) }
      self?.finish()
    }
    self.task.withLock { $0 = task }
  }

  deinit { self.task.withLock { $0 }?.cancel() }

  var events: [Event] { self.state.withLock { $0.events } }

  private func record(_ event: Event) {
    let due = self.state.withLock { state in
      state.events.append(event)
      let due = state.waiters.filter { $0.condition(event) }
      state.waiters.removeAll { $0.condition(event) }
      return due
    }
    for waiter in due { waiter.continuation.resume(returning: event) }
  }

  private func finish() {
    let due = self.state.withLock { state in
      state.isFinished = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in due { waiter.continuation.resume(returning: nil) }
  }

  /// - Parameter from: How many events to skip.
  func first(from: Int = 0, where condition: @escaping @Sendable (Event) -> Bool) async -> Event? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let found = self.state.withLock { state -> Event?? in
          if let event = state.events.dropFirst(from).first(where: condition) { return .some(event) }
          if state.isFinished || Task.isCancelled { return .some(nil) }
          state.waiters.append((condition, from, continuation))
          return nil
        }
        if let found { continuation.resume(returning: found) }
      }
    } onCancel: {
      self.finish()
    }
  }
}

extension EventRecorder where Event == ClientEvent {
  func failure(_ code: VoiceFailure.Code, from: Int = 0) async -> VoiceFailure? {
    let event = await self.first(from: from) {
      if case .failed(let failure) = $0 { failure.code == code } else { false }
    }
    guard case .failed(let failure)? = event else { return nil }
    return failure
  }

  /// The names of the events, for a test of their order.
  var names: [String] {
    self.events.map { event in
      switch event {
      case .socketConnected: "socketConnected"
      case .socketDisconnected: "socketDisconnected"
      case .ready: "ready"
      case .sessionUpdated: "sessionUpdated"
      case .loginRefreshed: "loginRefreshed"
      case .incomingCall: "incomingCall"
      case .pushCall: "pushCall"
      case .pushedCallEnded: "pushedCallEnded"
      case .callStateUpdated(_, let state): state.value
      case .remoteCallEnded: "remoteCallEnded"
      case .callReported: "callReported"
      case .pushDisabled: "pushDisabled"
      case .assistant: "assistant"
      case .unhandled: "unhandled"
      case .failed(let failure): failure.code.rawValue
      }
    }
  }

  func count(_ name: String) -> Int { self.names.count { $0 == name } }

  func next(_ name: String, from: Int = 0) async {
    _ = await self.first(from: from) { event in
      switch (event, name) {
      case (.socketConnected, "socketConnected"), (.socketDisconnected, "socketDisconnected"),
        (.ready, "ready"),
        (.incomingCall, "incomingCall"), (.pushCall, "pushCall"), (.pushedCallEnded, "pushedCallEnded"),
        (.remoteCallEnded, "remoteCallEnded"),
        (.callReported, "callReported"),
        (.loginRefreshed, "loginRefreshed"), (.pushDisabled, "pushDisabled"), (.assistant, "assistant"),
        (.unhandled, "unhandled"):
        true
      case (.callStateUpdated(_, let state), _): state.value == name
      default: false
      }
    }
  }
}

extension EventRecorder where Event == CallEvent {
  func state(_ name: String, from: Int = 0) async {
    _ = await self.first(from: from) {
      if case .stateUpdated(let state) = $0 { state.value == name } else { false }
    }
  }

  func failure(_ code: VoiceFailure.Code) async -> VoiceFailure? {
    let event = await self.first { if case .failed(let failure) = $0 { failure.code == code } else { false } }
    guard case .failed(let failure)? = event else { return nil }
    return failure
  }

  func ended() async -> CallTerminationReason? {
    let event = await self.first { if case .ended = $0 { true } else { false } }
    guard case .ended(let reason)? = event else { return nil }
    return reason
  }

  var states: [String] {
    self.events.compactMap { if case .stateUpdated(let state) = $0 { state.value } else { nil } }
  }
}
