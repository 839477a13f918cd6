import CallSignaling
import Calls
import Foundation
import Testing
import VoiceCore
import VoiceTesting

/// Login and registration: what is promised where the original falls short (telnyx.md section 5.1).
@Suite(.timeLimit(.minutes(4))) struct RegistrationTests {
  @Test func aLoginSaysWhoItIs() async throws {
    let world = try await CallsWorld.ready(
      config: TxConfig(sipUser: "alice", password: "secret", pushDeviceToken: "t", pushEnvironment: .debug))
    guard case .login(let login) = try await world.gateway.request(.login) else { return }
    #expect(login.credentials == .password(user: "alice", password: "secret"))
    #expect(login.sessionID == world.client.getSessionId())
    #expect(login.userVariables["push_device_token"] == "t")
    #expect(login.userVariables["push_notification_environment"] == "debug")
    #expect(world.client.isRegistered)
    #expect(world.client.isConnected())
    await world.log.next("ready")
    #expect(world.log.names.prefix(2) == ["socketConnected", "ready"])
  }

  @Test(arguments: [-32000, -32001]) func refusedCredentialsArriveOnceInTheDocumentedForm(code: Int)
    async throws
  {
    var script = ScriptedGateway.Script()
    script.replies[.login] = [.error(RPCError(code: RPCErrorCode(code), message: "Authentication Failure"))]
    let world = CallsWorld(script)
    try world.connect()
    do {
      try await world.client.ready()
      Issue.record("it became ready")
    } catch let failure as VoiceFailure {
      #expect(failure.code == .callLoginRefused)
      guard case .signalingServerError(code, "Authentication Failure") = TxError(failure) else {
        Issue.record("not the documented form")
        return
      }
    }
    let failure = await world.log.failure(.callLoginRefused)
    #expect(failure?.recovery == .signIn)
    #expect(world.log.count("call.login.refused") == 1)
    #expect(!world.client.isConnected())
    // The same credentials are not tried again; a new `connect` is.
    #expect(world.clock.timers.isEmpty)
    try world.connect()
    try await world.client.ready()
  }

  @Test func aGatewayThatDoesNotRegisterIsAskedThreeTimes() async throws {
    var script = ScriptedGateway.Script()
    script.gatewayStates = [.unregistered]
    let world = CallsWorld(script)
    try world.connect()
    for attempt in 1...3 {
      _ = try await world.gateway.request(.gatewayState, count: attempt)
      world.clock.advance(by: .seconds(3))
    }
    let failure = try #require(await world.log.failure(.gatewayNotRegistered))
    guard case .serverError(.gatewayNotRegistered) = TxError(failure) else {
      Issue.record("not the documented form")
      return
    }
    #expect(world.gateway.requests.count { $0.method == .gatewayState } == 3)
    #expect(world.log.count("call.gateway.not-registered") == 1)
  }

  @Test func aGatewayThatNeverAnswersEndsLikeOneThatSaysNo() async throws {
    var script = ScriptedGateway.Script()
    script.gatewayStates = [nil]
    var config = CallsWorld.config
    config.maxRegisterRetry = 2
    config.registerInterval = .seconds(1)
    let world = CallsWorld(script)
    try world.connect(config)
    for attempt in 1...2 {
      _ = try await world.gateway.request(.gatewayState, count: attempt)
      world.clock.advance(by: .seconds(1))
    }
    #expect(await world.log.failure(.gatewayNotRegistered) != nil)
    #expect(world.clock.now.offset == .seconds(2))
  }

  @Test(arguments: [GatewayState.timeout, .down, .unknown("MAYBE"), .failWait])
  func statesThatTheOriginalDropsAreAnswers(state: GatewayState) async throws {
    var script = ScriptedGateway.Script()
    script.gatewayStates = [state, .registered]
    let world = CallsWorld(script)
    try world.connect()
    _ = try await world.gateway.request(.gatewayState)
    world.clock.advance(by: .seconds(3))
    try await world.client.ready()
  }

  @Test func losingTheRegistrationIsReportedAndRepaired() async throws {
    let world = try await CallsWorld.ready()
    var script = world.gateway.script
    script.gatewayStates = [.expired, .registered]
    world.gateway.script = script
    world.gateway.send(.gatewayState(GatewayStateReport(.expired)))
    #expect(await world.log.failure(.gatewayRegistrationLost) != nil)
    #expect(!world.client.isRegistered)
    world.clock.advance(by: .seconds(3))
    try await world.client.ready()
  }

  @Test func aLoginThatIsNotAnsweredIsTriedAgain() async throws {
    var script = ScriptedGateway.Script()
    script.replies[.login] = [.drop]
    let world = CallsWorld(script)
    try world.connect()
    _ = try await world.gateway.request(.login)
    world.clock.advance(by: .seconds(10))
    let failure = await world.log.failure(.callLoginTimedOut)
    guard case .automatic? = failure?.recovery else {
      Issue.record("\(String(describing: failure))")
      return
    }
    world.clock.advance(by: .seconds(15))
    try await world.client.ready()
  }

  @Test func aNewTokenIsTakenOnTheLiveConnection() async throws {
    let world = try await CallsWorld.ready(config: TxConfig(token: "old"))
    let (call, _) = try await world.activeCall()
    try world.client.connect(txConfig: TxConfig(token: "new"), serverConfiguration: CallsWorld.server)
    await world.log.next("loginRefreshed")
    guard case .login(let login) = try await world.gateway.request(.login, count: 2) else { return }
    #expect(login.credentials == .token("new"))
    #expect(call.callState == .ACTIVE)
    #expect(world.gateway.connections == 1)
    #expect(world.log.count("socketConnected") == 1)
  }

  @Test func aRefusedNewTokenLeavesTheOldLogin() async throws {
    var script = ScriptedGateway.Script()
    script.users = ["alice": "secret"]
    let world = try await CallsWorld.ready(script)
    try world.client.updateLogin(txConfig: TxConfig(token: "wrong"))
    #expect(await world.log.failure(.callLoginRefused) != nil)
    #expect(world.client.isRegistered)
  }

  @Test func aNewPushTokenIsToldWithoutReconnecting() async throws {
    let world = try await CallsWorld.ready()
    try world.client.updatePushToken("fresh")
    guard case .login(let login) = try await world.gateway.request(.login, count: 2) else { return }
    #expect(login.userVariables["push_device_token"] == "fresh")
    #expect(world.gateway.connections == 1)
  }

  @Test func connectingTwiceWithTheSameDataChangesNothing() async throws {
    let world = try await CallsWorld.ready()
    try world.connect()
    #expect(world.gateway.requests.count { $0.method == .login } == 1)
    #expect(world.gateway.connections == 1)
  }

  @Test func anotherGatewayGetsTheClientAfterTheGoodbyes() async throws {
    let world = try await CallsWorld.ready()
    let (call, _) = try await world.activeCall()
    try world.client.connect(
      txConfig: CallsWorld.config,
      serverConfiguration: TxServerConfiguration(signalingServer: URL(string: "ws://other.test")))
    _ = try await call.ended()
    _ = try await world.gateway.request(.bye)
    _ = try await world.gateway.request(.login, count: 2)
    try await world.client.ready()
    #expect(world.gateway.calls.isEmpty)
    await world.log.next("socketDisconnected")
    #expect(world.log.count("socketDisconnected") == 1)
  }

  @Test func disconnectWaitsForTheGoodbyesAndTheClientIsReusable() async throws {
    let world = try await CallsWorld.ready()
    let (call, _) = try await world.activeCall()
    await world.client.disconnected()
    #expect(call.callState == .DONE(reason: nil))
    #expect(world.gateway.calls.isEmpty)
    #expect(!world.client.isConnected())
    let session = world.client.getSessionId()
    try world.connect()
    try await world.client.ready()
    #expect(world.client.getSessionId() == session)
    _ = try await world.activeCall()
  }

  @Test func disconnectGivesUpOnAGatewayThatConfirmsNothing() async throws {
    var script = ScriptedGateway.Script()
    script.replies[.bye] = [.drop]
    let world = try await CallsWorld.ready(script)
    _ = try await world.activeCall()
    let waiting = Task { await world.client.disconnected() }
    _ = try await world.gateway.request(.bye)
    world.clock.advance(by: .seconds(5))
    await waiting.value
    #expect(await world.log.failure(.callByeUndelivered) != nil)
  }

  @Test func anAnonymousLoginReachesAnAssistant() async throws {
    let world = CallsWorld()
    world.client.anonymousLogin(targetId: "assistant-1", serverConfiguration: CallsWorld.server)
    try await world.client.ready()
    guard case .anonymousLogin(let login) = try await world.gateway.request(.anonymousLogin) else { return }
    #expect(login.targetType == "ai_assistant")
    #expect(login.targetID == "assistant-1")
    #expect(world.client.sendAIAssistantMessage("hi", base64Images: ["AA=="], imageFormat: "png"))
    guard case .aiConversation(let message) = try await world.gateway.request(.aiConversation) else { return }
    #expect(
      message
        == .message(
          id: message.body["item"]?["id"]?.stringValue ?? "", text: "hi",
          imageURLs: ["data:image/png;base64,AA=="]))
    world.gateway.send(.aiConversation(AIConversation(type: "response.text.delta", body: ["delta": "He"])))
    await world.log.next("assistant")
  }

  @Test func aVertoGatewayIsReadyAfterItsLogin() async throws {
    var script = ScriptedGateway.Script()
    script.dialect = .verto
    script.afterInvite = [.media, .answerWithoutSDP]
    var config = CallsWorld.config
    config.dialect = .verto
    let world = try await CallsWorld.ready(script, config: config)
    let (call, _) = try await world.activeCall()
    #expect(call.callState == .ACTIVE)
    #expect(world.gateway.frames.contains { String(decoding: $0, as: UTF8.self).contains("verto.invite") })
    #expect(!world.gateway.requests.contains { $0.method == .gatewayState })
  }

  @Test func aWarningComesBeforeATokenEnds() async throws {
    // exp = 1_000, in a token without a signature worth the name.
    let token = "eyJhbGciOiJub25lIn0.eyJleHAiOjEwMDB9.x"
    let gateway = ScriptedGateway()
    let clock = TestClock()
    let client = TxClient.testing(gateway, clock: clock, wallClock: { 700 })
    let log = EventRecorder(client.events)
    try client.connect(txConfig: TxConfig(token: token), serverConfiguration: CallsWorld.server)
    try await client.ready()
    clock.advance(by: .seconds(179))
    #expect(log.count("call.token.expiring") == 0)
    clock.advance(by: .seconds(1))
    #expect(await log.failure(.callTokenExpiring)?.recovery == .signIn)
  }

  @Test func pushesAreSwitchedOff() async throws {
    let world = try await CallsWorld.ready()
    world.client.disablePushNotifications()
    guard case .disablePush(let request) = try await world.gateway.request(.disablePushNotification) else {
      return
    }
    #expect(request.user == "alice")
    await world.log.next("pushDisabled")
  }
}
