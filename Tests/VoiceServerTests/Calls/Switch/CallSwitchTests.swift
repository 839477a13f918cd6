import CallSignaling
import Testing
import VoiceCore

@testable import VoiceServer

@Suite struct CallSwitchTests {
  typealias Harness = SwitchHarness
  var harness = SwitchHarness()

  @Test mutating func connectsTwoClients() throws {
    let (alice, welcome) = harness.logIn("alice", session: "a")
    #expect(welcome == [.result("logged in"), .ready([])])
    let (bob, _) = harness.logIn("bob", session: "b")

    var actions = harness.invite(alice, "A1", to: "bob")
    #expect(Harness.seen(actions, by: alice) == [.result("CALL CREATED"), .ringing(CallID("a1"))])
    guard case .invited(let id, Harness.offer)? = Harness.seen(actions, by: bob).first else {
      Issue.record("bob does not ring")
      return
    }
    let message = try #require(
      actions.compactMap { action -> ServerCallMessage? in
        if case .send(_, .invite(let message)) = action { message } else { nil }
      }.first)
    #expect(message.callerIDName == "Somebody" && message.callerIDNumber == "100")
    #expect(message.customHeaders == [CustomHeader(name: "X-T", value: "1")])
    #expect(message.displayDirection == "outbound")

    harness.now = harness.now.advanced(by: .seconds(5))
    actions = harness.answer(bob, id)
    #expect(Harness.seen(actions, by: bob) == [.result("CALL ANSWERED")])
    #expect(Harness.seen(actions, by: alice) == [.answered(CallID("A1"), Harness.answer)])

    harness.now = harness.now.advanced(by: .seconds(60))
    actions = harness.bye(alice, CallID("a1"), .normalClearing)
    #expect(Harness.seen(actions, by: alice) == [.result("CALL ENDED")])
    #expect(Harness.seen(actions, by: bob) == [.bye(id, cause: "NORMAL_CLEARING", sip: nil)])

    let record = try #require(harness.records.first)
    #expect(harness.records.count == 1)
    #expect(record.caller == "alice" && record.callee == "bob" && record.destination == "bob")
    #expect(record.endedBy == .caller && record.reason.causeCode == 16)
    #expect(record.answered.map { record.began.duration(to: $0) } == .seconds(5))
    #expect(record.began.duration(to: record.ended) == .seconds(65))
    #expect(harness.machine.legCount == 0 && harness.machine.callCount == 0)
  }

  @Test mutating func knowsUsersThatWereAddedAndForgetsThoseThatWereRemoved() {
    func status(of actions: [CallSwitch.Action], _ client: Harness.Client) -> Int? {
      for case .bye(_, _, let status) in Harness.seen(actions, by: client) { return status }
      return nil
    }
    let (alice, _) = harness.logIn("alice", session: "a")
    _ = harness.logIn("carol", session: "c")
    #expect(status(of: harness.invite(alice, "A1", to: "erin"), alice) == 404)
    _ = harness.step(.usersChanged(["alice", "erin"]))
    // Known, but not logged in.
    #expect(status(of: harness.invite(alice, "A2", to: "erin"), alice) == 480)
    #expect(status(of: harness.invite(alice, "A3", to: "bob"), alice) == 404)
    // Who was logged in is not any more.
    #expect(status(of: harness.invite(alice, "A4", to: "carol"), alice) == 404)
  }

  @Test mutating func closesTheSocketsOfARemovedUserWithoutCalls() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (robot, _) = harness.logIn("robot", session: "r")
    let actions = harness.step(.usersChanged(["bob", "carol"]))
    #expect(Harness.seen(actions, by: alice) == [.closed(.removed)])
    // One that was never in the directory, and has a token, stays.
    #expect(Harness.seen(actions, by: robot) == [])
    _ = harness.step(.disconnected(alice.connection))
    #expect(harness.machine.sessions.count == 1)
    #expect(harness.step(.usersChanged(["bob", "carol", "alice"])).isEmpty)
  }

  @Test mutating func losesNoCallOfARemovedUserAndClosesItsSocketAfterwards() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (carol, _) = harness.logIn("carol", session: "c")
    let (a, b) = harness.connect(alice, bob, to: "bob")
    #expect(Harness.seen(harness.step(.usersChanged(["bob", "carol"])), by: alice) == [])
    #expect(
      Harness.seen(harness.request(alice, .info(InfoMessage(callID: a, dtmf: "5"))), by: bob) == [.info("5")])
    // No new calls, from there or to there.
    #expect(
      Harness.seen(harness.invite(alice, "A2", to: "carol"), by: alice)
        == [.result("CALL CREATED"), .bye(CallID("A2"), cause: "OUTGOING_CALL_BARRED", sip: 403)])
    #expect(
      Harness.seen(harness.invite(carol, "C1", to: "alice"), by: carol)
        == [.result("CALL CREATED"), .bye(CallID("C1"), cause: "UNALLOCATED_NUMBER", sip: 404)])
    let ended = harness.bye(bob, b, .normalClearing)
    #expect(
      Harness.seen(ended, by: alice) == [.bye(a, cause: "NORMAL_CLEARING", sip: nil), .closed(.removed)])
  }

  @Test mutating func takesAUserBackWhoIsAddedAgain() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (_, b) = harness.connect(alice, bob, to: "bob")
    _ = harness.step(.usersChanged(["bob"]))
    _ = harness.step(.usersChanged(["bob", "alice"]))
    let ended = harness.bye(bob, b, .normalClearing)
    #expect(!Harness.seen(ended, by: alice).contains(.closed(.removed)))
    #expect(Harness.seen(harness.invite(bob, "B1", to: "alice"), by: alice).count == 1)
  }

  @Test mutating func ringsAllClientsOfAUserAndTheFirstAnswerWins() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let bobs = ["b1", "b2", "b3"].map { harness.logIn("bob", session: $0).0 }
    let rung = harness.invite(alice, "A1", to: "bob")
    let ids = bobs.compactMap { bob -> CallID? in
      if case .invited(let id, _)? = Harness.seen(rung, by: bob).first { id } else { nil }
    }
    #expect(Set(ids).count == 3)
    let actions = harness.answer(bobs[1], ids[1])
    #expect(Harness.seen(actions, by: alice) == [.answered(CallID("A1"), Harness.answer)])
    #expect(Harness.seen(actions, by: bobs[0]) == [.bye(ids[0], cause: "PICKED_OFF", sip: 480)])
    #expect(Harness.seen(actions, by: bobs[2]) == [.bye(ids[2], cause: "PICKED_OFF", sip: 480)])
    // The answer of another client was on its way: it is told that it lost.
    let late = harness.answer(bobs[2], ids[2])
    #expect(Harness.seen(late, by: bobs[2]) == [.refused(.sessionError, "CALL DOES NOT EXIST")])
    guard case .reply(_, _, .failure(let error))? = late.first else { return }
    #expect(error.extra["cause"] == "LOSE_RACE" && error.extra["causeCode"] == 502)
  }

  @Test mutating func goesOnRingingWhenOneClientIsBusy() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let bobs = ["b1", "b2"].map { harness.logIn("bob", session: $0).0 }
    let rung = harness.invite(alice, "A1", to: "bob")
    guard case .invited(let first, _)? = Harness.seen(rung, by: bobs[0]).first,
      case .invited(let second, _)? = Harness.seen(rung, by: bobs[1]).first
    else {
      Issue.record("they do not ring")
      return
    }
    #expect(Harness.seen(harness.bye(bobs[0], first, .userBusy), by: alice) == [])
    #expect(
      Harness.seen(harness.bye(bobs[1], second, .userBusy), by: alice)
        == [.bye(CallID("A1"), cause: "USER_BUSY", sip: 486)])
    #expect(harness.records.first?.endedBy == .callee)
  }

  @Test mutating func takesARefusalForAllClients() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let bobs = ["b1", "b2"].map { harness.logIn("bob", session: $0).0 }
    let rung = harness.invite(alice, "A1", to: "bob")
    guard case .invited(let first, _)? = Harness.seen(rung, by: bobs[0]).first else { return }
    let actions = harness.bye(bobs[0], first, .callRejected)
    #expect(Harness.seen(actions, by: alice) == [.bye(CallID("A1"), cause: "CALL_REJECTED", sip: 603)])
    #expect(Harness.seen(actions, by: bobs[1]).count == 1)
  }

  @Test mutating func callsOffWhenTheCallerHangsUpFirst() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let rung = harness.invite(alice, "A1", to: "bob")
    guard case .invited(let id, _)? = Harness.seen(rung, by: bob).first else { return }
    // What published clients say when they hang up a call that rings.
    let actions = harness.bye(alice, CallID("A1"), .userBusy)
    #expect(Harness.seen(actions, by: bob) == [.bye(id, cause: "ORIGINATOR_CANCEL", sip: 487)])
    #expect(harness.records.first?.reason.hangupCause == .originatorCancel)
    #expect(
      Harness.seen(harness.answer(bob, id), by: bob) == [.refused(.sessionError, "CALL DOES NOT EXIST")])
  }

  @Test(arguments: [
    ("nobody", "UNALLOCATED_NUMBER", 404), ("bob", "USER_NOT_REGISTERED", 480),
    ("", "INVALID_NUMBER_FORMAT", 484),
    ("fail-486", "USER_BUSY", 486), ("fail-603", "CALL_REJECTED", 603), ("fail-480", "NO_USER_RESPONSE", 480),
    ("fail-404", "UNALLOCATED_NUMBER", 404), ("fail-99", "UNALLOCATED_NUMBER", 404),
    ("fail-x", "UNALLOCATED_NUMBER", 404),
    ("alice", "USER_BUSY", 486), ("sip:bob@example.org", "USER_NOT_REGISTERED", 480),
  ])
  mutating func endsACallThatLeadsNowhereWithItsCause(_ destination: String, _ cause: String, _ status: Int) {
    let (alice, _) = harness.logIn("alice", session: "a")
    let actions = harness.invite(alice, "A1", to: destination)
    #expect(
      Harness.seen(actions, by: alice)
        == [.result("CALL CREATED"), .bye(CallID("A1"), cause: cause, sip: status)])
    #expect(harness.records.first?.endedBy == .gateway)
    #expect(harness.machine.legCount == 0)
  }

  @Test mutating func endsACallThatNobodyAnswers() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    _ = harness.invite(alice, "A1", to: "bob")
    #expect(harness.pass(.seconds(59)) == [])
    let actions = harness.pass(.seconds(1))
    #expect(Harness.seen(actions, by: alice) == [.bye(CallID("A1"), cause: "NO_ANSWER", sip: 480)])
    guard case .bye(_, "NO_ANSWER", 480)? = Harness.seen(actions, by: bob).first else {
      Issue.record("bob rings on")
      return
    }
    #expect(harness.records.first?.endedBy == .gateway)
  }

  /// As people write numbers, on both sides.
  @Test(arguments: ["+49 30 123456", "sip:+4930123456", "+4930123456@example.org", "+4930123456"])
  func findsNumbersHoweverTheyAreWritten(_ number: String) {
    let plan = DialPlan(numbers: [number: "bob"], users: ["bob"])
    #expect(plan.target(of: "+4930123456") == .user("bob"))
    #expect(DialPlan(numbers: ["+4930123456": "bob"], users: ["bob"]).target(of: number) == .user("bob"))
  }

  @Test mutating func findsNumbersOfTheDialPlan() {
    harness = SwitchHarness(numbers: ["+4930123": "bob", "0": "echo"])
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    #expect(Harness.seen(harness.invite(alice, "A1", to: "+49 30 123"), by: bob).count == 1)
    _ = harness.invite(alice, "A2", to: "0")
    #expect(harness.media.first?.1 == .start(.echo, offer: Harness.offer))
  }

  @Test mutating func answersServicesAsTheirMediaSays() {
    let (alice, _) = harness.logIn("alice", session: "a")
    _ = harness.invite(alice, "A1", to: "echo")
    guard let id = harness.media.first?.0 else {
      Issue.record("no media")
      return
    }
    #expect(harness.seen(.media(id, .rang), by: alice) == [.ringing(CallID("A1"))])
    #expect(harness.seen(.media(id, .early("m=audio")), by: alice) == [.media(CallID("A1"), "m=audio")])
    #expect(harness.seen(.media(id, .answered(nil)), by: alice) == [.answered(CallID("A1"), nil)])
    _ = harness.request(alice, .info(InfoMessage(callID: CallID("A1"), dtmf: "12#")))
    _ = harness.request(alice, .modify(ModifyRequest(callID: CallID("A1"), action: .hold)))
    let update = harness.request(
      alice, .modify(ModifyRequest(callID: CallID("A1"), action: .updateMedia, sdp: Harness.offer)))
    #expect(Harness.seen(update, by: alice) == [])
    let question = harness.renegotiations.last ?? 0
    #expect(
      harness.seen(.media(id, .renegotiated(Harness.answer, question: question)), by: alice)
        == [.result("updateMedia sdp")])
    _ = harness.bye(alice, CallID("A1"), nil)
    #expect(
      harness.media.map(\.1) == [
        .start(.echo, offer: Harness.offer), .tones("12#"), .hold(true),
        .renegotiate(offer: Harness.offer, question: question), .stop,
      ])
    // What media says after the end reaches nobody.
    #expect(harness.step(.media(id, .answered(nil))) == [])
  }

  @Test mutating func endsTheCallWhenAServiceFails() {
    let (alice, _) = harness.logIn("alice", session: "a")
    _ = harness.invite(alice, "A1", to: "silence")
    guard let id = harness.media.first?.0 else { return }
    #expect(
      harness.seen(.media(id, .failed), by: alice)
        == [.bye(CallID("A1"), cause: "INCOMPATIBLE_DESTINATION", sip: 488)])
  }

  /// As media do that are overloaded.
  @Test mutating func aServiceThatRefusesGivesItsCause() {
    let (alice, _) = harness.logIn("alice", session: "a")
    _ = harness.invite(alice, "A1", to: "silence")
    guard let id = harness.media.first?.0 else { return }
    #expect(
      harness.seen(.media(id, .ended(.switchCongestion)), by: alice)
        == [.bye(CallID("A1"), cause: "SWITCH_CONGESTION", sip: 503)])
  }

  private mutating func answeredService() -> (SwitchHarness.Client, MediaID)? {
    let (alice, _) = harness.logIn("alice", session: "a")
    _ = harness.invite(alice, "A1", to: "silence")
    guard let id = harness.media.first?.0 else { return nil }
    _ = harness.step(.media(id, .answered(Harness.answer)))
    return (alice, id)
  }

  /// The client looks for another way as long, and restarts the media.
  @Test mutating func aServiceWithoutMediaWaitsForThemAMinute() throws {
    let call = self.answeredService()
    let (alice, id) = try #require(call)
    #expect(harness.seen(.media(id, .failed), by: alice) == [])
    #expect(Harness.seen(harness.pass(.seconds(59)), by: alice) == [])
    #expect(
      Harness.seen(harness.pass(.seconds(1)), by: alice)
        == [.bye(CallID("A1"), cause: "MEDIA_TIMEOUT", sip: 480)])
  }

  @Test mutating func aServiceGoesOnIfItsMediaComeBack() throws {
    let call = self.answeredService()
    let (alice, id) = try #require(call)
    _ = harness.step(.media(id, .failed))
    let update = ModifyRequest(callID: CallID("A1"), action: .updateMedia, sdp: Harness.offer)
    _ = harness.request(alice, .modify(update))
    let question = try #require(harness.renegotiations.last)
    let back = MediaEvent.renegotiated(Harness.answer, question: question)
    #expect(harness.seen(.media(id, back), by: alice).count == 1)
    _ = harness.step(.media(id, .connected))
    #expect(Harness.seen(harness.pass(.seconds(600)), by: alice) == [])
    #expect(harness.machine.legCount == 1)
  }

  /// An attempt gives the media another minute, but is no connection yet.
  @Test mutating func aServiceWhoseMediaAreRestartedInVainEndsAMinuteLater() throws {
    let call = self.answeredService()
    let (alice, id) = try #require(call)
    _ = harness.step(.media(id, .failed))
    _ = harness.pass(.seconds(50))
    let update = ModifyRequest(callID: CallID("A1"), action: .updateMedia, sdp: Harness.offer)
    _ = harness.request(alice, .modify(update))
    let question = try #require(harness.renegotiations.last)
    _ = harness.step(.media(id, .renegotiated(Harness.answer, question: question)))
    #expect(Harness.seen(harness.pass(.seconds(59)), by: alice) == [])
    #expect(
      Harness.seen(harness.pass(.seconds(1)), by: alice)
        == [.bye(CallID("A1"), cause: "MEDIA_TIMEOUT", sip: 480)])
  }

  /// Logs in again, and takes the calls up that are offered.
  private mutating func attach(_ alice: Harness.Client, _ media: MediaID) -> Harness.Client {
    let back = SwitchHarness.Client(connection: ConnectionID(number: 99), key: alice.key)
    _ = harness.step(.loggedIn(back.connection, back.key, request: nil, isAnonymous: false))
    _ = harness.step(.media(media, .offered(Harness.offer)))
    return back
  }

  private func attachAnswer(_ description: SDP) -> ClientRequest {
    .attach(ClientDescription(sdp: description, dialog: DialogParams(callID: CallID("A1"))))
  }

  /// The media failed between their offer and the client's answer, and the deadline of that ended the call a minute after all was well.
  @Test mutating func aServiceWhoseMediaFailedInAnAttachGoesOnWithItsAnswer() throws {
    let call = self.answeredService()
    let (alice, id) = try #require(call)
    _ = harness.step(.disconnected(alice.connection))
    let back = self.attach(alice, id)
    _ = harness.step(.media(id, .failed))
    _ = harness.request(back, self.attachAnswer(Harness.answer))
    _ = harness.pass(.seconds(30))
    _ = harness.step(.media(id, .connected))
    #expect(Harness.seen(harness.pass(.seconds(600)), by: back) == [])
    #expect(harness.machine.legCount == 1)
  }

  /// Nobody would ever have ended it.
  @Test mutating func aServiceWhoseMediaDoNotComeBackWithAnAttachEndsAMinuteLater() throws {
    let call = self.answeredService()
    let (alice, id) = try #require(call)
    _ = harness.step(.disconnected(alice.connection))
    _ = harness.step(.media(id, .failed))
    _ = harness.pass(.seconds(100))
    let back = self.attach(alice, id)
    _ = harness.request(back, self.attachAnswer(Harness.answer))
    _ = harness.step(.media(id, .answerRefused))
    #expect(Harness.seen(harness.pass(.seconds(59)), by: back) == [])
    #expect(
      Harness.seen(harness.pass(.seconds(1)), by: back)
        == [.bye(CallID("A1"), cause: "MEDIA_TIMEOUT", sip: 480)])
    #expect(harness.machine.legCount == 0)
  }

  /// The call was over after half a minute, although it is kept for two for a client without a socket.
  @Test mutating func aServiceWaitsForAClientThatIsAwayAsLongAsItsCallsAreKept() throws {
    let call = self.answeredService()
    let (alice, id) = try #require(call)
    _ = harness.step(.disconnected(alice.connection))
    _ = harness.step(.media(id, .failed))
    _ = harness.pass(.seconds(100))
    #expect(harness.machine.legCount == 1)
    let back = SwitchHarness.Client(connection: ConnectionID(number: 99), key: alice.key)
    _ = harness.step(.loggedIn(back.connection, back.key, request: nil, isAnonymous: false))
    #expect(harness.media.last?.1 == .makeOffer)
    #expect(
      harness.seen(.media(id, .offered(Harness.offer)), by: back) == [.attach(CallID("A1"), Harness.offer)])
    _ = harness.pass(.seconds(1))
    #expect(harness.machine.legCount == 1)
  }

  @Test mutating func refusesDescriptionsWithoutAudio() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let actions = harness.invite(alice, "A1", to: "echo", sdp: "v=0\r\nm=video 9 RTP/AVP 96\r\n")
    #expect(Harness.seen(actions, by: alice) == [.refused(.sessionError, "CODEC ERROR")])
    #expect(harness.machine.legCount == 0)
  }

  @Test mutating func letsGuestsReachServicesAlone() {
    let (guest, _) = harness.logIn("anonymous-g", session: "g", isAnonymous: true)
    _ = harness.logIn("bob", session: "b")
    #expect(
      Harness.seen(harness.invite(guest, "A1", to: "bob"), by: guest)
        == [.result("CALL CREATED"), .bye(CallID("A1"), cause: "OUTGOING_CALL_BARRED", sip: 403)])
    _ = harness.invite(guest, "A2", to: "echo")
    #expect(harness.media.count == 1)
  }
}
