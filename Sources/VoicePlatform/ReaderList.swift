import Synchronization

/// Streams to which nothing but "it happened" is told.
final class ReaderList: Sendable {
  private struct State {
    var next = 0
    var readers: [Int: AsyncStream<Void>.Continuation] = [:]
  }

  private let state = Mutex(State())

  func tell() {
    let readers = self.state.withLock { Array($0.readers.values) }
    for reader in readers { reader.yield() }
  }

  func stream() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id = self.state.withLock { state in
      state.next += 1
      state.readers[state.next] = continuation
      return state.next
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.readers[id] = nil }
    }
    return stream
  }
}
