import VoiceCore

/// What the client asks of its leg.
extension LegMachine {
  private static let unsuitable = RPCError(code: .sessionError, message: "CALL ERROR")

  mutating func inviteReceived(at now: VoiceInstant) -> [Action] {
    guard self.role == .caller else { return [.refuse(Self.unsuitable)] }
    switch self.phase {
    case .new:
      self.phase = .routing
      self.ringDeadline = now.advanced(by: self.configuration.ringTimeout)
      return [.accept(.created), .route]
    // A client that lost the response sends the same invite again.
    case .routing, .established: return [.accept(.created)]
    case .ringing: return [.accept(.created)] + self.send(.ringing)
    case .offering: return [.refuse(Self.unsuitable)]
    case .ended: return [.refuse(.callDoesNotExist())]
    }
  }

  mutating func answerReceived(_ sdp: SDP) -> [Action] {
    guard self.role == .callee else { return [.refuse(Self.unsuitable)] }
    switch self.phase {
    case .offering:
      self.phase = .established
      self.ringDeadline = nil
      return [.accept(.answered), .tellPeer(.answered(sdp))]
    case .established: return [.accept(.answered)]
    case .new, .routing, .ringing: return [.refuse(Self.unsuitable)]
    case .ended: return [.refuse(.callDoesNotExist())]
    }
  }

  mutating func attachReceived(_ sdp: SDP) -> [Action] {
    switch self.phase {
    case .established:
      switch self.link {
      case .attaching:
        self.link = .attached
        return [.accept(.attached), .tellPeer(.reattached(sdp))]
      case .attached, .detached: return [.refuse(Self.unsuitable)]
      }
    case .new, .routing, .ringing, .offering: return [.refuse(Self.unsuitable)]
    case .ended: return [.refuse(.callDoesNotExist())]
    }
  }

  mutating func byeReceived(_ bye: ByeMessage) -> [Action] {
    switch self.phase {
    case .routing, .ringing, .offering, .established:
      var reason = CallTerminationReason(bye)
      if reason.hangupCause == nil {
        reason.cause = HangupCause.normalClearing.name
        reason.causeCode = HangupCause.normalClearing.code
      }
      return [.accept(.ended(reason.hangupCause ?? .normalClearing))] + self.finish(reason, tellsPeer: true)
    case .new, .ended: return [.refuse(.callDoesNotExist())]
    }
  }

  mutating func modifyReceived(_ action: ModifyAction, _ sdp: SDP?) -> [Action] {
    switch self.phase {
    case .established: break
    case .new, .routing, .ringing, .offering: return [.refuse(Self.unsuitable)]
    case .ended: return [.refuse(.callDoesNotExist())]
    }
    let wanted: HoldState
    switch action {
    case .hold: wanted = .held
    case .unhold: wanted = .active
    case .toggleHold: wanted = self.hold == .held ? .active : .held
    case .updateMedia:
      guard let sdp else { return [.refuse(RPCError(code: .sessionError, message: "SDP missing"))] }
      return [.renegotiate(sdp)]
    case .transfer, .replace, .unknown:
      return [.refuse(RPCError(code: .invalidParams, message: "Unsupported action"))]
    }
    let changes = wanted != self.hold
    self.hold = wanted
    return [.accept(.modified(action, wanted))] + (changes ? [.tellPeer(.held(wanted))] : [])
  }

  mutating func infoReceived(_ info: InfoMessage) -> [Action] {
    switch self.phase {
    case .routing, .ringing, .established: return [.accept(.sent), .tellPeer(.info(info))]
    case .new, .offering: return [.refuse(Self.unsuitable)]
    case .ended: return [.refuse(.callDoesNotExist())]
    }
  }
}

/// What the dial plan, the other leg and the sockets do.
extension LegMachine {
  mutating func placed(_ offer: SDP, at now: VoiceInstant) -> [Action] {
    guard self.role == .callee else { return [.ignore(.outOfOrder)] }
    switch self.phase {
    case .new:
      self.phase = .offering(offer)
      self.ringDeadline = now.advanced(by: self.configuration.ringTimeout)
      return self.send(.invite(offer))
    case .routing, .ringing, .offering, .established: return [.ignore(.outOfOrder)]
    case .ended: return [.ignore(.ended)]
    }
  }

  mutating func peerRang() -> [Action] {
    switch self.phase {
    case .routing:
      self.phase = .ringing
      return self.send(.ringing)
    case .new, .ringing, .offering, .established: return [.ignore(.outOfOrder)]
    case .ended: return [.ignore(.ended)]
    }
  }

  mutating func peerSentMedia(_ sdp: SDP) -> [Action] {
    switch self.phase {
    case .routing, .ringing:
      self.earlySDP = sdp
      return self.send(.media(sdp))
    case .new, .offering, .established: return [.ignore(.outOfOrder)]
    case .ended: return [.ignore(.ended)]
    }
  }

  mutating func peerAnswered(_ sdp: SDP?) -> [Action] {
    switch self.phase {
    case .routing, .ringing:
      guard let answer = sdp ?? self.earlySDP else {
        return self.ended(CallTerminationReason(.mandatoryElementMissing, origin: .media), tellsPeer: true)
      }
      self.phase = .established
      self.ringDeadline = nil
      // The description of early media is not sent twice (telnyx.md section 0.6).
      return self.send(.answer(answer == self.earlySDP ? nil : answer))
    case .new, .offering, .established: return [.ignore(.outOfOrder)]
    case .ended: return [.ignore(.ended)]
    }
  }

  mutating func ended(_ reason: CallTerminationReason, tellsPeer: Bool) -> [Action] {
    switch self.phase {
    case .new: return self.finish(reason, tellsPeer: tellsPeer)
    case .routing, .ringing, .offering, .established:
      let bye = self.send(.bye(reason.withSIPStatus))
      return bye + self.finish(reason, tellsPeer: tellsPeer)
    case .ended: return [.ignore(.ended)]
    }
  }

  mutating func attachOfferMade(_ offer: SDP) -> [Action] {
    switch self.phase {
    case .established:
      switch self.link {
      case .attaching: return [.send(.attach(offer))]
      case .attached, .detached: return [.ignore(.outOfOrder)]
      }
    case .new, .routing, .ringing, .offering: return [.ignore(.outOfOrder)]
    case .ended: return [.ignore(.ended)]
    }
  }

  mutating func socketLost(at now: VoiceInstant) -> [Action] {
    switch self.phase {
    case .new:
      return self.finish(CallTerminationReason(.networkOutOfOrder, origin: .network), tellsPeer: true)
    case .routing, .ringing, .offering, .established:
      switch self.link {
      case .attached: self.link = .detached(until: now.advanced(by: self.configuration.detachTimeout))
      // The time runs from the first loss: a client that comes and goes does not keep a call for ever.
      case .attaching(let until): self.link = .detached(until: until)
      case .detached: return [.ignore(.outOfOrder)]
      }
      return []
    case .ended: return [.ignore(.ended)]
    }
  }

  mutating func socketRestored() -> [Action] {
    let until: VoiceInstant
    switch self.link {
    case .detached(let deadline): until = deadline
    case .attached, .attaching: return [.ignore(.outOfOrder)]
    }
    switch self.phase {
    case .new: return [.ignore(.outOfOrder)]
    case .ended: return [.ignore(.ended)]
    case .routing:
      self.link = .attached
      return self.earlySDP.map { [.send(.media($0))] } ?? []
    case .ringing:
      self.link = .attached
      return [.send(.ringing)] + (self.earlySDP.map { [.send(.media($0))] } ?? [])
    case .offering(let offer):
      self.link = .attached
      return [.send(.invite(offer))]
    case .established:
      self.link = .attaching(until: until)
      return [.makeAttachOffer]
    }
  }

  mutating func timePassed(at now: VoiceInstant) -> [Action] {
    guard let deadline = self.deadline, now >= deadline else { return [] }
    if let ring = self.ringDeadline, now >= ring {
      return self.ended(CallTerminationReason(.noAnswer, origin: .timeout), tellsPeer: true)
    }
    return self.ended(CallTerminationReason(.recoveryOnTimerExpire, origin: .network), tellsPeer: true)
  }

  /// A message for a client without a socket is not lost: the phase tells what to repeat when it is back.
  private func send(_ message: Message) -> [Action] {
    switch self.link {
    case .attached, .attaching: [.send(message)]
    case .detached: []
    }
  }

  private mutating func finish(_ reason: CallTerminationReason, tellsPeer: Bool) -> [Action] {
    let reason = reason.withSIPStatus
    self.phase = .ended(reason)
    self.ringDeadline = nil
    return (tellsPeer ? [.tellPeer(.ended(reason))] : []) + [.end(reason)]
  }
}
