import Synchronization
public import VoiceCore

/// One audio context: samples go in, events come out.
///
/// A context owns a recogniser from ``RecognizerPool/beginContext(_:patience:)`` until it is finished, cancelled,
/// failed, or the last reference to it is gone; then the recogniser goes back to the pool. Call from one task at a
/// time; calls of several tasks are decoded one after the other.
///
/// **When the recogniser fails**, the call that met it returns what was recognised until then, as final words of
/// an ended segment; ``failure`` is set, and every later call throws it. If there was nothing to return, that call
/// throws at once.
public final class RecognitionContext: Sendable {
  private enum Phase: Sendable {
    case open
    case finishing
    case ended
    case failed(VoiceFailure)
  }

  private struct State: Sendable {
    var phase = Phase.open
    var adaptation: RecognizerAdaptation?
  }

  private let worker: RecognizerWorker
  private let number: Int
  private let release: @Sendable (_ isBroken: Bool) -> Void
  private let state = Mutex(State())

  init(worker: RecognizerWorker, number: Int, release: @escaping @Sendable (_ isBroken: Bool) -> Void) {
    self.worker = worker
    self.number = number
    self.release = release
  }

  deinit { self.cancel() }

  /// What the recogniser learned of the channel; available after ``finish()``.
  public var adaptation: RecognizerAdaptation? { self.state.withLock { $0.adaptation } }

  /// The failure that ended the context, if one did.
  public var failure: VoiceFailure? {
    self.state.withLock { state in
      if case .failed(let failure) = state.phase { failure } else { nil }
    }
  }

  /// Hears 16-bit mono samples at the engine's rate, of any number.
  ///
  /// Returns when they are decoded, on a thread of the recogniser's own: a caller that waits is held back to the
  /// pace of recognition.
  ///
  /// - Returns: What changed.
  /// - Throws: ``VoiceFailure`` with code `speech.engine.failed` if the recogniser failed, or `client.usage` if
  ///   the context has ended.
  public func append(_ samples: [Int16]) async throws(VoiceFailure) -> [RecognitionEvent] {
    try self.checkOpen()
    let step = await self.worker.append(samples, to: self.number)
    return try self.took(step)
  }

  /// Recognises what is left and ends the context.
  ///
  /// - Returns: The last events.
  /// - Throws: As ``append(_:)``.
  public func finish() async throws(VoiceFailure) -> [RecognitionEvent] {
    try self.state.withLock { state throws(VoiceFailure) in
      try Self.check(state)
      state.phase = .finishing
    }
    let step = await self.worker.finish(self.number)
    if step.failure == nil {
      self.state.withLock { state in
        state.phase = .ended
        state.adaptation = step.adaptation
      }
      self.release(false)
      return step.events
    }
    return try self.took(step)
  }

  /// Drops what was not recognised yet and gives the recogniser back; does nothing after the end.
  public func cancel() {
    let wasOpen = self.state.withLock { state in
      switch state.phase {
      case .open:
        state.phase = .ended
        return true
      case .finishing, .ended, .failed:
        return false
      }
    }
    guard wasOpen else { return }
    let release = self.release
    self.worker.cancel(self.number) { isBroken in release(isBroken) }
  }

  private func checkOpen() throws(VoiceFailure) {
    try self.state.withLock { state throws(VoiceFailure) in try Self.check(state) }
  }

  private static func check(_ state: borrowing State) throws(VoiceFailure) {
    switch state.phase {
    case .open: return
    case .finishing, .ended:
      throw VoiceFailure(.usage, message: "The audio context has ended.", scope: .utterance)
    case .failed(let failure): throw failure
    }
  }

  private func took(_ step: RecognizerWorker.Step) throws(VoiceFailure) -> [RecognitionEvent] {
    guard let failure = step.failure else { return step.events }
    let isFirst = self.state.withLock { state in
      switch state.phase {
      case .open, .finishing:
        state.phase = .failed(failure)
        state.adaptation = step.adaptation
        return true
      case .ended, .failed:
        return false
      }
    }
    if isFirst { self.release(true) }
    guard !step.events.isEmpty else { throw failure }
    return step.events
  }
}
