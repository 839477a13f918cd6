import CallSignaling
import VoiceCore

/// Changes of media in a call between two clients, and how both come to know each other's latest description.
///
/// A client's `updateMedia` is an offer of its own: it is asked of the other client, whose answer is the result.
///
/// A client that attaches cannot be asked for an offer, so it answers the description that the other client gave last. What it
/// answers may be new to the other (other candidates, other credentials), and what that one then answers may be new to the first.
/// So after an attach the gateway **asks** one client after the other, with `updateMedia`, until each has taken the description
/// that the other gave last. Only one thing is under way in a call: an update of a client, or a question of the gateway.
///
/// Descriptions differ here if their credentials or fingerprints do. A client that answers every changed description with a change of
/// its own would be asked for ever; clients keep credentials that the other side has not used yet, and ``Configuration/questions``
/// ends it for those that do not.
extension CallSwitch {
  // MARK: - Updates of clients

  mutating func beginUpdate(
    of number: LegNumber, offer: SDP, _ asker: Asker?, at now: VoiceInstant
  ) {
    guard let asker else { return }
    let question = self.nextNumber()
    let update = PendingUpdate(
      connection: asker.connection, id: asker.id, action: .updateMedia, offer: offer, number: question,
      deadline: now.advanced(by: self.configuration.updateTimeout))
    self.legs[number]?.update = update
    self.questions[question] = .update(of: number)
    if let media = self.media(of: number) {
      self.actions.append(.tellMedia(media, .renegotiate(offer: offer, question: question)))
    } else if let other = self.others(of: number).first, self.ask(other, offer, number: question) {
    } else {
      self.finishUpdate(of: number, .refused, at: now)
    }
  }

  /// Whether something is under way in the call of a leg, so that an update would cross it.
  func isChangingMedia(_ number: LegNumber) -> Bool {
    guard let leg = self.legs[number] else { return false }
    return self.calls[leg.call]?.exchange != nil
      || ([number] + self.others(of: number)).contains { self.legs[$0]?.update != nil }
  }

  mutating func responded(_ question: Int, _ response: ClientResponse, at now: VoiceInstant) {
    switch self.questions.removeValue(forKey: question) {
    case .update(let number)?:
      guard self.legs[number]?.update?.number == question else { return }
      self.finishUpdate(of: number, response, at: now)
    case .exchange(let call)?:
      guard self.calls[call]?.exchange?.number == question else { return }
      self.finishExchange(of: call, response, at: now)
    case nil: break
    }
  }

  /// What media say after the deadline belongs to no update any more, above all not to the next one.
  mutating func mediaResponded(
    _ question: Int, _ response: ClientResponse, for number: LegNumber, at now: VoiceInstant
  ) {
    guard self.legs[number]?.update?.number == question else { return }
    self.finishUpdate(of: number, response, at: now)
  }

  mutating func finishUpdate(of number: LegNumber, _ response: ClientResponse, at now: VoiceInstant) {
    guard let leg = self.legs[number], let update = leg.update else { return }
    self.legs[number]?.update = nil
    self.questions[update.number] = nil
    let asker = Asker(connection: update.connection, id: update.id)
    guard case .accepted(let sdp?) = response else {
      // A client that knows no changes of media confirms and ignores them: its old description would not fit.
      self.reply(
        asker,
        .failure(
          RPCError(
            code: .sessionError, message: "The other side does not change its media", callID: leg.callID)))
      return self.reconcile(leg.call, at: now)
    }
    // Only now: an offer that nobody took was never a description of the call.
    self.legs[number]?.description = update.offer
    self.legs[number]?.heard = sdp
    if let other = self.others(of: number).first {
      self.legs[other]?.description = sdp
      self.legs[other]?.heard = update.offer
    }
    self.reply(
      asker,
      .success(
        .modify(
          ModifyResult(
            callID: leg.callID, action: update.action, sdp: sdp, sessionID: leg.session.sessionID))))
    self.reconcile(leg.call, at: now)
  }

  /// Nobody waits for answers on a socket that is gone, and nobody answers there.
  mutating func dropQuestions(of connection: ConnectionID) {
    for (question, subject) in self.questions {
      switch subject {
      case .update(let number):
        guard self.legs[number]?.update?.connection == connection else { continue }
        self.legs[number]?.update = nil
      case .exchange(let call):
        guard self.calls[call]?.exchange?.connection == connection else { continue }
        self.calls[call]?.exchange = nil
      }
      self.questions[question] = nil
    }
  }

  private mutating func ask(_ number: LegNumber, _ offer: SDP, number question: Int) -> Bool {
    guard let callID = self.legs[number]?.callID, let connection = self.connection(of: number) else {
      return false
    }
    let request = ModifyRequest(callID: callID, action: .updateMedia, sdp: offer)
    self.actions.append(.ask(connection, .modify(request), number: question))
    return true
  }

  // MARK: - Attaching

  /// The offer for a client that is back: a service makes one, another client has its description repeated.
  mutating func makeAttachOffer(for number: LegNumber, at now: VoiceInstant) {
    if let media = self.media(of: number) {
      self.actions.append(.tellMedia(media, .makeOffer))
    } else if let other = self.others(of: number).first, let description = self.legs[other]?.description {
      self.legs[number]?.offered = description
      self.step(number, .attachOfferMade(description.asOffer), at: now)
    } else {
      self.step(
        number, .endRequested(CallTerminationReason(.recoveryOnTimerExpire, origin: .server)), at: now)
    }
  }

  /// A client is back and described itself.
  mutating func reattached(_ number: LegNumber, _ description: SDP, at now: VoiceInstant) {
    guard let leg = self.legs[number] else { return }
    self.calls[leg.call]?.record.reattachments += 1
    if let media = self.media(of: number) {
      self.actions.append(.tellMedia(media, .takeAnswer(description)))
      self.extendMediaDeadline(of: leg.call, at: now)
    }
    self.heard(number, leg.offered)
    self.forgetHoldTold(to: number)
    // The other has to hear of the new candidates also if nothing else is new.
    for other in self.others(of: number) { self.legs[other]?.heard = nil }
    let questions = self.configuration.questions
    self.calls[leg.call]?.questionsLeft = questions
    self.reconcile(leg.call, at: now)
  }

  /// A client has taken a description; meanwhile the other may have attached, with other candidates than those.
  private mutating func heard(_ number: LegNumber, _ description: SDP?) {
    let latest = self.others(of: number).first.flatMap { self.legs[$0]?.description }
    self.legs[number]?.heard = description == latest ? description : nil
  }

  /// Asks one client that does not know the other's latest description to take it.
  mutating func reconcile(_ number: Int, at now: VoiceInstant) {
    guard let call = self.calls[number], let answered = call.answered, call.questionsLeft > 0,
      !self.isChangingMedia(call.caller)
    else { return }
    for (asked, other) in [(answered, call.caller), (call.caller, answered)] {
      // One that is about to attach hears of it by that.
      guard let leg = self.legs[asked], leg.machine.phase == .established, leg.machine.link == .attached,
        let offer = self.legs[other]?.description, leg.heard?.transport != offer.transport,
        let connection = self.connection(of: asked)
      else { continue }
      let question = self.nextNumber()
      guard self.ask(asked, offer, number: question) else { continue }
      self.calls[number]?.questionsLeft -= 1
      self.questions[question] = .exchange(of: number)
      let exchange = Exchange(
        asked: asked, connection: connection, offer: offer, number: question,
        deadline: now.advanced(by: self.configuration.updateTimeout))
      self.calls[number]?.exchange = exchange
      return
    }
  }

  private mutating func finishExchange(of number: Int, _ response: ClientResponse, at now: VoiceInstant) {
    guard let exchange = self.calls[number]?.exchange else { return }
    self.calls[number]?.exchange = nil
    // A client that knows no changes of media is not asked for the same again.
    self.heard(exchange.asked, exchange.offer)
    if case .accepted(let sdp?) = response, sdp.hasAudio { self.legs[exchange.asked]?.description = sdp }
    self.reconcile(number, at: now)
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

  /// What has to be the same on both sides for audio to flow: the credentials of ICE and the fingerprints of certificates.
  var transport: Set<Substring> {
    let names = ["a=ice-ufrag:", "a=ice-pwd:", "a=fingerprint:"]
    return Set(
      self.text.split { $0.isNewline }.filter { line in names.contains { line.hasPrefix($0) } })
  }
}
