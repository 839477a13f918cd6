import Synchronization
import VoiceCore

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

  private let state = Mutex(Value.loading)
  // Each subscriber gets at most three values, so nothing is ever dropped.
  private let changes = EventBroadcaster<Value>(capacity: 8) { _ in .stopped }

  var value: Value { self.state.withLock { $0 } }

  /// Goes on to a later phase; a step back does nothing.
  func advance(to value: Value) {
    let isNews = self.state.withLock { state in
      guard value > state else { return false }
      state = value
      return true
    }
    if isNews { self.changes.publish(value) }
  }

  /// The present phase and those that follow.
  func values() -> AsyncStream<Value> {
    let subscription = self.changes.subscribe()
    let now = self.value
    return AsyncStream { continuation in
      continuation.yield(now)
      let task = Task {
        // A change between the two lines above arrives twice; only what is later counts.
        var last = now
        for await value in subscription where value > last {
          last = value
          continuation.yield(value)
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}
