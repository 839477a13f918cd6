import Synchronization
public import VoiceAudio
public import VoiceCore

/// A microphone that a test speaks into.
///
/// Each ``send(_:)`` is one chunk of the running capture; what is sent without a capture is not heard. Stopping the capture ends it
/// at once.
public final class ManualAudioSource: AudioSource {
  private struct State {
    var continuation: AsyncStream<Result<AudioEvent, VoiceFailure>>.Continuation?
    var position: Int64 = 0
    var openFailure: VoiceFailure?
    var captures = 0
  }

  private let state = Mutex(State())
  private let started = AsyncQueue<Void>()
  private let stopped = AsyncQueue<Void>()

  /// Creates a source.
  public init() {}

  /// How often it was opened.
  public var captureCount: Int { self.state.withLock { $0.captures } }

  /// Whether it is open.
  public var isCapturing: Bool { self.state.withLock { $0.continuation != nil } }

  /// Makes opening fail from now on, or work again.
  public func failToOpen(_ failure: VoiceFailure?) {
    self.state.withLock { $0.openFailure = failure }
  }

  /// Waits until somebody opens the source.
  public func captureStarted() async { _ = await self.started.next() }

  /// Waits until a capture has been stopped.
  public func captureStopped() async { _ = await self.stopped.next() }

  /// Says something.
  public func send(_ samples: [Int16]) {
    let (continuation, position) = self.state.withLock { state in
      defer { state.position += Int64(samples.count) }
      return (state.continuation, state.position)
    }
    continuation?.yield(.success(.chunk(AudioChunk(position: position, samples: samples))))
  }

  /// Loses audio, as an overrun does.
  public func skip(_ samples: Int, notice: VoiceFailure) {
    let continuation = self.state.withLock { state in
      state.position += Int64(samples)
      return state.continuation
    }
    continuation?.yield(.success(.notice(notice)))
  }

  /// Ends the capture by itself, as a file does.
  public func end() { self.close(nil) }

  /// Breaks the capture, as unplugging does.
  public func fail(_ failure: VoiceFailure) { self.close(failure) }

  public func check() async throws(VoiceFailure) {
    if let failure = self.state.withLock({ $0.openFailure }) { throw failure }
  }

  public func capture() async throws(VoiceFailure) -> AudioCapture {
    try await self.check()
    let (stream, continuation) = AsyncStream<Result<AudioEvent, VoiceFailure>>.makeStream()
    self.state.withLock {
      $0.continuation = continuation
      $0.position = 0
      $0.captures += 1
    }
    self.started.put(())
    return AudioCapture(
      next: { () async throws(VoiceFailure) -> AudioEvent? in
        var iterator = stream.makeAsyncIterator()
        return try await iterator.next()?.get()
      },
      stop: { [weak self] in self?.close(nil) })
  }

  private func close(_ failure: VoiceFailure?) {
    let continuation = self.state.withLock { state in
      defer { state.continuation = nil }
      return state.continuation
    }
    guard let continuation else { return }
    if let failure { continuation.yield(.failure(failure)) }
    continuation.finish()
    self.stopped.put(())
  }
}
