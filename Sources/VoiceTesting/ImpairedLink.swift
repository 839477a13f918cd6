import Synchronization
public import VoiceCore

/// A connection to a server that fails as it is told: a TCP proxy on the loopback address.
///
/// Let the code under test connect to ``port`` instead of to its server. What happens to the bytes is written in a
/// ``LinkPlan``, and can be changed and cut while connections are in use. Use ``withImpairedLink(to:port:plan:clock:_:)``, which
/// closes everything at the end.
///
/// ```swift
/// let plan = LinkPlan(connections: [0: .init(cut: .init(.toClient, afterBytes: 4096, .reset))])
/// try await withImpairedLink(to: "127.0.0.1", port: server.port, plan: plan) { link in
///   let client = try await connect(port: link.port)
///   // The 4096th byte of the first connection is its last.
/// }
/// ```
public final class ImpairedLink: Sendable {
  /// What has happened to a connection so far.
  public struct Connection: Hashable, Sendable, Identifiable {
    /// The number of the connection, from 0 in the order of acceptance.
    public let id: Int
    /// How many bytes of the client were handed to the target's socket.
    public internal(set) var bytesToTarget = 0
    /// How many bytes of the target were handed to the client's socket.
    public internal(set) var bytesToClient = 0
    /// How the link cut the connection, or `nil` if it did not.
    public internal(set) var ending: LinkPlan.Ending?
    /// Whether the link's sockets of the connection are closed; a silenced one stays open.
    public internal(set) var isClosed = false

    /// How many bytes were forwarded in a direction.
    public func bytes(_ direction: LinkPlan.Direction) -> Int {
      switch direction {
      case .toTarget: self.bytesToTarget
      case .toClient: self.bytesToClient
      }
    }
  }

  private struct State {
    var connections: [Connection] = []
    var waiters: [Int: Waiter] = [:]
    var nextWaiterID = 0
    /// Rises with every change of the connections.
    var version = 0
    var isStopped = false
  }

  private enum WaitStep {
    case wait
    case lookAgain
    case giveUp
  }

  private struct Waiter {
    let condition: @Sendable ([Connection]) -> Bool
    let continuation: CheckedContinuation<Bool, Never>
  }

  private let state = Mutex(State())
  private let driver: LinkDriver

  init(driver: LinkDriver) {
    self.driver = driver
  }

  /// The host at which the link listens.
  public var host: String { "127.0.0.1" }

  /// The port at which the link listens; it stays the same while connections are refused.
  public var port: Int { self.driver.port }

  /// All connections that were accepted, in order, those that are closed included.
  public var connections: [Connection] { self.state.withLock { $0.connections } }

  /// Cuts all open connections now, without what is under way; returns when it is done.
  public func cutAll(_ ending: LinkPlan.Ending) async {
    await self.driver.run { $0.cutAll(ending) }
  }

  /// Cuts one connection now, if it is open.
  public func cut(_ connection: Int, _ ending: LinkPlan.Ending) async {
    await self.driver.run { $0.cut(connection, ending) }
  }

  /// Replaces the plan, for open connections too: a cut that lies behind them happens at once.
  public func setPlan(_ plan: LinkPlan) async {
    await self.driver.run { $0.setPlan(plan) }
  }

  /// Stops listening: from now on a connect is refused, as when the server's process is gone; open connections go on.
  public func refuseConnections() async {
    await self.driver.stopListening()
  }

  /// Listens again at the same port.
  ///
  /// - Throws: ``VoiceFailure`` `server.port.in-use` if another program took the port.
  public func acceptConnections() async throws {
    try await self.driver.listen()
  }

  /// Waits until what has happened to the connections fulfils a condition.
  ///
  /// - Returns: Whether it did; `false` if the task was cancelled, or the link stopped, before.
  @discardableResult
  public func waitUntil(_ condition: @escaping @Sendable ([Connection]) -> Bool) async -> Bool {
    let id = self.state.withLock { state in
      state.nextWaiterID += 1
      return state.nextWaiterID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waiter = Waiter(condition: condition, continuation: continuation)
        while true {
          // Foreign code: it runs without the lock, and its answer counts only if nothing has changed meanwhile.
          let (connections, version) = self.state.withLock { ($0.connections, $0.version) }
          if condition(connections) { return continuation.resume(returning: true) }
          let step = self.state.withLock { state -> WaitStep in
            if state.isStopped || Task.isCancelled { return .giveUp }
            guard state.version == version else { return .lookAgain }
            state.waiters[id] = waiter
            return .wait
          }
          switch step {
          case .giveUp: return continuation.resume(returning: false)
          case .wait: return
          case .lookAgain: continue
          }
        }
      }
    } onCancel: {
      let waiter = self.state.withLock { $0.waiters.removeValue(forKey: id) }
      waiter?.continuation.resume(returning: false)
    }
  }

  func record(_ connection: Connection) {
    let (waiters, connections) = self.state.withLock { state -> ([Int: Waiter], [Connection]) in
      if connection.id < state.connections.count {
        guard state.connections[connection.id] != connection else { return ([:], []) }
        state.connections[connection.id] = connection
      } else {
        state.connections.append(connection)
      }
      state.version += 1
      return (state.waiters, state.connections)
    }
    for (id, waiter) in waiters where waiter.condition(connections) {
      let stillWaiting = self.state.withLock { $0.waiters.removeValue(forKey: id) }
      stillWaiting?.continuation.resume(returning: true)
    }
  }

  func stopped() {
    let waiters = self.state.withLock { state in
      state.isStopped = true
      defer { state.waiters = [:] }
      return state.waiters.values.map(\.continuation)
    }
    for waiter in waiters { waiter.resume(returning: false) }
  }
}

/// Runs a link to a server for as long as the body runs, then resets what is left of its connections.
///
/// - Parameters:
///   - host: The host of the server.
///   - port: The port of the server.
///   - plan: What happens to the connections.
///   - clock: The clock of delays and bandwidth; a `TestClock` makes them pass when the test says so.
///   - isolation: The actor on which the body runs, by default that of the caller.
///   - body: Uses the link.
/// - Throws: What the body throws; ``VoiceFailure`` `server.port.in-use` if the link cannot listen.
public func withImpairedLink<Result>(
  to host: String = "127.0.0.1", port: Int, plan: LinkPlan = LinkPlan(),
  clock: any VoiceClock = MonotonicClock(),
  isolation: isolated (any Actor)? = #isolation,
  _ body: (ImpairedLink) async throws -> Result
) async throws -> Result {
  let (wakes, wake) = AsyncStream.makeStream(of: LinkWake.self)
  let driver = try LinkDriver(targetHost: host, targetPort: port, plan: plan, clock: clock, wakes: wake)
  let link = ImpairedLink(driver: driver)
  await driver.attach(link)
  return try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask {
      await withDiscardingTaskGroup { timers in
        for await wake in wakes {
          timers.addTask {
            guard (try? await clock.sleep(until: wake.instant, tolerance: nil)) != nil else { return }
            await driver.run { $0.timeReached(connection: wake.connection) }
          }
        }
        timers.cancelAll()
      }
    }
    let result: Swift.Result<Result, any Error>
    do {
      try await driver.listen()
      result = .success(try await body(link))
    } catch {
      result = .failure(error)
    }
    await driver.stop()
    wake.finish()
    group.cancelAll()
    link.stopped()
    return try result.get()
  }
}
