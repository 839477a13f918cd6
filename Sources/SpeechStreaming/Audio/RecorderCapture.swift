import Foundation
import Synchronization
import VoiceCore

/// Records with a recorder of the documented interface, whose delegate calls the client forwards to here.
final class RecorderCapture: SpeechCapture {
  fileprivate let recorder: any AudioRecorderProtocol
  /// The recording that the delegate calls are about; `nil` with our own recorder, which tells each recording by itself.
  private let current = Mutex<RecorderRun?>(nil)

  init(recorder: any AudioRecorderProtocol) {
    self.recorder = recorder
  }

  func prepare() async throws(VoiceFailure) {
    if let source = self.recorder as? AudioRecorder { try await source.check() }
  }

  func order() -> any CaptureRun { RecorderRun(self) }
  func suspend() throws { try self.recorder.suspend() }
  func resume() throws { try self.recorder.resume() }

  fileprivate func begin(_ run: RecorderRun) { self.current.withLock { $0 = run } }

  fileprivate func finish(_ run: RecorderRun) {
    self.current.withLock { if $0 === run { $0 = nil } }
  }

  // MARK: What the recorder's delegate was told

  func recorderReceived(_ data: Data) { self.running?.received(data) }

  func recorderStopped() { self.running?.end(.ended) }

  func recorderFailed(_ failure: VoiceFailure) { self.running?.failed(failure) }

  private var running: RecorderRun? { self.current.withLock { $0 } }
}

/// One recording with a recorder of the documented interface.
private final class RecorderRun: CaptureRun {
  private struct State {
    var report: (@Sendable (CaptureEvent) -> Void)?
    var position: Int64 = 0
    var done: CheckedContinuation<Void, Never>?
    /// Whether the recorder has been started, so that there is something to stop.
    var isRecording = false
    var isStopped = false
    var isStartTold = false
    var hasFailed = false
  }

  private let capture: RecorderCapture
  private var recorder: any AudioRecorderProtocol { self.capture.recorder }
  private let state = Mutex(State())

  init(_ capture: RecorderCapture) {
    self.capture = capture
  }

  func run(_ report: @escaping @Sendable (CaptureEvent) -> Void) async {
    let isStopped = self.state.withLock { state in
      if !state.isStopped { state.report = report }
      return state.isStopped
    }
    guard !isStopped else {
      report(.ended)
      return
    }
    defer { self.capture.finish(self) }
    do {
      if let recorder = self.recorder as? AudioRecorder {
        // Our own recorder tells more than its documented delegate can hear, and of this recording alone.
        try recorder.start { [weak self] event in self?.told(event) }
      } else {
        self.capture.begin(self)
        try self.recorder.start()
        self.told(.started)
      }
    } catch {
      self.end(.failed(SpeechClient.audioFailure(error)))
      return
    }
    let wasStopped = self.state.withLock { state in
      state.isRecording = true
      return state.isStopped
    }
    if wasStopped { self.recorder.stop() }
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
    // A recorder that reports a failure may go on recording, and nobody would hear it.
    if self.state.withLock({ $0.hasFailed && !$0.isStopped }) { self.recorder.stop() }
  }

  func stop() {
    let isRecording = self.state.withLock { state in
      state.isStopped = true
      return state.isRecording
    }
    if isRecording { self.recorder.stop() }
  }

  func setHeld(_ isHeld: Bool) {}

  func received(_ data: Data) {
    let position = self.state.withLock { state in
      defer { state.position += Int64(data.count / 2) }
      return state.position
    }
    self.told(.audio(position: position, data))
  }

  func told(_ event: CaptureEvent) {
    switch event {
    case .started:
      self.tellStart()
    case .audio:
      // Audio that comes before the recorder has said that it records says so, too.
      self.tellStart()
      self.state.withLock { $0.report }?(event)
    case .noticed:
      self.state.withLock { $0.report }?(event)
    case .ended, .failed:
      self.end(event)
    }
  }

  private func tellStart() {
    let report = self.state.withLock { state in
      defer { state.isStartTold = true }
      return state.isStartTold ? nil : state.report
    }
    report?(.started)
  }

  func failed(_ failure: VoiceFailure) {
    self.state.withLock { $0.hasFailed = true }
    self.end(.failed(failure))
  }

  func end(_ event: CaptureEvent) {
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
