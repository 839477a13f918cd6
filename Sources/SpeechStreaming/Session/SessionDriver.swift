import Foundation
import SpeechProtocol
import Synchronization
import VoiceCore
import VoicePlatform

/// Performs what a ``SessionMachine`` decides: opens streams, gets tokens, records, keeps time.
///
/// Every input goes through one queue and is handled by one task, so that events leave in the order in which they were decided.
final class SessionDriver: Sendable {
  /// What the driver works with.
  struct Parts: Sendable {
    var transport: any SpeechTransport
    /// Recognises in this process; used if the configuration has an engine.
    var engine: PipelineTransport?
    var tokens: TokenProvider
    var capture: any SpeechCapture
    var clock: any VoiceClock
    /// Tells when the network has changed; `nil` if nobody can.
    var paths: (any NetworkPathMonitor)?
    /// Receives every event, in order, on the driver's task; must not wait.
    var deliver: @Sendable (SpeechEvent) -> Void
  }

  private let parts: Parts
  private let configuration: SessionMachine.Configuration
  private let random: any RandomNumberGenerator & Sendable
  private let inputs: AsyncStream<SessionMachine.Input>
  private let input: AsyncStream<SessionMachine.Input>.Continuation
  private let hasRun = Atomic(false)
  private let publicState = Mutex(SpeechClient.State.stopped)

  init(
    configuration: SessionMachine.Configuration, parts: Parts,
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.configuration = configuration
    self.parts = parts
    self.random = random
    // Not bounded here: audio comes in at the pace of a microphone or is held back, answers at the pace of the server.
    (self.inputs, self.input) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
  }

  /// The state that was last reported.
  var state: SpeechClient.State { self.publicState.withLock { $0 } }

  /// Adds an input; may be called on any thread.
  func submit(_ input: SessionMachine.Input) {
    if case .terminated = self.input.yield(input) { self.refuse(input) }
  }

  /// Nothing is done any more, which whoever wants to speak must hear.
  private func refuse(_ input: SessionMachine.Input) {
    guard case .startRequested = input else { return }
    self.parts.deliver(.failed(VoiceFailure(.clientClosed)))
  }

  /// Runs until the machine says that nothing more will happen; returns at once when it is already running or has run.
  func run() async {
    guard !self.hasRun.exchange(true, ordering: .acquiringAndReleasing) else { return }
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { group in
        var machine = SessionMachine(configuration: self.configuration, random: self.random)
        var work = Work()
        group.addTask {
          guard let paths = self.parts.paths else { return }
          for await _ in paths.changes() { self.submit(.pathChanged) }
        }
        for await input in self.inputs {
          if machine.isClosed { self.refuse(input) }
          for action in machine.handle(input, at: self.parts.clock.now) {
            self.perform(action, &work, in: &group)
          }
        }
        // The queue of a task that is cancelled ends at once; what is open gets its end all the same.
        for action in machine.handle(.closeRequested(isAbrupt: true), at: self.parts.clock.now) {
          self.perform(action, &work, in: &group)
        }
        work.cancelAll()
        group.cancelAll()
      }
    } onCancel: {
      self.submit(.closeRequested(isAbrupt: true))
    }
  }

  /// What is under way; only the driver's task touches it.
  private struct Work {
    var streams: [Int: (queue: SpeechRequestQueue, cancellation: Cancellation)] = [:]
    var timers: [SessionMachine.Timer: Cancellation] = [:]
    var capture: (id: Int, run: any CaptureRun, cancellation: Cancellation)?
    var lastCaptureID = 0
    let currentCapture = CurrentCapture()

    mutating func cancelAll() {
      self.streams.values.forEach { $0.cancellation.cancel() }
      self.timers.values.forEach { $0.cancel() }
      self.capture?.cancellation.cancel()
    }
  }

  private func perform(
    _ action: SessionMachine.Action, _ work: inout Work, in group: inout DiscardingTaskGroup
  ) {
    switch action {
    case .emit(let event):
      if case .stateChanged(let state) = event { self.publicState.withLock { $0 = state } }
      self.parts.deliver(event)
    case .startCapture:
      self.startCapture(&work, in: &group)
    case .stopCapture:
      work.capture?.run.stop()
    case .abandonCapture:
      work.currentCapture.replace(with: 0)
      work.capture?.run.stop()
      work.capture?.cancellation.cancel()
      work.capture = nil
    case .holdCapture(let isHeld):
      work.capture?.run.setHeld(isHeld)
    case .obtainToken(let refresh):
      group.addTask {
        do throws(VoiceFailure) {
          self.submit(.tokenObtained(try await self.parts.tokens.token(refresh: refresh)))
        } catch {
          self.submit(.tokenFailed(error, pushBack: nil))
        }
      }
    case .openStream(let id, let token):
      self.openStream(id, &work, in: &group) { requests, receive in
        await self.parts.transport.runStream(token: token, requests: requests, receive: receive)
      }
    case .openEngine(let id):
      self.openStream(id, &work, in: &group) { requests, receive in
        guard let engine = self.parts.engine else {
          return SpeechStreamEnd(failure: VoiceFailure(.engineFailed))
        }
        return await engine.run(requests: requests, receive: receive)
      }
    case .send(let id, let request):
      work.streams[id]?.queue.send(request)
    case .closeStream(let id):
      guard let stream = work.streams.removeValue(forKey: id) else { break }
      stream.queue.finish()
      group.addTask {
        // A server that does not end the stream must not keep the connection open.
        try? await self.parts.clock.sleep(
          until: self.parts.clock.now.advanced(by: .seconds(5)), tolerance: nil)
        stream.cancellation.cancel()
      }
    case .cancelStream(let id):
      work.streams.removeValue(forKey: id)?.cancellation.cancel()
    case .setTimer(let timer, let deadline):
      self.setTimer(timer, deadline, &work, in: &group)
    case .cancelTimer(let timer):
      work.timers.removeValue(forKey: timer)?.cancel()
    case .terminate:
      self.input.finish()
    }
  }

  private func startCapture(_ work: inout Work, in group: inout DiscardingTaskGroup) {
    work.lastCaptureID += 1
    let id = work.lastCaptureID
    let current = work.currentCapture
    let previous = work.capture?.cancellation
    current.replace(with: id)
    let cancellation = Cancellation()
    let run = self.parts.capture.order()
    work.capture = (id, run, cancellation)
    group.addTask {
      // One device, one user: the former capture must be gone before the next begins.
      await previous?.finished()
      await cancellation.run {
        await run.run { event in
          guard current.is(id) else { return }
          self.submit(Self.input(for: event))
        }
      }
    }
  }

  private static func input(for event: CaptureEvent) -> SessionMachine.Input {
    switch event {
    case .started: .captureStarted
    case .audio(let position, let bytes): .audioCaptured(position: position, bytes)
    case .noticed(let failure): .noticed(failure)
    case .ended: .captureEnded
    case .failed(let failure): .captureFailed(failure)
    }
  }

  private func openStream(
    _ id: Int, _ work: inout Work, in group: inout DiscardingTaskGroup,
    run:
      @escaping @Sendable (
        SpeechRequests, @escaping @Sendable (Speechly_Slu_V1_SLUResponse) -> Void
      ) async -> SpeechStreamEnd
  ) {
    let queue = SpeechRequestQueue { self.submit(.requestAccepted(stream: id)) }
    let cancellation = Cancellation()
    // A stream that has ended is forgotten when the next one is opened.
    work.streams = work.streams.filter { !$0.value.cancellation.isFinished }
    work.streams[id] = (queue, cancellation)
    group.addTask {
      await cancellation.run {
        let end = await run(SpeechRequests(queue: queue)) {
          self.submit(.responseReceived(stream: id, $0))
        }
        queue.finish()
        self.submit(.streamEnded(stream: id, end))
      }
    }
  }

  private func setTimer(
    _ timer: SessionMachine.Timer, _ deadline: VoiceInstant, _ work: inout Work,
    in group: inout DiscardingTaskGroup
  ) {
    work.timers[timer]?.cancel()
    let cancellation = Cancellation()
    work.timers[timer] = cancellation
    group.addTask {
      await cancellation.run {
        do {
          try await self.parts.clock.sleep(until: deadline, tolerance: nil)
          self.submit(.timerFired(timer))
        } catch {
          // Cancelled: the timer is not wanted any more.
        }
      }
    }
  }
}

/// Which capture may report; events of an abandoned one are dropped.
private final class CurrentCapture: Sendable {
  private let id = Atomic(0)
  func replace(with id: Int) { self.id.store(id, ordering: .releasing) }
  func `is`(_ id: Int) -> Bool { self.id.load(ordering: .acquiring) == id }
}

/// Cancels one child of a task group, which by itself can only cancel all.
final class Cancellation: Sendable {
  private struct State {
    var isCancelled = false
    var isFinished = false
    var task: Task<Void, Never>?
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  var isFinished: Bool { self.state.withLock { $0.isFinished } }

  /// Runs an operation, which is cancelled by ``cancel()`` or with the calling task.
  func run(_ operation: @escaping @Sendable () async -> Void) async {
    // The task is awaited right here, so it never outlives its parent; it exists only to be cancelled by itself.
    let task = Task { await operation() }
    let isCancelled = self.state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
    await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    let waiters = self.state.withLock { state in
      state.isFinished = true
      state.task = nil
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func cancel() {
    let task = self.state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }

  /// Waits until the operation has returned.
  func finished() async {
    await withCheckedContinuation { continuation in
      let isFinished = self.state.withLock { state in
        if !state.isFinished { state.waiters.append(continuation) }
        return state.isFinished
      }
      if isFinished { continuation.resume() }
    }
  }
}
