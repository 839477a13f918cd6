import Foundation
import SpeechProtocol
import VoiceCore

extension SessionMachine {
  /// One utterance, from start to finish.
  struct Context: Sendable {
    enum Audio: Hashable, Sendable {
      case recording
      case draining
      case ended
    }

    let appId: String
    let options: [String: [String]]
    var audio = Audio.recording
    var window: ReplayWindow
    var assembler = SegmentAssembler()
    var isAcknowledged = false
    var leg: Leg?
    /// Where the next leg starts: after the last finished segment, or at a split.
    var resumeSample: Int64 = 0
    /// The number of the first segment that is told from there, if segments that have ended come again.
    var resumeSegment: Int?
    /// What the server gave us to go on from there exactly as it would have.
    var resumeToken = ""
    /// When the context lost its server, and how many tries were made since.
    var outage: Outage?
    /// Whether a server took the whole context and never finished it: then another try has worked only when it gets further.
    var hasHung = false
    /// Whether the engine of this process has taken over from the server.
    var isDegraded = false
    /// How often the engine failed in this context.
    var engineFailures = 0
    /// Samples lost since the loss was last reported; `nil` while nothing is being lost.
    var unreportedLoss: Int64?

    var contextId: String { self.assembler.contextId }
  }

  struct Outage: Hashable, Sendable {
    var since: VoiceInstant
    var attempts: Int
  }

  /// One server context.
  struct Leg: Sendable {
    /// Audio that the server never got: from `serverSample` on its clock is behind by `samples` more.
    struct Skip: Hashable, Sendable {
      var serverSample: Int64
      var samples: Int64
    }

    /// Where the leg starts on the time line of the context, in samples.
    let origin: Int64
    /// The number in the context of the server's segment 0.
    let segmentBase: Int
    /// The last segment that was known when the leg began; up to it the server repeats itself.
    let replayedThrough: Int
    /// When the server was asked to take it.
    let began: VoiceInstant
    /// The position up to which audio was handed to the transport.
    var sent: Int64
    var serverContextId: String?
    /// Where the leg ends before the context does.
    var limit: Int64?
    var stopSent = false
    /// Whether the server has finished the leg by itself; the end of the stream says why.
    var isCutOff = false
    var skips: [Skip] = []
    var quietestLevel = Double.infinity
    var violations = 0

    /// The position in the context of a sample of the server's context.
    func position(ofServerSample sample: Int64) -> Int64 {
      let end = max(self.origin, self.sent)
      // A server cannot have heard more than it was sent: with that bound no number of its can overflow.
      let heard = min(max(0, sample), end - self.origin)
      var position = self.origin + heard
      for skip in self.skips where skip.serverSample <= heard {
        position += skip.samples
      }
      return min(position, end)
    }

    /// The time in the context of a time of the server's context, in seconds.
    func time(ofServerMilliseconds raw: Int32, sampleRate: Int) -> TimeInterval {
      let milliseconds = max(0, raw)
      let sample = Int64(milliseconds) * Int64(sampleRate) / 1000
      var shift = self.origin
      for skip in self.skips where skip.serverSample <= sample {
        shift += skip.samples
      }
      return TimeInterval(shift) / TimeInterval(max(1, sampleRate)) + TimeInterval(milliseconds) / 1000
    }
  }

  // MARK: Commands

  mutating func start(
    appId: String?, options: [String: [String]], at now: VoiceInstant, _ actions: inout [Action]
  ) {
    guard !self.isClosing else {
      actions.append(.emit(.failed(VoiceFailure(.clientClosed))))
      return
    }
    guard !self.isSuspended else {
      actions.append(
        .emit(
          .failed(VoiceFailure(.usage, message: "The client is suspended: call resume() before start()."))))
      return
    }
    // While the device is closing, what it still holds belongs to the former context.
    if self.capture == .stopping(thenStart: false) {
      self.drainCurrentAudio()
    } else {
      self.endCurrentAudio()
    }
    self.contexts.append(
      Context(
        appId: appId ?? self.configuration.appId,
        options: self.configuration.options.merging(options) { _, new in new },
        window: ReplayWindow(capacity: self.configuration.samples(self.configuration.window))))
    actions.append(.cancelTimer(.idle))
    switch self.capture {
    case .idle:
      self.capture = .starting
      self.expectedCapturePosition = 0
      actions.append(.startCapture)
    case .starting, .running:
      actions.append(.cancelTimer(.postRoll))
    case .stopping:
      self.capture = .stopping(thenStart: true)
    }
  }

  mutating func stop(at now: VoiceInstant, _ actions: inout [Action]) {
    guard let last = self.contexts.indices.last, self.contexts[last].audio == .recording else { return }
    self.contexts[last].audio = .draining
    switch self.capture {
    case .starting, .running:
      if self.configuration.postRoll > .zero {
        actions.append(.setTimer(.postRoll, now.advanced(by: self.configuration.postRoll)))
      } else {
        self.stopCapture(at: now, &actions)
      }
    case .stopping(thenStart: true):
      // Recording for this context has not begun.
      self.capture = .stopping(thenStart: false)
      self.contexts[last].audio = .ended
    case .idle, .stopping(thenStart: false):
      self.contexts[last].audio = .ended
    }
  }

  mutating func suspend(at now: VoiceInstant, _ actions: inout [Action]) {
    guard !self.isSuspended else { return }
    self.isSuspended = true
    self.stop(at: now, &actions)
    self.stopCapture(at: now, &actions)
  }

  mutating func close(isAbrupt: Bool, at now: VoiceInstant, _ actions: inout [Action]) {
    self.isClosing = true
    self.suspend(at: now, &actions)
    guard isAbrupt else { return }
    self.endAllContexts(&actions)
    self.cancelStream(&actions)
    self.capture = .idle
    actions.append(.abandonCapture)
  }

  // MARK: Audio

  mutating func stopCapture(at now: VoiceInstant, _ actions: inout [Action]) {
    switch self.capture {
    case .starting, .running:
      self.capture = .stopping(thenStart: false)
      actions.append(.cancelTimer(.postRoll))
      actions.append(.stopCapture)
      actions.append(.setTimer(.captureDrain, now.advanced(by: self.configuration.captureDrainTimeout)))
    case .stopping(thenStart: true):
      // Nobody is left for whom it would be opened again.
      self.capture = .stopping(thenStart: false)
    case .idle, .stopping(thenStart: false):
      break
    }
  }

  mutating func captureEnded(at now: VoiceInstant, _ actions: inout [Action]) {
    let before = self.capture
    guard before != .idle else { return }
    actions.append(.cancelTimer(.captureDrain))
    actions.append(.cancelTimer(.postRoll))
    if before == .stopping(thenStart: true), self.contexts.last?.audio == .recording {
      self.endDrainingAudio()
      self.capture = .starting
      self.expectedCapturePosition = 0
      actions.append(.startCapture)
      return
    }
    self.capture = .idle
    self.endDrainingAudio()
    self.endCurrentAudio()
  }

  /// Keeps a source that can wait from running ahead of the server.
  mutating func holdCaptureIfAhead(_ actions: inout [Action]) {
    guard self.capture == .running, let context = self.contexts.last else {
      self.isCaptureHeld = false
      return
    }
    let sent = max(context.leg?.sent ?? context.resumeSample, context.window.start)
    let unsent = context.window.end - sent
    let limit = min(self.configuration.samples(self.configuration.holdAbove), context.window.capacity / 2)
    if !self.isCaptureHeld, unsent > limit {
      self.isCaptureHeld = true
      actions.append(.holdCapture(true))
    } else if self.isCaptureHeld, unsent <= limit / 2 {
      self.isCaptureHeld = false
      actions.append(.holdCapture(false))
    }
  }

  private mutating func endCurrentAudio() {
    guard let last = self.contexts.indices.last else { return }
    self.contexts[last].audio = .ended
  }

  private mutating func drainCurrentAudio() {
    guard let last = self.contexts.indices.last, self.contexts[last].audio == .recording else { return }
    self.contexts[last].audio = .draining
  }

  private mutating func endDrainingAudio() {
    for index in self.contexts.indices where self.contexts[index].audio == .draining {
      self.contexts[index].audio = .ended
    }
  }

  /// The context that what is captured now belongs to.
  private var listeningContext: Int? {
    switch self.capture {
    case .idle, .starting, .running:
      self.contexts.indices.last
    case .stopping:
      // What a device that is closing still holds was said before whatever was started since, and perhaps stopped again.
      self.contexts.lastIndex { $0.audio == .draining }
    }
  }

  mutating func audioCaptured(
    position: Int64, _ bytes: Data, at now: VoiceInstant, _ actions: inout [Action]
  ) {
    guard let index = self.listeningContext, self.contexts[index].audio != .ended else { return }
    let missing = position - self.expectedCapturePosition
    if missing > 0, self.expectedCapturePosition > 0 {
      let silence = min(missing, self.configuration.samples(.seconds(10)))
      self.keep(Data(count: Int(silence) * 2), in: index, &actions)
    }
    self.expectedCapturePosition = position + Int64(bytes.count / 2)
    self.keep(bytes, in: index, &actions)
  }

  private mutating func keep(_ bytes: Data, in index: Int, _ actions: inout [Action]) {
    let sent = self.contexts[index].leg?.sent ?? self.contexts[index].resumeSample
    let lost = self.contexts[index].window.append(bytes, unsentFrom: sent)
    guard lost > 0 else { return }
    if let already = self.contexts[index].unreportedLoss {
      self.contexts[index].unreportedLoss = already + lost
    } else {
      self.contexts[index].unreportedLoss = lost
      actions.append(
        .emit(
          .failed(
            VoiceFailure(
              .audioDropped,
              message: "The server is too slow or away for too long: the oldest audio is being dropped."))))
    }
  }

  /// Says how much was dropped once dropping has stopped.
  mutating func reportLoss(in index: Int, _ actions: inout [Action]) {
    guard let lost = self.contexts[index].unreportedLoss else { return }
    self.contexts[index].unreportedLoss = nil
    actions.append(.emit(.failed(self.loss(of: lost))))
  }

  /// Says how much was recorded behind the last finished segment, because nobody will recognise it any more.
  mutating func reportUnrecognized(in index: Int, _ actions: inout [Action]) {
    let lost = self.contexts[index].window.end - self.contexts[index].resumeSample
    // What was dropped before is part of it.
    self.contexts[index].unreportedLoss = nil
    guard lost > 0 else { return }
    actions.append(.emit(.failed(self.loss(of: lost))))
  }

  func loss(of samples: Int64) -> VoiceFailure {
    let seconds = Double(samples) / Double(max(1, self.configuration.sampleRate))
    let text = String(format: "%.2f", seconds)
    return VoiceFailure(.audioDropped, message: "\(text) s of audio were dropped and will not be recognised.")
  }

  // MARK: End

  /// Ends the first context: nothing more follows for it.
  mutating func finishFirstContext(_ actions: inout [Action]) {
    guard !self.contexts.isEmpty else { return }
    self.reportLoss(in: 0, &actions)
    self.reportUnfinished(in: 0, &actions)
    let context = self.contexts.removeFirst()
    let isKnown = !context.contextId.isEmpty
    let segments = context.assembler.ordered.filter { $0.isFinal || !$0.transcripts.isEmpty }
    actions.append(
      .emit(.finished(isKnown ? SpeechContext(id: context.contextId, segments: segments) : nil)))
  }

  mutating func reportUnfinished(in index: Int, _ actions: inout [Action]) {
    // A guess that was taken back is no loss.
    let unfinished = self.contexts[index].assembler.unfinished.filter { !$0.transcripts.isEmpty }
    guard !unfinished.isEmpty else { return }
    self.contexts[index].assembler.abandonUnfinished()
    actions.append(
      .emit(
        .failed(
          VoiceFailure(
            .segmentUnfinished,
            message: unfinished.count == 1
              ? nil : "The utterance ended before \(unfinished.count) of its segments were finished."))))
  }

  mutating func endAllContexts(_ actions: inout [Action]) {
    while !self.contexts.isEmpty {
      self.finishFirstContext(&actions)
    }
  }
}
