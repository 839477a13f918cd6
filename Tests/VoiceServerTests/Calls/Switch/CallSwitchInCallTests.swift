import CallSignaling
import Testing
import VoiceCore

@testable import VoiceServer

@Suite struct CallSwitchInCallTests {
  typealias Harness = SwitchHarness
  var harness = SwitchHarness()

  @Test mutating func tellsTheOtherSideOfTonesHoldAndCandidates() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (a, b) = harness.connect(alice, bob, to: "bob")

    let tones = harness.request(alice, .info(InfoMessage(callID: a, dtmf: "5")))
    #expect(Harness.seen(tones, by: alice) == [.result("SENT")])
    #expect(Harness.seen(tones, by: bob) == [.info("5")])

    let hold = harness.request(bob, .modify(ModifyRequest(callID: b, action: .hold)))
    #expect(Harness.seen(hold, by: bob) == [.result("hold held")])
    #expect(Harness.seen(hold, by: alice) == [.modify(.hold, nil)])
    #expect(
      Harness.seen(harness.request(bob, .modify(ModifyRequest(callID: b, action: .toggleHold))), by: bob)
        == [.result("toggleHold active")])

    let candidate = harness.request(alice, .candidate(CandidateMessage(callID: a, candidate: "candidate:1")))
    #expect(Harness.seen(candidate, by: alice) == [.result("OK")])
    #expect(Harness.seen(candidate, by: bob) == [.candidate("candidate:1")])
    let end = harness.request(alice, .endOfCandidates(CallReference(callID: a)))
    #expect(Harness.seen(end, by: bob) == [.endOfCandidates])
  }

  @Test mutating func relaysAChangeOfMediaAndItsAnswer() throws {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (a, _) = harness.connect(alice, bob, to: "bob")
    let update = ClientRequest.modify(ModifyRequest(callID: a, action: .updateMedia, sdp: Harness.offer))
    let asked = harness.request(alice, update)
    #expect(Harness.seen(asked, by: bob) == [.modify(.updateMedia, Harness.offer)])
    #expect(Harness.seen(asked, by: alice) == [])
    // One at a time.
    #expect(
      Harness.seen(harness.request(alice, update), by: alice) == [.refused(.sessionError, "CALL ERROR")])
    let number = try #require(harness.asked.first?.1)
    let answered = harness.step(
      .responded(bob.connection, number: number, .accepted(Harness.answer)))
    #expect(Harness.seen(answered, by: alice) == [.result("updateMedia sdp")])
    // A second response to the same question means nothing.
    #expect(harness.step(.responded(bob.connection, number: number, .accepted(Harness.answer))) == [])
  }

  @Test(arguments: [ClientResponse.refused, .accepted(nil)])
  mutating func refusesAChangeOfMediaThatTheOtherSideDoesNotTake(_ response: ClientResponse) throws {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (a, _) = harness.connect(alice, bob, to: "bob")
    _ = harness.request(
      alice, .modify(ModifyRequest(callID: a, action: .updateMedia, sdp: Harness.offer)))
    let number = try #require(harness.asked.first?.1)
    let seen = harness.seen(.responded(bob.connection, number: number, response), by: alice)
    #expect(seen == [.refused(.sessionError, "The other side does not change its media")])
  }

  /// A service that could not take a new offer ended the call.
  @Test mutating func keepsACallWhoseServiceRefusesAChangeOfMedia() throws {
    let (alice, _) = harness.logIn("alice", session: "a")
    _ = harness.invite(alice, "A1", to: "echo")
    let media = try #require(harness.media.first?.0)
    _ = harness.step(.media(media, .answered(Harness.answer)))
    _ = harness.request(
      alice, .modify(ModifyRequest(callID: CallID("A1"), action: .updateMedia, sdp: Harness.offer)))
    let question = try #require(harness.renegotiations.last)
    let refused = harness.seen(.media(media, .renegotiationRefused(question: question)), by: alice)
    #expect(refused == [.refused(.sessionError, "The other side does not change its media")])
    #expect(harness.machine.callCount == 1)
    #expect(harness.machine.questions.isEmpty)
    // One that belongs to no change means nothing.
    #expect(harness.step(.media(media, .renegotiationRefused(question: question))) == [])
  }

  /// What media said after the deadline was handed to the client as the answer to its next change.
  @Test mutating func givesALateAnswerOfAServiceToNoOtherChange() throws {
    let (alice, _) = harness.logIn("alice", session: "a")
    _ = harness.invite(alice, "A1", to: "echo")
    let media = try #require(harness.media.first?.0)
    _ = harness.step(.media(media, .answered(Harness.answer)))
    let update = ClientRequest.modify(
      ModifyRequest(callID: CallID("A1"), action: .updateMedia, sdp: Harness.offer))
    _ = harness.request(alice, update)
    let late = try #require(harness.renegotiations.last)
    #expect(
      Harness.seen(harness.pass(.seconds(5)), by: alice)
        == [.refused(.sessionError, "The other side does not change its media")])
    _ = harness.request(alice, update)
    let current = try #require(harness.renegotiations.last)
    #expect(current != late)
    #expect(harness.step(.media(media, .renegotiated("m=audio of the first", question: late))) == [])
    #expect(harness.step(.media(media, .renegotiationRefused(question: late))) == [])
    #expect(harness.step(.media(media, .answerRefused)) == [])
    #expect(
      harness.seen(.media(media, .renegotiated(Harness.answer, question: current)), by: alice)
        == [.result("updateMedia sdp")])
    #expect(harness.machine.questions.isEmpty)
  }

  /// Numbers are the switch's, not of a call.
  @Test mutating func givesAnAnswerOfAServiceToNoOtherCall() throws {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    _ = harness.invite(alice, "A1", to: "echo")
    _ = harness.invite(bob, "B1", to: "echo")
    let media = harness.media.map(\.0)
    try #require(media.count == 2)
    for id in media { _ = harness.step(.media(id, .answered(Harness.answer))) }
    for (client, call) in [(alice, "A1"), (bob, "B1")] {
      _ = harness.request(
        client, .modify(ModifyRequest(callID: CallID(call), action: .updateMedia, sdp: Harness.offer)))
    }
    let questions = harness.renegotiations
    try #require(questions.count == 2)
    #expect(harness.step(.media(media[0], .renegotiated(Harness.answer, question: questions[1]))) == [])
    #expect(
      harness.seen(.media(media[1], .renegotiated(Harness.answer, question: questions[1])), by: bob)
        == [.result("updateMedia sdp")])
  }

  @Test mutating func givesUpAChangeOfMediaThatNobodyAnswers() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (a, _) = harness.connect(alice, bob, to: "bob")
    _ = harness.request(
      alice, .modify(ModifyRequest(callID: a, action: .updateMedia, sdp: Harness.offer)))
    #expect(Harness.seen(harness.pass(.seconds(4)), by: alice) == [])
    #expect(Harness.seen(harness.pass(.seconds(1)), by: alice).count == 1)
    #expect(harness.machine.questions.isEmpty)
  }

  @Test mutating func keepsACallOverALostSocketAndOffersToAttach() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (a, b) = harness.connect(alice, bob, to: "bob")
    let lost = harness.step(.disconnected(alice.connection))
    #expect(Harness.seen(lost, by: bob) == [])
    harness.now = harness.now.advanced(by: .seconds(30))

    let (again, welcome) = harness.logIn("alice", session: "a")
    #expect(
      welcome == [.result("logged in"), .ready([a]), .attach(a, Harness.answer.asOffer)])
    let attached = harness.request(
      again, .attach(ClientDescription(sdp: Harness.answer, dialog: DialogParams(callID: a))))
    #expect(Harness.seen(attached, by: again) == [.result("CALL ATTACHED")])
    #expect(Harness.seen(attached, by: bob) == [.modify(.updateMedia, Harness.answer)])
    _ = harness.bye(bob, b, .normalClearing)
    #expect(harness.records.first?.reattachments == 1)
  }

  @Test mutating func endsACallWhoseSocketStaysAway() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (_, b) = harness.connect(alice, bob, to: "bob")
    _ = harness.step(.disconnected(alice.connection))
    #expect(Harness.seen(harness.pass(.seconds(119)), by: bob) == [])
    #expect(
      Harness.seen(harness.pass(.seconds(1)), by: bob)
        == [.bye(b, cause: "RECOVERY_ON_TIMER_EXPIRE", sip: 504)])
    #expect(harness.machine.sessions.count == 1)
    // The client hears that the server does not know the call any more.
    let (_, welcome) = harness.logIn("alice", session: "a")
    #expect(welcome == [.result("logged in"), .ready([])])
  }

  @Test mutating func ringsAgainWithCandidatesWhenARingingClientComesBack() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    guard case .invited(let id, _)? = Harness.seen(harness.invite(alice, "A1", to: "bob"), by: bob).first
    else { return }
    _ = harness.request(
      alice, .candidate(CandidateMessage(callID: CallID("A1"), candidate: "candidate:1")))
    _ = harness.step(.disconnected(bob.connection))
    _ = harness.request(
      alice, .candidate(CandidateMessage(callID: CallID("A1"), candidate: "candidate:2")))
    let (_, welcome) = harness.logIn("bob", session: "b")
    #expect(
      welcome == [
        .result("logged in"), .ready([id]), .invited(id, Harness.offer), .candidate("candidate:1"),
        .candidate("candidate:2"),
      ])
  }

  @Test mutating func puntsTheOldSocketOnATakeover() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (a, _) = harness.connect(alice, bob, to: "bob")
    let key = alice.key
    let other = ConnectionID(number: 99)
    let actions = harness.step(.loggedIn(other, key, request: .integer(1), isAnonymous: false))
    #expect(Harness.seen(actions, by: alice) == [.punt, .closed(.takenOver)])
    let new = Harness.Client(connection: other, key: key)
    #expect(
      Harness.seen(actions, by: new)
        == [.result("logged in"), .ready([a]), .attach(a, Harness.answer.asOffer)])
    // The end of the old socket is no end of the session.
    #expect(harness.step(.disconnected(alice.connection)) == [])
    #expect(
      Harness.seen(harness.request(alice, .bye(ByeMessage(callID: a))), by: alice)
        == [.refused(.authenticationRequired, "Authentication Required")])
  }

  @Test mutating func doesNotGiveASessionToAnotherUser() {
    let (alice, _) = harness.logIn("alice", session: "same")
    let (carol, welcome) = harness.logIn("carol", session: "same")
    #expect(welcome == [.result("logged in"), .ready([])])
    #expect(harness.machine.sessions.count == 2)
    _ = harness.invite(alice, "A1", to: "echo")
    #expect(
      Harness.seen(harness.bye(carol, CallID("A1"), nil), by: carol)
        == [.refused(.sessionError, "CALL DOES NOT EXIST")])
  }

  @Test mutating func limitsCallsAndRegistrations() {
    var configuration = CallSwitch.Configuration()
    configuration.callsPerUser = 2
    configuration.registrationsPerUser = 2
    harness = SwitchHarness(configuration)
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    _ = harness.invite(alice, "A1", to: "bob")
    _ = harness.invite(alice, "A2", to: "bob")
    #expect(
      Harness.seen(harness.invite(alice, "A3", to: "bob"), by: alice)
        == [.result("CALL CREATED"), .bye(CallID("A3"), cause: "SWITCH_CONGESTION", sip: 503)])
    let (carol, _) = harness.logIn("carol", session: "c")
    #expect(
      Harness.seen(harness.invite(carol, "C1", to: "bob"), by: carol)
        == [.result("CALL CREATED"), .bye(CallID("C1"), cause: "USER_BUSY", sip: 486)])
    _ = harness.logIn("bob", session: "b2")
    let (_, refused) = harness.logIn("bob", session: "b3")
    #expect(refused == [.refused(.registrationFailed, "Too many registrations")])
    _ = bob
  }

  /// A user with as many clients as calls was busy as soon as somebody rang.
  @Test mutating func aCallThatRingsAtSeveralClientsIsOne() {
    var configuration = CallSwitch.Configuration()
    configuration.callsPerUser = 2
    harness = SwitchHarness(configuration)
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    _ = harness.logIn("bob", session: "b2")
    _ = harness.invite(alice, "A1", to: "bob")
    #expect(harness.machine.load(of: "bob") == 1)
    let second = Harness.seen(harness.invite(alice, "A2", to: "bob"), by: bob)
    #expect(second.count == 1)
    #expect(harness.machine.load(of: "bob") == 2)
  }

  @Test mutating func endsAllCallsWhenTheServerStops() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (a, b) = harness.connect(alice, bob, to: "bob")
    let actions = harness.step(.stopped)
    #expect(
      Harness.seen(actions, by: alice) == [.bye(a, cause: "SYSTEM_SHUTDOWN", sip: 480), .closed(.stopped)])
    #expect(
      Harness.seen(actions, by: bob) == [.bye(b, cause: "SYSTEM_SHUTDOWN", sip: 480), .closed(.stopped)])
    #expect(harness.records.map(\.endedBy) == [.gateway])
  }

  @Test mutating func repeatsWhatAClientAsksTwice() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (a, b) = harness.connect(alice, bob, to: "bob")
    #expect(Harness.seen(harness.answer(bob, b), by: bob) == [.result("CALL ANSWERED")])
    #expect(Harness.seen(harness.answer(bob, b), by: alice) == [])
    #expect(Harness.seen(harness.invite(alice, "call", to: "bob"), by: alice) == [.result("CALL CREATED")])
    _ = harness.bye(alice, a, nil)
    #expect(
      Harness.seen(harness.bye(alice, a, nil), by: alice) == [.refused(.sessionError, "CALL DOES NOT EXIST")])
    #expect(harness.records.count == 1)
  }

  @Test mutating func ringsAClientThatAPushWoke() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    _ = harness.invite(alice, "A1", to: "bob")
    let (late, _) = harness.logIn("bob", session: "b2")
    let actions = harness.request(late, .attachCalls(AttachCallsRequest(pushProvider: "ios")))
    let seen = Harness.seen(actions, by: late)
    guard seen.first == .result("CALLS ATTACHED"), case .invited(let id, Harness.offer)? = seen.last else {
      Issue.record("the client does not ring")
      return
    }
    #expect(Harness.seen(harness.answer(late, id), by: alice) == [.answered(CallID("A1"), Harness.answer)])
    #expect(
      Harness.seen(harness.request(bob, .attachCalls(AttachCallsRequest())), by: bob)
        == [.refused(.sessionError, "CALL DOES NOT EXIST")])
  }

  @Test mutating func bringsChatToAUserOutsideOfACall() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let line = InfoMessage(chat: .init(from: "somebody else", to: "bob", body: "hello"))
    let actions = harness.request(alice, .info(line))
    #expect(Harness.seen(actions, by: alice) == [.result("SENT")])
    #expect(Harness.seen(actions, by: bob) == [.info("hello")])
    guard case .send(_, .info(let info))? = actions.first else { return }
    #expect(info.chat?.from == "alice")
  }
}
