import CallSignaling
import Calls
import Foundation
import Synchronization
import Testing
import VoiceCore
import VoicePlatform
import VoiceTesting

/// Outages: the two axes of docs/reconnection.md.
@Suite(.timeLimit(.minutes(4))) struct RecoveryTests {
  private static let elsewhere = NetworkPath(interfaces: [.init(name: "wlan0", addresses: ["192.0.2.9"])])
  private static let nowhere = NetworkPath(interfaces: [])

  /// Lets the next wait of the retry policy pass.
  private func retry(_ world: CallsWorld) { world.clock.advance(by: .seconds(15)) }

  @Test func anIdleClientComesBackAfterACut() async throws {
    let world = try await CallsWorld.ready()
    world.gateway.cut()
    let failure = try #require(await world.log.failure(.callConnectionLost))
    guard case .socketConnectionFailed(.socketCancelled) = TxError(failure),
      case .automatic = failure.recovery
    else {
      Issue.record("\(failure)")
      return
    }
    #expect(world.log.count("socketDisconnected") == 1)
    self.retry(world)
    try await world.client.ready()
    #expect(world.log.count("call.connection.lost") == 1)
  }

  @Test(arguments: [1000, 1001, 1012, 4000]) func anIdleClientComesBackAfterAServerSideClose(code: Int)
    async throws
  {
    let world = try await CallsWorld.ready()
    world.gateway.close(code)
    #expect(await world.log.failure(.callConnectionLost) != nil)
    self.retry(world)
    try await world.client.ready()
  }

  @Test func aSilentConnectionIsNoticedAfter20SecondsWithoutACall() async throws {
    let world = try await CallsWorld.ready()
    world.gateway.goSilent()
    let began = world.clock.now
    world.clock.advance(by: .seconds(15))
    await world.clock.waitForTimer(at: began.advanced(by: .seconds(20)))
    world.clock.advance(by: .milliseconds(4_999))
    #expect(world.client.isConnected())
    world.clock.advance(by: .milliseconds(1))
    #expect(await world.log.failure(.callConnectionSilent) != nil)
    self.retry(world)
    try await world.client.ready()
  }

  @Test func aSilentConnectionIsNoticedAfter3500MillisecondsInACall() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    world.gateway.goSilent()
    let began = world.clock.now
    world.clock.advance(by: .seconds(2))
    await world.clock.waitForTimer(at: began.advanced(by: .milliseconds(3_500)))
    world.clock.advance(by: .milliseconds(1_500))
    #expect(await world.log.failure(.callConnectionSilent) != nil)
    await log.state("RECONNECTING")
    self.retry(world)
    await log.state("ACTIVE")
    #expect(call.callState == .ACTIVE)
  }

  @Test func everyCallIsReattachedAsTheSameObject() async throws {
    let world = try await CallsWorld.ready()
    let (first, firstLog) = try await world.activeCall("bob")
    let (second, secondLog) = try await world.activeCall("carol")
    try await second.setHeld(true)
    first.muteAudio()
    let ids = Set(world.client.calls.keys)
    world.gateway.cut()
    await firstLog.state("RECONNECTING")
    await secondLog.state("RECONNECTING")
    #expect(first.callState.getReason() == "Network switched")
    let (firstCount, secondCount) = (firstLog.events.count, secondLog.events.count)
    self.retry(world)
    await firstLog.state("ACTIVE", from: firstCount)
    await secondLog.state("HELD", from: secondCount)
    #expect(Set(world.client.calls.keys) == ids)
    #expect(world.client.calls[try #require(first.callInfo).callId] === first)
    #expect(first.isMuted)
    #expect(world.peer(of: first)?.isMuted == true)
    #expect(second.isHeld)
    #expect(world.media.made == 2)
    guard case .login(let login) = try await world.gateway.request(.login, count: 2) else { return }
    #expect(login.sessionID == world.client.getSessionId())
    #expect(login.attachesCalls)
    let attaches = world.gateway.requests.compactMap {
      if case .attach(let attach) = $0 { attach } else { nil }
    }
    #expect(attaches.count == 2)
    #expect(attaches.allSatisfy { $0.dialog.attach == true && $0.dialog.destinationNumber != nil })
  }

  @Test func aHangUpDuringAnOutageIsDeliveredAfterwards() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    world.gateway.cut()
    await log.state("RECONNECTING")
    call.hangup()
    #expect(call.callState == .DONE(reason: nil))
    #expect(!world.gateway.calls.isEmpty)
    self.retry(world)
    _ = try await world.gateway.request(.bye)
    try await world.client.ready()
    #expect(world.gateway.calls.isEmpty)
  }

  @Test func aHoldAndTonesDuringAnOutageAreDeliveredAfterwards() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    world.gateway.cut()
    await log.state("RECONNECTING")
    call.hold()
    call.dtmf(dtmf: "1")
    call.dtmf(dtmf: "2")
    world.paths.change(to: Self.elsewhere)
    _ = await log.first { if case .tonesDelivered("2") = $0 { true } else { false } }
    let sent = world.gateway.requests.compactMap { if case .info(let info) = $0 { info.dtmf } else { nil } }
    #expect(sent == ["1", "2"])
    await log.state("HELD")
  }

  @Test func tonesThatBecomeTooOldFailByName() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    var script = world.gateway.script
    script.refusals = Array(repeating: .unreachable, count: 200)
    world.gateway.script = script
    world.gateway.cut()
    await log.state("RECONNECTING")
    call.dtmf(dtmf: "1")
    world.clock.advance(by: .seconds(10))
    #expect(await log.failure(.callTonesUndelivered) != nil)
  }

  @Test func tonesThatMayHaveArrivedAreNotDoubled() async throws {
    var script = ScriptedGateway.Script()
    script.replies[.info] = [.cut]
    let world = try await CallsWorld.ready(script)
    let (call, log) = try await world.activeCall()
    call.dtmf(dtmf: "1")
    #expect(await log.failure(.callTonesUnconfirmed) != nil)
    let count = log.events.count
    self.retry(world)
    await log.state("ACTIVE", from: count)
    #expect(world.gateway.requests.count { $0.method == .info } == 1)
  }

  @Test func aNewPathReattachesAtOnce() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    let count = log.events.count
    let clientCount = world.log.events.count
    world.paths.change(to: Self.elsewhere)
    await log.state("RECONNECTING", from: count)
    await log.state("ACTIVE", from: count)
    #expect(call.callState == .ACTIVE)
    await world.log.next("ACTIVE", from: clientCount)
    #expect(world.log.count("socketConnected") == 2)
  }

  @Test func withoutANetworkACallIsDroppedAndComesBackWithIt() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    world.paths.change(to: Self.nowhere)
    await log.state("DROPPED")
    #expect(call.callState.getReason() == "Network lost")
    let count = log.events.count
    world.paths.change(to: Self.elsewhere)
    await log.state("ACTIVE", from: count)
  }

  @Test func aCallThatCannotBeKeptEndsAfterTheReconnectTime() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    var script = world.gateway.script
    script.refusals = Array(repeating: .unreachable, count: 1_000)
    world.gateway.script = script
    world.gateway.cut()
    await log.state("RECONNECTING")
    world.clock.advance(by: .seconds(60))
    let reason = try #require(await log.ended())
    #expect(reason.failure?.code == .callReconnectFailed)
    #expect(reason.origin == .network)
    let failure = try #require(await world.log.failure(.callReconnectFailed))
    guard case .callFailed(.reconnectFailed) = TxError(failure) else {
      Issue.record("not the documented form")
      return
    }
    #expect(world.log.count("DONE") == 1)
    #expect(call.report?.outages == 1)
    // The client itself goes on.
    script.refusals = []
    world.gateway.script = script
    self.retry(world)
    try await world.client.ready()
    _ = try await world.gateway.request(.bye)
  }

  @Test func aReconnectTimeOfTheAppCounts() async throws {
    let world = try await CallsWorld.ready(
      config: TxConfig(sipUser: "alice", password: "secret", reconnectTimeOut: 5))
    let (_, log) = try await world.activeCall()
    world.paths.change(to: Self.nowhere)
    await log.state("DROPPED")
    world.clock.advance(by: .seconds(5))
    #expect(await log.ended()?.failure?.code == .callReconnectFailed)
  }

  @Test func aCallThatTheGatewayForgotEnds() async throws {
    var script = ScriptedGateway.Script()
    script.remembersCalls = false
    let world = try await CallsWorld.ready(script)
    let (_, log) = try await world.activeCall()
    world.gateway.cut()
    await log.state("RECONNECTING")
    self.retry(world)
    #expect(await log.ended()?.failure?.code == .callNotReattached)
  }

  @Test func aPuntEndsTheCallsWithoutGoodbyes() async throws {
    let world = try await CallsWorld.ready()
    let (_, log) = try await world.activeCall()
    world.gateway.send(.punt())
    #expect(await log.ended()?.failure?.code == .callSessionTaken)
    #expect(await world.log.failure(.callSessionTaken) != nil)
    #expect(!world.gateway.requests.contains { $0.method == .bye })
    #expect(!world.client.isConnected())
  }

  @Test func theWholeAddressIsKeptAndTheRoutingTokenAdded() async throws {
    let recording = RecordingTransport(ScriptedGateway().transport)
    let clock = TestClock()
    let paths = ManualNetworkPathMonitor()
    let client = TxClient(media: ScriptedMedia(), transport: recording, paths: paths, clock: clock)
    try client.connect(txConfig: CallsWorld.config, serverConfiguration: CallsWorld.server)
    try await client.ready()
    let log = EventRecorder(client.events)
    paths.change(to: Self.elsewhere)
    await log.next("ready")
    #expect(
      recording.urls == [
        "ws://gateway.test:7443/calls?a=b", "ws://gateway.test:7443/calls?a=b&voice_sdk_id=VSDK1scripted",
      ])
  }

  @Test func aClientThatMayNotReconnectEndsItsCalls() async throws {
    let world = try await CallsWorld.ready(
      config: TxConfig(sipUser: "alice", password: "secret", reconnectClient: false))
    let (_, log) = try await world.activeCall()
    world.gateway.cut()
    #expect(await log.ended()?.failure?.code == .callReconnectFailed)
    #expect(world.gateway.connections == 0)
  }

  @Test func interruptedMediaIsRestartedAfterAGrace() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    world.peer(of: call)?.report(.interrupted)
    world.clock.advance(by: .seconds(3))
    _ = try await world.gateway.request(.modify)
    let count = log.events.count
    await log.state("RECONNECTING")
    await log.state("ACTIVE", from: max(0, count - 1))
    #expect(world.peer(of: call)?.steps.contains(.madeRestartOffer) == true)
  }

  @Test func aRefusedMediaRestartReattaches() async throws {
    var script = ScriptedGateway.Script()
    script.replies[.modify] = [.error(RPCError(code: .sessionError, message: "no"))]
    let world = try await CallsWorld.ready(script)
    let (call, log) = try await world.activeCall()
    let count = log.events.count
    world.peer(of: call)?.report(.failed)
    await log.state("RECONNECTING", from: count)
    _ = try await world.gateway.request(.attach)
    await log.state("ACTIVE", from: count)
  }

  @Test func aCallThatIsPlacedBeforeTheRegistrationWaitsForIt() async throws {
    var script = ScriptedGateway.Script()
    script.gatewayStates = [.trying, .registered]
    let world = CallsWorld(script)
    try world.connect()
    _ = try await world.gateway.request(.gatewayState)
    let call = try world.client.newCall(
      callerName: "", callerNumber: "", destinationNumber: "bob", callId: UUID())
    #expect(!world.gateway.requests.contains { $0.method == .invite })
    world.clock.advance(by: .seconds(3))
    try await call.answered()
  }
}

/// Remembers which addresses were dialed.
final class RecordingTransport: SignalingTransport {
  private let transport: any SignalingTransport
  private let opened = Mutex<[String]>([])

  init(_ transport: any SignalingTransport) { self.transport = transport }

  var urls: [String] { self.opened.withLock { $0 } }

  func open(
    _ url: String, onEvent: @escaping @Sendable (SignalingTransportEvent) -> Void
  ) -> any SignalingConnection {
    self.opened.withLock { $0.append(url) }
    return self.transport.open(url, onEvent: onEvent)
  }
}
