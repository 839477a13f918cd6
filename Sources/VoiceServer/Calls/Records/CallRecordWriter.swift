import DequeModule
import Logging
import ServiceLifecycle
import Synchronization
import VoiceCore

/// Writes records of calls behind the back of the calls: the signalling path puts them into a bounded queue, and one task
/// writes them in batches. What does not fit is counted and lost, never waited for.
final class CallRecordWriter: Service {
  private struct Queue {
    var calls: Deque<StoredCall> = []
    var isFinished = false
  }

  static let capacity = 8192
  private static let batch = 512

  private let store: any CallRecordStore
  private let queue = Mutex(Queue())
  private let wake: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private let capacity: Int
  private let metrics: CallMetrics
  private let logger: Logger

  init(
    store: any CallRecordStore, capacity: Int = CallRecordWriter.capacity, metrics: CallMetrics,
    logger: Logger
  ) {
    self.store = store
    self.capacity = capacity
    self.metrics = metrics
    self.logger = logger
    (self.wake, self.signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Takes a record; returns at once.
  func write(_ call: StoredCall) {
    let fits = self.queue.withLock { queue in
      guard queue.calls.count < self.capacity else { return false }
      queue.calls.append(call)
      return true
    }
    if fits { self.signal.yield() } else { self.metrics.recordDropped() }
  }

  /// Lets ``run()`` return after it has written what is there.
  func finish() {
    self.queue.withLock { $0.isFinished = true }
    self.signal.yield()
  }

  func run() async throws {
    await withGracefulShutdownHandler {
      for await _ in self.wake {
        while await self.writeBatch() {}
        if self.queue.withLock({ $0.isFinished && $0.calls.isEmpty }) { return }
      }
    } onGracefulShutdown: {
      self.finish()
    }
  }

  /// Writes some records; false if there are none left.
  private func writeBatch() async -> Bool {
    let batch = self.queue.withLock { queue in
      let batch = Array(queue.calls.prefix(Self.batch))
      queue.calls.removeFirst(batch.count)
      return batch
    }
    guard !batch.isEmpty else { return false }
    do throws(VoiceFailure) {
      try await self.store.append(batch)
    } catch {
      for _ in batch { self.metrics.recordDropped() }
      self.logger.error(
        "records of calls are lost", metadata: ["code": "\(error.code)", "count": "\(batch.count)"])
    }
    return true
  }
}
