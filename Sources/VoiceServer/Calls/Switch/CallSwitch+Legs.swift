import CallSignaling
import VoiceCore

/// What legs do to their clients and to each other.
extension CallSwitch {
  /// Steps a leg and does what it says.
  ///
  /// - Parameters:
  ///   - asker: Who waits for the response, if a client's request is the event.
  ///   - routes: Whether a new call is put through.
  /// - Returns: Whether a request was taken, not refused.
  @discardableResult
  mutating func step(
    _ number: LegNumber, _ event: LegMachine.Event, asker: Asker? = nil, at now: VoiceInstant,
    routes: Bool = true
  ) -> Bool {
    guard let actions = self.legs[number]?.machine.handle(event, at: now) else { return false }
    defer { self.deliverMissed(to: number) }
    var isTaken = true
    for action in actions {
      switch action {
      case .accept(let reply):
        if let asker { self.accept(reply, of: number, asker) }
      case .refuse(var error):
        isTaken = false
        error.callID = error.callID ?? self.legs[number]?.callID
        if let asker { self.reply(asker, .failure(error)) }
      case .renegotiate(let offer):
        self.beginUpdate(of: number, offer: offer, asker, at: now)
      case .route:
        if routes { self.route(number, at: now) }
      case .makeAttachOffer:
        self.makeAttachOffer(for: number, at: now)
      case .send(let message):
        self.send(message, to: number)
      case .tellPeer(let notice):
        self.legSpoke(number, notice, at: now)
      case .end(let reason):
        self.legEnded(number, reason, at: now)
      case .ignore: break
      }
    }
    return isTaken
  }

  private mutating func accept(_ reply: LegMachine.Reply, of number: LegNumber, _ asker: Asker) {
    guard let leg = self.legs[number] else { return }
    let session = leg.session.sessionID
    func call(_ message: String) -> ServerResult {
      .call(CallResult(callID: leg.callID, message: message, sessionID: session))
    }
    let result: ServerResult =
      switch reply {
      case .created: call("CALL CREATED")
      case .answered: call("CALL ANSWERED")
      case .attached: call("CALL ATTACHED")
      case .sent: .sent
      case .ended(let cause): .bye(ByeResult(callID: leg.callID, cause: cause, sessionID: session))
      case .modified(let action, let state):
        .modify(ModifyResult(callID: leg.callID, action: action, holdState: state, sessionID: session))
      }
    self.reply(asker, .success(result))
  }

  /// Tells a leg's client something, if it has a socket.
  mutating func tell(_ number: LegNumber, _ request: ServerRequest) {
    guard let connection = self.connection(of: number) else { return }
    self.actions.append(.send(connection, request))
  }

  private mutating func send(_ message: LegMachine.Message, to number: LegNumber) {
    guard let leg = self.legs[number], let call = self.calls[leg.call] else { return }
    switch message {
    case .invite(let sdp):
      self.tell(number, .invite(self.message(of: leg, call, sdp: sdp)))
      self.repeatCandidates(to: number)
    case .ringing: self.tell(number, .ringing(self.message(of: leg, call)))
    case .media(let sdp): self.tell(number, .media(self.message(of: leg, call, sdp: sdp)))
    case .answer(let sdp):
      var answer = self.message(of: leg, call, sdp: sdp)
      answer.telnyxCallControlID = "v3:\(leg.telnyxID)"
      self.tell(number, .answer(answer))
    case .attach(let sdp): self.tell(number, .attach(self.message(of: leg, call, sdp: sdp)))
    case .bye(let reason): self.tell(number, .bye(ByeMessage(callID: leg.callID, reason: reason)))
    }
  }

  private func message(of leg: Leg, _ call: Call, sdp: SDP? = nil) -> ServerCallMessage {
    var message = ServerCallMessage(callID: leg.callID, sdp: sdp)
    let isCaller = leg.machine.role == .caller
    message.callerIDName = call.dialog.callerIDName ?? call.record.caller
    message.callerIDNumber = call.dialog.callerIDNumber ?? call.record.caller
    message.calleeIDName = call.dialog.remoteCallerIDName ?? call.record.destination
    message.calleeIDNumber = call.record.destination
    // As the server sees it: what a client calls outbound comes in at the server (telnyx.md section 2.2).
    message.displayDirection = isCaller ? "inbound" : "outbound"
    message.telnyxSessionID = call.record.id
    message.telnyxLegID = leg.telnyxID
    if !isCaller {
      message.customHeaders = call.dialog.customHeaders
      message.clientState = call.dialog.clientState
    }
    return message
  }

  // MARK: - From one leg to the others

  /// The legs on the other side of a leg's call.
  func others(of number: LegNumber) -> [LegNumber] {
    guard let leg = self.legs[number], let call = self.calls[leg.call] else { return [] }
    if number == call.caller { return call.answered.map { [$0] } ?? call.callees }
    return call.answered == number ? [call.caller] : []
  }

  /// The service that a caller's leg is connected to.
  func media(of number: LegNumber) -> MediaID? {
    guard let leg = self.legs[number], let call = self.calls[leg.call], call.caller == number else {
      return nil
    }
    return call.media
  }

  private mutating func legSpoke(_ number: LegNumber, _ notice: LegMachine.PeerNotice, at now: VoiceInstant) {
    switch notice {
    case .answered(let sdp): self.calleeAnswered(number, sdp, at: now)
    case .held(let state):
      for other in self.others(of: number) where self.canHear(other) { self.tellHold(state, to: other) }
      if let media = self.media(of: number) {
        self.actions.append(.tellMedia(media, .hold(state == .held)))
      }
    case .info(let info):
      for other in self.others(of: number) {
        var copy = info
        copy.callID = self.legs[other]?.callID
        copy.sessionID = nil
        copy.dialogExtra = JSONObject()
        self.deliver(.info(copy), to: other)
      }
      if let media = self.media(of: number), let tones = info.dtmf {
        self.actions.append(.tellMedia(media, .tones(tones)))
      }
    case .reattached(let sdp): self.reattached(number, sdp, at: now)
    case .ended(let reason): self.legLeft(number, reason, at: now)
    }
  }

  private mutating func calleeAnswered(_ number: LegNumber, _ sdp: SDP, at now: VoiceInstant) {
    guard let leg = self.legs[number], let call = self.calls[leg.call], call.answered == nil else { return }
    self.calls[leg.call]?.answered = number
    self.calls[leg.call]?.candidates = []
    self.calls[leg.call]?.record.answered = now
    self.legs[number]?.heard = call.offer
    self.legs[call.caller]?.heard = sdp
    for other in call.callees where other != number {
      self.rememberLoss(of: other)
      self.step(other, .peerEnded(CallTerminationReason(.pickedOff, origin: .server)), at: now)
    }
    self.step(call.caller, .peerAnswered(sdp), at: now)
  }

  /// A leg is gone; the others hear of it as far as it concerns them.
  private mutating func legLeft(_ number: LegNumber, _ reason: CallTerminationReason, at now: VoiceInstant) {
    guard let leg = self.legs[number], let call = self.calls[leg.call] else { return }
    if number == call.caller {
      self.callerLeft(leg.call, call, reason, at: now)
    } else if call.answered == number {
      self.note(.callee, reason, of: leg.call)
      self.step(call.caller, .peerEnded(reason), at: now)
    } else if call.answered == nil {
      let others = call.callees.filter { $0 != number }
      guard others.isEmpty || reason.isFinalForAll else { return }
      self.note(.callee, reason, of: leg.call)
      for other in others { self.step(other, .peerEnded(reason), at: now) }
      self.step(call.caller, .peerEnded(reason), at: now)
    }
  }

  private mutating func callerLeft(
    _ number: Int, _ call: Call, _ reason: CallTerminationReason, at now: VoiceInstant
  ) {
    var reason = reason
    // Published clients hang up a call that rings with USER_BUSY (telnyx.md section 3.4): for the called side it was cancelled.
    if call.answered == nil, call.record.answered == nil, reason.origin == .remote {
      reason = CallTerminationReason(.originatorCancel, origin: .remote).withSIPStatus
    }
    self.note(.caller, reason, of: number)
    for callee in call.callees { self.step(callee, .peerEnded(reason), at: now) }
    self.stopMedia(of: number)
  }

  /// What the first says about the end of a call is kept.
  mutating func note(_ side: CallEnd, _ reason: CallTerminationReason, of number: Int) {
    guard let call = self.calls[number], !call.isOver else { return }
    self.calls[number]?.isOver = true
    self.calls[number]?.record.reason = reason.withSIPStatus
    let gateway = call.endedBy ?? (reason.origin == .remote ? side : .gateway)
    self.calls[number]?.record.endedBy = gateway
  }

  /// The gateway itself ends a caller's leg and with it the call.
  mutating func endByGateway(_ number: LegNumber, _ reason: CallTerminationReason, at now: VoiceInstant) {
    guard let call = self.legs[number]?.call else { return }
    self.calls[call]?.endedBy = .gateway
    self.step(number, .endRequested(reason), at: now)
  }

  mutating func stopMedia(of number: Int) {
    guard let media = self.calls[number]?.media else { return }
    self.calls[number]?.media = nil
    self.mediaCalls[media] = nil
    self.actions.append(.tellMedia(media, .stop))
  }

  private mutating func legEnded(_ number: LegNumber, _ reason: CallTerminationReason, at now: VoiceInstant) {
    guard let leg = self.legs[number] else { return }
    self.calls[leg.call]?.callees.removeAll { $0 == number }
    if self.calls[leg.call]?.caller == number {
      self.note(.gateway, reason, of: leg.call)
      self.stopMedia(of: leg.call)
    }
    if let update = leg.update {
      self.reply(
        Asker(connection: update.connection, id: update.id), .failure(.callDoesNotExist(leg.callID)))
    }
    self.removeLeg(number)
    guard let call = self.calls[leg.call], self.legs[call.caller] == nil, call.callees.isEmpty else { return }
    var record = call.record
    record.ended = now
    self.calls[leg.call] = nil
    self.actions.append(.record(record))
  }
}

extension CallTerminationReason {
  /// Whether one client's refusal speaks for all clients of a user (SIP 6xx, RFC 3261 section 21.6).
  var isFinalForAll: Bool {
    switch self.hangupCause {
    case .callRejected, .decline, .busyEverywhere, .unwanted, .doesNotExistAnywhere: true
    default: false
    }
  }
}
