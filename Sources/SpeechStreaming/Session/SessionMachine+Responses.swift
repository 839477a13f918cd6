import Foundation
import SpeechProtocol
import SwiftProtobuf
import VoiceCore

extension SessionMachine {
  /// How many broken rules of one leg are reported one by one; a server that floods must not flood the app.
  private static let reportedViolations = 20

  mutating func responseReceived(
    stream id: Int, _ response: Speechly_Slu_V1_SLUResponse, at now: VoiceInstant, _ actions: inout [Action]
  ) {
    guard var stream = self.connection.stream, stream.id == id else { return }
    stream.lastProgress = now
    self.connection.stream = stream
    if case .rttRequest(let request) = response.streamingResponse {
      stream.inFlight += 1
      self.connection.stream = stream
      actions.append(.send(stream: id, .with { $0.rttResponse.id = request.id }))
      return
    }
    guard self.contexts.first?.leg != nil else {
      self.violation("a message came while no context was open", &actions)
      return
    }
    if case .started = response.streamingResponse {
      self.contextStarted(response.audioContext, at: now, &actions)
      return
    }
    guard let expected = self.contexts[0].leg?.serverContextId, expected == response.audioContext else {
      self.violation("a message came for an unknown context", &actions)
      return
    }
    guard self.contexts[0].leg?.isCutOff == false else {
      self.violation("a message came for a context that was finished", &actions)
      return
    }
    if case .finished(let finished) = response.streamingResponse {
      if finished.hasError {
        actions.append(
          .emit(
            .failed(
              VoiceFailure(
                .serverFailed, message: "The server reported an error at the end of the utterance."))))
      }
      self.legFinished(at: now, &actions)
      return
    }
    self.segmentChanged(response, at: now, &actions)
  }

  private mutating func contextStarted(
    _ serverContextId: String, at now: VoiceInstant, _ actions: inout [Action]
  ) {
    guard self.contexts[0].leg?.serverContextId == nil else {
      self.violation("a context was started twice", &actions)
      return
    }
    guard !serverContextId.isEmpty else {
      self.violation("a context has no identifier", &actions)
      return
    }
    self.contexts[0].leg?.serverContextId = serverContextId
    self.contexts[0].assembler.name(serverContextId)
    if !self.connection.isEngine {
      if !self.contexts[0].hasHung { self.schedule.connected(at: now) }
      self.reconnecting = nil
      self.hasRefreshedToken = false
      self.endPatience(&actions)
    }
    let contextId = self.contexts[0].contextId
    if !self.contexts[0].isAcknowledged {
      self.contexts[0].isAcknowledged = true
      actions.append(.emit(.started(contextId: contextId)))
    }
    if let outage = self.contexts[0].outage {
      self.contexts[0].outage = nil
      let origin = self.contexts[0].leg?.origin ?? 0
      actions.append(
        .emit(
          .recovered(
            SpeechRecovery(
              contextId: contextId, attempts: outage.attempts,
              replayed: self.configuration.duration(ofSamples: self.contexts[0].window.end - origin),
              outage: outage.since.duration(to: now)))))
    }
  }

  private mutating func legFinished(at now: VoiceInstant, _ actions: inout [Action]) {
    guard let leg = self.contexts[0].leg else { return }
    if leg.violations > Self.reportedViolations {
      let more = leg.violations - Self.reportedViolations
      actions.append(
        .emit(
          .failed(
            VoiceFailure(.protocolViolated, message: "The server broke the protocol \(more) more times."))))
    }
    guard leg.stopSent else {
      if self.connection.isEngine {
        self.reportCutOff(&actions)
        self.cancelStream(&actions)
        self.engineLost(VoiceFailure(.engineFailed), at: now, &actions)
        return
      }
      // A server that ends a context says why with the end of the stream, which comes next.
      self.contexts[0].leg?.isCutOff = true
      actions.append(.setTimer(.reason, now.advanced(by: self.configuration.reasonTimeout)))
      return
    }
    self.gotFurther(at: now)
    if let limit = leg.limit, limit < self.contexts[0].window.end || self.contexts[0].audio != .ended {
      self.reportUnfinished(in: 0, &actions)
      self.contexts[0].leg = nil
      self.contexts[0].resumeSample = limit
      self.contexts[0].resumeSegment = nil
      self.contexts[0].window.trim(to: limit)
      actions.append(.emit(.failed(VoiceFailure(.contextSplit))))
      return
    }
    self.finishFirstContext(&actions)
    // The next utterance is the server's again.
    if self.connection.isEngine, self.configuration.hasServer { self.closeStream(&actions) }
    self.waitIdle(at: now, &actions)
  }

  /// The server has ended a context by itself, and the stream goes on as if nothing had happened.
  mutating func reasonMissing(at now: VoiceInstant, _ actions: inout [Action]) {
    guard case .streaming(let stream) = self.connection, self.contexts.first?.leg?.isCutOff == true else {
      return
    }
    self.reportCutOff(&actions)
    actions.append(.cancelStream(stream.id))
    self.connectionLost(Self.cutOff, pushBack: nil, at: now, &actions)
  }

  static var cutOff: VoiceFailure {
    VoiceFailure(.connectionLost, message: "The server ended the context by itself.")
  }

  mutating func reportCutOff(_ actions: inout [Action]) {
    self.violation("the context was finished before it was stopped", &actions)
  }

  /// A server has got further than the one that hung.
  private mutating func gotFurther(at now: VoiceInstant) {
    guard self.contexts[0].hasHung, !self.connection.isEngine else { return }
    self.contexts[0].hasHung = false
    self.schedule.connected(at: now)
  }

  private mutating func segmentChanged(
    _ response: Speechly_Slu_V1_SLUResponse, at now: VoiceInstant, _ actions: inout [Action]
  ) {
    guard let leg = self.contexts[0].leg else { return }
    let (segmentId, overflow) = Int(response.segmentID).addingReportingOverflow(leg.segmentBase)
    guard !overflow, response.segmentID >= 0 else {
      self.violation("a segment has a negative number", &actions)
      return
    }
    let isReplay = segmentId <= leg.replayedThrough
    if !isReplay { self.gotFurther(at: now) }
    let contextId = self.contexts[0].contextId
    let rate = self.configuration.sampleRate
    let update: SegmentAssembler.Update
    switch response.streamingResponse {
    case .transcript(let word):
      update = self.contexts[0].assembler.receivedWord(
        Self.transcript(word, isFinal: true, leg: leg, sampleRate: rate), segmentId: segmentId,
        isReplay: isReplay)
    case .tentativeTranscript(let transcript):
      update = self.contexts[0].assembler.receivedTentativeWords(
        transcript.tentativeWords.map { Self.transcript($0, isFinal: false, leg: leg, sampleRate: rate) },
        segmentId: segmentId, isReplay: isReplay)
    case .entity(let entity):
      update = self.contexts[0].assembler.receivedEntity(
        Self.entity(entity, isFinal: true), segmentId: segmentId, isReplay: isReplay)
    case .tentativeEntities(let entities):
      update = self.contexts[0].assembler.receivedTentativeEntities(
        entities.tentativeEntities.map { Self.entity($0, isFinal: false) }, segmentId: segmentId,
        isReplay: isReplay)
    case .intent(let intent):
      update = self.contexts[0].assembler.receivedIntent(
        SpeechIntent(value: intent.intent, isFinal: true), segmentId: segmentId, isReplay: isReplay)
    case .tentativeIntent(let intent):
      update = self.contexts[0].assembler.receivedIntent(
        SpeechIntent(value: intent.intent, isFinal: false), segmentId: segmentId, isReplay: isReplay)
    case .segmentEnd(let end):
      update = self.contexts[0].assembler.receivedSegmentEnd(segmentId: segmentId, isReplay: isReplay)
      self.moveResumePoint(after: segmentId, end, leg: leg, at: now)
    case .started, .finished, .rttRequest, nil:
      // Handled before, or a kind of message that a newer server may send.
      return
    }
    for item in update.items {
      switch item {
      case .transcript(let word):
        actions.append(.emit(.transcript(contextId: contextId, segmentId: segmentId, word)))
      case .entity(let entity):
        actions.append(.emit(.entity(contextId: contextId, segmentId: segmentId, entity)))
      case .intent(let intent):
        actions.append(.emit(.intent(contextId: contextId, segmentId: segmentId, intent)))
      }
    }
    if let segment = update.segment { actions.append(.emit(.segmentUpdated(segment))) }
    switch update.violation {
    case .ignored(let text): self.violation(text, &actions)
    case .diverged(let text):
      actions.append(.emit(.failed(VoiceFailure(.replayDiverged, message: "After the reconnect \(text)."))))
    case nil: break
    }
  }

  /// Audio before the end of a finished segment is not needed again, unless an earlier segment is still open.
  private mutating func moveResumePoint(
    after segmentId: Int, _ end: Speechly_Slu_V1_SLUSegmentEnd, leg: Leg, at now: VoiceInstant
  ) {
    guard self.contexts[0].assembler.allFinished(before: segmentId),
      let segment = self.contexts[0].assembler.segments[segmentId], segment.isFinal
    else { return }
    let sample: Int64
    let isExact = end.nextSample > 0 || !end.resumeToken.isEmpty
    if isExact {
      sample = leg.position(ofServerSample: end.nextSample)
    } else if let last = segment.transcripts.last, last.endOffset.isFinite {
      let position = last.endOffset * Double(self.configuration.sampleRate)
      sample = Int64(min(max(0, position), Double(leg.sent)))
    } else {
      return
    }
    guard sample >= self.contexts[0].resumeSample else { return }
    if sample > self.contexts[0].resumeSample { self.gotFurther(at: now) }
    self.contexts[0].resumeSample = sample
    let repeated = isExact ? max(0, Int(end.repeatedSegments)) : 0
    self.contexts[0].resumeSegment = repeated > 0 ? max(0, segmentId - repeated + 1) : nil
    self.contexts[0].resumeToken = end.resumeToken.base64EncodedString()
    self.contexts[0].window.trim(to: sample)
  }

  private mutating func violation(_ text: String, _ actions: inout [Action]) {
    let count = (self.contexts.first?.leg?.violations ?? 0) + 1
    if !self.contexts.isEmpty { self.contexts[0].leg?.violations = count }
    guard count <= Self.reportedViolations else { return }
    actions.append(
      .emit(.failed(VoiceFailure(.protocolViolated, message: "The server broke the protocol: \(text)."))))
  }

  private static func transcript(
    _ word: Speechly_Slu_V1_SLUTranscript, isFinal: Bool, leg: Leg, sampleRate: Int
  ) -> SpeechTranscript {
    SpeechTranscript(
      index: Int(word.index), value: word.word,
      startOffset: leg.time(ofServerMilliseconds: word.startTime, sampleRate: sampleRate),
      endOffset: leg.time(ofServerMilliseconds: word.endTime, sampleRate: sampleRate), isFinal: isFinal)
  }

  private static func entity(_ entity: Speechly_Slu_V1_SLUEntity, isFinal: Bool) -> SpeechEntity {
    SpeechEntity(
      value: entity.value, type: entity.entity, startIndex: Int(entity.startPosition),
      endIndex: Int(entity.endPosition), isFinal: isFinal)
  }
}
