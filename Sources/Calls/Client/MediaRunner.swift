import CallSignaling
import RealtimeMedia
import Synchronization
import VoiceCore

/// Gives a call's media peer its commands one after the other, and tells the machine what came of them.
///
/// The peer is made with the first command, so that a call which fails before has none.
final class MediaRunner: Sendable {
  private struct State {
    var peer: (any MediaPeer)?
    var isMuted = false
    var isHeld = false
    var task: Task<Void, Never>?
    /// Candidates that came before there was a peer, as while a call rings.
    var early: [MediaCandidate?] = []
  }

  /// More candidates than any machine has ways.
  private static let mostEarly = 64

  private let state = Mutex(State())
  private let commands: AsyncStream<ClientMachine.MediaCommand>.Continuation
  private let stream: AsyncStream<ClientMachine.MediaCommand>
  private let make: @Sendable () throws -> any MediaPeer
  private let tell: @Sendable (CallMachine.Event) -> Void
  private let answered: @Sendable (RPCID?, Result<SDP, VoiceFailure>) -> Void
  private let leftOut: @Sendable () -> Void

  /// - Parameters:
  ///   - make: Makes the peer.
  ///   - tell: Takes what came of commands; may be called on any thread.
  ///   - answered: Takes answers to offers that came in the call.
  ///   - leftOut: Hears of every candidate of the other side that is left out, because too many wait for a peer.
  init(
    make: @escaping @Sendable () throws -> any MediaPeer,
    tell: @escaping @Sendable (CallMachine.Event) -> Void,
    answered: @escaping @Sendable (RPCID?, Result<SDP, VoiceFailure>) -> Void,
    leftOut: @escaping @Sendable () -> Void
  ) {
    (self.stream, self.commands) = AsyncStream.makeStream()
    self.make = make
    self.tell = tell
    self.answered = answered
    self.leftOut = leftOut
  }

  /// Performs a command after those before it; `stop` also gives up the one that is under way.
  func perform(_ command: ClientMachine.MediaCommand) {
    switch command {
    case .setMuted(let isMuted):
      let peer = self.state.withLock { state in
        state.isMuted = isMuted
        return state.peer
      }
      peer?.setMuted(isMuted)
    case .setHeld(let isHeld):
      let peer = self.state.withLock { state in
        state.isHeld = isHeld
        return state.peer
      }
      peer?.setHeld(isHeld)
    case .stop:
      self.commands.finish()
      self.state.withLock { $0.task }?.cancel()
    case .makeOffer, .makeAnswer, .makeRestartOffer, .makeUpdateAnswer, .applyRemote, .candidate:
      self.start()
      self.commands.yield(command)
    }
  }

  /// What was measured, once there is a peer that measures.
  func statistics() async -> MediaStatistics? {
    await self.state.withLock { $0.peer }?.statistics()
  }

  /// Negotiation takes time and has an order, so it has a task; that keeps the runner until `stop`, which ends every call.
  private func start() {
    self.state.withLock { state in
      guard state.task == nil else { return }
      state.task = Task {
        for await command in self.stream { await self.run(command) }
        let peer = self.state.withLock { state in
          defer { state.peer = nil }
          return state.peer
        }
        await peer?.stop()
      }
    }
  }

  private func peer() throws -> any MediaPeer {
    if let peer = self.state.withLock({ $0.peer }) { return peer }
    let peer = try self.make()
    let (isMuted, isHeld) = self.state.withLock { state in
      state.peer = peer
      return (state.isMuted, state.isHeld)
    }
    if isMuted { peer.setMuted(true) }
    if isHeld { peer.setHeld(true) }
    return peer
  }

  private func run(_ command: ClientMachine.MediaCommand) async {
    switch command {
    case .makeOffer:
      do { self.tell(.offerMade(try await self.peer().makeOffer())) } catch {
        self.tell(.offerFailed(Self.failure(error)))
      }
    case .makeAnswer(let offer, let isReattach):
      do {
        let answer = try await self.peer().makeAnswer(to: offer, isReattach: isReattach)
        await self.handOverEarly()
        self.tell(.answerMade(answer))
      } catch {
        self.tell(.answerFailed(Self.failure(error)))
      }
    case .makeRestartOffer:
      do {
        self.tell(.restartOfferMade(try await self.peer().makeRestartOffer()))
      } catch {
        self.tell(.restartFailed(Self.failure(error)))
      }
    case .makeUpdateAnswer(let offer, let request):
      do {
        let answer = try await self.peer().makeAnswer(to: offer, isReattach: false)
        self.answered(request, .success(answer))
      } catch {
        self.answered(request, .failure(Self.failure(error)))
      }
    case .applyRemote(let answer, let isFinal):
      do {
        try await self.peer().applyRemote(answer, isFinal: isFinal)
      } catch {
        self.tell(.remoteRejected(Self.failure(error)))
      }
    case .candidate(let candidate):
      let (peer, hasRoom) = self.state.withLock { state in
        // There is always room for the end of them.
        let hasRoom = state.early.count < Self.mostEarly + (candidate == nil ? 1 : 0)
        if state.peer == nil, hasRoom { state.early.append(candidate) }
        return (state.peer, hasRoom)
      }
      if let peer {
        await peer.addRemoteCandidate(candidate)
      } else if !hasRoom {
        self.leftOut()
      }
    case .setMuted, .setHeld, .stop: break
    }
  }

  /// The other side's description is known, so its candidates can be taken.
  private func handOverEarly() async {
    let (peer, candidates) = self.state.withLock { state in
      defer { state.early = [] }
      return (state.peer, state.early)
    }
    for candidate in candidates { await peer?.addRemoteCandidate(candidate) }
  }

  private static func failure(_ error: any Error) -> VoiceFailure {
    error as? VoiceFailure ?? VoiceFailure(.callMediaFailed, cause: error)
  }
}
