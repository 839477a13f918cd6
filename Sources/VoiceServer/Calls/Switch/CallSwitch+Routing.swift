import CallSignaling
import VoiceCore

/// Where calls go, services, and changes of media.
extension CallSwitch {
  mutating func route(_ number: LegNumber, at now: VoiceInstant) {
    guard let leg = self.legs[number], let call = self.calls[leg.call] else { return }
    switch self.plan.target(of: call.dialog.destinationNumber) {
    case .failure(let reason):
      self.endByGateway(number, reason, at: now)
    case .service(let service):
      let media = MediaID(number: self.nextNumber())
      self.calls[leg.call]?.media = media
      self.calls[leg.call]?.record.callee = service.rawValue
      self.mediaCalls[media] = leg.call
      self.actions.append(.tellMedia(media, .start(service, offer: call.offer)))
    case .user(let user):
      self.calls[leg.call]?.record.callee = user
      guard self.sessions[leg.session]?.isAnonymous == false else {
        return self.endByGateway(number, CallTerminationReason(.outgoingCallBarred, origin: .server), at: now)
      }
      let registered = self.registered(user)
      let targets = registered.filter { $0 != leg.session }
      guard !targets.isEmpty else {
        // A client that calls itself is busy with that.
        let cause: HangupCause = registered.isEmpty ? .userNotRegistered : .userBusy
        return self.endByGateway(number, CallTerminationReason(cause, origin: .server), at: now)
      }
      guard self.load(of: user) < self.configuration.callsPerUser else {
        return self.endByGateway(number, CallTerminationReason(.userBusy, origin: .server), at: now)
      }
      for target in targets { self.ring(target, call: leg.call, at: now) }
      self.calls[leg.call]?.record.rang = now
      self.step(number, .peerRang, at: now)
    }
  }

  /// Rings one client.
  mutating func ring(_ session: SessionKey, call number: Int, at now: VoiceInstant) {
    guard let call = self.calls[number] else { return }
    let callID = CallID(self.randomID())
    let leg = self.addLeg(role: .callee, callID: callID, session: session, call: number)
    self.calls[number]?.callees.append(leg)
    self.step(leg, .placed(offer: call.offer), at: now)
  }

  // MARK: - Services

  mutating func mediaSpoke(_ media: MediaID, _ event: MediaEvent, at now: VoiceInstant) {
    guard let number = self.mediaCalls[media], let call = self.calls[number] else { return }
    switch event {
    case .rang:
      self.calls[number]?.record.rang = now
      self.step(call.caller, .peerRang, at: now)
    case .early(let sdp): self.step(call.caller, .peerSentMedia(sdp), at: now)
    case .answered(let sdp):
      if call.record.answered == nil { self.calls[number]?.record.answered = now }
      self.step(call.caller, .peerAnswered(sdp), at: now)
    case .renegotiated(let sdp): self.finishUpdate(of: call.caller, .accepted(sdp))
    case .renegotiationRefused: self.finishUpdate(of: call.caller, .refused)
    case .offered(let sdp): self.step(call.caller, .attachOfferMade(sdp), at: now)
    case .failed:
      self.endByGateway(call.caller, CallTerminationReason(.incompatibleDestination, origin: .media), at: now)
    case .ended(let cause):
      self.endByGateway(call.caller, CallTerminationReason(cause, origin: .server), at: now)
    }
  }

  // MARK: - Changes of media

  mutating func beginUpdate(
    of number: LegNumber, offer: SDP, _ asker: Asker?, at now: VoiceInstant
  ) {
    guard let asker else { return }
    let question = self.nextNumber()
    let update = PendingUpdate(
      connection: asker.connection, id: asker.id, action: .updateMedia, number: question,
      deadline: now.advanced(by: self.configuration.updateTimeout))
    self.legs[number]?.update = update
    self.questions[question] = number
    if let media = self.media(of: number) {
      self.actions.append(.tellMedia(media, .renegotiate(offer: offer)))
    } else if let other = self.others(of: number).first, let callID = self.legs[other]?.callID,
      let connection = self.connection(of: other)
    {
      self.actions.append(
        .ask(
          connection, .modify(ModifyRequest(callID: callID, action: .updateMedia, sdp: offer)),
          number: question))
    } else {
      self.finishUpdate(of: number, .refused)
    }
  }

  mutating func responded(_ question: Int, _ response: ClientResponse) {
    guard let number = self.questions[question], self.legs[number]?.update?.number == question else {
      self.questions[question] = nil
      return
    }
    self.finishUpdate(of: number, response)
  }

  private mutating func finishUpdate(of number: LegNumber, _ response: ClientResponse) {
    guard let leg = self.legs[number], let update = leg.update else { return }
    self.legs[number]?.update = nil
    self.questions[update.number] = nil
    let asker = Asker(connection: update.connection, id: update.id)
    guard case .accepted(let sdp?) = response else {
      // A client that knows no changes of media confirms and ignores them: its old description would not fit.
      return self.reply(
        asker,
        .failure(
          RPCError(
            code: .sessionError, message: "The other side does not change its media", callID: leg.callID)))
    }
    if let other = self.others(of: number).first { self.legs[other]?.description = sdp }
    self.reply(
      asker,
      .success(
        .modify(
          ModifyResult(
            callID: leg.callID, action: update.action, sdp: sdp, sessionID: leg.session.sessionID))))
  }

  /// Nobody waits for answers on a socket that is gone.
  mutating func dropUpdates(of connection: ConnectionID) {
    for (question, number) in self.questions
    where self.legs[number]?.update?.connection == connection {
      self.legs[number]?.update = nil
      self.questions[question] = nil
    }
  }

  /// The offer for a client that is back: a service makes one, another client has its description repeated.
  mutating func makeAttachOffer(for number: LegNumber, at now: VoiceInstant) {
    if let media = self.media(of: number) {
      self.actions.append(.tellMedia(media, .makeOffer))
    } else if let other = self.others(of: number).first, let description = self.legs[other]?.description {
      self.step(number, .attachOfferMade(description.asOffer), at: now)
    } else {
      self.step(
        number, .endRequested(CallTerminationReason(.recoveryOnTimerExpire, origin: .server)), at: now)
    }
  }
}

extension SDP {
  /// The same description as an offer: who begins the DTLS handshake is open again (RFC 8842 section 5.2).
  var asOffer: SDP {
    var lines = self.text.split(omittingEmptySubsequences: false) { $0.isNewline }.map { String($0) }
    for (index, line) in lines.enumerated() where line.hasPrefix("a=setup:") {
      lines[index] = "a=setup:actpass"
    }
    return SDP(lines.joined(separator: "\r\n"))
  }
}
