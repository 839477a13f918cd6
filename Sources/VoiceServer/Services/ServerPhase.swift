import Synchronization

/// Where the server is in its life, and how all its streams hear of a change.
final class ServerPhase: Sendable {
  enum Value: Int, Comparable, Sendable {
    /// Models are being loaded; streams are refused.
    case loading
    case ready
    /// Running contexts may finish, nothing new begins.
    case draining
    /// The time for that is over.
    case stopped

    static func < (left: Value, right: Value) -> Bool { left.rawValue < right.rawValue }
  }

  private struct State {
    var value = Value.loading
    var nextID = 0
    var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
  }

  private let state = Mutex(State())

  var value: Value { self.state.withLock { $0.value } }

  /// Goes on to a later phase; a step back does nothing.
  func advance(to value: Value) {
    let listeners = self.state.withLock { state -> [AsyncStream<Value>.Continuation] in
      guard value > state.value else { return [] }
      state.value = value
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.yield(value) }
  }

  /// The present phase and those that follow.
  ///
  /// A reader that is slow may see two changes in the wrong order: look for "at least", not for "exactly".
  func values() -> AsyncStream<Value> {
    let (values, continuation) = AsyncStream<Value>.makeStream()
    let id = self.state.withLock { state in
      state.nextID += 1
      state.listeners[state.nextID] = continuation
      continuation.yield(state.value)
      return state.nextID
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
    }
    return values
  }
}
