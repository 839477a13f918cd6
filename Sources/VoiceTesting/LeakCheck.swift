import Synchronization
public import VoiceCore

/// Proves that objects are released and nothing is left running.
///
/// ```swift
/// let leaks = LeakCheck()
/// do {
///   let client = SpeechClient(…)
///   leaks.track(client, as: "client")
///   …
/// }
/// let left = await leaks.waitForRelease()
/// #expect(left.isEmpty)
/// ```
///
/// A task is watched through the object that it uses: what a task captures lives as long as the task.
public final class LeakCheck: Sendable {
  /// Something that was tracked and is still there.
  public struct Leak: Hashable, Sendable, CustomStringConvertible {
    /// The name under which it is tracked.
    public let name: String
    public var description: String { "\(self.name) was not released" }
  }

  private struct State {
    var nextID = 0
    var tracked: [Int: (name: String, isReleased: (@Sendable () -> Bool)?)] = [:]
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Mutex(State())

  /// Creates a check that tracks nothing.
  public init() {}

  /// Tracks an object that need not know of the check.
  ///
  /// Its release is noticed when it is looked for: at the start and at the deadline of ``waitForRelease(within:clock:)``, and
  /// whenever something with a ``Token`` is released. Let the object hold a ``token(for:)`` where it can.
  public func track(_ object: any AnyObject & Sendable, as name: String? = nil) {
    let name = name ?? String(describing: type(of: object))
    let isReleased: @Sendable () -> Bool = { [weak object] in object == nil }
    self.state.withLock { state in
      state.nextID += 1
      state.tracked[state.nextID] = (name, isReleased)
    }
  }

  /// Makes a token; it counts as leaked until it is released.
  ///
  /// Capture it in a closure or a task, or store it in an object, to learn at once when that is gone.
  public func token(for name: String) -> Token {
    let id = self.state.withLock { state in
      state.nextID += 1
      state.tracked[state.nextID] = (name, nil)
      return state.nextID
    }
    return Token { [self] in self.released(id) }
  }

  /// What is still there, by name.
  public var leaks: [Leak] {
    self.forgetReleased()
    return self.state.withLock { state in
      state.tracked.sorted { $0.key < $1.key }.map { Leak(name: $0.value.name) }
    }
  }

  /// Waits until everything that is tracked is released, or the deadline has passed.
  ///
  /// - Parameters:
  ///   - duration: The longest time to wait.
  ///   - clock: The clock of the deadline; by default real time, because releases happen in real time.
  /// - Returns: What is left; empty if all is well.
  public func waitForRelease(
    within duration: Duration = .seconds(5), clock: any VoiceClock = MonotonicClock()
  ) async -> [Leak] {
    let deadline = clock.now.advanced(by: duration)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await clock.sleep(until: deadline, tolerance: nil) }
      group.addTask { await self.waitUntilEmpty() }
      await group.next()
      group.cancelAll()
    }
    return self.leaks
  }

  /// Holds a place in a ``LeakCheck`` until it is released.
  public final class Token: Sendable {
    private let onRelease: @Sendable () -> Void

    fileprivate init(onRelease: @escaping @Sendable () -> Void) {
      self.onRelease = onRelease
    }

    deinit { self.onRelease() }
  }

  private func released(_ id: Int) {
    self.state.withLock { _ = $0.tracked.removeValue(forKey: id) }
    self.forgetReleased()
  }

  /// Forgets the objects that are gone, and tells who waits when nothing is left.
  private func forgetReleased() {
    let tracked = self.state.withLock { $0.tracked }
    // Looking at a weak reference may make this the last owner of the object, whose deinit may come back here: no lock.
    let gone = tracked.filter { $0.value.isReleased?() ?? false }.keys
    let waiters = self.state.withLock { state -> [CheckedContinuation<Void, Never>] in
      for id in gone { state.tracked[id] = nil }
      guard state.tracked.isEmpty else { return [] }
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume() }
  }

  private func waitUntilEmpty() async {
    let id = self.state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isCancelled = self.state.withLock { state in
          if Task.isCancelled { return true }
          state.waiters[id] = continuation
          return false
        }
        if isCancelled { continuation.resume() } else { self.forgetReleased() }
      }
    } onCancel: {
      self.state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }
}
