import CallMedia
import CallSignaling
import RealtimeMedia
import Synchronization
import VoiceCore

/// Runs a ``ClientMachine``: locks, steps, unlocks, and performs the effects in the order in which the machine gave them.
///
/// Whichever thread finds nobody performing performs what there is, also what others add meanwhile; so there is an order
/// without a task. Nothing of the app is called with the lock held.
final class ClientDriver: Sendable {
  /// What a client is made of.
  struct Parts: Sendable {
    var transport: any SignalingTransport
    var media: any MediaPeerFactory
    var clock: any VoiceClock
    var paths: (any NetworkPathSource)?
    /// Seconds since 1970, to compare the end of tokens with.
    var wallClock: @Sendable () -> Int
  }

  /// Reads what the driver tells, without the lock.
  struct Listener: Sendable {
    var notify: @Sendable (ClientMachine.Notice) -> Void
    var notifyCall: @Sendable (Call, ClientMachine.CallNotice) -> Void
    var log: @Sendable (LogLevel, String) -> Void
  }

  private struct State {
    var machine: ClientMachine
    var calls: [CallID: Call] = [:]
    var connections: [Int: any SignalingConnection] = [:]
    var media: [CallID: MediaRunner] = [:]
    var queue: [(ClientMachine.Effect, Call?)] = []
    var isPerforming = false
    var timer: (deadline: VoiceInstant, task: Task<Void, Never>)?
    var paths: Task<Void, Never>?
    var listener: Listener?
  }

  let parts: Parts
  private let state: Mutex<State>

  init(parts: Parts, random: any RandomNumberGenerator & Sendable) {
    self.parts = parts
    self.state = Mutex(State(machine: ClientMachine(random: random)))
  }

  func attach(_ listener: Listener) {
    self.state.withLock { $0.listener = listener }
  }

  // MARK: Reading

  func read<Value: Sendable>(_ body: (ClientMachine) -> Value) -> Value {
    self.state.withLock { body($0.machine) }
  }

  var calls: [Call] { self.state.withLock { Array($0.calls.values) } }

  func call(_ id: CallID) -> Call? { self.state.withLock { $0.calls[id] } }

  func makeID() -> String { self.state.withLock { $0.machine.makeID() } }

  // MARK: Stepping

  func submit(_ event: ClientMachine.Event) {
    self.step { _ in event }
  }

  /// Connects, and watches the network from then on.
  func connect(_ session: ClientSession) {
    self.submit(.connectRequested(session))
    self.watchPaths(of: session)
  }

  /// Begins an outbound call.
  func dial(_ id: CallID, _ setup: CallSetup, make: (ClientDriver) -> Call) -> Call {
    let call = make(self)
    self.step { state in
      state.calls[id] = call
      return .dialed(id, setup)
    }
    return call
  }

  private func step(_ event: (inout State) -> ClientMachine.Event) {
    let mayPerform = self.state.withLock { state in
      let event = event(&state)
      let effects = state.machine.handle(event, at: self.parts.clock.now)
      for effect in effects { self.enqueue(effect, &state) }
      for (id, call) in state.calls { call.update(state.machine.calls[id]) }
      self.arm(&state)
      guard !state.isPerforming, !state.queue.isEmpty else { return false }
      state.isPerforming = true
      return true
    }
    if mayPerform { self.performAll() }
  }

  /// Under the lock, so that what an app reads agrees with what it is told next.
  private func enqueue(_ effect: ClientMachine.Effect, _ state: inout State) {
    guard case .notifyCall(let id, let notice) = effect else {
      state.queue.append((effect, nil))
      return
    }
    if case .incoming = notice, let record = state.machine.calls[id], state.calls[id] == nil {
      state.calls[id] = Call(record: record, uuid: Call.identifier(of: id), driver: self)
    }
    guard let call = state.calls[id] else { return }
    if case .ended(let reason, let report) = notice {
      call.end(reason, report)
      state.calls[id] = nil
    }
    state.queue.append((effect, call))
  }

  private func performAll() {
    while true {
      let (batch, listener) = self.state.withLock { state in
        defer { state.queue = [] }
        if state.queue.isEmpty { state.isPerforming = false }
        return (state.queue, state.listener)
      }
      guard !batch.isEmpty else { return }
      for (effect, call) in batch { self.perform(effect, call, listener) }
    }
  }

  private func perform(_ effect: ClientMachine.Effect, _ call: Call?, _ listener: Listener?) {
    switch effect {
    case .open(let generation, let url): self.open(generation, url)
    case .send(let generation, let frame): self.connection(generation)?.send(frame)
    case .ping(let generation): self.connection(generation)?.ping()
    case .close(let generation): self.connection(generation)?.close()
    case .abandon(let generation):
      self.state.withLock { $0.connections.removeValue(forKey: generation) }?.abort()
    case .media(let id, let command): self.perform(command, of: id)
    case .notify(let notice):
      // It goes on if another connection follows.
      if case .disconnected = notice, !self.read(\.isWanted) { self.stopWatching() }
      listener?.notify(notice)
    case .notifyCall(_, let notice):
      guard let call else { break }
      listener?.notifyCall(call, notice)
    case .log(let level, let message): listener?.log(level, message)
    }
  }

  // MARK: Connections

  private func connection(_ generation: Int) -> (any SignalingConnection)? {
    self.state.withLock { $0.connections[generation] }
  }

  private func open(_ generation: Int, _ url: String) {
    let connection = self.parts.transport.open(url) { event in
      switch event {
      case .closed, .failed: self.state.withLock { _ = $0.connections.removeValue(forKey: generation) }
      case .opened, .received, .pong: break
      }
      self.submit(.socket(generation: generation, event))
    }
    self.state.withLock { $0.connections[generation] = connection }
  }

  // MARK: Media

  /// What the media of a call measured; `nil` before there is any, and after the call.
  func statistics(of id: CallID) async -> MediaStatistics? {
    await self.state.withLock { $0.media[id] }?.statistics()
  }

  private func perform(_ command: ClientMachine.MediaCommand, of id: CallID) {
    let runner = self.state.withLock { state -> MediaRunner? in
      if case .stop = command { return state.media.removeValue(forKey: id) }
      if let runner = state.media[id] { return runner }
      guard let record = state.machine.calls[id] else { return nil }
      let runner = self.makeRunner(for: record, state)
      state.media[id] = runner
      return runner
    }
    runner?.perform(command)
  }

  private func makeRunner(for record: CallRecord, _ state: State) -> MediaRunner {
    let id = record.id
    let setup = MediaPeerSetup(
      callID: id, iceServers: state.machine.session?.server.webRTCIceServers ?? [],
      forcesRelay: state.machine.session?.settings.forcesRelay ?? false,
      tricklesCandidates: record.dialog.trickleICE ?? false, audio: state.calls[id]?.audio ?? CallAudio(),
      preferredCodecs: record.preferredCodecs,
      measuresQuality: record.measuresQuality,
      report: { [weak self] event in self?.happened(event, in: id) })
    let factory = self.parts.media
    return MediaRunner(
      make: { try factory.makePeer(setup) }, tell: { [weak self] in self?.submit(.call(id, $0)) },
      answered: { [weak self] in self?.submit(.updateAnswered(id, request: $0, $1)) },
      leftOut: { [weak self] in
        let listener = self?.state.withLock { $0.listener }
        listener?.log(.warning, "a candidate of call \(id) is left out: too many wait for the call's media")
      })
  }

  private func happened(_ event: MediaPeerEvent, in id: CallID) {
    switch event {
    case .connected: self.submit(.call(id, .mediaConnected))
    case .interrupted: self.submit(.call(id, .mediaInterrupted))
    case .failed: self.submit(.call(id, .mediaFailed))
    case .candidateFound(let candidate): self.submit(.candidateFound(id, candidate))
    case .measured(let metrics):
      // Media of an app may measure though they were not asked to.
      guard let call = self.call(id), call.debug else { return }
      self.submit(.measured(id, metrics, wallTime: self.parts.wallClock()))
      call.measured(metrics)
    case .qualityChanged(let change): self.call(id)?.publish(.qualityChanged(change))
    case .keyPressed(let key): self.call(id)?.publish(.keyPressed(key))
    case .warned(let failure): self.call(id)?.publish(.failed(failure))
    }
  }

  // MARK: Time and paths

  /// A timer that fires too early costs one look at the machine; one that is moved costs a task.
  private func arm(_ state: inout State) {
    guard let deadline = state.machine.deadline else {
      state.timer?.task.cancel()
      state.timer = nil
      return
    }
    if let timer = state.timer, timer.deadline <= deadline { return }
    state.timer?.task.cancel()
    let clock = self.parts.clock
    state.timer = (
      deadline,
      Task { [weak self] in
        do {
          try await clock.sleep(until: deadline, tolerance: nil)
        } catch {
          return
        }
        self?.timerFired(deadline)
      }
    )
  }

  private func timerFired(_ deadline: VoiceInstant) {
    self.state.withLock { state in
      if state.timer?.deadline == deadline { state.timer = nil }
    }
    self.submit(.timePassed)
  }

  private func watchPaths(of session: ClientSession) {
    guard let paths = self.parts.paths, !session.server.isOnThisMachine else { return self.stopWatching() }
    self.state.withLock { state in
      guard state.paths == nil else { return }
      // It watches as long as a connection is wanted, and from now on, not from when the task begins.
      let changes = paths.changes()
      state.paths = Task { [weak self] in
        for await isSatisfied in changes { self?.submit(.pathChanged(isSatisfied: isSatisfied)) }
      }
    }
  }

  private func stopWatching() {
    let task = self.state.withLock { state in
      defer { state.paths = nil }
      return state.paths
    }
    task?.cancel()
  }

  /// Hangs up, says goodbye and closes; nothing is told any more but to those who wait for a call.
  func shutDown() {
    self.state.withLock { state in
      state.listener = Listener(
        notify: { _ in },
        notifyCall: { call, notice in
          switch notice {
          case .stateChanged(let callState): call.publish(.stateUpdated(callState))
          case .ended(let reason, _): call.publish(.ended(reason))
          case .incoming, .holdChanged, .otherSideHeld, .earlyMedia, .info, .tonesDelivered, .failed: break
          }
        }, log: { _, _ in })
    }
    self.stopWatching()
    self.submit(.disconnectRequested)
  }
}
