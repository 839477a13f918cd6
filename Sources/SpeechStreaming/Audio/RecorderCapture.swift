import Foundation
import Synchronization
import VoiceCore

/// Records with a recorder of the documented interface, whose delegate calls the client forwards to here.
final class RecorderCapture: SpeechCapture {
  private struct State {
    var report: (@Sendable (CaptureEvent) -> Void)?
    var position: Int64 = 0
    var done: CheckedContinuation<Void, Never>?
  }

  private let recorder: any AudioRecorderProtocol
  private let state = Mutex(State())

  init(recorder: any AudioRecorderProtocol) {
    self.recorder = recorder
  }

  func prepare() async throws(VoiceFailure) {
    if let source = self.recorder as? AudioRecorder { try await source.check() }
  }

  func run(_ report: @escaping @Sendable (CaptureEvent) -> Void) async {
    self.state.withLock {
      $0.report = report
      $0.position = 0
    }
    do {
      try self.recorder.start()
    } catch {
      self.end(.failed(SpeechClient.audioFailure(error)))
      return
    }
    report(.started)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = self.state.withLock { state in
          if state.report != nil { state.done = continuation }
          return state.report == nil
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      self.recorder.stop()
      self.end(.ended)
    }
  }

  func stop() { self.recorder.stop() }
  func suspend() throws { try self.recorder.suspend() }
  func resume() throws { try self.recorder.resume() }

  func recorderReceived(_ data: Data) {
    let target = self.state.withLock { state in
      defer { state.position += Int64(data.count / 2) }
      return state.report.map { ($0, state.position) }
    }
    if let (report, position) = target { report(.audio(position: position, data)) }
  }

  func recorderStopped() { self.end(.ended) }

  func recorderFailed(_ failure: VoiceFailure) { self.end(.failed(failure)) }

  private func end(_ event: CaptureEvent) {
    let (report, done) = self.state.withLock { state in
      defer {
        state.report = nil
        state.done = nil
      }
      return (state.report, state.done)
    }
    report?(event)
    done?.resume()
  }
}
