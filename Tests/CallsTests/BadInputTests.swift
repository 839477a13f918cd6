import CallSignaling
import Calls
import Foundation
import Testing
import VoiceCore
import VoiceTesting

/// What a client makes of wrong settings, and of a gateway that breaks the rules: a failure by name, and it goes on.
@Suite(.timeLimit(.minutes(4))) struct BadInputTests {
  @Test func wrongSettingsAreThrownWithTheirReason() {
    let client = TxClient(media: ScriptedMedia(), transport: ScriptedGateway().transport, paths: nil)
    func reason(_ config: TxConfig) -> TxError.ClientConfigurationFailureReason? {
      do {
        try client.connect(txConfig: config, serverConfiguration: CallsWorld.server)
        return nil
      } catch TxError.clientConfigurationFailed(let reason) {
        return reason
      } catch {
        return nil
      }
    }
    #expect(reason(TxConfig(sipUser: "", password: "")) == .userNameAndPasswordAreRequired)
    #expect(reason(TxConfig(sipUser: "", password: "p")) == .userNameIsRequired)
    #expect(reason(TxConfig(sipUser: "u", password: "")) == .passwordIsRequired)
    #expect(reason(TxConfig(token: "")) == .tokenIsRequired)
    #expect(!client.isConnected())
  }

  @Test(arguments: ["http://h", "ws://", "file:///x", "ws://u:p@h", "ws://h:99999"])
  func anAddressThatIsNoneIsThrown(address: String) throws {
    let client = TxClient(media: ScriptedMedia(), transport: ScriptedGateway().transport, paths: nil)
    let server = TxServerConfiguration(signalingServer: URL(string: address))
    do {
      try client.connect(txConfig: CallsWorld.config, serverConfiguration: server)
      Issue.record("it connected")
    } catch let failure as VoiceFailure {
      #expect(failure.code == .addressInvalid)
    }
  }

  @Test func callsWithoutDestinationOrConnectionAreThrown() async throws {
    let client = TxClient(media: ScriptedMedia(), transport: ScriptedGateway().transport, paths: nil)
    func reason(_ destination: String) -> String {
      do {
        _ = try client.newCall(
          callerName: "", callerNumber: "", destinationNumber: destination, callId: UUID())
        return "none"
      } catch {
        return (error as? TxError)?.localizedDescription ?? "\(error)"
      }
    }
    #expect(reason("") == "A destination number is required")
    #expect(reason("bob") == "A session id is required")
    try client.connect(txConfig: CallsWorld.config, serverConfiguration: CallsWorld.server)
    try await client.ready()
    await client.disconnected()
    #expect(reason("bob") == "Socket is not connected")
    await #expect(throws: VoiceFailure(.callNotConnected)) { try await client.ready() }
    #expect(throws: TxError.self) {
      try client.processVoIPNotification(
        txConfig: CallsWorld.config, serverConfiguration: CallsWorld.server, pushMetaData: [:])
    }
  }

  static let unreadable: [String] = [
    "{", "nonsense", "[]", "null", "42", #"{"jsonrpc":"2.0"}"#,
    #"{"id":{},"method":"x"}"#,
    #"{"id":1,"method":"telnyx_rtc.invite","params":{}}"#,
    #"{"id":1,"method":"telnyx_rtc.invite","params":[]}"#,
    #"{"id":1,"method":"telnyx_rtc.invite","params":{"callID":"x"}}"#,
    #"{"id":1,"method":"telnyx_rtc.media","params":{"callID":"x","sdp":{}}}"#,
    #"{"id":1,"method":"telnyx_rtc.bye","params":{"callID":[]}}"#,
    #"{"id":1,"method":"telnyx_rtc.gatewayState","params":{}}"#,
    #"{"id":1,"method":"telnyx_rtc.clientReady","params":{"reattached_sessions":"x"}}"#,
    String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000),
    String(repeating: #"{"a":"#, count: 100_000),
    #"{"id":1,"method":"x","params":"\#(String(repeating: "a", count: 2 << 20))"}"#,
  ]

  @Test(arguments: unreadable) func aFrameThatCannotBeReadIsReportedAndSurvived(frame: String) async throws {
    let world = try await CallsWorld.ready()
    let (call, _) = try await world.activeCall()
    world.gateway.send(raw: frame)
    let failure = try #require(await world.log.failure(.callFrameInvalid))
    #expect(!failure.message.contains(frame.prefix(40)) || frame.count < 3)
    #expect(call.callState == .ACTIVE)
    #expect(world.client.isRegistered)
  }

  static let harmless: [String] = [
    #"{"id":1,"method":"telnyx_rtc.ringing","params":{"callID":"nobody"}}"#,
    #"{"id":1,"method":"telnyx_rtc.answer","params":{"callID":"nobody","sdp":"v=0"}}"#,
    #"{"id":1,"method":"telnyx_rtc.bye","params":{"callID":"nobody"}}"#,
    #"{"id":1,"method":"telnyx_rtc.candidate","params":{"callID":"nobody","candidate":"candidate:1"}}"#,
    #"{"id":"never-asked","result":{"message":"hello"}}"#, #"{"id":12345,"result":null}"#,
    ##"#SPU12"##, #"{"id":1,"method":"telnyx_rtc.pong","params":{}}"#,
  ]

  @Test(arguments: harmless) func whatBelongsToNothingChangesNothing(frame: String) async throws {
    let world = try await CallsWorld.ready()
    let (call, _) = try await world.activeCall()
    let failures = world.log.events.count { if case .failed = $0 { true } else { false } }
    world.gateway.send(raw: frame)
    call.dtmf(dtmf: "1")
    _ = try await world.gateway.request(.info)
    #expect(call.callState == .ACTIVE)
    #expect(world.log.events.count { if case .failed = $0 { true } else { false } } == failures)
  }

  @Test(arguments: ["invite", "media", "attach"])
  func aDescriptionThatIsMissingIsNamedAndAnsweredWithAnError(method: String) async throws {
    let world = try await CallsWorld.ready()
    let (call, _) = try await world.activeCall()
    let id = try #require(call.callInfo).callId.uuidString.lowercased()
    world.gateway.send(raw: #"{"id":7,"method":"telnyx_rtc.\#(method)","params":{"callID":"\#(id)"}}"#)
    let failure = try #require(await world.log.failure(.callFrameInvalid))
    #expect(failure.message.contains("sdp"))
    // The answer to the gateway's request, an error, is what the gateway counts here.
    #expect(world.gateway.acknowledgements > 0)
    #expect(call.callState == .ACTIVE)
    #expect(world.log.count("incomingCall") == 0)
  }

  @Test func anOfferToAttachACallThatIsNotKnownIsReportedAsNotFound() async throws {
    let world = try await CallsWorld.ready()
    let (call, _) = try await world.activeCall()
    world.gateway.send(
      raw: #"{"id":7,"method":"telnyx_rtc.attach","params":{"callID":"nobody","sdp":"v=0"}}"#)
    let failure = try #require(await world.log.failure(.callNotFound))
    guard case .callFailed(.callNotFound) = TxError(failure) else {
      Issue.record("not the documented form")
      return
    }
    #expect(call.callState == .ACTIVE)
    #expect(world.client.calls.count == 1)
  }

  @Test func aMethodThatIsNotKnownIsSurfacedAndRefused() async throws {
    let world = try await CallsWorld.ready()
    world.gateway.send(raw: #"{"id":77,"method":"telnyx_rtc.newThing","params":{"a":1}}"#)
    let event = await world.log.first { if case .unhandled = $0 { true } else { false } }
    guard case .unhandled(.unknown(let method, let params))? = event else { return }
    #expect(method == .unknown("telnyx_rtc.newThing"))
    #expect(params["a"] == 1)
  }

  @Test func anErrorThatAnswersNothingIsReportedOnce() async throws {
    let world = try await CallsWorld.ready()
    world.gateway.send(raw: #"{"id":"x","error":{"code":"-32003","message":"Gateway registration timeout"}}"#)
    let failure = try #require(await world.log.failure(.callRequestRefused))
    guard case .signalingServerError(-32003, "Gateway registration timeout") = TxError(failure) else {
      Issue.record("not the documented form")
      return
    }
  }

  @Test func aSecondAnswerAndOneAfterTheHangUpAreIgnored() async throws {
    var script = ScriptedGateway.Script()
    script.afterInvite = [.ringing, .answer, .answer]
    let world = try await CallsWorld.ready(script)
    let (call, _) = try await world.activeCall()
    #expect(call.callState == .ACTIVE)
    let id = try #require(call.callInfo).callId.uuidString.lowercased()
    call.hangup()
    world.gateway.send(
      raw: #"{"id":9,"method":"telnyx_rtc.answer","params":{"callID":"\#(id)","sdp":"v=0"}}"#)
    await world.log.next("callReported")
    #expect(call.callState == .DONE(reason: nil))
    #expect(world.log.count("DONE") == 1)
  }

  @Test func anAnswerWithoutAnyDescriptionEndsTheCall() async throws {
    var script = ScriptedGateway.Script()
    script.afterInvite = [.ringing, .answerWithoutSDP]
    let world = try await CallsWorld.ready(script)
    let call = try await world.client.call("bob")
    let reason = try await call.ended()
    #expect(reason.cause == "MANDATORY_IE_MISSING")
    #expect(reason.failure?.code == .callMediaFailed)
  }

  @Test(arguments: [ScriptedGateway.Reply.drop, .wrongID]) func anInviteThatIsNotAnsweredEndsInTime(
    reply: ScriptedGateway.Reply
  ) async throws {
    var script = ScriptedGateway.Script()
    script.replies[.invite] = [reply]
    script.afterInvite = []
    let world = try await CallsWorld.ready(script)
    let call = try await world.client.call("bob")
    _ = try await world.gateway.request(.invite)
    world.clock.advance(by: .seconds(10))
    #expect(try await call.ended().failure?.code == .callRequestTimedOut)
  }

  @Test func answersThatComeTwiceAreTakenOnce() async throws {
    var script = ScriptedGateway.Script()
    for method in [SignalingMethod.login, .gatewayState, .invite, .modify, .info, .bye] {
      script.replies[method] = [.twice]
    }
    let world = try await CallsWorld.ready(script)
    let (call, log) = try await world.activeCall()
    try await call.setHeld(true)
    call.dtmf(dtmf: "1")
    call.hangup()
    _ = await log.ended()
    _ = try await world.gateway.request(.bye)
    await world.log.next("callReported")
    #expect(world.log.count("ready") == 1)
    #expect(world.log.count("DONE") == 1)
  }

  @Test func secretsAreNeverLogged() async throws {
    let lines = LogLines()
    let world = try await CallsWorld.ready(
      config: TxConfig(
        sipUser: "alice-user", password: "top-secret", pushDeviceToken: "push-secret", logLevel: .all,
        customLogger: lines))
    let (call, _) = try await world.activeCall("+15550100")
    call.dtmf(dtmf: "4711")
    call.hangup()
    await world.client.disconnected()
    let text = lines.all.map(\.message).joined(separator: "\n")
    #expect(text.contains("telnyx_rtc.invite"))
    for secret in ["top-secret", "push-secret", "alice-user", "v=0", "ice-pwd", "4711", "+15550100"] {
      #expect(!text.contains(secret))
    }
  }

  @Test func theLogLevelIsAThreshold() async throws {
    let lines = LogLines()
    let world = try await CallsWorld.ready(
      config: TxConfig(sipUser: "a", password: "p", logLevel: .info, customLogger: lines))
    world.gateway.send(raw: "{")
    _ = await world.log.failure(.callFrameInvalid)
    #expect(Set(lines.all.map(\.level)) == [.warning, .info])
  }
}
