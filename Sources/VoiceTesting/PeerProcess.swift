import Foundation
import Synchronization
import VoiceCore

/// An independent program that a test talks to: a Python script that prints one JSON object per line.
///
/// Use ``withPeerProcess(_:arguments:environment:sourceFile:isolation:_:)``, which ends the program whatever happens.
///
/// ```swift
/// try await withPeerProcess("Tests/Peers/scripted_slu_server.py") { peer in
///   let port = try await peer.event("listening")["port"]?.int
///   …
/// }
/// ```
///
/// Events are kept: every iteration of ``events`` begins with the first, so nothing is missed and several readers may look.
public final class PeerProcess: Sendable {
  fileprivate struct State {
    var history: [PeerEvent] = []
    var errorOutput = Data()
    var exitStatus: Int?
    var isFinished = false
    var openPipes = 2
    var nextID = 0
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Mutex(State())
  private let process: PeerSubprocess

  init(process: PeerSubprocess) {
    self.process = process
  }

  /// The events from the first one on; ends when the program has ended.
  public var events: Events { Events(peer: self) }

  /// What the program wrote to its standard error so far; long output is cut at its beginning.
  public var errorOutput: String { self.state.withLock { String(decoding: $0.errorOutput, as: UTF8.self) } }

  /// The program's exit status, or `nil` while it runs; 128 plus the signal if a signal ended it.
  public var exitStatus: Int? { self.state.withLock { $0.exitStatus } }

  /// Waits for an event.
  ///
  /// - Parameters:
  ///   - name: The kind of the event.
  ///   - condition: What else must hold.
  /// - Returns: The first such event, be it past or to come.
  /// - Throws: ``VoiceFailure`` `client.unexpected` with what the program wrote to its standard error, if it ends without the
  ///   event; `CancellationError` if the task is cancelled.
  public func event(_ name: String, where condition: (PeerEvent) -> Bool = { _ in true }) async throws
    -> PeerEvent
  {
    for await event in self.events where event.name == name && condition(event) {
      return event
    }
    try Task.checkCancellation()
    throw VoiceFailure(
      .unexpected,
      message:
        "The peer ended (status \(self.exitStatus.map(String.init) ?? "unknown")) without the event \(name).",
      cause: PeerFailure(errorOutput: self.errorOutput))
  }

  /// Writes one line to the program's standard input; does nothing if it has ended.
  public func send(_ line: String) {
    self.process.write(Data((line + "\n").utf8))
  }

  /// Ends the program's standard input, by which the peers of this project end.
  public func closeInput() {
    self.process.closeInput()
  }

  /// Asks the program to end, as Ctrl-C does.
  func interrupt() {
    self.process.signal(SIGINT)
  }

  /// The events of a peer; see ``PeerProcess/events``.
  public struct Events: AsyncSequence, Sendable {
    public typealias Element = PeerEvent
    public typealias Failure = Never

    let peer: PeerProcess

    public func makeAsyncIterator() -> Iterator { Iterator(peer: self.peer) }

    /// Reads the next event.
    public struct Iterator: AsyncIteratorProtocol {
      let peer: PeerProcess
      private var index = 0

      init(peer: PeerProcess) {
        self.peer = peer
      }

      public mutating func next() async -> PeerEvent? {
        await self.next(isolation: nil)
      }

      public mutating func next(isolation actor: isolated (any Actor)?) async -> PeerEvent? {
        guard let event = await self.peer.event(at: self.index) else { return nil }
        self.index += 1
        return event
      }
    }
  }
}

/// What a peer wrote to its standard error before it ended.
struct PeerFailure: Error, CustomStringConvertible {
  var errorOutput: String
  var description: String { self.errorOutput.isEmpty ? "no error output" : self.errorOutput }
}

extension PeerProcess {
  /// What happens to the program, as its driver sees it.
  func printed(_ lines: [String]) {
    self.change { $0.history += lines.map { PeerEvent(line: $0) } }
  }

  func printedError(_ data: Data) {
    self.change { state in
      state.errorOutput += data
      if state.errorOutput.count > 65_536 { state.errorOutput = Data(state.errorOutput.suffix(65_536)) }
    }
  }

  func pipeEnded() {
    self.change { state in
      state.openPipes -= 1
      state.finishIfOver()
    }
  }

  func exited(status: Int) {
    self.change { state in
      state.exitStatus = status
      state.finishIfOver()
    }
  }

  /// Waits until the program has ended and all that it printed was read.
  func waitForExit() async {
    while await self.wait(unless: { $0.isFinished }) {}
  }

  fileprivate func event(at index: Int) async -> PeerEvent? {
    while true {
      let (event, isFinished) = self.state.withLock { state in
        (index < state.history.count ? state.history[index] : nil, state.isFinished)
      }
      if let event { return event }
      if isFinished { return nil }
      guard await self.wait(unless: { index < $0.history.count || $0.isFinished }) else {
        if Task.isCancelled { return nil }
        continue
      }
    }
  }

  private func change(_ change: (inout State) -> Void) {
    let waiters = self.state.withLock { state in
      change(&state)
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits for the next change, unless the condition holds already; `false` if it did or the task is cancelled.
  private func wait(unless condition: (borrowing State) -> Bool) async -> Bool {
    let id = self.state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    return await withTaskCancellationHandler {
      var hasWaited = true
      await withCheckedContinuation { continuation in
        hasWaited = self.state.withLock { state in
          if condition(state) || Task.isCancelled { return false }
          state.waiters[id] = continuation
          return true
        }
        if !hasWaited { continuation.resume() }
      }
      return hasWaited && !Task.isCancelled
    } onCancel: {
      self.state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }
}

extension PeerProcess.State {
  /// The last lines may be read after the exit was noticed, and a pipe may be held open by a child of the program.
  fileprivate mutating func finishIfOver() {
    if self.exitStatus != nil, self.openPipes == 0 { self.isFinished = true }
  }
}
