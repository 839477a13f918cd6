import Synchronization

/// One answer of the framework, for one task, which may give up waiting: a call that ends must not hang on a callback that
/// never comes.
final class PeerReply<Value: Sendable>: Sendable {
  private enum State {
    case open
    case waiting(CheckedContinuation<Value, any Error>)
    case answered(Result<Value, any Error>)
    case over
  }

  private let state = Mutex(State.open)

  /// Answers; a second answer counts for nothing.
  func resolve(_ result: Result<Value, any Error>) {
    let waiter = self.state.withLock { state -> CheckedContinuation<Value, any Error>? in
      switch state {
      case .open:
        state = .answered(result)
        return nil
      case .waiting(let continuation):
        state = .over
        return continuation
      case .answered, .over: return nil
      }
    }
    waiter?.resume(with: result)
  }

  /// Waits for the answer.
  ///
  /// - Throws: What was answered, or `CancellationError`.
  func value() async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let answer = self.state.withLock { state -> Result<Value, any Error>? in
          switch state {
          case .open:
            state = .waiting(continuation)
            return nil
          case .answered(let result):
            state = .over
            return result
          case .waiting, .over: return .failure(CancellationError())
          }
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      self.resolve(.failure(CancellationError()))
    }
  }
}
