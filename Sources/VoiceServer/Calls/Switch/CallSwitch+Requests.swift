import CallSignaling
import VoiceCore

/// Requests of clients.
extension CallSwitch {
  /// Who waits for the response to a request.
  struct Asker {
    let connection: ConnectionID
    /// `nil` for a notification, which nobody answers.
    let id: RPCID?
  }

  private static let unsuitable = RPCError(code: .sessionError, message: "CALL ERROR")

  mutating func reply(_ asker: Asker, _ result: Result<ServerResult, RPCError>) {
    guard let id = asker.id else { return }
    self.actions.append(.reply(asker.connection, id, result))
  }

  mutating func requested(_ request: ClientRequest, _ asker: Asker, at now: VoiceInstant) {
    guard let key = self.connections[asker.connection] else {
      return self.reply(
        asker, .failure(RPCError(code: .authenticationRequired, message: "Authentication Required")))
    }
    switch request {
    case .invite(let message): self.invited(message, key, asker, at: now)
    case .answer(let message):
      guard message.sdp.hasAudio else { return self.refuseMedia(message.dialog.callID, asker) }
      self.stepClient(key, message.dialog.callID, .answerReceived(message.sdp), message.sdp, asker, at: now)
    case .attach(let message):
      guard message.sdp.hasAudio else { return self.refuseMedia(message.dialog.callID, asker) }
      self.stepClient(key, message.dialog.callID, .attachReceived(message.sdp), message.sdp, asker, at: now)
    case .bye(let message): self.stepClient(key, message.callID, .byeReceived(message), nil, asker, at: now)
    case .info(let message): self.informed(message, key, asker, at: now)
    case .modify(let message): self.modified(message, key, asker, at: now)
    case .candidate(let message): self.candidateCame(message, key, asker)
    case .endOfCandidates(let message): self.candidatesEnded(message, key, asker)
    case .ringingAck(let message):
      let isKnown = self.sessions[key]?.legs[message.callID] != nil
      self.reply(
        asker,
        isKnown ? .success(.other([:])) : .failure(.callDoesNotExist(message.callID)))
    case .attachCalls: self.attachCalls(key, asker, at: now)
    case .login, .anonymousLogin, .gatewayState, .ping, .disablePush, .aiConversation, .echo, .subscribe,
      .unsubscribe, .broadcast, .unknown:
      // The session answers these; if one comes here, it is not for the switch.
      self.reply(asker, .failure(RPCError(code: .methodNotFound, message: "Invalid Method")))
    }
  }

  private mutating func refuseMedia(_ callID: CallID, _ asker: Asker) {
    self.reply(
      asker, .failure(RPCError(code: .sessionError, message: "CODEC ERROR", callID: callID)))
  }

  mutating func refuseUnknown(_ callID: CallID, _ key: SessionKey, _ asker: Asker) {
    var error = RPCError.callDoesNotExist(callID)
    if self.sessions[key]?.lost.contains(callID) == true {
      error.extra = [
        "cause": .string(HangupCause.loseRace.name), "causeCode": .integer(HangupCause.loseRace.code ?? 0),
      ]
    }
    self.reply(asker, .failure(error))
  }

  private mutating func stepClient(
    _ key: SessionKey, _ callID: CallID, _ event: LegMachine.Event, _ description: SDP?, _ asker: Asker,
    at now: VoiceInstant
  ) {
    guard let number = self.sessions[key]?.legs[callID] else {
      return self.refuseUnknown(callID, key, asker)
    }
    let before = self.legs[number]?.description
    if let description { self.legs[number]?.description = description }
    let isTaken = self.step(number, event, asker: asker, at: now)
    // A description that was refused does not count.
    if description != nil, !isTaken { self.legs[number]?.description = before }
  }

  private mutating func invited(
    _ message: ClientDescription, _ key: SessionKey, _ asker: Asker, at now: VoiceInstant
  ) {
    let callID = message.dialog.callID
    if let number = self.sessions[key]?.legs[callID] {
      self.step(number, .inviteReceived, asker: asker, at: now)
      return
    }
    guard message.sdp.hasAudio else { return self.refuseMedia(callID, asker) }
    let call = self.nextNumber()
    // Counted before the leg of this call is there.
    let isOverloaded =
      self.calls.count >= self.configuration.calls
      || self.load(of: key.user) >= self.configuration.callsPerUser
    let number = self.addLeg(role: .caller, callID: callID, session: key, call: call)
    self.legs[number]?.description = message.sdp
    let record = CallRecord(
      id: self.randomID(), caller: key.user, callerNumber: message.dialog.callerIDNumber,
      destination: message.dialog.destinationNumber ?? "", callee: nil, began: now, rang: nil, answered: nil,
      ended: now, reason: CallTerminationReason(), endedBy: .gateway, reattachments: 0)
    self.calls[call] = Call(caller: number, dialog: message.dialog, offer: message.sdp, record: record)
    if isOverloaded {
      // The leg is accepted first, so that the end has a call to belong to.
      self.step(number, .inviteReceived, asker: asker, at: now, routes: false)
      self.endByGateway(number, CallTerminationReason(.switchCongestion, origin: .server), at: now)
    } else {
      self.step(number, .inviteReceived, asker: asker, at: now)
    }
  }

  private mutating func informed(
    _ message: InfoMessage, _ key: SessionKey, _ asker: Asker, at now: VoiceInstant
  ) {
    if let callID = message.callID {
      if let number = self.sessions[key]?.legs[callID], !self.canTakeInfo(message, of: number) {
        return self.reply(asker, .failure(Self.tooMuch(callID)))
      }
      return self.stepClient(key, callID, .infoReceived(message), nil, asker, at: now)
    }
    // A line of chat outside of a call.
    guard var chat = message.chat, let to = chat.to else {
      return self.reply(asker, .failure(RPCError(code: .sessionError, message: "CallID missing")))
    }
    guard self.sessions[key]?.isAnonymous == false else {
      return self.reply(asker, .failure(RPCError(code: .methodNotFound, message: "Permission Denied")))
    }
    guard case .user(let user) = self.plan.target(of: to) else {
      return self.reply(asker, .failure(RPCError(code: .sessionError, message: "USER DOES NOT EXIST")))
    }
    chat.from = key.user
    let sockets = self.registered(user).compactMap { self.sessions[$0]?.connection }
    guard !sockets.isEmpty else {
      return self.reply(asker, .failure(RPCError(code: .sessionError, message: "USER NOT REGISTERED")))
    }
    for socket in sockets { self.actions.append(.send(socket, .info(InfoMessage(chat: chat)))) }
    self.reply(asker, .success(.sent))
  }

  private mutating func modified(
    _ message: ModifyRequest, _ key: SessionKey, _ asker: Asker, at now: VoiceInstant
  ) {
    if let sdp = message.sdp, !sdp.hasAudio { return self.refuseMedia(message.callID, asker) }
    if let number = self.sessions[key]?.legs[message.callID], message.action == .updateMedia,
      self.isChangingMedia(number)
    {
      return self.reply(asker, .failure(Self.unsuitable))
    }
    // What is offered describes the client only once the other side has taken it.
    self.stepClient(
      key, message.callID, .modifyReceived(message.action, message.sdp), nil, asker, at: now)
  }

  /// Rings a client that a push message woke, if a call for its user still rings.
  private mutating func attachCalls(_ key: SessionKey, _ asker: Asker, at now: VoiceInstant) {
    let ringing = self.calls.filter { number, call in
      call.record.callee == key.user && call.answered == nil && !call.isOver && call.media == nil
        && !call.callees.contains { self.legs[$0]?.session == key }
        && self.legs[call.caller]?.session != key
    }
    guard !ringing.isEmpty, self.load(of: key.user) < self.configuration.callsPerUser else {
      return self.reply(asker, .failure(.callDoesNotExist()))
    }
    self.reply(asker, .success(.other(["message": "CALLS ATTACHED"])))
    for number in ringing.keys.sorted() { self.ring(key, call: number, at: now) }
  }
}

extension SDP {
  /// Whether the description has a section for audio (RFC 8866 section 5.14).
  var hasAudio: Bool {
    let needle = Array("m=audio".utf8)
    let bytes = self.text.utf8
    var index = bytes.startIndex
    var isLineStart = true
    while index != bytes.endIndex {
      if isLineStart, bytes[index...].starts(with: needle) { return true }
      isLineStart = bytes[index] == UInt8(ascii: "\n") || bytes[index] == UInt8(ascii: "\r")
      index = bytes.index(after: index)
    }
    return false
  }
}
