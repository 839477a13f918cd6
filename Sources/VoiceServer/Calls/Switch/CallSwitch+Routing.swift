import CallSignaling
import VoiceCore

/// Where calls go, and services.
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
      guard let session = self.sessions[leg.session], !session.isAnonymous, !session.isRemoved else {
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

  /// Ends calls whose media did not come back, unless the client is away: then its own time counts.
  mutating func endWithoutMedia(at now: VoiceInstant) {
    let late = self.calls.filter { _, call in
      call.mediaDeadline.map { $0 <= now } ?? false && self.legs[call.caller]?.machine.link == .attached
    }
    for number in late.keys.sorted() {
      guard let call = self.calls[number] else { continue }
      self.endByGateway(call.caller, CallTerminationReason(.mediaTimeout, origin: .media), at: now)
    }
  }

  /// There is a new attempt, which has its own time; only a connection is the end of the waiting.
  mutating func extendMediaDeadline(of number: Int, at now: VoiceInstant) {
    guard self.calls[number]?.mediaDeadline != nil else { return }
    let deadline = now.advanced(by: self.configuration.mediaRecovery)
    self.calls[number]?.mediaDeadline = deadline
  }

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
    case .renegotiated(let sdp, let question):
      self.extendMediaDeadline(of: number, at: now)
      self.mediaResponded(question, .accepted(sdp), for: call.caller, at: now)
    case .renegotiationRefused(let question):
      self.mediaResponded(question, .refused, for: call.caller, at: now)
    case .answerRefused: break
    case .offered(let sdp): self.step(call.caller, .attachOfferMade(sdp), at: now)
    case .connected: self.calls[number]?.mediaDeadline = nil
    // The client may be looking for another way, or have lost its socket too: it restarts the media, or takes the call up again.
    case .failed where call.record.answered != nil:
      let deadline = now.advanced(by: self.configuration.mediaRecovery)
      self.calls[number]?.mediaDeadline = deadline
    case .failed:
      self.endByGateway(call.caller, CallTerminationReason(.incompatibleDestination, origin: .media), at: now)
    case .ended(let cause):
      self.endByGateway(call.caller, CallTerminationReason(cause, origin: .server), at: now)
    }
  }
}
