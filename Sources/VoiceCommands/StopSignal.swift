import UnixSignals

/// A request to stop, from the person or from the system.
public enum StopSignal: Hashable, Sendable {
  /// Ctrl-C.
  case interrupt
  /// SIGTERM, as service managers send it.
  case terminate

  /// The signals of this process from now on; while somebody reads them they do not end the process.
  static func ofThisProcess() -> AsyncStream<StopSignal> {
    AsyncStream { continuation in
      // The stream's only producer; it ends with the stream.
      let task = Task {
        for await signal in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
          continuation.yield(signal == .sigint ? .interrupt : .terminate)
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}

/// Decides what requests to stop mean: the first lets the work end well, the second ends it at once.
///
/// States: *running* -> *stopping* -> *aborted* (final), and *over* (final) once the work is done.
struct StopMachine: Hashable, Sendable {
  enum Action: Hashable, Sendable {
    /// Stop taking in; what was taken in is still wanted.
    case stopGracefully
    /// Give everything up.
    case abort
    case ignore
  }

  private enum State: Hashable, Sendable {
    case running
    case stopping
    case aborted
    case over
  }

  private var state = State.running

  /// Whether a request was made while there was work.
  var wasAsked: Bool {
    switch self.state {
    case .running, .over: false
    case .stopping, .aborted: true
    }
  }

  var isAborted: Bool { self.state == .aborted }

  mutating func signalArrived() -> Action {
    switch self.state {
    case .running:
      self.state = .stopping
      return .stopGracefully
    case .stopping:
      self.state = .aborted
      return .abort
    case .aborted, .over:
      return .ignore
    }
  }

  mutating func workEnded() {
    switch self.state {
    case .running: self.state = .over
    case .stopping, .aborted, .over: break
    }
  }
}
