import CallSignaling
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

@Suite struct SessionMachineTests {
  typealias Action = SessionMachine.Action
  var machine = SessionMachine(at: VoiceInstant())
  var now = VoiceInstant()

  private static func frame(_ json: String) throws -> Frame<ClientRequest> {
    try SignalingCodec().decode(ClientRequest.self, from: Array(json.utf8))
  }

  private mutating func receive(_ json: String) throws -> [Action] {
    self.machine.handle(.frameReceived(try Self.frame(json)), at: self.now)
  }

  private static let login =
    #"{"jsonrpc":"2.0","id":"u1","method":"login","params":{"login":"alice","passwd":"secret","sessid":"s1"}}"#
  private static let key = SessionKey(user: "alice", sessionID: "s1")

  private mutating func logIn() throws {
    _ = try self.receive(Self.login)
    _ = self.machine.handle(.authenticated(.success(.init(user: "alice"))), at: self.now)
    _ = self.machine.handle(.registered(Self.key), at: self.now)
  }

  @Test mutating func logsInWithAPassword() throws {
    #expect(
      try self.receive(Self.login)
        == [.authenticate(.credentials(.password(user: "alice", password: "secret")))])
    #expect(
      machine.handle(.authenticated(.success(.init(user: "alice"))), at: now)
        == [.register(Self.key, request: .string("u1"), isAnonymous: false)])
    #expect(machine.handle(.registered(Self.key), at: now) == [])
    #expect(machine.key == Self.key)
    let actions = try self.receive(#"{"id":"u2","method":"telnyx_rtc.gatewayState","params":{}}"#)
    #expect(
      actions == [
        .reply(.string("u2"), .success(.gatewayState(GatewayStateReport(.registered), sessionID: "s1")))
      ])
  }

  @Test(arguments: [
    #"{"id":1,"method":"telnyx_rtc.gatewayState","params":{}}"#,
    #"{"id":1,"method":"telnyx_rtc.bye","params":{"dialogParams":{"callID":"c"}}}"#,
    #"{"id":1,"method":"verto.invite","params":{"sdp":"m=audio","dialogParams":{"callID":"c"}}}"#,
    #"{"id":1,"method":"telnyx_rtc.attachCalls","params":{}}"#,
  ])
  mutating func asksForALoginFirst(_ json: String) throws {
    #expect(
      try self.receive(json)
        == [
          .reply(
            .integer(1), .failure(RPCError(code: .authenticationRequired, message: "Authentication Required"))
          )
        ])
  }

  @Test mutating func closesAfterThreeRefusedLogins() throws {
    let wrong = RPCError(code: .authenticationFailed, message: "Authentication Failure")
    for attempt in 1...3 {
      _ = try self.receive(Self.login)
      let actions = machine.handle(.authenticated(.failure(wrong)), at: now)
      #expect(actions.first == .reply(.string("u1"), .failure(wrong)))
      #expect(actions.count == (attempt == 3 ? 2 : 1))
    }
    #expect(machine.state == .closed)
    #expect(try self.receive(Self.login) == [.ignore])
  }

  @Test mutating func doesNotWaitForEverForALogin() throws {
    #expect(machine.deadline == VoiceInstant().advanced(by: .seconds(20)))
    now = now.advanced(by: .seconds(20))
    #expect(machine.handle(.timePassed, at: now) == [.close(code: 1008, reason: "Nobody logged in")])
  }

  /// The switch has nobody to tell that it refuses.
  @Test mutating func doesNotWaitForEverForALoginWithoutAnIDThatIsRefused() throws {
    let login = #"{"jsonrpc":"2.0","method":"login","params":{"login":"alice","passwd":"secret"}}"#
    _ = try self.receive(login)
    #expect(
      machine.handle(.authenticated(.success(.init(user: "alice"))), at: now)
        == [.register(SessionKey(user: "alice", sessionID: ""), request: nil, isAnonymous: false)])
    let deadline = now.advanced(by: .seconds(20))
    #expect(machine.deadline == deadline)
    now = deadline
    #expect(machine.handle(.timePassed, at: now) == [.close(code: 1008, reason: "Nobody logged in")])
  }

  @Test mutating func saysWhenCheckingALoginTakesTooLong() throws {
    _ = try self.receive(Self.login)
    now = now.advanced(by: .seconds(20))
    #expect(
      machine.handle(.timePassed, at: now)
        == [
          .reply(
            .string("u1"),
            .failure(RPCError(code: .registrationTimedOut, message: "Gateway registration timeout")))
        ])
    // The answer that comes after all is of no use.
    #expect(machine.handle(.authenticated(.success(.init(user: "alice"))), at: now) == [.ignore])
  }

  @Test mutating func takesNewCredentialsOnALiveSocket() throws {
    try self.logIn()
    #expect(
      try self.receive(#"{"id":"u3","method":"login","params":{"login_token":"t"}}"#)
        == [.authenticate(.credentials(.token("t")))])
    #expect(
      machine.handle(.authenticated(.success(.init(user: "alice"))), at: now)
        == [.reply(.string("u3"), .success(.login(LoginResult(sessionID: "s1"))))])
    _ = try self.receive(#"{"id":"u4","method":"login","params":{"login_token":"t"}}"#)
    guard
      case .reply(_, .failure(let error))? =
        machine.handle(.authenticated(.success(.init(user: "bob"))), at: now).first
    else {
      Issue.record("another user took the socket")
      return
    }
    #expect(error.code == .authenticationFailed)
    #expect(machine.key == Self.key)
  }

  @Test mutating func pingsAndClosesWhatDoesNotAnswer() throws {
    try self.logIn()
    now = now.advanced(by: .seconds(30))
    guard case .send(.ping, let id, .telnyx)? = machine.handle(.timePassed, at: now).first else {
      Issue.record("no ping")
      return
    }
    // The published iOS client sends the same text back: not a request.
    #expect(try self.receive(#"{"id":\#(id),"method":"telnyx_rtc.ping","params":{}}"#) == [.ignore])
    // The JS client sends a ping of its own, which is one.
    #expect(
      try self.receive(#"{"id":"u5","method":"telnyx_rtc.ping","params":{}}"#)
        == [.reply(.string("u5"), .success(.other(["message": "PONG"])))])
    now = now.advanced(by: .seconds(74))
    #expect(machine.handle(.timePassed, at: now).count == 1)
    now = now.advanced(by: .seconds(1))
    #expect(machine.handle(.timePassed, at: now) == [.close(code: 1001, reason: "Nothing was heard")])
  }

  @Test mutating func speaksTheDialectOfTheClient() throws {
    _ = try self.receive(#"{"id":1,"method":"login","params":{"login":"alice@x","passwd":"p"}}"#)
    #expect(machine.dialect == .verto)
    _ = machine.handle(.authenticated(.success(.init(user: "alice"))), at: now)
    _ = machine.handle(.registered(Self.key), at: now)
    let message = ServerCallMessage(callID: CallID("c"))
    #expect(machine.handle(.sent(.ringing(message)), at: now) == [.send(.display(message), id: 1, .verto)])
    #expect(
      machine.handle(.sent(.candidate(CandidateMessage(callID: CallID("c"), candidate: "x"))), at: now) == [])
    now = now.advanced(by: .seconds(30))
    #expect(machine.handle(.timePassed, at: now) == [.pingSocket])
    // What a client says itself counts more than a guess.
    _ = try self.receive(#"{"id":2,"method":"telnyx_rtc.ping","params":{}}"#)
    #expect(machine.dialect == .telnyx)
  }

  @Test mutating func endsAFloodOfFrames() throws {
    let ping = #"{"id":"p","method":"telnyx_rtc.ping","params":{}}"#
    for _ in 0..<1000 { #expect(try self.receive(ping).count == 1) }
    #expect(try self.receive(ping) == [.close(code: 1008, reason: "Too many frames")])
  }

  @Test mutating func answersWhatItCannotReadAndWhatItDoesNotKnow() throws {
    func invalid(_ json: String) -> [Action] {
      do throws(FrameError) {
        _ = try SignalingCodec().decode(ClientRequest.self, from: Array(json.utf8))
        return []
      } catch {
        return machine.handle(.frameInvalid(error), at: now)
      }
    }
    #expect(invalid("{") == [.reply(.null, .failure(RPCError(code: .parseError, message: "Parse error")))])
    #expect(
      invalid(#"{"id":7,"method":"telnyx_rtc.bye","params":{}}"#)
        == [.reply(.integer(7), .failure(RPCError(code: .sessionError, message: "CallID missing")))])
    #expect(invalid(#"{"method":"telnyx_rtc.bye","params":{}}"#) == [.ignore])
    // FreeSWITCH takes batches, Telnyx has none (telnyx.md section 7).
    #expect(
      invalid(#"[{"id":1,"method":"telnyx_rtc.ping"}]"#)
        == [.reply(.null, .failure(RPCError(code: .invalidRequest, message: "Batches are not supported")))])
    for (method, id) in [("invite", 9), ("answer", 10), ("attach", 11), ("modify", 12)] {
      let text =
        #"{"id":\#(id),"method":"telnyx_rtc.\#(method)","params":{"sdp":5,"action":"updateMedia","#
        + #""dialogParams":{"callID":"c"}}}"#
      let message = "$.params.sdp is of kind number, not a string."
      #expect(
        invalid(text)
          == [.reply(.integer(id), .failure(RPCError(code: .invalidParams, message: message)))], "\(method)")
    }
    #expect(
      try self.receive(#"{"id":8,"method":"verto.nonsense"}"#)
        == [.reply(.integer(8), .failure(RPCError(code: .methodNotFound, message: "Invalid Method")))])
    #expect(try self.receive(#"{"id":99,"result":{}}"#) == [.ignore])
  }

  @Test(arguments: [UInt64](1...4))
  mutating func closesOnceAndIsSilentAfterwardsWhateverHappens(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let frames = try [
      Self.login, #"{"id":1,"method":"telnyx_rtc.ping","params":{}}"#,
      #"{"id":2,"method":"telnyx_rtc.bye","params":{"dialogParams":{"callID":"c"}}}"#,
      #"{"id":3,"method":"anonymous_login","params":{"target_type":"ai_assistant","target_id":"x"}}"#,
      #"{"id":4,"result":{}}"#, #"{"id":5,"method":"verto.subscribe","params":{"eventChannel":"x"}}"#,
    ].map { try Self.frame($0) }
    let refused = RPCError(code: .authenticationFailed, message: "no")
    for _ in 0..<200 {
      var machine = SessionMachine(at: now)
      var closes = 0
      for _ in 0..<60 {
        now = now.advanced(by: .milliseconds(Int.random(in: 0...9000, using: &random)))
        let event: SessionMachine.Event
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<5: event = .frameReceived(frames.randomElement(using: &random) ?? frames[0])
        case 5: event = .authenticated(.success(.init(user: "alice")))
        case 6: event = .authenticated(.failure(refused))
        case 7: event = .registered(Self.key)
        case 8: event = .replied(.integer(9), .failure(refused))
        case 9: event = .asked(.modify(ModifyRequest(callID: CallID("c"), action: .updateMedia)), number: 5)
        case 10: event = Int.random(in: 0..<20, using: &random) == 0 ? .socketClosed : .pongReceived
        default: event = .timePassed
        }
        let wasClosed = machine.state == .closed
        let actions = machine.handle(event, at: now)
        if wasClosed { #expect(actions == [.ignore]) }
        closes += actions.count { if case .close = $0 { true } else { false } }
        #expect(machine.state == .closed || machine.deadline != nil, "it waits for nothing")
      }
      #expect(closes <= 1)
    }
  }
}
