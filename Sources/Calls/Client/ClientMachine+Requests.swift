import CallSignaling
import VoiceCore

/// Requests of this client, and how they were answered.
extension ClientMachine {
  mutating func send(_ request: ClientRequest, for purpose: Purpose, at now: VoiceInstant) {
    let id = RPCID.string(self.makeID())
    do throws(VoiceFailure) {
      // The registration has time-outs of its own; the entry only has to outlast them.
      let timeout: Duration =
        purpose == .login || purpose == .gatewayState
        ? .seconds(30) : RequestTimeouts.timeout(of: request.method)
      try self.requests.add(id, request.method, timeout: timeout, context: purpose, at: now)
    } catch {
      self.emit(.notify(.failed(error)))
      self.settle(purpose, .timedOut, at: now)
      return
    }
    self.write(request, id: id)
  }

  mutating func write(_ request: ClientRequest, id: RPCID?) {
    let sticky: String? =
      switch request.method {
      case .gatewayState, .ping: self.session?.voiceSDKID
      default: nil
      }
    self.log(.verto, "sending \(request.method.name(in: self.codec.dialect))")
    self.emit(
      .send(
        generation: self.connection.socket.generation, self.codec.encode(request, id: id, voiceSDKID: sticky))
    )
  }

  mutating func requested(_ request: ClientRequest, isNotification: Bool, at now: VoiceInstant) {
    guard self.isConnected else {
      self.emit(.notify(.failed(VoiceFailure(.callNotConnected))))
      return
    }
    if isNotification {
      self.write(request, id: nil)
    } else if case .disablePush = request {
      self.send(request, for: .disablePush, at: now)
    } else {
      self.send(request, for: .notice, at: now)
    }
  }

  /// One request has come to its one end.
  mutating func settle(_ purpose: Purpose, _ outcome: CallMachine.Outcome, at now: VoiceInstant) {
    switch purpose {
    case .login:
      switch outcome {
      case .accepted(.login(let result)): self.connect(.loginAccepted(result), at: now)
      case .accepted: self.connect(.loginAccepted(LoginResult(sessionID: nil)), at: now)
      case .refused(let error):
        if case .refreshing = self.connection.registration.state { self.refreshRefused() }
        self.connect(.loginRefused(error), at: now)
      case .timedOut, .interrupted: break
      }
    case .gatewayState:
      switch outcome {
      case .accepted(.gatewayState(let report, _)): self.received(report, at: now)
      case .refused(let error): self.connect(.gatewayStateRefused(error), at: now)
      case .accepted, .timedOut, .interrupted: break
      }
    case .invite(let id): self.step(id, .inviteSettled(outcome), at: now)
    case .answer(let id): self.step(id, .answerSettled(outcome), at: now)
    case .attach(let id): self.step(id, .attachSettled(outcome), at: now)
    case .restart(let id): self.step(id, .restartSettled(outcome), at: now)
    case .outbox(let item): self.settle(item, outcome, at: now)
    case .disablePush: self.pushDisabled(outcome)
    case .attachCalls: self.callsAttached(outcome)
    case .notice:
      switch outcome {
      case .accepted, .interrupted: break
      case .refused(let error):
        self.emit(
          .notify(
            .failed(
              VoiceFailure(
                .callRequestRefused,
                message: "The gateway refused a request (code \(error.code.value ?? 0)).",
                scope: .client, cause: error))))
      case .timedOut: self.emit(.notify(.failed(VoiceFailure(.callRequestTimedOut, scope: .client))))
      }
    }
  }

  mutating func received(_ report: GatewayStateReport, at now: VoiceInstant) {
    if let id = report.callReportID { self.callReportID = id }
    self.connect(.gatewayStateReceived(report.state), at: now)
  }

  private mutating func pushDisabled(_ outcome: CallMachine.Outcome) {
    switch outcome {
    case .accepted(let result):
      let text = if case .other(let json) = result { json["message"]?.stringValue } else { String?.none }
      self.emit(.notify(.pushDisabled(success: true, message: text ?? "")))
    case .refused(let error): self.emit(.notify(.pushDisabled(success: false, message: error.message)))
    case .timedOut, .interrupted:
      self.emit(.notify(.pushDisabled(success: false, message: "The gateway did not answer.")))
    }
  }

  // MARK: Outbox

  private mutating func settle(_ item: Outbox.Item, _ outcome: CallMachine.Outcome, at now: VoiceInstant) {
    if case .hold(let state) = item.content { self.step(item.callID, .holdSettled(state, outcome), at: now) }
    let answer: Outbox.Answer
    switch outcome {
    case .accepted: answer = .accepted
    case .refused(let error): answer = .refused(error)
    case .timedOut: answer = .timedOut
    // The outbox learned of the outage itself.
    case .interrupted: return
    }
    self.perform(self.outbox.answered(item.id, answer), wasAnswered: true, at: now)
  }

  /// - Parameter wasAnswered: Whether the call has heard of a failed hold already.
  mutating func perform(_ actions: [Outbox.Action], wasAnswered: Bool = false, at now: VoiceInstant) {
    for action in actions {
      switch action {
      case .send(let item): self.send(self.request(for: item), for: .outbox(item), at: now)
      case .delivered(let item):
        if case .tones(let tones) = item.content {
          self.emit(.notifyCall(item.callID, .tonesDelivered(tones)))
        }
      case .fail(let item, let failure):
        if case .hold(let state) = item.content {
          if !wasAnswered { self.step(item.callID, .holdSettled(state, .timedOut), at: now) }
        } else if self.calls[item.callID] != nil {
          self.emit(.notifyCall(item.callID, .failed(failure)))
        } else {
          self.emit(.notify(.failed(failure)))
        }
      case .drop(let item):
        self.log(.info, "dropped what call \(item.callID) does not need any more")
        // Who waits for the hold that was taken back would wait for ever.
        if case .hold = item.content, self.calls[item.callID] != nil {
          let failure = VoiceFailure(
            .callHoldFailed, message: "It was taken back before it was sent.",
            recovery: Recovery.none)
          self.emit(.notifyCall(item.callID, .failed(failure)))
        }
      }
    }
  }

  private func request(for item: Outbox.Item) -> ClientRequest {
    let session = self.session?.sessionID
    switch item.content {
    case .bye(let cause):
      return .bye(
        ByeMessage(callID: item.callID, cause: cause, sipCode: cause.byeSIPCode, sessionID: session))
    case .hold(let state):
      return .modify(
        ModifyRequest(callID: item.callID, action: state == .held ? .hold : .unhold, sessionID: session))
    case .tones(let tones): return .info(InfoMessage(callID: item.callID, dtmf: tones, sessionID: session))
    }
  }
}

extension HangupCause {
  /// A refusal says its SIP status too, so that the caller's side learns it (telnyx.md section 3.4).
  fileprivate var byeSIPCode: Int? {
    switch self {
    case .userBusy: 486
    default: nil
    }
  }
}
