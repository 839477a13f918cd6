import Synchronization
public import VoiceCore

/// The network path as the operating system reports it: on Linux by netlink, on Apple platforms by `NWPathMonitor`.
///
/// It watches while somebody reads ``changes()``, and not before. Changes are told once the network has been quiet
/// for a quarter of a second. Where the system does not allow to watch, no change is ever told, and clients fall
/// back to their waiting times.
public final class SystemNetworkPathMonitor: NetworkPathMonitor {
  /// The monitor that all clients of a process share.
  public static let shared = SystemNetworkPathMonitor()

  typealias Watch = @Sendable (_ onChange: @escaping @Sendable (NetworkPath) -> Void) -> (any PathWatcher)?

  private struct State {
    var watcher: (any PathWatcher)?
    // Tells the reports of a watcher from those of one that was cancelled before.
    var generation = 0
    var readers: [Int: AsyncStream<NetworkPath>.Continuation] = [:]
    var nextReader = 0
    var debouncer: PathDebouncer
    // The wait for quiet outlives the report that began it, and ends with the last reader.
    var timer: Task<Void, Never>?
  }

  private let clock: any VoiceClock
  private let configuration: PathDebouncer.Configuration
  private let watch: Watch
  private let state: Mutex<State>

  /// Creates a monitor; it starts nothing.
  ///
  /// - Parameters:
  ///   - clock: The time to go by.
  ///   - quiet: How long nothing may change before a change is told.
  public convenience init(clock: any VoiceClock = MonotonicClock(), quiet: Duration = .milliseconds(250)) {
    self.init(
      clock: clock, configuration: .init(quiet: quiet), watch: { PlatformPathWatcher.start(onChange: $0) })
  }

  init(clock: any VoiceClock, configuration: PathDebouncer.Configuration, watch: @escaping Watch) {
    self.clock = clock
    self.configuration = configuration
    self.watch = watch
    self.state = Mutex(State(debouncer: PathDebouncer(configuration)))
  }

  deinit {
    self.state.withLock { state in
      state.watcher?.cancel()
      state.timer?.cancel()
    }
  }

  public var currentPath: NetworkPath? {
    self.state.withLock { $0.debouncer.published }
  }

  public func changes() -> AsyncStream<NetworkPath> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: NetworkPath.self, bufferingPolicy: .bufferingNewest(1))
    let (id, generation) = self.state.withLock { state in
      state.nextReader += 1
      state.readers[state.nextReader] = continuation
      guard state.readers.count == 1 else { return (state.nextReader, nil as Int?) }
      state.generation += 1
      return (state.nextReader, state.generation)
    }
    continuation.onTermination = { [weak self] _ in self?.removeReader(id) }
    if let generation { self.startWatching(generation) }
    return stream
  }

  private func startWatching(_ generation: Int) {
    let watcher = self.watch { [weak self] path in self?.reported(path, generation: generation) }
    guard let watcher else { return }
    let isWanted = self.state.withLock { state in
      guard state.generation == generation, !state.readers.isEmpty else { return false }
      state.watcher = watcher
      return true
    }
    if !isWanted { watcher.cancel() }
  }

  private func removeReader(_ id: Int) {
    let (watcher, timer) = self.state.withLock { state -> ((any PathWatcher)?, Task<Void, Never>?) in
      state.readers[id] = nil
      guard state.readers.isEmpty else { return (nil, nil) }
      state.generation += 1
      // What happens unwatched is no change: the next watcher begins with what it finds.
      state.debouncer = PathDebouncer(self.configuration)
      defer { (state.watcher, state.timer) = (nil, nil) }
      return (state.watcher, state.timer)
    }
    watcher?.cancel()
    timer?.cancel()
  }

  private func reported(_ path: NetworkPath, generation: Int) {
    let now = self.clock.now
    self.state.withLock { state in
      guard state.generation == generation else { return }
      switch state.debouncer.changed(to: path, at: now) {
      case .none: break
      case .startTimer(let instant): state.timer = self.timer(until: instant, generation: generation)
      }
    }
  }

  private func timer(until first: VoiceInstant, generation: Int) -> Task<Void, Never> {
    let clock = self.clock
    return Task { [weak self] in
      var instant = first
      while (try? await clock.sleep(until: instant, tolerance: nil)) != nil {
        guard let next = self?.timerFired(at: clock.now, generation: generation) else { return }
        instant = next
      }
    }
  }

  /// Returns the instant at which the timer must fire again.
  private func timerFired(at now: VoiceInstant, generation: Int) -> VoiceInstant? {
    let (action, readers) = self.state.withLock { state in
      guard state.generation == generation else {
        return (PathDebouncer.TimerAction.none, [AsyncStream<NetworkPath>.Continuation]())
      }
      return (state.debouncer.timerFired(at: now), Array(state.readers.values))
    }
    switch action {
    case .none:
      return nil
    case .startTimer(let instant):
      return instant
    case .publish(let path):
      for reader in readers { reader.yield(path) }
      return nil
    }
  }
}

/// Something that reports network paths until it is cancelled: the first report is the path at the start.
protocol PathWatcher: Sendable {
  func cancel()
}

/// A path that the app sets: for tests, and for programs that learn of their network in another way.
public final class ManualNetworkPathMonitor: NetworkPathMonitor {
  private struct State {
    var path: NetworkPath?
    var readers: [Int: AsyncStream<NetworkPath>.Continuation] = [:]
    var nextReader = 0
  }

  private let state: Mutex<State>

  /// Creates a monitor.
  public init(path: NetworkPath? = nil) {
    self.state = Mutex(State(path: path))
  }

  /// Tells all readers of a new path, at once.
  public func change(to path: NetworkPath) {
    let readers = self.state.withLock { state in
      state.path = path
      return Array(state.readers.values)
    }
    for reader in readers { reader.yield(path) }
  }

  public var currentPath: NetworkPath? { self.state.withLock { $0.path } }

  public func changes() -> AsyncStream<NetworkPath> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: NetworkPath.self, bufferingPolicy: .bufferingNewest(1))
    let id = self.state.withLock { state in
      state.nextReader += 1
      state.readers[state.nextReader] = continuation
      return state.nextReader
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.readers[id] = nil }
    }
    return stream
  }
}
