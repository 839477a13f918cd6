import CallSignaling
import Testing
import VoiceCore

@testable import VoiceServer

/// What one side of a call says while the other has no socket.
@Suite struct CallSwitchDeliveryTests {
  typealias Harness = SwitchHarness
  var harness = SwitchHarness()

  private mutating func tell(_ client: Harness.Client, _ request: ClientRequest) -> [Harness.Seen] {
    Harness.seen(harness.request(client, request), by: client)
  }

  /// The client logs in again and answers what it is offered: what it sees after it attached.
  private mutating func attach(_ client: Harness.Client, _ call: CallID) -> [Harness.Seen] {
    let (again, _) = harness.logIn(client.key.user, session: client.key.sessionID)
    return self.tell(
      again, .attach(ClientDescription(sdp: Harness.answer, dialog: DialogParams(callID: call))))
  }

  @Test mutating func tonesLinesAndCandidatesWaitForAClientThatIsAway() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (a, b) = harness.connect(alice, bob, to: "bob")
    _ = harness.step(.disconnected(bob.connection))
    #expect(self.tell(alice, .info(InfoMessage(callID: a, dtmf: "1"))) == [.result("SENT")])
    #expect(
      self.tell(alice, .candidate(CandidateMessage(callID: a, candidate: "candidate:1"))) == [.result("OK")])
    #expect(
      self.tell(alice, .info(InfoMessage(chat: .init(body: "hello"), callID: a))) == [.result("SENT")])
    #expect(self.tell(alice, .endOfCandidates(CallReference(callID: a))) == [.result("OK")])

    let (again, welcome) = harness.logIn("bob", session: "b")
    #expect(welcome == [.result("logged in"), .ready([b]), .attach(b, Harness.offer.asOffer)])
    // It may not know the call before it has attached.
    _ = self.tell(alice, .info(InfoMessage(callID: a, dtmf: "2")))
    let seen = self.tell(
      again, .attach(ClientDescription(sdp: Harness.answer, dialog: DialogParams(callID: b))))
    #expect(
      seen == [
        .result("CALL ATTACHED"), .info("1"), .candidate("candidate:1"), .info("hello"), .endOfCandidates,
        .info("2"),
      ])
    #expect(
      Harness.seen(harness.request(alice, .info(InfoMessage(callID: a, dtmf: "3"))), by: again) == [
        .info("3")
      ])
  }

  @Test(
    arguments: [([.hold], [.hold]), ([.hold, .unhold], []), ([.toggleHold, .unhold, .hold], [.hold])]
      as [([ModifyAction], [ModifyAction])])
  mutating func theLatestHoldWaitsForAClientThatIsAway(_ said: [ModifyAction], _ heard: [ModifyAction]) {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (a, b) = harness.connect(alice, bob, to: "bob")
    _ = harness.step(.disconnected(bob.connection))
    for action in said { _ = harness.request(alice, .modify(ModifyRequest(callID: a, action: action))) }
    #expect(self.attach(bob, b) == [.result("CALL ATTACHED")] + heard.map { .modify($0, nil) })
  }

  @Test mutating func aHoldThatEndedMeanwhileEndsForAClientThatWasAway() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (a, b) = harness.connect(alice, bob, to: "bob")
    let held = harness.request(alice, .modify(ModifyRequest(callID: a, action: .hold)))
    #expect(Harness.seen(held, by: bob) == [.modify(.hold, nil)])
    _ = harness.step(.disconnected(bob.connection))
    _ = harness.request(alice, .modify(ModifyRequest(callID: a, action: .unhold)))
    #expect(self.attach(bob, b) == [.result("CALL ATTACHED"), .modify(.unhold, nil)])
  }

  /// A page that was loaded again does not know.
  @Test mutating func aClientThatComesBackHearsThatItIsStillOnHold() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (a, b) = harness.connect(alice, bob, to: "bob")
    _ = harness.request(alice, .modify(ModifyRequest(callID: a, action: .hold)))
    _ = harness.step(.disconnected(bob.connection))
    #expect(self.attach(bob, b) == [.result("CALL ATTACHED"), .modify(.hold, nil)])
  }

  @Test mutating func whatCannotBeKeptIsRefused() {
    var configuration = CallSwitch.Configuration()
    configuration.keptMessages = 3
    configuration.keptMessageSize = 100
    harness = Harness(configuration)
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    let (a, b) = harness.connect(alice, bob, to: "bob")
    _ = harness.step(.disconnected(bob.connection))
    let refused = [
      Harness.Seen.refused(.sessionError, "The other side is away, and no more can be kept for it")
    ]
    let long = String(repeating: "long ", count: 30)
    #expect(self.tell(alice, .info(InfoMessage(chat: .init(body: long), callID: a))) == refused)
    for tone in ["1", "2", "3"] {
      #expect(self.tell(alice, .info(InfoMessage(callID: a, dtmf: tone))) == [.result("SENT")])
    }
    #expect(self.tell(alice, .info(InfoMessage(callID: a, dtmf: "4"))) == refused)
    #expect(self.tell(alice, .candidate(CandidateMessage(callID: a, candidate: "candidate:1"))) == refused)
    #expect(self.tell(alice, .endOfCandidates(CallReference(callID: a))) == refused)
    #expect(self.attach(bob, b) == [.result("CALL ATTACHED"), .info("1"), .info("2"), .info("3")])
    // A client that is there takes what is long.
    #expect(self.tell(alice, .info(InfoMessage(chat: .init(body: long), callID: a))) == [.result("SENT")])
  }

  @Test mutating func tonesToAClientThatRingsWaitForItToo() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    _ = harness.invite(alice, "A1", to: "bob")
    _ = harness.step(.disconnected(bob.connection))
    #expect(self.tell(alice, .info(InfoMessage(callID: CallID("A1"), dtmf: "7"))) == [.result("SENT")])
    let (_, welcome) = harness.logIn("bob", session: "b")
    guard case .invited(_, Harness.offer)? = welcome.dropFirst(2).first else {
      Issue.record("bob does not ring: \(welcome)")
      return
    }
    #expect(welcome.last == .info("7"))
  }

  @Test mutating func aClientThatRingsLaterGetsAllCandidatesOfTheCaller() {
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    _ = harness.invite(alice, "A1", to: "bob")
    for number in 1...2 {
      _ = harness.request(
        alice, .candidate(CandidateMessage(callID: CallID("A1"), candidate: "candidate:\(number)")))
    }
    _ = harness.request(alice, .endOfCandidates(CallReference(callID: CallID("A1"))))
    let (late, _) = harness.logIn("bob", session: "b2")
    let actions = harness.request(late, .attachCalls(AttachCallsRequest(pushProvider: "ios")))
    let seen = Harness.seen(actions, by: late)
    guard case .invited(let id, Harness.offer)? = seen.dropFirst().first else {
      Issue.record("the client does not ring: \(seen)")
      return
    }
    #expect(
      Array(seen.dropFirst(2)) == [.candidate("candidate:1"), .candidate("candidate:2"), .endOfCandidates])
    // Each by the client's own name of the call.
    for case .send(late.connection, .candidate(let candidate)) in actions { #expect(candidate.callID == id) }
    #expect(Harness.seen(actions, by: bob) == [])
  }

  @Test mutating func candidatesThatCannotBeKeptForAClientThatRingsAreRefused() {
    var configuration = CallSwitch.Configuration()
    configuration.keptMessages = 1
    harness = Harness(configuration)
    let (alice, _) = harness.logIn("alice", session: "a")
    let (bob, _) = harness.logIn("bob", session: "b")
    _ = harness.invite(alice, "A1", to: "bob")
    func candidate(_ number: Int) -> ClientRequest {
      .candidate(CandidateMessage(callID: CallID("A1"), candidate: "candidate:\(number)"))
    }
    #expect(self.tell(alice, candidate(1)) == [.result("OK")])
    // It has a socket, and hears it.
    #expect(Harness.seen(harness.request(alice, candidate(2)), by: bob) == [.candidate("candidate:2")])
    _ = harness.step(.disconnected(bob.connection))
    #expect(
      self.tell(alice, candidate(3))
        == [.refused(.sessionError, "The other side is away, and no more can be kept for it")])
  }
}
