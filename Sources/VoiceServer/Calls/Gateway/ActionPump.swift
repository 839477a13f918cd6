import DequeModule
import Synchronization

/// Steps a machine under a lock and performs what it says outside of it.
///
/// Actions are performed in the order in which the machine gave them, by one thread at a time, also if several threads step it at
/// once or an action steps it again: then the one that performs already goes on.
final class ActionPump<Machine: Sendable, Action: Sendable>: Sendable {
  private struct State {
    var machine: Machine
    var queue: Deque<Action> = []
    var isPerforming = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  init(_ machine: Machine) {
    self.state = Mutex(State(machine: machine))
  }

  /// Looks at the machine.
  func read<Value: Sendable>(_ body: (borrowing Machine) -> Value) -> Value {
    self.state.withLock { body($0.machine) }
  }

  /// Steps the machine.
  func step(_ body: (inout Machine) -> [Action], perform: (Action) -> Void) {
    let performs = self.state.withLock { state in
      state.queue.append(contentsOf: body(&state.machine))
      guard !state.isPerforming, !state.queue.isEmpty else { return false }
      state.isPerforming = true
      return true
    }
    guard performs else { return }
    while let action = self.next() { perform(action) }
  }

  /// Waits until everything was performed that the machine has said so far.
  func idle() async {
    await withCheckedContinuation { continuation in
      let isIdle = self.state.withLock { state in
        if state.isPerforming { state.waiters.append(continuation) }
        return !state.isPerforming
      }
      if isIdle { continuation.resume() }
    }
  }

  private func next() -> Action? {
    let (action, waiters) = self.state.withLock { state in
      let action = state.queue.popFirst()
      guard action == nil else { return (action, [CheckedContinuation<Void, Never>]()) }
      state.isPerforming = false
      defer { state.waiters = [] }
      return (action, state.waiters)
    }
    for waiter in waiters { waiter.resume() }
    return action
  }
}
