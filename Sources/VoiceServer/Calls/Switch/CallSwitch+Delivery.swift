import CallSignaling
import VoiceCore

/// What one side of a call tells the other, also if that one has no socket just now.
///
/// | told | a client with the call | a client that is away | a client that rings, also later |
/// |---|---|---|---|
/// | candidates | at once | after it attached | with the invite |
/// | tones, lines of chat | at once | after it attached | at once, or after the invite |
/// | hold | at once | the latest, after it attached | – |
///
/// A client that is about to attach is still away: it may not know the call before. What cannot be kept is refused, so that whoever
/// sends it hears so.
extension CallSwitch {
  static func tooMuch(_ callID: CallID) -> RPCError {
    RPCError(
      code: .sessionError, message: "The other side is away, and no more can be kept for it", callID: callID)
  }

  /// Whether a client knows the call and has a socket.
  func canHear(_ number: LegNumber) -> Bool {
    self.legs[number]?.machine.link == .attached && self.connection(of: number) != nil
  }

  /// Tells a client something, now or once it is back.
  ///
  /// - Returns: Whether there was room.
  @discardableResult
  mutating func deliver(_ request: ServerRequest, to number: LegNumber) -> Bool {
    guard let leg = self.legs[number] else { return true }
    if leg.missed.isEmpty, self.canHear(number) {
      self.tell(number, request)
    } else if leg.missed.count < self.configuration.keptMessages {
      self.legs[number]?.missed.append(request)
    } else {
      return false
    }
    return true
  }

  /// Tells a client that is back what it missed.
  mutating func deliverMissed(to number: LegNumber) {
    guard let leg = self.legs[number], self.canHear(number) else { return }
    if !leg.missed.isEmpty {
      self.legs[number]?.missed = []
      for request in leg.missed { self.tell(number, request) }
    }
    guard let hold = self.hold(over: number), hold != leg.toldHold else { return }
    self.tellHold(hold, to: number)
  }

  mutating func tellHold(_ state: HoldState, to number: LegNumber) {
    guard let callID = self.legs[number]?.callID else { return }
    self.legs[number]?.toldHold = state
    self.tell(number, .modify(ModifyRequest(callID: callID, action: state == .held ? .hold : .unhold)))
  }

  /// A client that begins anew, a page that was loaded again for example, does not know that it is on hold.
  mutating func forgetHoldTold(to number: LegNumber) {
    guard self.hold(over: number) == .held else { return }
    self.legs[number]?.toldHold = .active
  }

  /// Whether the other client of an answered call holds it.
  private func hold(over number: LegNumber) -> HoldState? {
    guard let leg = self.legs[number], self.calls[leg.call]?.answered != nil else { return nil }
    return self.others(of: number).first.flatMap { self.legs[$0]?.machine.hold }
  }

  // MARK: - Tones and lines

  /// Whether everybody whom a message is for can be told, now or later.
  func canTakeInfo(_ message: InfoMessage, of number: LegNumber) -> Bool {
    self.others(of: number).allSatisfy { other in
      guard let leg = self.legs[other] else { return true }
      return leg.missed.isEmpty && self.canHear(other)
        || leg.missed.count < self.configuration.keptMessages
          && message.size <= self.configuration.keptMessageSize
    }
  }

  // MARK: - Candidates

  mutating func candidateCame(_ message: CandidateMessage, _ key: SessionKey, _ asker: Asker) {
    guard let number = self.sessions[key]?.legs[message.callID] else {
      return self.refuseUnknown(message.callID, key, asker)
    }
    func copy(for callID: CallID) -> CandidateMessage {
      // What else the message holds would be kept with it.
      CandidateMessage(
        callID: callID, candidate: message.candidate, sdpMid: message.sdpMid,
        sdpMLineIndex: message.sdpMLineIndex)
    }
    let isKept = self.keep(copy(for: message.callID), of: number)
    var isTaken = true
    for other in self.others(of: number) {
      guard let leg = self.legs[other] else { continue }
      if case .offering = leg.machine.phase {
        if self.canHear(other) {
          self.tell(other, .candidate(copy(for: leg.callID)))
        } else {
          isTaken = isTaken && isKept
        }
      } else {
        isTaken = self.deliver(.candidate(copy(for: leg.callID)), to: other) && isTaken
      }
    }
    if let media = self.media(of: number) {
      self.actions.append(.tellMedia(media, .candidate(copy(for: message.callID))))
    }
    self.reply(asker, isTaken ? self.taken(message.callID, key) : .failure(Self.tooMuch(message.callID)))
  }

  mutating func candidatesEnded(_ message: CallReference, _ key: SessionKey, _ asker: Asker) {
    guard let number = self.sessions[key]?.legs[message.callID] else {
      return self.refuseUnknown(message.callID, key, asker)
    }
    if let call = self.ringing(by: number) { self.calls[call]?.hasAllCandidates = true }
    var isTaken = true
    for other in self.others(of: number) {
      guard let leg = self.legs[other] else { continue }
      let end = ServerRequest.endOfCandidates(CallReference(callID: leg.callID))
      if case .offering = leg.machine.phase {
        // One without a socket hears it with the invite.
        if self.canHear(other) { self.tell(other, end) }
      } else {
        isTaken = self.deliver(end, to: other) && isTaken
      }
    }
    if let media = self.media(of: number) { self.actions.append(.tellMedia(media, .endOfCandidates)) }
    self.reply(asker, isTaken ? self.taken(message.callID, key) : .failure(Self.tooMuch(message.callID)))
  }

  /// Tells a client that rings, with the invite, the candidates of the caller so far.
  mutating func repeatCandidates(to number: LegNumber) {
    guard let leg = self.legs[number], let call = self.calls[leg.call] else { return }
    for candidate in call.candidates {
      var copy = candidate
      copy.callID = leg.callID
      self.tell(number, .candidate(copy))
    }
    if call.hasAllCandidates { self.tell(number, .endOfCandidates(CallReference(callID: leg.callID))) }
  }

  /// Keeps a candidate of a caller for clients that ring later, or again.
  ///
  /// - Returns: Whether there was room; also `false` if there is nobody to keep it for.
  private mutating func keep(_ candidate: CandidateMessage, of number: LegNumber) -> Bool {
    guard let call = self.ringing(by: number),
      self.calls[call]?.candidates.count ?? 0 < self.configuration.keptMessages
    else { return false }
    self.calls[call]?.candidates.append(candidate)
    return true
  }

  /// The call of a caller that still rings at clients.
  private func ringing(by number: LegNumber) -> Int? {
    guard let leg = self.legs[number], let call = self.calls[leg.call], call.caller == number,
      call.answered == nil, call.media == nil
    else { return nil }
    return leg.call
  }

  private func taken(_ callID: CallID, _ key: SessionKey) -> Result<ServerResult, RPCError> {
    .success(.call(CallResult(callID: callID, message: "OK", sessionID: key.sessionID)))
  }
}

extension InfoMessage {
  /// About how long it is, in bytes of JSON.
  fileprivate var size: Int {
    let texts = [self.dtmf, self.chat?.from, self.chat?.to, self.chat?.body].compactMap { $0?.utf8.count }
    let extras = [self.extra, self.chat?.extra ?? JSONObject()].map { JSON.object($0).text.utf8.count }
    return (texts + extras).reduce(0, +)
  }
}
