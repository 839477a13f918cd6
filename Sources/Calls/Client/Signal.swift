import Synchronization
import VoiceCore

/// Something that several tasks may wait for, each for the next time that it happens.
final class Signal: Sendable {
  typealias Outcome = Result<Void, VoiceFailure>

  private struct State {
    var nextID = 0
    var waiters: [Int: AsyncStream<Outcome>.Continuation] = [:]
  }

  private let state = Mutex(State())

  /// Waits from now on; the stream gives one outcome and ends, also when its task is cancelled.
  func wait() -> AsyncStream<Outcome> {
    let (stream, continuation) = AsyncStream<Outcome>.makeStream()
    let id = self.state.withLock { state in
      state.nextID += 1
      state.waiters[state.nextID] = continuation
      return state.nextID
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.waiters.removeValue(forKey: id) }
    }
    return stream
  }

  func send(_ outcome: Outcome) {
    let waiters = self.state.withLock { state in
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters {
      waiter.yield(outcome)
      waiter.finish()
    }
  }
}
