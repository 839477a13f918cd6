import VoiceCore

/// The two axes of recovery: the link to the gateway, and the media.
extension CallMachine {
  // MARK: Link

  mutating func linkLost(_ reason: CallState.Reason, at now: VoiceInstant) -> [Action] {
    self.link = .down(reason)
    self.earlyAttach = nil
    switch self.phase {
    case .idle, .preparing, .readyToInvite: return []
    case .inviting, .trying, .ringing, .incoming, .preparingAnswer, .readyToAnswer, .answering, .established:
      self.startReconnectTime(at: now)
      return []
    case .ended: return [.ignore(.ended)]
    }
  }

  mutating func linkRestored(isKnown: Bool?, at now: VoiceInstant) -> [Action] {
    switch self.link {
    case .down: break
    case .up, .awaitingAttach, .makingAttach, .attaching: return [.ignore(.outOfOrder)]
    }
    let offer = self.earlyAttach
    self.earlyAttach = nil
    // Who offers to attach knows the call.
    let actions = self.goOn(isKnown: offer == nil ? isKnown : true)
    guard let offer, !self.isEnded else { return actions }
    return actions + self.attachReceived(offer, at: now)
  }

  private mutating func goOn(isKnown: Bool?) -> [Action] {
    switch self.phase {
    case .idle, .preparing:
      self.link = .up
      return []
    case .readyToInvite(let offer):
      self.link = .up
      self.reconnectDeadline = nil
      return self.invite(offer)
    case .inviting:
      self.reconnectDeadline = nil
      self.link = .up
      guard isKnown != true else {
        self.phase = .trying
        return []
      }
      // The invite may not have arrived; the same id makes it the same call if it has.
      self.phase = .preparing
      self.earlySDP = nil
      return [.makeOffer]
    case .trying, .ringing:
      guard isKnown != false else { return self.notReattached() }
      return self.linkIsUp()
    case .incoming:
      guard isKnown != false else { return self.notReattached() }
      return self.linkIsUp()
    case .preparingAnswer:
      guard isKnown != false else { return self.notReattached() }
      return self.linkIsUp()
    case .readyToAnswer(_, let answer):
      guard isKnown != false else { return self.notReattached() }
      self.phase = .answering
      return self.linkIsUp() + [.sendAnswer(answer)]
    case .answering, .established:
      // An answer that was under way may have arrived: then the server attaches, else it invites again.
      guard isKnown != false else { return self.notReattached() }
      self.link = .awaitingAttach
      return []
    case .ended: return [.ignore(.ended)]
    }
  }

  private mutating func notReattached() -> [Action] {
    self.end(
      CallTerminationReason(
        .normalTemporaryFailure, origin: .server, failure: VoiceFailure(.callNotReattached)))
  }

  mutating func linkAbandoned(_ failure: VoiceFailure) -> [Action] {
    self.end(
      CallTerminationReason(
        .networkOutOfOrder, origin: .network, failure: VoiceFailure(.callReconnectFailed, cause: failure)),
      bye: .networkOutOfOrder)
  }

  /// The server offers: after an outage, or because it moved the call.
  mutating func attachReceived(_ offer: SDP, at now: VoiceInstant) -> [Action] {
    switch self.link {
    case .down:
      // Gateways offer right after the login; the link is up when the registration is.
      self.earlyAttach = offer
      return []
    case .up, .awaitingAttach, .makingAttach, .attaching: break
    }
    switch self.phase {
    case .trying, .ringing, .answering, .established:
      self.link = .makingAttach
      self.startReconnectTime(at: now)
      return [.makeAnswer(to: offer, isReattach: true)]
    case .incoming, .preparingAnswer, .readyToAnswer: return self.invitedAgain(offer)
    case .idle, .preparing, .readyToInvite, .inviting, .ended: return [.ignore(.outOfOrder)]
    }
  }

  mutating func attachSettled(_ outcome: Outcome, at now: VoiceInstant) -> [Action] {
    switch self.link {
    case .attaching: break
    case .up, .down, .awaitingAttach, .makingAttach: return [.ignore(.outOfOrder)]
    }
    switch outcome {
    case .accepted:
      self.link = .up
      return self.reattached(at: now)
    case .refused: return self.notReattached()
    case .timedOut:
      // The answer of the next attach decides; until then the reconnect time runs.
      self.link = .awaitingAttach
      self.startReconnectTime(at: now)
      return [.requestReattach]
    case .interrupted: return []
    }
  }

  private mutating func reattached(at now: VoiceInstant) -> [Action] {
    switch self.phase {
    // Gateways attach what was answered; that of the other side may have been lost with the link.
    case .trying, .ringing, .answering: return self.establish(at: now) + self.linkIsUp()
    case .established:
      switch self.media {
      case .connected: return self.linkIsUp()
      case .idle, .connecting, .interrupted, .restarting, .failed:
        self.media = .connecting(until: now.advanced(by: self.configuration.mediaTimeout))
        return []
      }
    case .idle, .preparing, .readyToInvite, .inviting, .incoming, .preparingAnswer, .readyToAnswer, .ended:
      return []
    }
  }

  /// Signalling is whole again; the reconnect time goes on only for broken media.
  mutating func linkIsUp() -> [Action] {
    self.link = .up
    self.stopReconnectTimeIfWhole()
    return []
  }

  // MARK: Media

  var mediaDeadline: VoiceInstant? {
    switch self.media {
    case .idle, .connected, .failed: nil
    case .connecting(let until), .restarting(let until): until
    // Without a link nothing could be done at that time.
    case .interrupted(let until): self.link == .up ? until : nil
    }
  }

  mutating func mediaConnected() -> [Action] {
    self.media = .connected
    self.triedReattach = false
    self.stopReconnectTimeIfWhole()
    return []
  }

  mutating func mediaInterrupted(at now: VoiceInstant) -> [Action] {
    switch self.media {
    case .connected:
      self.media = .interrupted(until: now.advanced(by: self.configuration.interruptionGrace))
      return []
    case .idle, .connecting, .interrupted, .restarting, .failed: return [.ignore(.outOfOrder)]
    }
  }

  mutating func mediaFailed(at now: VoiceInstant) -> [Action] {
    switch self.phase {
    case .established: break
    // Noted, and repaired when the call is answered.
    case .idle, .preparing, .readyToInvite, .inviting, .trying, .ringing, .incoming, .preparingAnswer,
      .readyToAnswer, .answering:
      self.media = .failed
      return []
    case .ended: return [.ignore(.ended)]
    }
    switch self.media {
    case .idle, .connecting, .connected, .interrupted: return self.repairMedia(at: now)
    case .restarting: return self.restartFailed(at: now)
    case .failed: return [.ignore(.outOfOrder)]
    }
  }

  /// First an ICE restart, which keeps everything else; the link has to be up for it.
  mutating func repairMedia(at now: VoiceInstant) -> [Action] {
    self.startReconnectTime(at: now)
    switch self.link {
    case .up:
      self.media = .restarting(until: now.advanced(by: self.configuration.restartTimeout))
      return [.makeRestartOffer]
    case .down, .awaitingAttach, .makingAttach, .attaching:
      // The attach brings new media.
      self.media = .failed
      return []
    }
  }

  mutating func restartOfferMade(_ offer: SDP) -> [Action] {
    switch (self.media, self.link) {
    case (.restarting, .up): return [.sendRestart(offer)]
    case (.restarting, .down), (.restarting, .awaitingAttach), (.restarting, .makingAttach),
      (.restarting, .attaching), (.idle, _), (.connecting, _), (.connected, _), (.interrupted, _),
      (.failed, _):
      return [.ignore(.outOfOrder)]
    }
  }

  mutating func restartSettled(_ outcome: Outcome, at now: VoiceInstant) -> [Action] {
    switch self.media {
    case .restarting: break
    case .idle, .connecting, .connected, .interrupted, .failed: return [.ignore(.outOfOrder)]
    }
    switch outcome {
    case .accepted(.modify(let result)):
      guard let sdp = result.sdp else { return self.restartFailed(at: now) }
      return [.applyRemote(sdp, isFinal: true)]
    case .accepted, .refused, .timedOut: return self.restartFailed(at: now)
    case .interrupted: return []
    }
  }

  /// After a restart in vain a reattach, which makes everything anew; once, until media was connected again.
  mutating func restartFailed(at now: VoiceInstant) -> [Action] {
    switch self.media {
    case .restarting: return self.reattachMedia(at: now)
    case .idle, .connecting, .connected, .interrupted, .failed: return [.ignore(.outOfOrder)]
    }
  }

  private mutating func reattachMedia(at now: VoiceInstant) -> [Action] {
    self.media = .failed
    self.startReconnectTime(at: now)
    guard self.link == .up, !self.triedReattach else { return [] }
    self.triedReattach = true
    return [.requestReattach]
  }

  mutating func mediaTimePassed(at now: VoiceInstant) -> [Action] {
    switch self.media {
    case .interrupted: return self.repairMedia(at: now)
    case .connecting: return self.triedReattach ? self.reattachMedia(at: now) : self.repairMedia(at: now)
    case .restarting: return self.restartFailed(at: now)
    case .idle, .connected, .failed: return []
    }
  }

  /// What answers a restart concerns the restart alone, also if it comes too late for it: the old way may work.
  mutating func remoteRejected(_ failure: VoiceFailure, at now: VoiceInstant) -> [Action] {
    switch (self.phase, self.media) {
    case (.established, .restarting): self.restartFailed(at: now)
    case (.established, .failed): [.ignore(.outOfOrder)]
    case (.established, .idle), (.established, .connecting), (.established, .connected),
      (.established, .interrupted), (.idle, _), (.preparing, _), (.readyToInvite, _), (.inviting, _),
      (.trying, _), (.ringing, _), (.incoming, _), (.preparingAnswer, _), (.readyToAnswer, _),
      (.answering, _), (.ended, _):
      self.mediaRejected(failure)
    }
  }

  /// Descriptions that this side's media do not take will not get better.
  mutating func mediaRejected(_ failure: VoiceFailure) -> [Action] {
    self.end(
      CallTerminationReason(
        .incompatibleDestination, origin: .media, failure: VoiceFailure(.callMediaFailed, cause: failure)),
      bye: .incompatibleDestination)
  }

  // MARK: Time

  private mutating func startReconnectTime(at now: VoiceInstant) {
    self.reconnectDeadline =
      self.reconnectDeadline ?? now.advanced(by: max(.zero, self.configuration.reconnectTimeout))
  }

  private mutating func stopReconnectTimeIfWhole() {
    guard self.link == .up else { return }
    switch self.phase {
    case .established:
      guard self.media == .connected else { return }
    case .idle, .preparing, .readyToInvite, .inviting, .trying, .ringing, .incoming, .preparingAnswer,
      .readyToAnswer, .answering, .ended:
      break
    }
    self.reconnectDeadline = nil
  }
}
