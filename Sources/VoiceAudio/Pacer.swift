import Synchronization
import VoiceCore

/// Holds the chunks of a capture back until their time has come.
final class Pacer: Sendable {
  private struct State {
    var stoppedAt: VoiceInstant?
    // The wait for the next chunk is a task of its own, so that `stop()` can end it without ending its reader.
    var wait: Task<Void, Never>?
    var isFinished = false
  }

  private let capture: AudioCapture
  private let clock: any VoiceClock
  private let start: VoiceInstant
  private let state = Mutex(State())

  init(capture: AudioCapture, clock: any VoiceClock) {
    self.capture = capture
    self.clock = clock
    self.start = clock.now
  }

  func stop() {
    let now = self.clock.now
    let wait = self.state.withLock { state in
      if state.stoppedAt == nil { state.stoppedAt = now }
      return state.wait
    }
    wait?.cancel()
    self.capture.stop()
  }

  func next() async throws(VoiceFailure) -> AudioEvent? {
    guard !self.state.withLock({ $0.isFinished }) else { return nil }
    var iterator = self.capture.makeAsyncIterator()
    guard let event = try await iterator.next() else { return nil }
    switch event {
    case .notice: return event
    case .chunk(let chunk): return await self.pace(chunk)
    }
  }

  private func pace(_ chunk: AudioChunk) async -> AudioEvent? {
    let due = self.start.advanced(by: chunk.endTime)
    if due > self.clock.now { await self.wait(until: due) }
    if Task.isCancelled { return nil }
    guard let stoppedAt = self.state.withLock({ $0.stoppedAt }), stoppedAt < due else { return .chunk(chunk) }
    return self.heard(of: chunk, until: stoppedAt)
  }

  /// The part of a chunk that had been recorded when the capture was stopped.
  private func heard(of chunk: AudioChunk, until stoppedAt: VoiceInstant) -> AudioEvent? {
    self.state.withLock { $0.isFinished = true }
    let end = AudioChunk.sample(
      at: self.start.duration(to: stoppedAt), sampleRate: chunk.sampleRate)
    let count = min(max(end - chunk.position, 0), Int64(chunk.samples.count))
    guard count > 0 else { return nil }
    var part = chunk
    part.samples.removeLast(chunk.samples.count - Int(count))
    return .chunk(part)
  }

  private func wait(until due: VoiceInstant) async {
    let clock = self.clock
    let wait = self.state.withLock { state -> Task<Void, Never>? in
      guard state.stoppedAt == nil else { return nil }
      let wait = Task { _ = try? await clock.sleep(until: due, tolerance: nil) }
      state.wait = wait
      return wait
    }
    guard let wait else { return }
    await withTaskCancellationHandler {
      await wait.value
    } onCancel: {
      wait.cancel()
    }
    self.state.withLock { $0.wait = nil }
  }
}
