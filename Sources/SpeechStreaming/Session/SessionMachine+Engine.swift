import Foundation
import VoiceCore

/// What a session does with an engine of its own.
///
/// With a server, every utterance begins there. When the server fails it, or leaves it unacknowledged for too long, the engine
/// takes the utterance over for good, with the audio behind the last finished segment; the next utterance is the server's again.
/// Without a server the engine does everything. An engine that fails twice in an utterance gives it back to the server, if
/// there is one.
extension SessionMachine {
  private static let engineFailureLimit = 2

  /// Whether the engine can take the first context over.
  var canDegrade: Bool {
    guard self.configuration.hasEngine, let head = self.contexts.first else { return false }
    return !head.isDegraded && head.engineFailures < Self.engineFailureLimit
  }

  /// Begins to wait for the server's acknowledgement of the first context, unless that wait has begun.
  mutating func startPatience(at now: VoiceInstant, _ actions: inout [Action]) {
    guard self.canDegrade, !self.isPatienceRunning else { return }
    self.isPatienceRunning = true
    actions.append(.setTimer(.patience, now.advanced(by: self.configuration.serverPatience)))
  }

  mutating func endPatience(_ actions: inout [Action]) {
    guard self.isPatienceRunning else { return }
    self.isPatienceRunning = false
    actions.append(.cancelTimer(.patience))
  }

  mutating func patienceElapsed(at now: VoiceInstant, _ actions: inout [Action]) {
    guard self.isPatienceRunning else { return }
    self.isPatienceRunning = false
    guard self.canDegrade, self.contexts.first?.leg?.serverContextId == nil else { return }
    switch self.connection {
    case .authenticating, .streaming, .waiting:
      self.cancelStream(&actions)
      actions.append(.cancelTimer(.progress))
      actions.append(.cancelTimer(.retry))
      self.degrade(
        VoiceFailure(
          .serverTimedOut,
          message: "The server did not answer within \(self.configuration.serverPatience)."),
        at: now, &actions)
    case .idle, .engine:
      break
    }
  }

  /// Gives the first context to the engine.
  mutating func degrade(_ failure: VoiceFailure, at now: VoiceInstant, _ actions: inout [Action]) {
    self.endPatience(&actions)
    self.contexts[0].isDegraded = true
    self.contexts[0].leg = nil
    self.contexts[0].outage = nil
    self.reconnecting = nil
    self.schedule = RetrySchedule(policy: self.configuration.retry)
    self.hasRefreshedToken = false
    self.changeRecognizer(&actions)
    let context = self.contexts[0]
    let replayed = context.window.end - max(context.resumeSample, context.window.start)
    actions.append(
      .emit(
        .degraded(
          SpeechDegradation(
            contextId: context.contextId.isEmpty ? nil : context.contextId, failure: failure,
            replayed: self.configuration.duration(ofSamples: replayed)))))
    self.openEngine(at: now, &actions)
  }

  mutating func openEngine(at now: VoiceInstant, _ actions: inout [Action]) {
    self.lastStreamID += 1
    var stream = Stream(id: self.lastStreamID, lastProgress: now)
    actions.append(.openEngine(stream.id))
    actions.append(.send(stream: stream.id, self.configRequest()))
    stream.inFlight = 1
    self.connection = .engine(stream)
    self.pump(at: now, &actions)
  }

  /// The engine failed, or cannot work at all.
  mutating func engineLost(_ failure: VoiceFailure, at now: VoiceInstant, _ actions: inout [Action]) {
    self.connection = .idle
    guard !self.contexts.isEmpty else { return }
    self.contexts[0].leg = nil
    self.contexts[0].engineFailures += 1
    let mayHelp = failure.code == .engineFailed || failure.recovery == .retry
    if mayHelp, self.contexts[0].engineFailures < Self.engineFailureLimit {
      // A recogniser that fails is replaced by another, which hears the same audio again.
      actions.append(.emit(.failed(failure)))
      self.openEngine(at: now, &actions)
    } else if self.configuration.hasServer {
      self.contexts[0].engineFailures = Self.engineFailureLimit
      self.contexts[0].isDegraded = false
      self.changeRecognizer(&actions)
      actions.append(.emit(.failed(failure)))
    } else {
      self.fail(failure, at: now, &actions)
    }
  }

  /// Somebody else goes on with the first context. What one recogniser learned, and how it cut an utterance into segments, means
  /// nothing to another: it begins behind the last word of the segments that are finished, and guesses are taken back.
  private mutating func changeRecognizer(_ actions: inout [Action]) {
    for segment in self.contexts[0].assembler.takeBackGuesses() {
      actions.append(.emit(.segmentUpdated(segment)))
    }
    let finished = self.contexts[0].assembler.ordered.prefix(while: \.isFinal)
    self.contexts[0].resumeToken = ""
    self.contexts[0].resumeSegment = nil
    guard let end = finished.last?.transcripts.last?.endOffset, end.isFinite else { return }
    let position = Int64(
      min(max(0, end * Double(self.configuration.sampleRate)), Double(self.contexts[0].window.end)))
    guard position > self.contexts[0].resumeSample else { return }
    self.contexts[0].resumeSample = position
    self.contexts[0].window.trim(to: position)
  }
}
