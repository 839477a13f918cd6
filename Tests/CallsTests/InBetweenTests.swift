import CallMedia
import CallSignaling
import Calls
import Foundation
import Testing
import VoiceCore
import VoicePlatform
import VoiceTesting

/// What happens while something else is under way: a login, an outage, a goodbye.
@Suite(.timeLimit(.minutes(4))) struct InBetweenTests {
  private static let elsewhere = NetworkPath(interfaces: [.init(name: "wlan0", addresses: ["192.0.2.7"])])
  private static let other = TxServerConfiguration(signalingServer: URL(string: "ws://other.test"))
  private static let id = CallID("7d0f2f5e-6a43-4a52-8d0a-1c1f6f0b9a11")

  private static func incoming(_ world: CallsWorld) async throws -> Call {
    world.gateway.invite(Self.id)
    let event = await world.log.first { if case .incomingCall = $0 { true } else { false } }
    guard case .incomingCall(let call)? = event else { throw VoiceFailure(.callNotFound) }
    return call
  }

  private static func logins(_ world: CallsWorld) -> Int {
    world.gateway.requests.count { $0.method == .login }
  }

  // MARK: Outages

  /// The gateway attaches what was answered; it does not repeat the answer.
  @Test func aCallThatIsAnsweredInAnOutageIsActiveAfterIt() async throws {
    var script = ScriptedGateway.Script()
    script.afterInvite = [.ringing]
    let world = try await CallsWorld.ready(script)
    let call = try await world.client.call("bob")
    let log = EventRecorder(call.events)
    await world.log.next("RINGING")
    world.gateway.cut()
    await log.state("RECONNECTING")
    world.clock.advance(by: .seconds(15))
    try await world.client.ready()
    let id = try #require(world.gateway.calls.first)
    world.gateway.send(.attach(ServerCallMessage(callID: id, sdp: .scripted(number: 5999))))
    try await call.answered()
    await log.state("ACTIVE")
  }

  @Test func aCallThatIsPlacedWhileTheRegistrationIsLostWaitsForIt() async throws {
    let world = try await CallsWorld.ready()
    var script = ScriptedGateway.Script()
    script.gatewayStates = [.trying, .registered]
    world.gateway.script = script
    world.gateway.send(.gatewayState(GatewayStateReport(.expired)))
    _ = await world.log.failure(.gatewayRegistrationLost)
    let call = try world.client.newCall(
      callerName: "", callerNumber: "", destinationNumber: "bob", callId: UUID())
    #expect(!world.gateway.requests.contains { $0.method == .invite })
    world.clock.advance(by: .seconds(3))
    try await call.answered()
  }

  /// The gateway rings it again before it hears of the refusal.
  @Test func aCallThatIsRefusedInAnOutageDoesNotRingAgain() async throws {
    let world = try await CallsWorld.ready()
    let call = try await Self.incoming(world)
    let log = EventRecorder(call.events)
    var script = ScriptedGateway.Script()
    script.gatewayStates = [.trying, .registered]
    world.gateway.script = script
    world.gateway.cut()
    await log.state("RECONNECTING")
    call.hangup()
    world.clock.advance(by: .seconds(15))
    _ = try await world.gateway.request(.gatewayState, count: 2)
    world.gateway.invite(Self.id)
    world.clock.advance(by: .seconds(3))
    try await world.client.ready()
    _ = try await world.gateway.request(.bye)
    #expect(world.log.count("incomingCall") == 1)
    #expect(world.client.calls.isEmpty)
  }

  @Test func aHoldThatIsTakenBackInAnOutageIsTold() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    world.gateway.cut()
    await log.state("RECONNECTING")
    call.hold()
    call.unhold()
    #expect(await log.failure(.callHoldFailed) != nil)
  }

  @Test func aClientThatMayNotReconnectIsToldWhyItEnded() async throws {
    let config = TxConfig(sipUser: "alice", password: "secret", reconnectClient: false)
    let world = try await CallsWorld.ready(config: config)
    world.gateway.cut()
    #expect(await world.log.failure(.callConnectionLost) != nil)
    var script = ScriptedGateway.Script()
    script.gatewayStates = [.trying]
    let never = CallsWorld(script)
    try never.connect(config)
    for count in 1...3 {
      _ = try await never.gateway.request(.gatewayState, count: count)
      never.clock.advance(by: .seconds(3))
    }
    let failure = try #require(await never.log.failure(.gatewayNotRegistered))
    guard case .serverError(.gatewayNotRegistered) = TxError(failure) else {
      Issue.record("\(String(describing: TxError(failure)))")
      return
    }
  }

  // MARK: Logins

  @Test func aRefusedNewTokenIsNotUsedOnTheNextConnection() async throws {
    var script = ScriptedGateway.Script()
    script.users = ["alice": "secret"]
    let world = try await CallsWorld.ready(script)
    try world.client.updateLogin(txConfig: TxConfig(token: "wrong"))
    _ = await world.log.failure(.callLoginRefused)
    world.gateway.cut()
    _ = await world.log.failure(.callConnectionLost)
    world.clock.advance(by: .seconds(15))
    try await world.client.ready()
  }

  @Test func aPushTokenThatComesDuringALoginIsToldAfterIt() async throws {
    var script = ScriptedGateway.Script()
    script.gatewayStates = [.trying, .registered]
    let world = CallsWorld(script)
    try world.connect()
    _ = try await world.gateway.request(.gatewayState)
    try world.client.updatePushToken("fresh")
    #expect(Self.logins(world) == 1)
    world.clock.advance(by: .seconds(3))
    guard case .login(let login) = try await world.gateway.request(.login, count: 2) else { return }
    #expect(login.userVariables["push_device_token"] == "fresh")
    await world.log.next("loginRefreshed")
  }

  @Test func aTokenWhoseEndCannotBeIsTaken() async throws {
    let payload = Data(#"{"exp":-9223372036854775808}"#.utf8).base64EncodedString()
    let token = "eyJhbGciOiJub25lIn0.\(payload.replacing("=", with: "")).x"
    let world = try await CallsWorld.ready(config: TxConfig(token: token))
    #expect(world.client.isRegistered)
  }

  // MARK: Goodbyes

  @Test func aDisconnectAlsoEndsAMove() async throws {
    var script = ScriptedGateway.Script()
    script.replies[.bye] = [.drop]
    let world = try await CallsWorld.ready(script)
    _ = try await world.activeCall()
    try world.client.connect(txConfig: CallsWorld.config, serverConfiguration: Self.other)
    _ = try await world.gateway.request(.bye)
    world.client.disconnect()
    world.clock.advance(by: .seconds(5))
    await world.client.disconnected()
    #expect(!world.client.isConnected())
    #expect(Self.logins(world) == 1)
  }

  /// A client in a call with a gateway that takes a second over a goodbye.
  private static func talking() async throws -> CallsWorld {
    var script = ScriptedGateway.Script()
    script.replies[.bye] = [.delayed(.seconds(1))]
    let world = try await CallsWorld.ready(script)
    _ = try await world.activeCall()
    return world
  }

  @Test func aClientThatMovedFollowsTheNetwork() async throws {
    let world = try await Self.talking()
    try world.client.connect(txConfig: CallsWorld.config, serverConfiguration: Self.other)
    _ = try await world.gateway.request(.bye)
    world.clock.advance(by: .seconds(1))
    _ = try await world.gateway.request(.login, count: 2)
    try await world.client.ready()
    world.paths.change(to: Self.elsewhere)
    _ = try await world.gateway.request(.login, count: 3)
  }

  @Test func whatIsReadyAfterADisconnectIsTheNextConnection() async throws {
    let world = try await Self.talking()
    world.client.disconnect()
    try world.connect()
    let waiting = Task { try await world.client.ready() }
    _ = try await world.gateway.request(.bye)
    world.clock.advance(by: .seconds(1))
    try await waiting.value
    #expect(Self.logins(world) == 2)
    _ = try await world.activeCall("carol")
  }

  @Test func aClientThatLeavesIsNotReadyAndEndsWhatComesMeanwhile() async throws {
    var script = ScriptedGateway.Script()
    script.replies[.bye] = [.drop]
    let world = try await CallsWorld.ready(script)
    _ = try await world.activeCall()
    world.client.disconnect()
    _ = try await world.gateway.request(.bye)
    #expect(!world.client.isRegistered)
    await #expect(throws: VoiceFailure.self) { try await world.client.ready() }
    let late = try await Self.incoming(world)
    world.clock.advance(by: .seconds(5))
    _ = try await late.ended()
    #expect(world.client.calls.isEmpty)
  }

  // MARK: Readers

  @Test func whoWaitsForACallOfAReleasedClientIsTold() async throws {
    let gateway = ScriptedGateway(clock: MonotonicClock())
    var client: TxClient? = TxClient(media: ScriptedMedia(), transport: gateway.transport, paths: nil)
    try client?.connect(txConfig: CallsWorld.config, serverConfiguration: CallsWorld.server)
    let call = try #require(try await client?.call("bob"))
    try await call.answered()
    let log = EventRecorder(call.events)
    let waiting = Task { try await call.ended() }
    client = nil
    _ = try await waiting.value
    #expect(await log.ended() != nil)
  }

  @Test func theAudioOfACallWithoutMediaEndsWithTheCall() async throws {
    let world = try await CallsWorld.ready()
    let call = try await Self.incoming(world)
    let listening = Task { for await _ in call.audio.frames {} }
    let speaking = Task { try await call.audio.send([Int16](repeating: 1, count: 96_000)) }
    world.gateway.bye(Self.id)
    await listening.value
    await #expect(throws: VoiceFailure.self) { try await speaking.value }
  }

  // MARK: Candidates

  /// What the media of a call do that rings while candidates and their end come, and is answered then.
  private static func steps(after candidates: [String], in world: CallsWorld) async throws
    -> [ScriptedMediaPeer.Step]
  {
    let call = try await Self.incoming(world)
    for line in candidates {
      world.gateway.send(
        .candidate(CandidateMessage(callID: Self.id, candidate: line, sdpMid: "0", sdpMLineIndex: 0)))
    }
    world.gateway.send(.endOfCandidates(CallReference(callID: Self.id)))
    call.answer()
    _ = try await world.gateway.request(.answer)
    return try #require(world.peer(of: call)).steps
  }

  @Test func candidatesThatComeWhileACallRingsAreKeptForItsMedia() async throws {
    let world = try await CallsWorld.ready()
    let line = "candidate:1 1 udp 2122260223 192.0.2.1 5000 typ host"
    let steps = try await Self.steps(after: [line], in: world)
    #expect(
      steps == [
        .madeAnswer(isReattach: false),
        .addedCandidate(MediaCandidate(line: line, sdpMid: "0", sdpMLineIndex: 0)), .addedCandidate(nil),
      ])
  }

  @Test func candidatesThatAreTooManyForARingingCallAreLeftOutWithAWarning() async throws {
    let lines = LogLines()
    let world = try await CallsWorld.ready(
      config: TxConfig(sipUser: "alice", password: "secret", logLevel: .all, customLogger: lines))
    let candidates = (1...70).map { "candidate:\($0) 1 udp 2122260223 192.0.2.1 5000 typ host" }
    let steps = try await Self.steps(after: candidates, in: world)
    #expect(steps.count { if case .addedCandidate(.some) = $0 { true } else { false } } == 64)
    #expect(steps.last == .addedCandidate(nil))
    #expect(lines.all.count { $0.message.contains("too many wait for the call's media") } == 6)
  }

  @Test func anAnswerTricklesIfTheConfigurationSaysSo() async throws {
    let world = try await CallsWorld.ready(
      config: TxConfig(sipUser: "alice", password: "secret", useTrickleIce: true))
    let call = try await Self.incoming(world)
    #expect(call.useTrickleIce)
    call.answer()
    guard case .answer(let answer) = try await world.gateway.request(.answer) else { return }
    #expect(answer.isTrickled == true)
  }
}
