import Foundation
import Synchronization
import VoiceAudio
import VoiceCore

/// What the session hears while it records.
enum CaptureEvent: Sendable {
  case started
  /// Little-endian 16-bit mono samples; `position` counts samples since the capture began.
  case audio(position: Int64, Data)
  case noticed(VoiceFailure)
  case ended
  case failed(VoiceFailure)
}

/// Where a session's audio comes from: a source, or a recorder with the documented interface.
protocol SpeechCapture: Sendable {
  /// Checks that recording is possible, without keeping the device.
  func prepare() async throws(VoiceFailure)

  /// Orders a recording. It begins when it is run, and can be stopped from now on.
  func order() -> any CaptureRun

  func suspend() throws
  func resume() throws
}

/// One recording, from the order to its last event.
protocol CaptureRun: Sendable {
  /// Records until ``stop()``, the end of the source, or cancellation; reports `ended` or `failed` as the last event.
  ///
  /// A recording that was stopped before it is run ends at once and opens nothing.
  func run(_ report: @escaping @Sendable (CaptureEvent) -> Void) async

  /// Ends the recording, also if it has not begun; what was recorded is still reported.
  func stop()

  /// Makes a source that can wait wait, while the session has enough to send.
  func setHeld(_ isHeld: Bool)
}

extension SpeechCapture {
  func suspend() throws {}
  func resume() throws {}
}

/// Records from an ``AudioSource``.
struct SourceCapture: SpeechCapture {
  let source: any AudioSource

  func prepare() async throws(VoiceFailure) {
    try await self.source.check()
  }

  func order() -> any CaptureRun { SourceRun(source: self.source) }
}

/// One recording from an ``AudioSource``.
final class SourceRun: CaptureRun {
  private struct State {
    var capture: AudioCapture?
    var isStopped = false
    var isHeld = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let source: any AudioSource
  private let state = Mutex(State())

  init(source: any AudioSource) {
    self.source = source
  }

  func run(_ report: @escaping @Sendable (CaptureEvent) -> Void) async {
    guard !self.state.withLock({ $0.isStopped }) else {
      report(.ended)
      return
    }
    do throws(VoiceFailure) {
      let capture = try await self.source.capture()
      let isStopped = self.state.withLock { state in
        state.capture = capture
        return state.isStopped
      }
      defer { self.state.withLock { $0.capture = nil } }
      if isStopped { capture.stop() }
      report(.started)
      try await withTaskCancellationOf(capture) { () async throws(VoiceFailure) in
        for try await event in capture {
          switch event {
          case .chunk(let chunk):
            report(.audio(position: chunk.position, Self.littleEndian(chunk.samples)))
            if !capture.isLive { await self.waitWhileHeld() }
          case .notice(let failure):
            report(.noticed(failure))
          }
        }
      }
      report(.ended)
    } catch {
      report(.failed(error))
    }
  }

  private func withTaskCancellationOf(
    _ capture: AudioCapture, _ body: () async throws(VoiceFailure) -> Void
  ) async throws(VoiceFailure) {
    var result: Result<Void, VoiceFailure> = .success(())
    await withTaskCancellationHandler {
      do throws(VoiceFailure) { try await body() } catch { result = .failure(error) }
    } onCancel: {
      capture.stop()
      self.setHeld(false)
    }
    try result.get()
  }

  func stop() {
    let capture = self.state.withLock { state in
      state.isStopped = true
      return state.capture
    }
    capture?.stop()
    self.setHeld(false)
  }

  func setHeld(_ isHeld: Bool) {
    let waiter = self.state.withLock { state in
      state.isHeld = isHeld
      guard !isHeld else { return nil as CheckedContinuation<Void, Never>? }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  private func waitWhileHeld() async {
    await withCheckedContinuation { continuation in
      let mustWait = self.state.withLock { state in
        guard state.isHeld, !state.isStopped, !Task.isCancelled else { return false }
        state.waiter = continuation
        return true
      }
      if !mustWait { continuation.resume() }
    }
  }

  static func littleEndian(_ samples: [Int16]) -> Data {
    samples.withUnsafeBytes { raw in
      #if _endian(little)
        Data(raw)
      #else
        Data(samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
      #endif
    }
  }
}
