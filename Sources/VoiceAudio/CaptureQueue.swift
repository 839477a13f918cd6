import Dispatch
import Foundation
import Synchronization
import VoiceCore

/// Hands the events of one producing thread to one reading task, a few at a time.
///
/// The producer waits while ``capacity`` events are unread, so it never runs ahead of its reader. After ``stop()``
/// it no longer waits: what it still has is delivered, then the sequence ends. After ``abandon()`` everything is
/// dropped.
final class CaptureQueue: Sendable {
  private struct State {
    var events: [AudioEvent] = []
    var end: Result<AudioEvent?, VoiceFailure>?
    var isStopped = false
    var isAbandoned = false
    var waiter: CheckedContinuation<Result<AudioEvent?, VoiceFailure>, Never>?
  }

  private let state = Mutex(State())
  private let space = DispatchSemaphore(value: 0)

  init(capacity: Int = 4) {
    // A semaphore must not be freed with a lower value than it was made with, hence made empty and then filled.
    for _ in 0..<max(1, capacity) { self.space.signal() }
  }

  /// Whether the producer should come to an end.
  var isStopped: Bool { self.state.withLock { $0.isStopped || $0.isAbandoned } }

  /// Delivers an event; waits while the reader is behind. For the producing thread only.
  ///
  /// - Returns: Whether more is wanted.
  @discardableResult
  func send(_ event: AudioEvent) -> Bool {
    if !self.isStopped { self.space.wait() }
    let (waiter, isWanted) = self.state.withLock { state in
      if state.isAbandoned || state.end != nil { return (nil as Waiter?, false) }
      let waiter = state.waiter
      state.waiter = nil
      if waiter == nil { state.events.append(event) }
      return (waiter, !state.isStopped)
    }
    if let waiter {
      self.space.signal()
      waiter.resume(returning: .success(event))
    }
    return isWanted
  }

  /// Ends the sequence after what is unread; with a failure, if there is one.
  func finish(throwing failure: VoiceFailure? = nil) {
    let end: Result<AudioEvent?, VoiceFailure> = failure.map { .failure($0) } ?? .success(nil)
    let waiter = self.state.withLock { state -> Waiter? in
      guard state.end == nil else { return nil }
      state.end = .success(nil)
      let waiter = state.waiter
      state.waiter = nil
      if waiter == nil { state.end = end }
      return waiter
    }
    waiter?.resume(returning: end)
  }

  /// Asks the producer to end.
  func stop() {
    self.state.withLock { $0.isStopped = true }
    self.space.signal()
  }

  /// Drops everything: nobody reads any more.
  func abandon() {
    let waiter = self.state.withLock { state in
      state.isAbandoned = true
      state.events = []
      defer { state.waiter = nil }
      return state.waiter
    }
    self.space.signal()
    waiter?.resume(returning: .success(nil))
  }

  /// Waits for the next event; `nil` at the end and when the task is cancelled.
  func next() async throws(VoiceFailure) -> AudioEvent? {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: Waiter) in
        let ready = self.state.withLock { state -> Result<AudioEvent?, VoiceFailure>? in
          if !state.events.isEmpty { return .success(state.events.removeFirst()) }
          if let end = state.end {
            state.end = .success(nil)
            return end
          }
          // A second reader would wait for ever: it gets the end instead.
          if state.isAbandoned || Task.isCancelled || state.waiter != nil { return .success(nil) }
          state.waiter = continuation
          return nil
        }
        if let ready {
          if case .success(.some) = ready { self.space.signal() }
          continuation.resume(returning: ready)
        }
      }
    } onCancel: {
      let waiter = self.state.withLock { state in
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume(returning: .success(nil))
    }
    return try result.get()
  }

  private typealias Waiter = CheckedContinuation<Result<AudioEvent?, VoiceFailure>, Never>
}

extension CaptureQueue {
  /// The capture that reads this queue.
  ///
  /// - Parameter interrupt: Wakes the producer from what it waits for outside the queue.
  func makeCapture(interrupt: @escaping @Sendable () -> Void) -> AudioCapture {
    let reader = Reader(queue: self, interrupt: interrupt)
    return AudioCapture(
      isLive: false,
      next: { () async throws(VoiceFailure) -> AudioEvent? in try await reader.queue.next() },
      stop: { reader.stop() })
  }

  /// Lets the producer end when the last copy of the capture and its iterators is gone.
  private final class Reader: Sendable {
    let queue: CaptureQueue
    private let interrupt: @Sendable () -> Void

    init(queue: CaptureQueue, interrupt: @escaping @Sendable () -> Void) {
      self.queue = queue
      self.interrupt = interrupt
    }

    func stop() {
      self.queue.stop()
      self.interrupt()
    }

    deinit {
      self.queue.abandon()
      self.interrupt()
    }
  }

  /// Runs work that blocks on a thread of its own, so that no thread of a pool is held up.
  static func detachThread(named name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.name = name
    thread.start()
  }
}
