import Dispatch
import Synchronization

/// Holds the recognisers of a ``ScriptedEngine`` in the middle of their work until a test lets them go on.
public final class EngineGate: Sendable {
  private struct State: Sendable {
    var isOpen: Bool
    var held: [Latch] = []
    var arrivals = 0
    var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  /// A semaphore whose waits and signals may come from any thread.
  private final class Latch: Sendable {
    let semaphore = DispatchSemaphore(value: 0)
  }

  private let state: Mutex<State>

  /// Creates a gate.
  public init(isOpen: Bool = false) {
    self.state = Mutex(State(isOpen: isOpen))
  }

  /// Lets everybody through, now and from now on.
  public func open() {
    let held = self.state.withLock { state in
      state.isOpen = true
      defer { state.held = [] }
      return state.held
    }
    for latch in held { latch.semaphore.signal() }
  }

  /// Holds everybody who comes from now on.
  public func close() {
    self.state.withLock { $0.isOpen = false }
  }

  /// Waits until blocks have come to the gate `count` times.
  public func reached(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = self.state.withLock { state in
        guard state.arrivals < count else { return true }
        state.waiters.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Blocks the calling thread while the gate is closed.
  func pass() {
    let (latch, ready) = self.state.withLock { state -> (Latch?, [CheckedContinuation<Void, Never>]) in
      state.arrivals += 1
      let ready = state.waiters.filter { $0.count <= state.arrivals }.map(\.continuation)
      state.waiters.removeAll { $0.count <= state.arrivals }
      guard !state.isOpen else { return (nil, ready) }
      let latch = Latch()
      state.held.append(latch)
      return (latch, ready)
    }
    for continuation in ready { continuation.resume() }
    latch?.semaphore.wait()
  }

  /// Blocks the calling thread, as a slow decoder does.
  static func block(for duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let nanoseconds =
      Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000).partialValue
      + Int(attoseconds / 1_000_000_000)
    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .nanoseconds(nanoseconds))
  }
}
