import CallSignaling
import VoiceCore

/// What the client knows of one call besides its machine.
struct CallRecord: Sendable {
  let id: CallID
  /// Calls are counted, so that they can be told in the order in which they began.
  let order: Int
  var machine: CallMachine
  var dialog: DialogParams
  let began: VoiceInstant
  var measuresQuality = false
  var preferredCodecs: [TxCodecCapability] = []
  var outages = 0
  var states: [(state: CallState, at: VoiceInstant)] = []
  var failures: [VoiceFailure] = []
  var callerName: String?
  var callerNumber: String?
  var inviteHeaders: [CustomHeader] = []
  var answerHeaders: [CustomHeader] = []
  var telnyxSessionID: String?
  var telnyxLegID: String?
  var telnyxCallControlID: String?
  var clientState: String?
  /// Whether the gateway has a description to which candidates belong.
  var hasSentDescription = false
  var candidates: [MediaCandidate?] = []
  var isHeldByOtherSide = false
  var measurements: [CallReport.Measurement] = []
  var entries: [CallReport.Entry] = []
  var reporting = ReportSettings()
  /// The report that the gateway gets meanwhile.
  var stats: StatsReport?
}

extension ClientMachine {
  mutating func dialed(_ id: CallID, _ setup: CallSetup, at now: VoiceInstant) {
    let machine = CallMachine(outbound: self.callConfiguration, isLinkUp: self.connection.isReady)
    var record = CallRecord(
      id: id, order: self.nextOrder, machine: machine, dialog: setup.dialog, began: now,
      measuresQuality: setup.measuresQuality, preferredCodecs: setup.preferredCodecs)
    record.callerName = setup.dialog.callerIDName
    record.callerNumber = setup.dialog.callerIDNumber
    record.states = [(.NEW, now)]
    self.prepare(&record)
    self.calls[id] = record
    self.connect(.callsChanged(inCall: true), at: now)
    self.step(id, .dialed, at: now)
  }

  private var tricklesCandidates: Bool? {
    guard let session = self.session, session.settings.tricklesCandidates, session.dialect.hasTrickle else {
      return nil
    }
    return true
  }

  private var nextOrder: Int { (self.calls.values.map(\.order).max() ?? 0) + 1 }

  mutating func invited(_ message: ServerCallMessage, at now: VoiceInstant) {
    guard let offer = message.sdp else { return }
    guard self.calls[message.callID] == nil else {
      return self.step(message.callID, .invitedAgain(offer), at: now)
    }
    guard !self.outbox.hasBye(of: message.callID) else {
      return self.log(.info, "call \(message.callID) comes again, but its goodbye is on the way")
    }
    guard self.calls.count < Self.maximumCalls else {
      // Refused by name, so that the caller does not wait for a client that cannot ring.
      self.perform(self.outbox.offered(.bye(.userBusy), of: message.callID, at: now), at: now)
      return
    }
    var dialog = DialogParams(callID: message.callID)
    dialog.destinationNumber = message.calleeIDNumber
    dialog.remoteCallerIDName = message.callerIDName
    dialog.remoteCallerIDNumber = message.callerIDNumber
    dialog.callerIDName = message.calleeIDName
    dialog.callerIDNumber = message.calleeIDNumber
    dialog.audio = true
    dialog.trickleICE = self.tricklesCandidates
    var record = CallRecord(
      id: message.callID, order: self.nextOrder,
      machine: CallMachine(inbound: offer, at: now, configuration: self.callConfiguration), dialog: dialog,
      began: now)
    record.callerName = message.callerIDName
    record.callerNumber = message.callerIDNumber
    record.inviteHeaders = message.customHeaders
    record.clientState = message.clientState
    record.states = [(.RINGING, now)]
    self.prepare(&record)
    self.calls[message.callID] = record
    self.noteIDs(message)
    self.connect(.callsChanged(inCall: true), at: now)
    let wasPushed = self.push.arrived(message.callID)
    self.emit(.notifyCall(message.callID, .incoming(wasPushed: wasPushed)))
    self.emit(.notifyCall(message.callID, .stateChanged(.RINGING)))
  }

  /// More calls than this are none that a person could take.
  static var maximumCalls: Int { 256 }

  mutating func noteIDs(_ message: ServerCallMessage) {
    self.calls[message.callID]?.note(message)
  }

  mutating func step(_ id: CallID, _ event: CallMachine.Event, at now: VoiceInstant) {
    guard let actions = self.calls[id]?.machine.handle(event, at: now) else {
      switch event {
      // The call is over, which its owner may not have heard yet.
      case .holdRequested, .tonesRequested: self.emit(.notify(.failed(VoiceFailure(.callStateUnsuitable))))
      default: break
      }
      return
    }
    for action in actions { self.perform(action, of: id, at: now) }
  }

  private mutating func perform(_ action: CallMachine.Action, of id: CallID, at now: VoiceInstant) {
    switch action {
    case .makeOffer: self.emit(.media(id, .makeOffer))
    case .makeAnswer(let offer, let isReattach):
      self.emit(.media(id, .makeAnswer(to: offer, isReattach: isReattach)))
    case .makeRestartOffer: self.emit(.media(id, .makeRestartOffer))
    case .applyRemote(let sdp, let isFinal): self.emit(.media(id, .applyRemote(sdp, isFinal: isFinal)))
    case .stopMedia: self.emit(.media(id, .stop))
    case .sendInvite(let sdp): self.describe(id, sdp, for: .invite(id), at: now) { .invite($0) }
    case .sendAnswer(let sdp): self.describe(id, sdp, for: .answer(id), at: now) { .answer($0) }
    case .sendAttach(let sdp):
      self.describe(id, sdp, for: .attach(id), at: now) {
        var message = $0
        message.dialog.attach = true
        return .attach(message)
      }
    case .sendRestart(let sdp):
      self.send(
        .modify(
          ModifyRequest(callID: id, action: .updateMedia, sdp: sdp, sessionID: self.session?.sessionID)),
        for: .restart(id), at: now)
    case .sendHold(let state): self.perform(self.outbox.offered(.hold(state), of: id, at: now), at: now)
    case .sendTones(let tones): self.perform(self.outbox.offered(.tones(tones), of: id, at: now), at: now)
    case .sendBye(let cause): self.perform(self.outbox.offered(.bye(cause), of: id, at: now), at: now)
    case .requestReattach: self.connect(.reattachRequested, at: now)
    case .reportState(let state): self.stateChanged(state, of: id, at: now)
    case .reportHold(let state):
      self.emit(.media(id, .setHeld(state == .held)))
      self.emit(.notifyCall(id, .holdChanged(state)))
    case .reportEarlyMedia: self.emit(.notifyCall(id, .earlyMedia))
    case .report(let failure):
      self.calls[id]?.failures.append(failure)
      self.calls[id]?.note(.error, failure.code.rawValue, at: now)
      self.emit(.notifyCall(id, .failed(failure)))
    case .ignore(let reason): self.log(.all, "ignored an event of a call: \(reason.rawValue)")
    }
  }

  private mutating func describe(
    _ id: CallID, _ sdp: SDP, for purpose: Purpose, at now: VoiceInstant,
    _ make: (ClientDescription) -> ClientRequest
  ) {
    guard let record = self.calls[id] else { return }
    let isTrickled = record.dialog.trickleICE == true && self.codec.dialect.hasTrickle
    var message = ClientDescription(
      sdp: sdp, dialog: record.dialog, sessionID: self.session?.sessionID, isTrickled: isTrickled,
      userAgent: self.session?.userAgent)
    if case .answer = purpose, let token = self.session?.pushVariables["push_device_token"]?.stringValue,
      !token.isEmpty,
      self.session?.userVariables["push_when_active"] != nil
    {
      message.answeredDeviceToken = token
    }
    self.send(make(message), for: purpose, at: now)
    self.calls[id]?.hasSentDescription = true
    let candidates = self.calls[id]?.candidates ?? []
    self.calls[id]?.candidates = []
    for candidate in candidates { self.sendCandidate(candidate, of: id) }
  }

  mutating func candidateFound(_ candidate: MediaCandidate?, of id: CallID, at now: VoiceInstant) {
    guard let record = self.calls[id], record.dialog.trickleICE == true, self.codec.dialect.hasTrickle else {
      return
    }
    if record.hasSentDescription, record.machine.link == .up || record.machine.link == .attaching {
      self.sendCandidate(candidate, of: id)
    } else if record.candidates.count < 64 {
      self.calls[id]?.candidates.append(candidate)
    } else {
      self.log(.warning, "a candidate of call \(id) is left out: too many wait for the description")
    }
  }

  /// Candidates are told, not asked: a lost one is made good by the next description.
  private mutating func sendCandidate(_ candidate: MediaCandidate?, of id: CallID) {
    let session = self.session?.sessionID
    let request: ClientRequest =
      if let candidate {
        .candidate(
          CandidateMessage(
            callID: id, candidate: candidate.line, sdpMid: candidate.sdpMid,
            sdpMLineIndex: candidate.sdpMLineIndex,
            sessionID: session))
      } else {
        .endOfCandidates(CallReference(callID: id, sessionID: session))
      }
    self.write(request, id: .string(self.makeID()))
  }

  private mutating func stateChanged(_ state: CallState, of id: CallID, at now: VoiceInstant) {
    self.calls[id]?.states.append((state, now))
    self.log(.info, "call \(id) is \(state.value)", of: id, at: now)
    self.emit(.notifyCall(id, .stateChanged(state)))
    guard case .DONE(let reason) = state, let record = self.calls[id] else { return }
    let ended = reason ?? CallTerminationReason(origin: .local)
    self.stopStats(of: record)
    self.calls[id] = nil
    self.perform(self.outbox.callEnded(id), at: now)
    if let failure = ended.failure, ended.origin != .remote { self.emit(.notifyCall(id, .failed(failure))) }
    let report = record.reporting.isEnabled ? record.report(of: ended, at: now) : nil
    self.emit(.notifyCall(id, .ended(ended, report)))
    if self.calls.isEmpty { self.connect(.callsChanged(inCall: false), at: now) }
  }
}

extension CallRecord {
  fileprivate mutating func note(_ message: ServerCallMessage) {
    self.telnyxSessionID = message.telnyxSessionID ?? self.telnyxSessionID
    self.telnyxLegID = message.telnyxLegID ?? self.telnyxLegID
    self.telnyxCallControlID = message.telnyxCallControlID ?? self.telnyxCallControlID
    self.clientState = message.clientState ?? self.clientState
  }

  fileprivate func report(of reason: CallTerminationReason, at now: VoiceInstant) -> CallReport {
    CallReport(
      callID: self.id.text, direction: self.machine.direction, reason: reason,
      states: self.states.map { CallReport.Step(state: $0.state, after: self.began.duration(to: $0.at)) },
      duration: self.began.duration(to: now), outages: self.outages, failures: self.failures,
      measurements: self.measurements, entries: self.entries)
  }
}
