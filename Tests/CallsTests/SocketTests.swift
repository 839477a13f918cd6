import CallSignaling
import Calls
import Foundation
import Testing
import VoiceCore
import VoiceTesting

/// Over real sockets: how opening fails, and a call with the scripted gateway and with one written in Python.
@Suite(.timeLimit(.minutes(2))) struct SocketTests {
  private func client() -> (TxClient, EventRecorder<ClientEvent>) {
    let client = TxClient(media: ScriptedMedia(), paths: nil)
    return (client, EventRecorder(client.events))
  }

  private func connect(_ client: TxClient, _ url: String) throws {
    try client.connect(
      txConfig: CallsWorld.config,
      serverConfiguration: TxServerConfiguration(signalingServer: URL(string: url)))
  }

  @Test func aCallGoesOverASocket() async throws {
    let gateway = ScriptedGateway()
    let listener = try await gateway.listen()
    let (client, _) = self.client()
    try self.connect(client, listener.url)
    let call = try await client.call("bob")
    try await call.answered()
    try await call.setHeld(true)
    call.hangup()
    await client.disconnected()
    #expect(gateway.calls.isEmpty)
    await listener.close()
  }

  @Test func aCallOutlivesACutSocket() async throws {
    let gateway = ScriptedGateway()
    let listener = try await gateway.listen()
    let (client, log) = self.client()
    try self.connect(client, listener.url)
    let call = try await client.call("bob")
    try await call.answered()
    let events = EventRecorder(call.events)
    await log.next("ready")
    let count = log.events.count
    gateway.cut()
    await events.state("RECONNECTING")
    await log.next("ready", from: count)
    _ = await events.first { if case .stateUpdated(.ACTIVE) = $0 { true } else { false } }
    client.disconnect()
    await listener.close()
  }

  @Test func aPortWhereNothingListensIsReportedAndTriedAgain() async throws {
    let listener = try await ScriptedGateway().listen()
    await listener.close()
    let (client, log) = self.client()
    try self.connect(client, listener.url)
    let failure = try #require(await log.failure(.serverUnreachable))
    guard case .automatic = failure.recovery,
      case .socketConnectionFailed(.socketCancelled) = TxError(failure)
    else {
      Issue.record("\(failure)")
      return
    }
    client.disconnect()
  }

  @Test func aHostWithoutAddressIsReported() async throws {
    let (client, log) = self.client()
    try self.connect(client, "ws://no-such-host.invalid/")
    let failure = await log.failure(.serverUnreachable)
    #expect(failure?.message.contains("no-such-host.invalid") == true)
    client.disconnect()
  }

  @Test(arguments: ["integer-ids", "no-acks", "late-sdp", "verto"])
  func aGatewayInPythonPlaysTheDocumentedFlows(flow: String) async throws {
    try await withPeerProcess("Tests/Peers/call_gateway.py", arguments: [flow]) { peer in
      let port = try #require(try await peer.event("listening")["port"]?.int)
      let (client, _) = self.client()
      var config = CallsWorld.config
      if flow == "verto" { config.dialect = .verto }
      try client.connect(
        txConfig: config,
        serverConfiguration: TxServerConfiguration(
          signalingServer: URL(string: "ws://127.0.0.1:\(port)/calls?x=1")))
      let call = try await client.call("bob")
      try await call.answered()
      try await call.setHeld(true)
      try await call.setHeld(false)
      call.dtmf(dtmf: "5#")
      _ = try await peer.event("info")
      call.hangup()
      let bye = try await peer.event("bye")
      #expect(bye["cause"]?.string == "NORMAL_CLEARING")
      await client.disconnected()
    }
  }

  @Test func aGatewayInPythonOffersACallAgainAfterACut() async throws {
    try await withPeerProcess("Tests/Peers/call_gateway.py", arguments: ["cut-once"]) { peer in
      let port = try #require(try await peer.event("listening")["port"]?.int)
      let (client, _) = self.client()
      try self.connect(client, "ws://127.0.0.1:\(port)/")
      let call = try await client.call("bob")
      try await call.answered()
      let login = try await peer.event("login", where: { $0["number"]?.int == 2 })
      #expect(login["sessid"]?.string == client.getSessionId())
      #expect(login["attach_call"]?.string == "true")
      _ = try await peer.event("attached")
      while call.callState != .ACTIVE { await Task.yield() }
      call.hangup()
      _ = try await peer.event("bye")
      await client.disconnected()
    }
  }

  @Test func aGatewayInPythonCalls() async throws {
    try await withPeerProcess("Tests/Peers/call_gateway.py", arguments: ["calls"]) { peer in
      let port = try #require(try await peer.event("listening")["port"]?.int)
      let (client, log) = self.client()
      try self.connect(client, "ws://127.0.0.1:\(port)/")
      let event = await log.first { if case .incomingCall = $0 { true } else { false } }
      guard case .incomingCall(let call)? = event else { return }
      call.answer()
      let reason = try await call.ended()
      #expect(reason.cause == "CALL_REJECTED")
      #expect(reason.sipReason == "Dialed number is not included in whitelisted countries")
      #expect(reason.sipCode == 403)
      _ = try await peer.event("acknowledged", where: { $0["method"]?.string == "telnyx_rtc.bye" })
      client.disconnect()
    }
  }
}
