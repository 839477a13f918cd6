import VoiceCore

/// What the app, the media peer and the gateway do to a call that is being set up or goes on.
extension CallMachine {
  mutating func dialed(at now: VoiceInstant) -> [Action] {
    switch self.phase {
    case .idle:
      self.ringDeadline = now.advanced(by: self.configuration.ringTimeout)
      self.phase = .preparing
      return [.makeOffer]
    case .preparing, .readyToInvite, .inviting, .trying, .ringing, .incoming, .preparingAnswer,
      .readyToAnswer,
      .answering, .established, .ended:
      return [.ignore(.outOfOrder)]
    }
  }

  mutating func offerMade(_ offer: SDP) -> [Action] {
    switch self.phase {
    case .preparing:
      switch self.link {
      case .up: return self.invite(offer)
      case .down, .awaitingAttach, .makingAttach, .attaching:
        self.phase = .readyToInvite(offer)
        return []
      }
    case .idle, .readyToInvite, .inviting, .trying, .ringing, .incoming, .preparingAnswer, .readyToAnswer,
      .answering, .established, .ended:
      return [.ignore(.outOfOrder)]
    }
  }

  mutating func invite(_ offer: SDP) -> [Action] {
    self.phase = .inviting
    self.wasInvited = true
    return [.sendInvite(offer)]
  }

  mutating func offerFailed(_ failure: VoiceFailure) -> [Action] {
    switch self.phase {
    case .preparing: return self.mediaRejected(failure)
    case .idle, .readyToInvite, .inviting, .trying, .ringing, .incoming, .preparingAnswer, .readyToAnswer,
      .answering, .established, .ended:
      return [.ignore(.outOfOrder)]
    }
  }

  mutating func inviteSettled(_ outcome: Outcome) -> [Action] {
    switch self.phase {
    case .inviting:
      switch outcome {
      case .accepted:
        self.phase = .trying
        return []
      case .refused(let error): return self.setupFailed(error)
      case .timedOut: return self.setupTimedOut()
      case .interrupted: return []
      }
    // The gateway may ring or answer before it confirms; an error after that is about nothing.
    case .idle, .preparing, .readyToInvite, .trying, .ringing, .incoming, .preparingAnswer, .readyToAnswer,
      .answering, .established, .ended:
      return [.ignore(.outOfOrder)]
    }
  }

  private mutating func setupFailed(_ error: RPCError) -> [Action] {
    let failure = VoiceFailure(
      .callSetupFailed, message: "The gateway could not set up the call (code \(error.code.value ?? 0)).",
      cause: error)
    return self.end(CallTerminationReason(.normalTemporaryFailure, origin: .server, failure: failure))
  }

  /// The gateway may know the call all the same, so it gets a goodbye.
  private mutating func setupTimedOut() -> [Action] {
    self.end(
      CallTerminationReason(
        .recoveryOnTimerExpire, origin: .timeout, failure: VoiceFailure(.callRequestTimedOut)),
      bye: self.direction == .outbound ? .originatorCancel : .recoveryOnTimerExpire)
  }

  mutating func ringingReceived() -> [Action] {
    switch self.phase {
    case .inviting, .trying:
      self.phase = .ringing
      return []
    case .ringing: return []
    case .idle, .preparing, .readyToInvite, .incoming, .preparingAnswer, .readyToAnswer, .answering,
      .established, .ended:
      return [.ignore(.outOfOrder)]
    }
  }

  /// Early media: the state stays, the description is kept for an answer without one (telnyx.md section 0.6).
  mutating func mediaReceived(_ sdp: SDP) -> [Action] {
    switch self.phase {
    case .inviting, .trying, .ringing:
      guard self.earlySDP != sdp else { return [] }
      self.earlySDP = sdp
      return [.applyRemote(sdp, isFinal: false), .reportEarlyMedia]
    case .idle, .preparing, .readyToInvite, .incoming, .preparingAnswer, .readyToAnswer, .answering,
      .established, .ended:
      return [.ignore(.outOfOrder)]
    }
  }

  mutating func answerReceived(_ sdp: SDP?, at now: VoiceInstant) -> [Action] {
    switch self.phase {
    case .inviting, .trying, .ringing:
      guard let remote = sdp ?? self.earlySDP else {
        return self.end(
          CallTerminationReason(
            .mandatoryElementMissing, origin: .media,
            failure: VoiceFailure(.callMediaFailed, message: "The answer has no session description.")),
          bye: .mandatoryElementMissing)
      }
      return [.applyRemote(remote, isFinal: true)] + self.establish(at: now)
    // A second answer, or one after the hang-up.
    case .idle, .preparing, .readyToInvite, .incoming, .preparingAnswer, .readyToAnswer, .answering,
      .established, .ended:
      return [.ignore(.outOfOrder)]
    }
  }

  mutating func establish(at now: VoiceInstant) -> [Action] {
    self.phase = .established
    self.ringDeadline = nil
    self.earlySDP = nil
    switch self.media {
    case .idle:
      self.media = .connecting(until: now.advanced(by: self.configuration.mediaTimeout))
      return []
    case .connecting, .connected, .interrupted, .restarting: return []
    case .failed: return self.repairMedia(at: now)
    }
  }

  mutating func answerRequested() -> [Action] {
    switch self.phase {
    case .incoming(let offer):
      self.phase = .preparingAnswer(offer: offer)
      return [.makeAnswer(to: offer, isReattach: false)]
    case .idle, .preparing, .readyToInvite, .inviting, .trying, .ringing, .preparingAnswer, .readyToAnswer,
      .answering, .established, .ended:
      return [.ignore(.outOfOrder)]
    }
  }

  mutating func answerMade(_ answer: SDP) -> [Action] {
    switch self.link {
    case .makingAttach:
      self.link = .attaching
      return [.sendAttach(answer)]
    case .up, .down, .awaitingAttach, .attaching: break
    }
    switch self.phase {
    case .preparingAnswer(let offer):
      switch self.link {
      case .up:
        self.phase = .answering
        return [.sendAnswer(answer)]
      case .down, .awaitingAttach, .makingAttach, .attaching:
        self.phase = .readyToAnswer(offer: offer, answer: answer)
        return []
      }
    case .idle, .preparing, .readyToInvite, .inviting, .trying, .ringing, .incoming, .readyToAnswer,
      .answering, .established, .ended:
      return [.ignore(.outOfOrder)]
    }
  }

  mutating func answerFailed(_ failure: VoiceFailure) -> [Action] {
    switch self.link {
    case .makingAttach: return self.mediaRejected(failure)
    case .up, .down, .awaitingAttach, .attaching: break
    }
    switch self.phase {
    case .preparingAnswer: return self.mediaRejected(failure)
    case .idle, .preparing, .readyToInvite, .inviting, .trying, .ringing, .incoming, .readyToAnswer,
      .answering, .established, .ended:
      return [.ignore(.outOfOrder)]
    }
  }

  mutating func answerSettled(_ outcome: Outcome, at now: VoiceInstant) -> [Action] {
    switch self.phase {
    case .answering:
      switch outcome {
      case .accepted: return self.establish(at: now)
      case .refused(let error): return self.setupFailed(error)
      case .timedOut: return self.setupTimedOut()
      case .interrupted: return []
      }
    case .idle, .preparing, .readyToInvite, .inviting, .trying, .ringing, .incoming, .preparingAnswer,
      .readyToAnswer, .established, .ended:
      return [.ignore(.outOfOrder)]
    }
  }

  /// The gateway repeats an unanswered invite on a new connection; its offer replaces the one of before.
  mutating func invitedAgain(_ offer: SDP) -> [Action] {
    switch self.phase {
    case .incoming:
      self.phase = .incoming(offer: offer)
      return self.linkIsUp()
    // The answer to it is being made.
    case .preparingAnswer(offer): return self.linkIsUp()
    case .preparingAnswer, .readyToAnswer, .answering:
      self.phase = .preparingAnswer(offer: offer)
      return self.linkIsUp() + [.makeAnswer(to: offer, isReattach: true)]
    case .idle, .preparing, .readyToInvite, .inviting, .trying, .ringing, .established, .ended:
      return [.ignore(.outOfOrder)]
    }
  }

  /// The cause tells the gateway whether to try elsewhere (telnyx.md section 3.4).
  mutating func hangupRequested() -> [Action] {
    let cause: HangupCause
    switch self.phase {
    case .idle, .preparing, .readyToInvite, .inviting, .trying, .ringing: cause = .originatorCancel
    case .incoming: cause = .userBusy
    case .preparingAnswer, .readyToAnswer, .answering, .established: cause = .normalClearing
    case .ended: return [.ignore(.ended)]
    }
    return self.end(CallTerminationReason(cause, origin: .local), bye: cause)
  }

  mutating func holdRequested(_ state: HoldState?) -> [Action] {
    switch self.phase {
    case .established:
      let present = self.hold.requested ?? self.hold.confirmed
      let wanted = state ?? (present == .held ? .active : .held)
      guard wanted != present else { return [] }
      self.hold.requested = wanted
      return [.sendHold(wanted)]
    case .idle, .preparing, .readyToInvite, .inviting, .trying, .ringing, .incoming, .preparingAnswer,
      .readyToAnswer, .answering, .ended:
      return [.report(VoiceFailure(.callStateUnsuitable))]
    }
  }

  mutating func holdSettled(_ asked: HoldState, _ outcome: Outcome) -> [Action] {
    switch self.phase {
    case .established: break
    case .idle, .preparing, .readyToInvite, .inviting, .trying, .ringing, .incoming, .preparingAnswer,
      .readyToAnswer, .answering, .ended:
      return [.ignore(.outOfOrder)]
    }
    let failure: VoiceFailure
    switch outcome {
    case .accepted(let result):
      // What the gateway says it did counts, not what it was asked for.
      let confirmed: HoldState
      if case .modify(let modified) = result {
        confirmed = modified.holdState ?? asked
      } else {
        confirmed = asked
      }
      let changed = confirmed != self.hold.confirmed
      self.hold.confirmed = confirmed
      if self.hold.requested == asked { self.hold.requested = nil }
      // Who waits for what was asked for would wait for ever.
      let failure = VoiceFailure(
        .callHoldFailed, message: "The gateway confirmed something else than was asked for.")
      return (changed ? [.reportHold(confirmed)] : []) + (confirmed == asked ? [] : [.report(failure)])
    // The outbox asks again on the next connection.
    case .interrupted: return []
    case .refused(let error): failure = VoiceFailure(.callHoldFailed, cause: error)
    case .timedOut: failure = VoiceFailure(.callHoldFailed, cause: VoiceFailure(.callRequestTimedOut))
    }
    if self.hold.requested == asked { self.hold.requested = nil }
    return [.report(failure)]
  }

  /// RFC 4733 section 3.2: 0–9, *, # and A–D.
  mutating func tonesRequested(_ tones: String) -> [Action] {
    let areValid =
      !tones.isEmpty && tones.utf8.count <= 128
      && tones.allSatisfy { "0123456789*#ABCDabcd".contains($0) }
    guard areValid else { return [.report(VoiceFailure(.callTonesInvalid))] }
    switch self.phase {
    // Menus ask for tones in early media too.
    case .ringing, .trying, .established: return [.sendTones(tones.uppercased())]
    case .idle, .preparing, .readyToInvite, .inviting, .incoming, .preparingAnswer, .readyToAnswer,
      .answering,
      .ended:
      return [.report(VoiceFailure(.callStateUnsuitable))]
    }
  }
}
