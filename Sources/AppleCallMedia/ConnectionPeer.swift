import CallMedia
import CallSignaling
import Calls
import RealtimeMedia
import Synchronization
import VoiceCore
import VoicePlatform

/// The media of one call on a connection of the framework: locks, steps the ``PeerMachine``, unlocks, and performs.
final class ConnectionPeer: MediaPeer {
  /// Makes a connection, which tells what happens on any thread.
  typealias Maker =
    @Sendable (ConnectionSettings, @escaping @Sendable (ConnectionEvent) -> Void) throws
    -> any PeerConnecting

  private struct State {
    var machine: PeerMachine
    var connection: (any PeerConnecting)?
    var gathering: PeerReply<Void>?
    var outputs: [PeerMachine.Output] = []
    var isPerforming = false
    var timer: (deadline: VoiceInstant, task: Task<Void, Never>)?
    var measurement: Task<Void, Never>?
  }

  private let settings: ConnectionSettings
  private let preferredCodecs: [TxCodecCapability]
  private let report: @Sendable (MediaPeerEvent) -> Void
  private let make: Maker
  private let permission: any MicrophonePermission
  private let clock: any VoiceClock
  private let state: Mutex<State>

  /// - Parameter permission: Asked before the first connection, which would record silence without it.
  init(
    _ setup: MediaPeerSetup, limits: PeerMachine.Limits = .init(), permission: any MicrophonePermission,
    clock: any VoiceClock, make: @escaping Maker
  ) {
    self.settings = ConnectionSettings(iceServers: setup.iceServers, relayOnly: setup.forcesRelay)
    self.preferredCodecs = setup.preferredCodecs
    self.report = setup.report
    self.make = make
    self.permission = permission
    self.clock = clock
    self.state = Mutex(
      State(
        machine: PeerMachine(
          tricklesCandidates: setup.tricklesCandidates, measuresQuality: setup.measuresQuality, limits: limits
        )))
    // The framework records and plays by itself, so that a program which waits would wait for ever.
    setup.audio.end(VoiceFailure(.callSamplesUnavailable))
  }

  // MARK: Descriptions

  func makeOffer() async throws -> SDP { try await self.offer(isRestart: false) }

  func makeRestartOffer() async throws -> SDP { try await self.offer(isRestart: true) }

  private func offer(isRestart: Bool) async throws -> SDP {
    let connection = try await self.opened(replacing: false)
    return try await Self.failing(as: .callMediaFailed) {
      let offer = try await connection.makeOffer(restartingICE: isRestart)
      let text = CodecOrder.applied(self.preferredCodecs, to: offer)
      return try await self.setLocal(.offer, text, isRestart: isRestart, on: connection) { machine, _ in
        machine.offerSet(isRestart: isRestart)
        return []
      }
    }
  }

  func makeAnswer(to offer: SDP, isReattach: Bool) async throws -> SDP {
    let connection = try await self.opened(replacing: isReattach)
    if self.state.withLock({ $0.machine.mustRollBack }) {
      try await Self.failing(as: .callMediaFailed) { try await connection.setLocal(.rollback, "") }
      self.state.withLock { $0.machine.rolledBack() }
    }
    try await Self.failing(as: .callMediaUnacceptable) { try await connection.setRemote(.offer, offer.text) }
    let (candidates, isRestart) = self.state.withLock { $0.machine.remoteOfferSet(offer.text) }
    await self.add(candidates, to: connection)
    do {
      return try await Self.failing(as: .callMediaFailed) {
        let text = CodecOrder.applied(self.preferredCodecs, to: try await connection.makeAnswer())
        return try await self.setLocal(.answer, text, isRestart: isRestart, on: connection) { machine, now in
          machine.answerSet(at: now) + machine.audio
        }
      }
    } catch {
      // The call goes on as it was; if that fails too, the first failure is the one to tell.
      try? await connection.setRemote(.rollback, "")
      throw error
    }
  }

  func applyRemote(_ answer: SDP, isFinal: Bool) async throws {
    let (connection, plan) = self.state.withLock {
      ($0.connection, $0.machine.plan(forAnswer: answer.text, isFinal: isFinal))
    }
    guard let connection else { throw Self.ended }
    switch plan {
    case .ignore: break
    case .refuse(let failure): throw failure
    case .set(let kind):
      try await Self.failing(as: .callMediaUnacceptable) { try await connection.setRemote(kind, answer.text) }
      var candidates: [MediaCandidate] = []
      self.step { machine, now in
        let (waiting, outputs) = machine.remoteAnswerSet(answer.text, isFinal: isFinal, at: now)
        candidates = waiting
        return outputs + machine.audio
      }
      await self.add(candidates, to: connection)
    }
  }

  func addRemoteCandidate(_ candidate: MediaCandidate?) async {
    let (connection, plan) = self.state.withLock {
      ($0.connection, $0.machine.remoteCandidate(candidate))
    }
    switch plan {
    case .none: break
    case .warn(let failure): self.step { machine, _ in machine.isStopped ? [] : [.report(.warned(failure))] }
    case .add(let candidate): if let connection { await self.add([candidate], to: connection) }
    }
  }

  /// A candidate that cannot be used ends nothing: there may be others.
  private func add(_ candidates: [MediaCandidate], to connection: any PeerConnecting) async {
    for candidate in candidates {
      do {
        try await connection.add(candidate)
      } catch {
        let failure = VoiceFailure(
          .callMediaUnacceptable, message: "A candidate of the other side cannot be used.", cause: error)
        self.step { machine, _ in machine.isStopped ? [] : [.report(.warned(failure))] }
      }
    }
  }

  /// Sets a description of this side, and waits for its candidates unless they are told one by one.
  private func setLocal(
    _ kind: DescriptionKind, _ text: String, isRestart: Bool, on connection: any PeerConnecting,
    then set: @Sendable (inout PeerMachine, VoiceInstant) -> [PeerMachine.Output]
  ) async throws -> SDP {
    let gathering = PeerReply<Void>()
    var isAwaited = false
    self.step { machine, now in
      isAwaited = machine.localDescriptionBegins(isRestart: isRestart, at: now)
      return []
    } and: { state in
      if isAwaited { state.gathering = gathering }
    }
    try await connection.setLocal(kind, text)
    self.step(set)
    if isAwaited { try await gathering.value() }
    return SDP(connection.localDescription ?? text)
  }

  // MARK: In the call

  func setMuted(_ isMuted: Bool) { self.step { machine, _ in machine.muted(isMuted) } }

  func setHeld(_ isHeld: Bool) { self.step { machine, _ in machine.held(isHeld) } }

  func statistics() async -> MediaStatistics? {
    guard let connection = self.state.withLock({ $0.connection }),
      let report = try? await connection.measure()
    else { return nil }
    return self.state.withLock { $0.machine.statistics(report) }
  }

  func stop() async {
    let (connection, gathering) = self.state.withLock { state -> ((any PeerConnecting)?, PeerReply<Void>?) in
      guard state.machine.stopped() else { return (nil, nil) }
      state.timer?.task.cancel()
      state.measurement?.cancel()
      defer { (state.connection, state.gathering, state.timer, state.measurement) = (nil, nil, nil, nil) }
      return (state.connection, state.gathering)
    }
    connection?.close()
    gathering?.resolve(.failure(Self.ended))
  }

  // MARK: The connection

  private static var ended: VoiceFailure {
    VoiceFailure(.callNotFound, message: "The media of the call has ended.")
  }

  /// The connection, made with the first description, and anew for the offer of a wholly new transport.
  private func opened(replacing: Bool) async throws -> any PeerConnecting {
    if !replacing, let connection = self.state.withLock({ $0.connection }) { return connection }
    if let failure = await self.permission.request().failure { throw failure }
    try Task.checkCancellation()
    let generation = self.state.withLock { $0.machine.isStopped ? nil : $0.machine.generation + 1 }
    guard let generation else { throw Self.ended }
    let connection = try self.make(self.settings) { [weak self] event in
      self?.step { machine, now in machine.happened(event, generation: generation, at: now) }
    }
    let old = self.state.withLock { state -> (any PeerConnecting)? in
      // After the end there is nobody else to close the new one.
      guard !state.machine.isStopped else { return connection }
      defer { state.connection = connection }
      _ = state.machine.connectionMade()
      return state.connection
    }
    old?.close()
    guard old !== connection else { throw Self.ended }
    self.step { machine, _ in machine.audio }
    return connection
  }

  /// What went wrong may quote a description, so that it stays a cause.
  private static func failing<Value: Sendable>(
    as code: VoiceFailure.Code, _ body: () async throws -> Value
  ) async throws -> Value {
    do {
      return try await body()
    } catch let error as VoiceFailure {
      throw error
    } catch let error as CancellationError {
      throw error
    } catch {
      throw VoiceFailure(code, cause: error)
    }
  }

  // MARK: Stepping

  /// Whichever thread finds nobody performing performs what there is, so that outputs keep their order.
  private func step(
    _ body: (inout PeerMachine, VoiceInstant) -> [PeerMachine.Output],
    and more: (inout State) -> Void = { _ in }
  ) {
    let now = self.clock.now
    let mayPerform = self.state.withLock { state in
      state.outputs += body(&state.machine, now)
      more(&state)
      self.arm(&state)
      guard !state.isPerforming, !state.outputs.isEmpty else { return false }
      state.isPerforming = true
      return true
    }
    guard mayPerform else { return }
    while true {
      let outputs = self.state.withLock { state in
        defer { state.outputs = [] }
        if state.outputs.isEmpty { state.isPerforming = false }
        return state.outputs
      }
      guard !outputs.isEmpty else { return }
      for output in outputs { self.perform(output) }
    }
  }

  private func perform(_ output: PeerMachine.Output) {
    switch output {
    case .report(let event): self.report(event)
    case .gathered: self.state.withLock { $0.gathering }?.resolve(.success(()))
    case .setAudio(let sends, let plays):
      self.state.withLock { $0.connection }?.setAudio(sends: sends, plays: plays)
    case .measure: self.measure()
    }
  }

  /// The framework answers when it likes, and nobody waits for it; the end of the call gives the task up.
  private func measure() {
    self.state.withLock { state in
      guard let connection = state.connection else { return }
      let generation = state.machine.generation
      state.measurement = Task { [weak self] in
        let report = try? await connection.measure()
        self?.step { machine, now in machine.measured(report, generation: generation, at: now) }
      }
    }
  }

  /// A timer that fires too early costs one look at the machine.
  private func arm(_ state: inout State) {
    guard let deadline = state.machine.deadline else {
      state.timer?.task.cancel()
      state.timer = nil
      return
    }
    if let timer = state.timer, timer.deadline <= deadline { return }
    state.timer?.task.cancel()
    let clock = self.clock
    state.timer = (
      deadline,
      Task { [weak self] in
        guard (try? await clock.sleep(until: deadline, tolerance: nil)) != nil else { return }
        self?.timerFired(deadline)
      }
    )
  }

  private func timerFired(_ deadline: VoiceInstant) {
    self.state.withLock { state in
      if state.timer?.deadline == deadline { state.timer = nil }
    }
    self.step { machine, now in machine.timePassed(at: now) }
  }
}
