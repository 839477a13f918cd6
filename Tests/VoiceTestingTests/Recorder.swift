import Synchronization

/// Collects values from any number of tasks.
final class Recorder<Value: Sendable>: Sendable {
  private let storage = Mutex<[Value]>([])

  var values: [Value] { self.storage.withLock { $0 } }

  func append(_ value: Value) {
    self.storage.withLock { $0.append(value) }
  }
}
