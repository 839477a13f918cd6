import Synchronization
public import VoiceCore

/// Several sources, one after the other, as one stream with running positions.
///
/// A source is opened when the one before it has ended; if that fails, the sequence throws what was thrown.
public struct ConcatenatedSource: AudioSource {
  private let sources: [any AudioSource]

  /// Creates a source.
  public init(_ sources: [any AudioSource]) {
    self.sources = sources
  }

  public func capture() async throws(VoiceFailure) -> AudioCapture {
    guard let first = self.sources.first else { throw AudioEnding.empty(name: "a list without sources") }
    let parts = Parts(current: try await first.capture(), waiting: self.sources.dropFirst())
    return AudioCapture(
      isLive: false,
      next: { () async throws(VoiceFailure) -> AudioEvent? in try await parts.next() },
      stop: { parts.stop() })
  }

  private final class Parts: Sendable {
    private struct State {
      var current: AudioCapture
      var waiting: ArraySlice<any AudioSource>
      var offset: Int64 = 0
      var end: Int64 = 0
      var isStopped = false
    }

    private let state: Mutex<State>

    init(current: AudioCapture, waiting: ArraySlice<any AudioSource>) {
      self.state = Mutex(State(current: current, waiting: waiting))
    }

    func stop() {
      let current = self.state.withLock { state in
        state.isStopped = true
        state.waiting = []
        return state.current
      }
      current.stop()
    }

    func next() async throws(VoiceFailure) -> AudioEvent? {
      while true {
        var iterator = self.state.withLock { $0.current }.makeAsyncIterator()
        if let event = try await iterator.next() { return self.moved(event) }
        guard !Task.isCancelled, let source = self.state.withLock({ $0.waiting.popFirst() }) else {
          return nil
        }
        let capture = try await source.capture()
        let isStopped = self.state.withLock { state in
          state.current = capture
          state.offset = state.end
          return state.isStopped
        }
        if isStopped { capture.stop() }
      }
    }

    private func moved(_ event: AudioEvent) -> AudioEvent {
      guard case .chunk(var chunk) = event else { return event }
      self.state.withLock { state in
        chunk.position += state.offset
        state.end = chunk.endPosition
      }
      return .chunk(chunk)
    }
  }
}
