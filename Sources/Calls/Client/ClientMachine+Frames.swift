import CallSignaling
import VoiceCore

/// What comes from the gateway.
extension ClientMachine {
  mutating func socket(_ event: SignalingTransportEvent, of generation: Int, at now: VoiceInstant) {
    guard generation == self.connection.socket.generation else { return }
    switch event {
    case .opened: self.connect(.socketOpened(generation: generation), at: now)
    case .pong: self.connect(.heard(generation: generation), at: now)
    case .closed(let code): self.connect(.socketClosedByPeer(generation: generation, code: code), at: now)
    case .failed(let failure): self.connect(.socketFailed(generation: generation, failure), at: now)
    case .received(let bytes):
      self.connect(.heard(generation: generation), at: now)
      guard self.connection.socket.state != .idle else { return }
      self.received(bytes, at: now)
    }
  }

  private mutating func received(_ bytes: [UInt8], at now: VoiceInstant) {
    let frame: Frame<ServerRequest>
    do throws(FrameError) {
      frame = try self.codec.decode(ServerRequest.self, from: bytes)
    } catch {
      self.log(.warning, "a frame cannot be read: \(error.description)")
      self.emit(
        .notify(
          .failed(
            VoiceFailure(.callFrameInvalid, message: "The gateway sent a frame that cannot be read: \(error)")
          )))
      // Only a request has somebody who waits for an answer.
      if let id = error.id, error.method != nil { self.respond(error.response, to: id) }
      return
    }
    if let sticky = frame.voiceSDKID { self.session?.voiceSDKID = sticky }
    switch frame.content {
    case .request(let request, let id): self.received(request, id: id, at: now)
    case .result(let json, let id): self.answered(id, .success(json), at: now)
    case .error(let error, let id): self.answered(id, .failure(error), at: now)
    case .debugReport, .speedTest: self.log(.info, "ignored a report")
    }
  }

  private mutating func respond(_ error: RPCError, to id: RPCID) {
    self.emit(.send(generation: self.connection.socket.generation, self.codec.encode(error, id: id)))
  }

  private mutating func answered(_ id: RPCID, _ result: Result<JSON, RPCError>, at now: VoiceInstant) {
    switch self.requests.answered(id) {
    case .late: self.log(.info, "an answer came too late")
    case .unknown:
      if case .failure(let error) = result {
        // An error that answers nothing is still one that the gateway wants to be known.
        self.settle(.notice, .refused(error), at: now)
      } else {
        self.log(.warning, "an answer belongs to no request")
      }
    case .waiting(let entry):
      switch result {
      case .failure(let error):
        if error.code == .authenticationRequired, entry.context != .login {
          self.connect(.authenticationRequired, at: now)
        }
        self.settle(entry.context, .refused(error), at: now)
      case .success(let json):
        do throws(FrameError) {
          self.settle(entry.context, .accepted(try ServerResult.read(json, of: entry.method)), at: now)
        } catch {
          self.emit(
            .notify(
              .failed(
                VoiceFailure(
                  .callFrameInvalid, message: "The gateway sent an answer that cannot be read: \(error)"))))
          self.settle(entry.context, .refused(error.response), at: now)
        }
      }
    }
  }

  private mutating func received(_ request: ServerRequest, id: RPCID?, at now: VoiceInstant) {
    self.log(.verto, "received \(request.method.name(in: self.codec.dialect))")
    if let id, request.isAcknowledged, !request.isMediaUpdate {
      self.emit(
        .send(generation: self.connection.socket.generation, self.codec.acknowledge(request.method, id: id)))
    }
    switch request {
    case .clientReady(let message): self.connect(.clientReadyReceived(message), at: now)
    case .gatewayState(let report): self.received(report, at: now)
    case .ping: self.write(.ping(), id: .string(self.makeID()))
    case .pong: break
    case .invite(let message): self.invited(message, at: now)
    case .ringing(let message):
      self.noteIDs(message)
      self.stepKnown(message.callID, .ringingReceived, at: now)
    case .media(let message):
      self.noteIDs(message)
      if let sdp = message.sdp { self.stepKnown(message.callID, .mediaReceived(sdp), at: now) }
    case .answer(let message):
      self.noteIDs(message)
      self.calls[message.callID]?.answerHeaders = message.customHeaders
      self.stepKnown(message.callID, .answerReceived(message.sdp), at: now)
    case .attach(let message):
      self.noteIDs(message)
      if let sdp = message.sdp { self.stepKnown(message.callID, .attachReceived(sdp), at: now) }
    case .bye(let message): self.stepKnown(message.callID, .byeReceived(message), at: now)
    case .info(let message):
      if let call = message.callID, self.calls[call] != nil {
        self.emit(.notifyCall(call, .info(message)))
      } else {
        self.emit(.notify(.unhandled(request)))
      }
    case .candidate(let message):
      let candidate = MediaCandidate(
        line: message.candidate, sdpMid: message.sdpMid, sdpMLineIndex: message.sdpMLineIndex)
      if self.calls[message.callID] != nil { self.emit(.media(message.callID, .candidate(candidate))) }
    case .endOfCandidates(let message):
      if self.calls[message.callID] != nil { self.emit(.media(message.callID, .candidate(nil))) }
    case .punt:
      for call in self.sortedCalls { self.step(call, .punted, at: now) }
      self.connect(.punted, at: now)
    case .aiConversation(let message): self.emit(.notify(.assistant(message)))
    case .display(let message):
      self.noteIDs(message)
      self.emit(.notify(.unhandled(request)))
    case .modify(let message):
      switch message.action {
      case .updateMedia:
        guard let sdp = message.sdp else { return self.unhandled(request, id: id) }
        self.updateReceived(sdp, of: message.callID, request: id)
      case .hold, .unhold: self.otherSideHeld(message.action == .hold, message.callID)
      case .toggleHold, .transfer, .replace, .unknown: self.unhandled(request, id: id)
      }
    case .event, .unknown: self.unhandled(request, id: id)
    }
  }

  /// The other side changes its media, by an ICE restart for example; the answer is the response to the request.
  private mutating func updateReceived(_ offer: SDP, of id: CallID, request: RPCID?) {
    guard let call = self.calls[id] else {
      if let request { self.respond(.callDoesNotExist(id), to: request) }
      return
    }
    switch call.machine.phase {
    case .established: self.emit(.media(id, .makeUpdateAnswer(to: offer, request: request)))
    case .idle, .preparing, .readyToInvite, .inviting, .trying, .ringing, .incoming, .preparingAnswer,
      .readyToAnswer, .answering, .ended:
      if let request {
        self.respond(RPCError(code: .sessionError, message: "CALL ERROR", callID: id), to: request)
      }
    }
  }

  /// A gateway may say it again, to a client that comes back.
  private mutating func otherSideHeld(_ isHeld: Bool, _ id: CallID) {
    guard let call = self.calls[id], !call.machine.isEnded else {
      return self.log(.warning, "the gateway speaks of a call that is not known: \(id)")
    }
    guard call.isHeldByOtherSide != isHeld else { return }
    self.calls[id]?.isHeldByOtherSide = isHeld
    self.emit(.notifyCall(id, .otherSideHeld(isHeld)))
  }

  mutating func updateAnswered(_ id: CallID, _ request: RPCID?, _ result: Result<SDP, VoiceFailure>) {
    guard let request, self.isConnected else { return }
    switch result {
    case .success(let sdp):
      let result = ModifyResult(
        callID: id, action: .updateMedia, sdp: sdp, sessionID: self.session?.sessionID)
      self.emit(
        .send(
          generation: self.connection.socket.generation, self.codec.encode(.modify(result), id: request)))
    case .failure(let failure):
      self.emit(.notifyCall(id, .failed(failure)))
      self.respond(RPCError(code: .sessionError, message: "CODEC ERROR", callID: id), to: request)
    }
  }

  /// A request that this client does not know is surfaced, and its sender told.
  private mutating func unhandled(_ request: ServerRequest, id: RPCID?) {
    self.emit(.notify(.unhandled(request)))
    guard case .unknown = request, let id else { return }
    self.respond(RPCError(code: .methodNotFound, message: "Method not found"), to: id)
  }

  private mutating func stepKnown(_ id: CallID, _ event: CallMachine.Event, at now: VoiceInstant) {
    guard self.calls[id] != nil else {
      self.log(.warning, "the gateway speaks of a call that is not known: \(id)")
      if case .attachReceived = event, !self.outbox.hasBye(of: id) {
        self.emit(.notify(.failed(VoiceFailure(.callNotFound, scope: .client))))
      }
      return
    }
    self.step(id, event, at: now)
  }
}

extension ServerRequest {
  /// Whether it has to be answered with a description.
  fileprivate var isMediaUpdate: Bool {
    guard case .modify(let message) = self, case .updateMedia = message.action else { return false }
    return message.sdp != nil
  }
}
