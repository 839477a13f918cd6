import CallSignaling
import Testing
import VoiceCore

/// Whole calls, step by step.
@Suite struct CallMachineTests {
  static let callID = CallID("c")

  static func talking(_ configuration: CallMachine.Configuration = .init()) -> CallMachine {
    var machine = CallMachine(outbound: configuration)
    for event in CallMachineTableTests.talking { _ = machine.handle(event, at: at(0)) }
    return machine
  }

  // MARK: Bad input

  @Test func aRefusedInviteEndsTheCall() {
    var machine = CallMachineTableTests.machine([.dialed, .offerMade("o")])
    let error = RPCError(code: .sessionError, message: "CODEC ERROR")
    guard
      case .reportState(.DONE(reason: let reason?))? = machine.handle(
        .inviteSettled(.refused(error)), at: at(1)
      ).last
    else {
      Issue.record("no end")
      return
    }
    #expect(reason.origin == .server)
    #expect(reason.failure?.code == .callSetupFailed)
    #expect(reason.failure?.cause as? RPCError == error)
    #expect(machine.deadline == nil)
  }

  @Test func anInviteThatIsNotAnsweredEndsTheCallWithAGoodbye() {
    var machine = CallMachineTableTests.machine([.dialed, .offerMade("o")])
    let actions = machine.handle(.inviteSettled(.timedOut), at: at(1))
    #expect(actions.first == .sendBye(.originatorCancel))
    #expect(machine.isEnded)
  }

  @Test func aLateAnswerAfterTheHangUpIsIgnored() {
    var machine = CallMachineTableTests.machine(CallMachineTableTests.ringing)
    _ = machine.handle(.hangupRequested, at: at(1))
    #expect(machine.handle(.answerReceived("a"), at: at(2)) == [.ignore(.ended)])
  }

  @Test func aDuplicateAnswerIsIgnored() {
    var machine = Self.talking()
    #expect(machine.handle(.answerReceived("b"), at: at(1)) == [.ignore(.outOfOrder)])
  }

  @Test func anAnswerWithoutAnyDescriptionEndsTheCall() {
    var machine = CallMachineTableTests.machine(CallMachineTableTests.ringing)
    let actions = machine.handle(.answerReceived(nil), at: at(1))
    #expect(actions.first == .sendBye(.mandatoryElementMissing))
    #expect(machine.isEnded)
  }

  @Test(arguments: ["", "1 2", "x", "1\n", "１", String(repeating: "1", count: 129)])
  func tonesThatDoNotExistAreRefused(tones: String) {
    var machine = Self.talking()
    #expect(machine.handle(.tonesRequested(tones), at: at(1)) == [.report(VoiceFailure(.callTonesInvalid))])
  }

  @Test func holdingACallThatIsNotAnsweredIsAFailure() {
    var machine = CallMachineTableTests.machine(CallMachineTableTests.ringing)
    #expect(machine.handle(.holdRequested(.held), at: at(1)) == [.report(VoiceFailure(.callStateUnsuitable))])
  }

  @Test func aPeerThatNeverMakesItsOfferDoesNotLeaveACallBehind() {
    var machine = CallMachineTableTests.machine([.dialed])
    #expect(machine.deadline == at(120))
    _ = machine.handle(.timePassed, at: at(119))
    #expect(!machine.isEnded)
    _ = machine.handle(.timePassed, at: at(120))
    #expect(machine.isEnded)
  }

  // MARK: Setup

  @Test func anOutboundCallGoesThroughTheDocumentedStates() {
    var machine = CallMachine()
    #expect(machine.callState == .NEW)
    #expect(machine.handle(.dialed, at: at(0)) == [.makeOffer, .reportState(.CONNECTING)])
    #expect(machine.handle(.offerMade("o"), at: at(0)) == [.sendInvite("o")])
    #expect(machine.handle(.inviteSettled(.accepted(.sent)), at: at(0)) == [])
    #expect(machine.handle(.ringingReceived, at: at(1)) == [.reportState(.RINGING)])
    #expect(
      machine.handle(.mediaReceived("early"), at: at(2))
        == [.applyRemote("early", isFinal: false), .reportEarlyMedia])
    #expect(
      machine.handle(.answerReceived(nil), at: at(3))
        == [.applyRemote("early", isFinal: true), .reportState(.ACTIVE)],
      "the answer after media has no description")
    #expect(machine.deadline == at(18), "media has to connect")
    #expect(machine.handle(.mediaConnected, at: at(4)) == [])
    #expect(machine.deadline == nil)
    #expect(
      machine.handle(.hangupRequested, at: at(5))
        == [.sendBye(.normalClearing), .stopMedia, .reportState(.DONE(reason: nil))])
    #expect(machine.handle(.byeReceived(ByeMessage(callID: Self.callID)), at: at(6)) == [.ignore(.ended)])
  }

  @Test func theAnswerMayComeBeforeTheResponseToTheInvite() {
    var machine = CallMachineTableTests.machine([.dialed, .offerMade("o")])
    #expect(machine.handle(.answerReceived("a"), at: at(1)).contains(.reportState(.ACTIVE)))
    #expect(machine.handle(.inviteSettled(.accepted(.sent)), at: at(2)) == [.ignore(.outOfOrder)])
    #expect(machine.handle(.ringingReceived, at: at(2)) == [.ignore(.outOfOrder)])
  }

  @Test func anInboundCallRingsAndIsAnswered() {
    var machine = CallMachine(inbound: "offer", at: at(0))
    #expect(machine.callState == .RINGING)
    #expect(
      machine.handle(.answerRequested, at: at(1))
        == [.makeAnswer(to: "offer", isReattach: false), .reportState(.CONNECTING)])
    #expect(machine.handle(.answerMade("a"), at: at(1)) == [.sendAnswer("a")])
    #expect(machine.handle(.answerSettled(.accepted(.sent)), at: at(2)) == [.reportState(.ACTIVE)])
  }

  @Test(
    arguments: [
      ([], false, nil), ([.dialed], false, nil), ([.dialed, .offerMade("o")], false, .originatorCancel),
      (CallMachineTableTests.ringing, false, .originatorCancel),
      (CallMachineTableTests.talking, false, .normalClearing),
      ([], true, .userBusy),
    ] as [([CallMachine.Event], Bool, HangupCause?)])
  func theCauseOfAHangUpDependsOnTheState(events: [CallMachine.Event], inbound: Bool, bye: HangupCause?) {
    var machine = CallMachineTableTests.machine(events, inbound: inbound)
    let actions = machine.handle(.hangupRequested, at: at(1))
    #expect(actions.contains(.stopMedia))
    #expect(
      actions.filter { if case .sendBye = $0 { true } else { false } } == (bye.map { [.sendBye($0)] } ?? []))
  }

  @Test func theReasonOfAGoodbyeReachesTheApp() {
    var machine = CallMachineTableTests.machine(CallMachineTableTests.ringing)
    let bye = ByeMessage(callID: Self.callID, cause: .userBusy, sipCode: 486, sipReason: "Busy Here")
    guard case .reportState(.DONE(reason: let reason?))? = machine.handle(.byeReceived(bye), at: at(1)).last
    else {
      Issue.record("no end")
      return
    }
    #expect(reason.cause == "USER_BUSY" && reason.causeCode == 17 && reason.sipCode == 486)
    #expect(reason.failure?.code == .callBusy)
  }

  @Test func nobodyAnswersInTime() {
    var machine = CallMachine(inbound: "offer", at: at(0))
    let actions = machine.handle(.timePassed, at: at(120))
    #expect(actions.first == .sendBye(.noAnswer))
    guard case .ended(let reason) = machine.phase else {
      Issue.record("not ended")
      return
    }
    #expect(reason.origin == .timeout)
  }

  // MARK: Hold

  @Test func aHoldIsConfirmedByTheGateway() {
    var machine = Self.talking()
    #expect(machine.handle(.holdRequested(.held), at: at(1)) == [.sendHold(.held)])
    #expect(machine.callState == .ACTIVE, "nothing is assumed")
    #expect(machine.handle(.holdRequested(.held), at: at(1)) == [], "asked for already")
    let result = ServerResult.modify(ModifyResult(callID: Self.callID, action: .hold, holdState: .held))
    #expect(
      machine.handle(.holdSettled(.held, .accepted(result)), at: at(2))
        == [.reportHold(.held), .reportState(.HELD)])
    #expect(machine.handle(.holdRequested(nil), at: at(3)) == [.sendHold(.active)], "toggled")
  }

  @Test func aRefusedHoldIsReportedAndTheStateStays() {
    var machine = Self.talking()
    _ = machine.handle(.holdRequested(.held), at: at(1))
    guard
      case .report(let failure)? = machine.handle(
        .holdSettled(.held, CallMachineTableTests.refused), at: at(2)
      ).only
    else {
      Issue.record("no report")
      return
    }
    #expect(failure.code == .callHoldFailed)
    #expect(machine.callState == .ACTIVE)
    #expect(machine.handle(.holdRequested(.held), at: at(3)) == [.sendHold(.held)], "may be asked for again")
  }

  @Test func whatTheGatewaySaysOfAHoldCounts() {
    var machine = Self.talking()
    _ = machine.handle(.holdRequested(.held), at: at(1))
    let result = ServerResult.modify(ModifyResult(callID: Self.callID, action: .hold, holdState: .active))
    let actions = machine.handle(.holdSettled(.held, .accepted(result)), at: at(2))
    guard case .report(let failure)? = actions.first, actions.count == 1 else {
      Issue.record("\(actions)")
      return
    }
    #expect(failure.code == .callHoldFailed)
    #expect(machine.callState == .ACTIVE)
  }

  // MARK: Recovery

  @Test func aCallIsKeptOverAnOutageWithItsHold() {
    var machine = Self.talking()
    _ = machine.handle(.holdRequested(.held), at: at(1))
    _ = machine.handle(.holdSettled(.held, .accepted(.sent)), at: at(1))
    #expect(
      machine.handle(.linkLost(.networkLost), at: at(10)) == [.reportState(.DROPPED(reason: .networkLost))])
    #expect(machine.deadline == at(70))
    #expect(
      machine.handle(.linkLost(.networkSwitch), at: at(20)) == [
        .reportState(.RECONNECTING(reason: .networkSwitch))
      ])
    #expect(machine.deadline == at(70), "the time runs from the first loss")
    #expect(machine.handle(.linkRestored(isKnown: true), at: at(21)) == [])
    #expect(machine.handle(.attachReceived("o"), at: at(22)) == [.makeAnswer(to: "o", isReattach: true)])
    #expect(machine.handle(.answerMade("a"), at: at(22)) == [.sendAttach("a")])
    #expect(machine.handle(.attachSettled(.accepted(.sent)), at: at(23)) == [.reportState(.HELD)])
    #expect(machine.deadline == nil)
  }

  @Test func anOutageThatLastsTooLongEndsTheCall() {
    var machine = Self.talking()
    _ = machine.handle(.linkLost(.networkSwitch), at: at(0))
    #expect(machine.handle(.timePassed, at: at(59.9)) == [])
    let actions = machine.handle(.timePassed, at: at(60))
    #expect(actions.first == .sendBye(.recoveryOnTimerExpire))
    guard case .ended(let reason) = machine.phase else {
      Issue.record("not ended")
      return
    }
    #expect(reason.failure?.code == .callReconnectFailed)
    #expect(reason.origin == .network)
  }

  @Test func aServerThatForgotTheCallEndsIt() {
    var machine = Self.talking()
    _ = machine.handle(.linkLost(.networkSwitch), at: at(0))
    #expect(machine.handle(.linkRestored(isKnown: false), at: at(1)).first == .stopMedia)
    guard case .ended(let reason) = machine.phase else {
      Issue.record("not ended")
      return
    }
    #expect(reason.failure?.code == .callNotReattached)
  }

  /// Gateways offer to attach right after the login, before the client has asked whether it is registered.
  @Test func anOfferToAttachThatComesBeforeTheRegistrationIsKept() {
    var machine = Self.talking()
    _ = machine.handle(.linkLost(.networkSwitch), at: at(1))
    #expect(machine.handle(.attachReceived("offer"), at: at(2)) == [])
    #expect(
      machine.handle(.linkRestored(isKnown: nil), at: at(3)) == [.makeAnswer(to: "offer", isReattach: true)])
    _ = machine.handle(.answerMade("answer"), at: at(3))
    #expect(machine.handle(.attachSettled(.accepted(.sent)), at: at(4)) == [.reportState(.ACTIVE)])
  }

  @Test func anOfferOfAConnectionThatIsLostAgainIsForgotten() {
    var machine = Self.talking()
    _ = machine.handle(.linkLost(.networkSwitch), at: at(1))
    _ = machine.handle(.attachReceived("offer"), at: at(2))
    _ = machine.handle(.linkLost(.networkSwitch), at: at(3))
    #expect(machine.handle(.linkRestored(isKnown: true), at: at(4)) == [])
  }

  @Test func anInviteThatMayBeLostIsMadeAnew() {
    var machine = CallMachineTableTests.machine([.dialed, .offerMade("o"), .linkLost(.networkSwitch)])
    #expect(machine.callState == .RECONNECTING(reason: .networkSwitch))
    #expect(machine.handle(.inviteSettled(.interrupted), at: at(1)) == [])
    #expect(
      machine.handle(.linkRestored(isKnown: false), at: at(2)) == [.makeOffer, .reportState(.CONNECTING)])
    #expect(machine.handle(.offerMade("p"), at: at(3)) == [.sendInvite("p")])
  }

  @Test func aRingingCallGoesOnAfterAnOutage() {
    var machine = CallMachineTableTests.machine(CallMachineTableTests.ringing + [.linkLost(.networkSwitch)])
    #expect(machine.handle(.linkRestored(isKnown: true), at: at(1)) == [.reportState(.RINGING)])
    #expect(machine.deadline == at(120))
    #expect(machine.handle(.answerReceived("a"), at: at(2)).last == .reportState(.ACTIVE))
  }

  @Test func anAnswerThatWasUnderWayIsGivenAgain() {
    var machine = CallMachineTableTests.machine(
      [
        .answerRequested, .answerMade("a"), .linkLost(.networkSwitch), .answerSettled(.interrupted),
        .linkRestored(isKnown: true),
      ],
      inbound: true)
    #expect(
      machine.handle(.invitedAgain("offer"), at: at(1)).contains(.makeAnswer(to: "offer", isReattach: true)))
    #expect(machine.handle(.answerMade("b"), at: at(1)) == [.sendAnswer("b")])
    #expect(machine.handle(.answerSettled(.accepted(.sent)), at: at(2)) == [.reportState(.ACTIVE)])
  }

  @Test func interruptedMediaHasGraceThenRestartsThenReattaches() {
    var machine = Self.talking()
    #expect(machine.handle(.mediaInterrupted, at: at(0)) == [])
    #expect(machine.callState == .ACTIVE)
    #expect(machine.deadline == at(3))
    #expect(
      machine.handle(.timePassed, at: at(3)) == [
        .makeRestartOffer, .reportState(.RECONNECTING(reason: .networkSwitch)),
      ])
    #expect(machine.handle(.restartOfferMade("o"), at: at(4)) == [.sendRestart("o")])
    #expect(machine.deadline == at(18))
    #expect(machine.handle(.timePassed, at: at(18)) == [.requestReattach])
    _ = machine.handle(.linkLost(.networkSwitch), at: at(19))
    _ = machine.handle(.linkRestored(isKnown: true), at: at(20))
    _ = machine.handle(.attachReceived("p"), at: at(21))
    _ = machine.handle(.answerMade("q"), at: at(21))
    #expect(machine.handle(.attachSettled(.accepted(.sent)), at: at(22)) == [.reportState(.ACTIVE)])
    #expect(machine.deadline == at(37), "media has to connect")
    _ = machine.handle(.mediaConnected, at: at(23))
    #expect(machine.deadline == nil)
  }

  @Test func mediaThatComesBackInItsGraceIsNoOutage() {
    var machine = Self.talking()
    _ = machine.handle(.mediaInterrupted, at: at(0))
    #expect(machine.handle(.mediaConnected, at: at(2)) == [])
    #expect(machine.deadline == nil)
  }

  @Test func aRestartThatTheGatewayAnswersIsApplied() {
    var machine = Self.talking()
    #expect(machine.handle(.mediaFailed, at: at(0)).first == .makeRestartOffer)
    _ = machine.handle(.restartOfferMade("o"), at: at(1))
    let result = ServerResult.modify(ModifyResult(callID: Self.callID, action: .updateMedia, sdp: "a"))
    #expect(
      machine.handle(.restartSettled(.accepted(result)), at: at(2)) == [.applyRemote("a", isFinal: true)])
    #expect(machine.handle(.mediaConnected, at: at(3)) == [.reportState(.ACTIVE)])
    #expect(machine.deadline == nil)
  }

  /// The old way may work, and a reattach makes everything anew.
  @Test func aRestartWhoseAnswerCannotBeTakenReattaches() {
    var machine = Self.talking()
    _ = machine.handle(.mediaFailed, at: at(0))
    _ = machine.handle(.restartOfferMade("o"), at: at(1))
    let result = ServerResult.modify(ModifyResult(callID: Self.callID, action: .updateMedia, sdp: "a"))
    _ = machine.handle(.restartSettled(.accepted(result)), at: at(2))
    let rejection = CallMachine.Event.remoteRejected(VoiceFailure(.callMediaUnacceptable))
    #expect(machine.handle(rejection, at: at(2)) == [.requestReattach])
    #expect(machine.handle(rejection, at: at(3)) == [.ignore(.outOfOrder)])
    #expect(machine.handle(.mediaConnected, at: at(4)) == [.reportState(.ACTIVE)])
  }

  @Test func aTakenSessionEndsTheCallWithoutAGoodbye() {
    var machine = Self.talking()
    let actions = machine.handle(.punted, at: at(1))
    #expect(actions == [.stopMedia, .reportState(.DONE(reason: nil))])
  }

  @Test func documentedStatesHaveTheirNamesAndReasons() {
    #expect(CallState.RECONNECTING(reason: .networkSwitch).getReason() == "Network switched")
    #expect(CallState.DROPPED(reason: .networkLost).getReason() == "Network lost")
    #expect(CallState.ACTIVE.isConsideredActive && CallState.HELD.isConsideredActive)
    #expect(!CallState.RINGING.isConsideredActive)
    let reason = CallTerminationReason(.userBusy, origin: .remote)
    #expect(CallState.DONE(reason: reason) == .DONE(reason: nil), "as documented")
    #expect(CallState.DONE(reason: reason).value == "DONE")
  }
}
