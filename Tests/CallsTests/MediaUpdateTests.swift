import CallSignaling
import Calls
import Foundation
import Testing
import VoiceCore
import VoiceTesting

/// The other side changes its media in the call, by an ICE restart for example (telnyx.md section 2.2, updateMedia).
@Suite(.timeLimit(.minutes(4))) struct MediaUpdateTests {
  private func update(_ world: CallsWorld, _ id: CallID, sdp: SDP? = .scripted(number: 77)) {
    world.gateway.send(.modify(ModifyRequest(callID: id, action: .updateMedia, sdp: sdp)))
  }

  private func id(of call: Call) throws -> CallID {
    CallID(try #require(call.callInfo).callId.uuidString)
  }

  @Test func anOfferInTheCallIsAnsweredWithADescription() async throws {
    let world = try await CallsWorld.ready()
    let (call, _) = try await world.activeCall()
    let before = world.gateway.acknowledgements
    let id = try self.id(of: call)
    self.update(world, id)
    while world.gateway.acknowledgements == before { await Task.yield() }
    let result = try #require(world.gateway.results.last)
    #expect(result["action"]?.stringValue == "updateMedia")
    #expect(result["callID"]?.stringValue.map { CallID($0) } == id)
    #expect(result["sdp"]?.stringValue?.contains("m=audio") == true)
    #expect(world.peer(of: call)?.steps.contains(.madeAnswer(isReattach: false)) == true)
    #expect(call.callState == .ACTIVE)
    #expect(world.log.count("unhandled") == 0)
  }

  @Test func anOfferThatThePeerDoesNotTakeIsRefusedAndTheCallGoesOn() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    var script = world.media.script
    script.answerFailure = VoiceFailure(.callMediaFailed)
    world.media.script = script
    let before = world.gateway.acknowledgements
    let results = world.gateway.results.count
    self.update(world, try self.id(of: call))
    _ = try #require(await log.failure(.callMediaFailed))
    while world.gateway.acknowledgements == before { await Task.yield() }
    #expect(world.gateway.results.count == results, "an error was expected")
    #expect(call.callState == .ACTIVE)
  }

  @Test func anOfferForACallThatIsNotThereOrRingsIsRefused() async throws {
    var script = ScriptedGateway.Script()
    script.afterInvite = [.ringing]
    let world = try await CallsWorld.ready(script)
    let call = try await world.client.call("bob")
    await world.log.next("RINGING")
    for id in [CallID("nobody"), try self.id(of: call)] {
      let before = world.gateway.acknowledgements
      let results = world.gateway.results.count
      self.update(world, id)
      while world.gateway.acknowledgements == before { await Task.yield() }
      #expect(world.gateway.results.count == results)
    }
    #expect(call.callState == .RINGING)
  }

  @Test func aHoldOfTheOtherSideIsConfirmedAndToldOnce() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    let id = try self.id(of: call)
    for (action, isHeld) in [(ModifyAction.hold, true), (.hold, true), (.unhold, false)] {
      let before = world.gateway.acknowledgements
      world.gateway.send(.modify(ModifyRequest(callID: id, action: action)))
      while world.gateway.acknowledgements == before || call.isHeldByOtherSide != isHeld {
        await Task.yield()
      }
    }
    _ = await log.first { if case .heldByOtherSide(false) = $0 { true } else { false } }
    let told = log.events.compactMap { if case .heldByOtherSide(let isHeld) = $0 { isHeld } else { nil } }
    #expect(told == [true, false])
    // Held is what this side does.
    #expect(call.callState == .ACTIVE && !call.isHeld)
    #expect(world.log.count("unhandled") == 0)
  }

  @Test func aHoldOfACallThatIsNotThereChangesNothing() async throws {
    let world = try await CallsWorld.ready()
    let (call, _) = try await world.activeCall()
    let before = world.gateway.acknowledgements
    world.gateway.send(.modify(ModifyRequest(callID: CallID("nobody"), action: .hold)))
    while world.gateway.acknowledgements == before { await Task.yield() }
    #expect(!call.isHeldByOtherSide)
  }

  /// What this client does not know is not lost.
  @Test func aChangeThatIsNotKnownIsSurfaced() async throws {
    let world = try await CallsWorld.ready()
    let (call, _) = try await world.activeCall()
    world.gateway.send(.modify(ModifyRequest(callID: try self.id(of: call), action: .transfer)))
    let event = await world.log.first { if case .unhandled = $0 { true } else { false } }
    guard case .unhandled(.modify(let message))? = event else { return }
    #expect(message.action == .transfer)
  }
}
