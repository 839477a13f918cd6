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
    var observers: [Int: @Sendable (Value) -> Void] = [:]
  }

  private let state = Mutex(State())

  var value: Value { self.state.withLock { $0.value } }

  /// Goes on to a later phase; a step back does nothing.
  func advance(to value: Value) {
    let observers = self.state.withLock { state -> [@Sendable (Value) -> Void] in
      guard value > state.value else { return [] }
      state.value = value
      return Array(state.observers.values)
    }
    for observer in observers { observer(value) }
  }

  /// What identifies an observer.
  struct Observation: Sendable {
    fileprivate var id: Int
  }

  /// Tells the present phase and those that follow, until ``end(_:)``.
  ///
  /// - Parameter observer: Must return quickly. Two changes may come at the same time, on two threads and in the
  ///   wrong order: look for "at least", not for "exactly".
  func observe(_ observer: @escaping @Sendable (Value) -> Void) -> Observation {
    let (id, value) = self.state.withLock { state in
      state.nextID += 1
      state.observers[state.nextID] = observer
      return (state.nextID, state.value)
    }
    observer(value)
    return Observation(id: id)
  }

  func end(_ observation: Observation) {
    _ = self.state.withLock { $0.observers.removeValue(forKey: observation.id) }
  }

  /// The present phase and those that follow.
  ///
  /// A reader that is slow may see two changes in the wrong order: look for "at least", not for "exactly".
  func values() -> AsyncStream<Value> {
    let (values, continuation) = AsyncStream<Value>.makeStream()
    let observation = self.observe { continuation.yield($0) }
    continuation.onTermination = { [weak self] _ in self?.end(observation) }
    return values
  }
}
