import CallSignaling
import Calls
import Foundation
import Synchronization
import VoiceCore
import VoicePlatform
import VoiceTesting

/// One side of calls that are disturbed: a client behind a link of its own, which takes every call.
final class OutagePhone: Sendable {
  struct Entry: Sendable {
    let at: VoiceInstant
    let event: ClientEvent
  }

  private struct Waiter {
    let condition: @Sendable (ClientEvent) -> Bool
    let continuation: CheckedContinuation<VoiceInstant?, Never>
  }

  private struct State {
    var entries: [Entry] = []
    var waiters: [Int: Waiter] = [:]
    var nextWaiter = 0
    var incoming: Call?
    var reader: Task<Void, Never>?
  }

  static let clock = MonotonicClock()

  let name: String
  let link: ImpairedLink
  let media = ScriptedMedia()
  let paths = ManualNetworkPathMonitor()
  let client: TxClient
  private let state = Mutex(State())

  init(_ name: String, behind link: ImpairedLink, seed: UInt64) {
    self.name = name
    self.link = link
    self.client = TxClient(
      media: self.media, paths: self.paths, random: SeededGenerator(seed: seed),
      delegateQueue: DispatchQueue(label: name))
    let events = self.client.events
    let reader = Task { [weak self] in
      for await event in events { self?.record(event) }
      self?.cancelWaiters()
    }
    self.state.withLock { $0.reader = reader }
  }

  deinit { self.state.withLock { $0.reader?.cancel() } }

  /// - Parameter reconnectTime: How long calls are kept, in seconds.
  func connect(reconnectTime: Double) throws {
    // 0.0.0.0 leads to this machine too, but a client takes it for another one, on which path changes have an effect.
    guard let url = URL(string: "ws://0.0.0.0:\(self.link.port)/calls") else { throw URLError(.badURL) }
    try self.client.connect(
      txConfig: TxConfig(
        sipUser: self.name, password: "a long password", reconnectTimeOut: reconnectTime),
      serverConfiguration: TxServerConfiguration(signalingServer: url))
  }

  var entries: [Entry] { self.state.withLock { $0.entries } }

  /// The last call that came in.
  var incoming: Call? { self.state.withLock { $0.incoming } }

  private func record(_ event: ClientEvent) {
    let now = Self.clock.now
    let due = self.state.withLock { state in
      state.entries.append(Entry(at: now, event: event))
      if case .incomingCall(let call) = event { state.incoming = call }
      let due = state.waiters.filter { $0.value.condition(event) }
      for id in due.keys { state.waiters[id] = nil }
      return due.values.map(\.continuation)
    }
    for waiter in due { waiter.resume(returning: now) }
    if case .incomingCall(let call) = event { call.answer() }
  }

  private func cancelWaiters() {
    let waiters = self.state.withLock { state in
      defer { state.waiters = [:] }
      return state.waiters.values.map(\.continuation)
    }
    for waiter in waiters { waiter.resume(returning: nil) }
  }

  /// Waits for an event, be it among those from an index on or still to come.
  ///
  /// - Returns: When it came; `nil` if the task was cancelled.
  func event(
    from index: Int, where condition: @escaping @Sendable (ClientEvent) -> Bool
  ) async -> VoiceInstant? {
    let id = self.state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let found = self.state.withLock { state -> VoiceInstant?? in
          if let entry = state.entries.dropFirst(index).first(where: { condition($0.event) }) {
            return .some(entry.at)
          }
          guard !Task.isCancelled else { return .some(nil) }
          state.waiters[id] = Waiter(condition: condition, continuation: continuation)
          return nil
        }
        if let found { continuation.resume(returning: found) }
      }
    } onCancel: {
      let waiter = self.state.withLock { $0.waiters.removeValue(forKey: id) }
      waiter?.continuation.resume(returning: nil)
    }
  }
}

/// The result of a body, or `nil` when it takes too long and was cancelled.
func within<Result: Sendable>(
  _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result? {
  try await withThrowingTaskGroup(of: Result?.self) { group in
    group.addTask { try await body() }
    group.addTask {
      let clock = MonotonicClock()
      try await clock.sleep(until: clock.now.advanced(by: limit), tolerance: nil)
      return nil
    }
    defer { group.cancelAll() }
    return try await group.next() ?? nil
  }
}
