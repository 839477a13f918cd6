import CallSignaling
import Calls
import Foundation
import Testing
import VoiceCore
import VoiceTesting

/// Whoever waits for something of a client or a call can stop waiting; what was waited for goes on.
@Suite(.timeLimit(.minutes(4))) struct CancellationTests {
  @Test func waitingForTheRegistrationCanBeGivenUp() async throws {
    var script = ScriptedGateway.Script()
    script.gatewayStates = [nil]
    let world = CallsWorld(script)
    try world.connect()
    let wait = Task { try await world.client.ready() }
    _ = try await world.gateway.request(.gatewayState)
    wait.cancel()
    await #expect(throws: CancellationError.self) { try await wait.value }
    #expect(world.client.isConnected())
    await world.client.disconnected()
  }

  @Test func waitingForAnAnswerCanBeGivenUpAndTheCallRingsOn() async throws {
    var script = ScriptedGateway.Script()
    script.afterInvite = [.ringing]
    let world = try await CallsWorld.ready(script)
    let call = try await world.client.call("bob")
    await world.log.next("RINGING")
    let waits = [Task { try await call.answered() }, Task { _ = try await call.ended() }]
    for wait in waits {
      wait.cancel()
      await #expect(throws: CancellationError.self) { try await wait.value }
    }
    #expect(call.callState == .RINGING)
    call.hangup()
    _ = try await world.gateway.request(.bye)
  }

  @Test func waitingForAHoldCanBeGivenUpAndTheHoldIsStillConfirmed() async throws {
    var script = ScriptedGateway.Script()
    script.replies[.modify] = [.delayed(.seconds(2))]
    let world = try await CallsWorld.ready(script)
    let (call, log) = try await world.activeCall()
    let wait = Task { try await call.setHeld(true) }
    _ = try await world.gateway.request(.modify)
    wait.cancel()
    await #expect(throws: CancellationError.self) { try await wait.value }
    world.clock.advance(by: .seconds(2))
    await log.state("HELD")
    #expect(call.isHeld)
  }
}
