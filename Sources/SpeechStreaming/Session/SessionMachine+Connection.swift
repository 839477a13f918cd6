import Foundation
import SpeechProtocol
import SwiftProtobuf
import VoiceCore

extension SessionMachine {
  /// Connects when a context needs the server and nothing is under way.
  mutating func connectIfNeeded(at now: VoiceInstant, _ actions: inout [Action]) {
    guard let head = self.contexts.first, case .idle = self.connection else { return }
    guard self.configuration.hasServer, !head.isDegraded else {
      self.openEngine(at: now, &actions)
      return
    }
    self.authenticate(refresh: false, &actions)
    self.startPatience(at: now, &actions)
  }

  mutating func authenticate(refresh: Bool, _ actions: inout [Action]) {
    self.connection = .authenticating
    actions.append(.cancelTimer(.retry))
    actions.append(.obtainToken(refresh: refresh))
  }

  mutating func tokenObtained(
    _ token: ApiAccessToken, at now: VoiceInstant, _ actions: inout [Action]
  ) {
    guard case .authenticating = self.connection else { return }
    self.lastStreamID += 1
    var stream = Stream(id: self.lastStreamID, lastProgress: now)
    actions.append(.openStream(stream.id, token))
    actions.append(.send(stream: stream.id, self.configRequest()))
    actions.append(.setTimer(.progress, now.advanced(by: self.configuration.replyTimeout)))
    stream.inFlight = 1
    self.connection = .streaming(stream)
    self.pump(at: now, &actions)
  }

  func configRequest() -> Speechly_Slu_V1_SLURequest {
    .with {
      $0.config.encoding = .linear16
      $0.config.channels = 1
      $0.config.sampleRateHertz = Int32(clamping: self.configuration.sampleRate)
      $0.config.languageCode = self.configuration.language
    }
  }

  mutating func requestAccepted(stream id: Int, at now: VoiceInstant, _ actions: inout [Action]) {
    guard var stream = self.connection.stream, stream.id == id else { return }
    stream.inFlight = max(0, stream.inFlight - 1)
    stream.lastProgress = now
    self.connection.stream = stream
    self.pump(at: now, &actions)
  }

  /// A server that owes an answer for too long counts as lost.
  mutating func checkProgress(at now: VoiceInstant, _ actions: inout [Action]) {
    guard case .streaming(let stream) = self.connection else { return }
    let timeout = self.configuration.replyTimeout
    let leg = self.contexts.first?.leg
    let owedSince: VoiceInstant?
    if let leg, leg.serverContextId == nil {
      // Whoever takes audio without end, and says nothing, is no better than one that takes none.
      owedSince = min(leg.began, stream.lastProgress)
    } else {
      owedSince = stream.inFlight > 0 || leg?.stopSent == true ? stream.lastProgress : nil
    }
    let deadline = (owedSince ?? now).advanced(by: timeout)
    guard now >= deadline else {
      actions.append(.setTimer(.progress, deadline))
      return
    }
    if leg?.serverContextId != nil, stream.inFlight == 0 { self.contexts[0].hasHung = true }
    actions.append(.cancelStream(stream.id))
    self.connectionLost(VoiceFailure(.serverTimedOut), pushBack: nil, at: now, &actions)
  }

  mutating func streamEnded(
    stream id: Int, _ end: SpeechStreamEnd, at now: VoiceInstant, _ actions: inout [Action]
  ) {
    guard let stream = self.connection.stream, stream.id == id else { return }
    if self.connection.isEngine {
      self.engineLost(end.failure ?? VoiceFailure(.engineFailed), at: now, &actions)
      return
    }
    let isCutOff = self.contexts.first?.leg?.isCutOff == true
    if isCutOff, end.failure == nil { self.reportCutOff(&actions) }
    let failure =
      end.failure
      ?? (isCutOff
        ? Self.cutOff
        : VoiceFailure(
          .connectionLost, message: "The server ended the stream before the utterance was finished."))
    self.connectionLost(failure, pushBack: end.pushBack, at: now, &actions)
  }

  /// The stream, or an attempt to get one, is gone. Decides: go on at once, later, or not at all.
  mutating func connectionLost(
    _ failure: VoiceFailure, pushBack: Duration?, at now: VoiceInstant, _ actions: inout [Action]
  ) {
    self.connection = .idle
    actions.append(.cancelTimer(.progress))
    actions.append(.cancelTimer(.reason))
    guard let head = self.contexts.first else {
      // The last utterance was stopped as the server ended it; what came behind the server's limit is not recognised.
      if failure.code == .contextTooLong { actions.append(.emit(.failed(failure))) }
      return
    }
    if failure.code == .contextTooLong, let leg = head.leg {
      // The server allows less than we thought: make the next legs shorter.
      let reached = self.configuration.duration(ofSamples: leg.sent - leg.origin)
      self.configuration.legLimit = max(.seconds(5), min(self.configuration.legLimit, reached * 0.8))
    }
    self.contexts[0].leg = nil
    var outage = head.outage ?? Outage(since: now, attempts: 0)
    outage.attempts += 1
    self.contexts[0].outage = outage

    if Self.isAuthenticationFailure(failure.code), !self.hasRefreshedToken {
      self.hasRefreshedToken = true
      self.authenticate(refresh: true, &actions)
      return
    }
    if self.canDegrade, failure.code != .contextTooLong {
      self.degrade(failure, at: now, &actions)
      return
    }
    guard Self.isWorthRetrying(failure) else {
      self.fail(failure, at: now, &actions)
      return
    }
    switch self.schedule.failed(at: now, pushBack: pushBack, using: &self.random) {
    case .retry(let instant, let state):
      self.connection = .waiting(until: instant)
      self.reconnecting = state
      actions.append(.setTimer(.retry, instant))
      actions.append(.emit(.failed(failure.with(recovery: .automatic(state)))))
    case .giveUp:
      self.fail(
        VoiceFailure(
          .retriesExhausted,
          message:
            "The server could not be used and the time for trying again is over. Last reason: \(failure.message)",
          cause: failure),
        at: now, &actions)
    }
  }

  mutating func pathChanged(at now: VoiceInstant, _ actions: inout [Action]) {
    guard case .waiting = self.connection,
      case .retry(let instant, let state) = self.schedule.pathChanged(at: now)
    else { return }
    guard instant > now else { return self.authenticate(refresh: false, &actions) }
    // The server does not want to see us before, whatever way leads to it now.
    self.connection = .waiting(until: instant)
    self.reconnecting = state
    actions.append(.setTimer(.retry, instant))
  }

  /// Gives up: every open context ends with what is known.
  mutating func fail(_ failure: VoiceFailure, at now: VoiceInstant, _ actions: inout [Action]) {
    // An utterance that no server ever took is refused as a whole, which the failure itself says.
    for index in self.contexts.indices
    where self.contexts[index].isAcknowledged || failure.code == .retriesExhausted {
      self.reportUnrecognized(in: index, &actions)
    }
    actions.append(.emit(.failed(failure)))
    self.schedule = RetrySchedule(policy: self.configuration.retry)
    self.hasRefreshedToken = false
    self.endAllContexts(&actions)
    self.stopCapture(at: now, &actions)
  }

  /// Closes the stream when nothing needs it any more.
  mutating func closeIfDone(at now: VoiceInstant, _ actions: inout [Action]) {
    guard self.contexts.isEmpty else { return }
    self.reconnecting = nil
    switch self.connection {
    case .idle:
      break
    case .authenticating, .waiting:
      self.connection = .idle
      actions.append(.cancelTimer(.retry))
    case .streaming:
      if self.isSuspended || self.configuration.idleTimeout <= .zero { self.closeStream(&actions) }
    case .engine:
      self.closeStream(&actions)
    }
  }

  mutating func closeStream(_ actions: inout [Action]) {
    guard let stream = self.connection.stream else { return }
    self.connection = .idle
    actions.append(.cancelTimer(.progress))
    actions.append(.cancelTimer(.idle))
    actions.append(.closeStream(stream.id))
  }

  mutating func cancelStream(_ actions: inout [Action]) {
    guard let stream = self.connection.stream else {
      self.connection = .idle
      return
    }
    self.connection = .idle
    actions.append(.cancelStream(stream.id))
  }

  static func isAuthenticationFailure(_ code: VoiceFailure.Code) -> Bool {
    code == .tokenExpired || code == .credentialsRejected
  }

  /// Authentication and configuration do not get better by trying again; networks and servers do.
  static func isWorthRetrying(_ failure: VoiceFailure) -> Bool {
    switch failure.recovery {
    case .retry, .automatic: true
    case .none: failure.code == .contextTooLong
    case .signIn, .grantPermission, .changeConfiguration: false
    }
  }
}
