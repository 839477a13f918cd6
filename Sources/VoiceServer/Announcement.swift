import Synchronization

/// Something that becomes known once, and that any number of tasks may wait for.
final class Announcement<Value: Sendable>: Sendable {
  private enum State {
    case open(waiters: [Int: CheckedContinuation<Value, any Error>], nextID: Int)
    case known(Result<Value, any Error>)
  }

  private let state = Mutex<State>(.open(waiters: [:], nextID: 0))

  /// Makes the value known; only the first call counts.
  func announce(_ value: Value) { self.settle(.success(value)) }

  /// Makes known that there will be no value.
  func fail(_ error: any Error) { self.settle(.failure(error)) }

  private func settle(_ result: Result<Value, any Error>) {
    let waiters = self.state.withLock { state in
      guard case .open(let waiters, _) = state else {
        return [CheckedContinuation<Value, any Error>]()
      }
      state = .known(result)
      return Array(waiters.values)
    }
    for waiter in waiters { waiter.resume(with: result) }
  }

  /// The value, as soon as it is known.
  ///
  /// - Throws: What ``fail(_:)`` was given, or `CancellationError`.
  func value() async throws -> Value {
    let id = self.state.withLock { state -> Int in
      guard case .open(let waiters, let id) = state else { return -1 }
      state = .open(waiters: waiters, nextID: id + 1)
      return id
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = self.state.withLock { state -> Result<Value, any Error>? in
          switch state {
          case .known(let result): return result
          case .open(var waiters, let nextID):
            if Task.isCancelled { return .failure(CancellationError()) }
            waiters[id] = continuation
            state = .open(waiters: waiters, nextID: nextID)
            return nil
          }
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let waiter = self.state.withLock { state -> CheckedContinuation<Value, any Error>? in
        guard case .open(var waiters, let nextID) = state else { return nil }
        let waiter = waiters.removeValue(forKey: id)
        state = .open(waiters: waiters, nextID: nextID)
        return waiter
      }
      waiter?.resume(throwing: CancellationError())
    }
  }
}
