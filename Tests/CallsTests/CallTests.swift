import CallSignaling
import Calls
import Foundation
import Testing
import VoiceCore
import VoiceTesting

/// A call from end to end, with a gateway that works.
@Suite(.timeLimit(.minutes(4))) struct CallTests {
  @Test func anOutboundCallIsPlacedAnsweredAndEnded() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    #expect(call.callState == .ACTIVE)
    #expect(world.client.calls.count == 1)
    call.hangup()
    #expect(call.callState == .DONE(reason: nil))
    let reason = try #require(await log.ended())
    #expect(reason.cause == "NORMAL_CLEARING")
    #expect(reason.causeCode == 16)
    #expect(reason.origin == .local)
    await world.log.next("callReported")
    #expect(
      world.log.names.filter { ["NEW", "CONNECTING", "RINGING", "ACTIVE", "DONE"].contains($0) } == [
        "CONNECTING", "RINGING", "ACTIVE", "DONE",
      ])
    guard case .bye(let bye) = try await world.gateway.request(.bye) else { return }
    #expect(bye.cause == "NORMAL_CLEARING")
    #expect(world.client.calls.isEmpty)
    await world.log.next("callReported")
    #expect(world.log.count("DONE") == 1)
    #expect(world.log.count("remoteCallEnded") == 0)
    #expect(world.gateway.calls.isEmpty)
  }

  @Test func anInviteSaysWhatTheAppSaid() async throws {
    let world = try await CallsWorld.ready()
    let id = UUID()
    let call = try world.client.newCall(
      callerName: "Alice", callerNumber: "1001", destinationNumber: "bob", callId: id, clientState: "state",
      customHeaders: ["X-T": "1"],
      preferredCodecs: [TxCodecCapability(mimeType: "audio/opus", clockRate: 48_000, channels: 2)])
    try await call.answered()
    guard case .invite(let invite) = try await world.gateway.request(.invite) else { return }
    #expect(invite.dialog.callID == CallID(id.uuidString))
    #expect(invite.dialog.destinationNumber == "bob")
    #expect(invite.dialog.remoteCallerIDName == "Outbound Call")
    #expect(invite.dialog.callerIDName == "Alice")
    #expect(invite.dialog.callerIDNumber == "1001")
    #expect(invite.dialog.clientState == "c3RhdGU=")
    #expect(invite.dialog.customHeaders == [CustomHeader(name: "X-T", value: "1")])
    #expect(invite.dialog.preferredCodecs.map(\.mimeType) == ["audio/opus"])
    #expect(invite.sessionID == world.client.getSessionId())
    #expect(world.client.getCall(callId: id) === call)
  }

  @Test func anInboundCallRingsAndIsAnswered() async throws {
    let world = try await CallsWorld.ready()
    world.gateway.invite(
      CallID("5f0e2b0a-0000-4000-8000-000000000001"), headers: [CustomHeader(name: "X-A", value: "b")])
    guard
      case .incomingCall(let call)? = await world.log.first(where: {
        if case .incomingCall = $0 { true } else { false }
      })
    else { return }
    #expect(call.callState == .RINGING)
    #expect(call.callInfo?.callerName == "bob")
    #expect(call.inviteCustomHeaders == ["X-A": "b"])
    call.answer(customHeaders: ["X-B": "c"])
    try await call.answered()
    guard case .answer(let answer) = try await world.gateway.request(.answer) else { return }
    #expect(answer.dialog.customHeaders == [CustomHeader(name: "X-B", value: "c")])
    world.gateway.bye(CallID("5F0E2B0A-0000-4000-8000-000000000001"))
    let reason = try await call.ended()
    #expect(reason.origin == .remote)
    await world.log.next("remoteCallEnded")
    #expect(
      world.log.names.filter { ["incomingCall", "RINGING", "CONNECTING", "ACTIVE", "DONE"].contains($0) }
        == ["incomingCall", "RINGING", "CONNECTING", "ACTIVE", "DONE"])
  }

  @Test func aRefusedInboundCallIsBusy() async throws {
    let world = try await CallsWorld.ready()
    world.gateway.invite(CallID("a"))
    guard
      case .incomingCall(let call)? = await world.log.first(where: {
        if case .incomingCall = $0 { true } else { false }
      })
    else { return }
    call.hangup()
    guard case .bye(let bye) = try await world.gateway.request(.bye) else { return }
    // With 16 a gateway offers the call again (telnyx.md section 3.4).
    #expect(bye.cause == "USER_BUSY")
    #expect(bye.callID == CallID("a"))
    #expect(try await call.ended().causeCode == 17)
  }

  @Test func hangingUpBeforeTheAnswerCancels() async throws {
    var script = ScriptedGateway.Script()
    script.afterInvite = [.ringing]
    let world = try await CallsWorld.ready(script)
    let call = try await world.client.call("bob")
    await world.log.next("RINGING")
    call.hangup()
    guard case .bye(let bye) = try await world.gateway.request(.bye) else { return }
    #expect(bye.cause == "ORIGINATOR_CANCEL")
    await #expect(throws: VoiceFailure(.callRequestCancelled)) { try await call.answered() }
  }

  @Test func anAnswerWithoutDescriptionUsesThatOfEarlyMedia() async throws {
    var script = ScriptedGateway.Script()
    script.afterInvite = [.ringing, .media, .answerWithoutSDP]
    let world = try await CallsWorld.ready(script)
    let (call, _) = try await world.activeCall()
    let applied = (world.peer(of: call)?.steps ?? []).compactMap { step -> (SDP, Bool)? in
      if case .appliedRemote(let sdp, let isFinal) = step { (sdp, isFinal) } else { nil }
    }
    #expect(applied.map(\.1) == [false, true])
    #expect(applied.first?.0 == applied.last?.0)
  }

  @Test func holdIsConfirmedByTheGateway() async throws {
    var script = ScriptedGateway.Script()
    script.replies[.modify] = [.delayed(.seconds(2))]
    let world = try await CallsWorld.ready(script)
    let (call, log) = try await world.activeCall()
    call.hold()
    _ = try await world.gateway.request(.modify)
    #expect(call.callState == .ACTIVE)
    world.clock.advance(by: .seconds(2))
    await log.state("HELD")
    #expect(call.isHeld)
    try await call.setHeld(false)
    #expect(call.callState == .ACTIVE)
    call.toggleHold()
    await log.state("HELD", from: log.events.count - 1)
  }

  @Test func aRefusedHoldIsReportedAndTakenBack() async throws {
    var script = ScriptedGateway.Script()
    script.replies[.modify] = [.error(RPCError(code: RPCErrorCode(-32602), message: "no"))]
    let world = try await CallsWorld.ready(script)
    let (call, _) = try await world.activeCall()
    await #expect(throws: VoiceFailure.self) { try await call.setHeld(true) }
    #expect(call.callState == .ACTIVE)
    let failure = await world.log.failure(.callHoldFailed)
    #expect(failure != nil)
  }

  /// Waiting for the hold returned as if the call was held, and tones were dropped without a word.
  @Test func aCallThatIsOverCanNeitherBeHeldNorGetTones() async throws {
    let world = try await CallsWorld.ready()
    let (call, _) = try await world.activeCall()
    call.hangup()
    _ = try await call.ended()
    await #expect(throws: VoiceFailure(.callStateUnsuitable)) { try await call.setHeld(true) }
    _ = try #require(await world.log.failure(.callStateUnsuitable))
    let count = world.log.events.count
    call.dtmf(dtmf: "1")
    _ = try #require(await world.log.failure(.callStateUnsuitable, from: count))
    // A second hang-up is no mistake.
    call.hangup()
    #expect(world.log.count("DONE") == 1)
  }

  @Test func tonesAreSentInOrderAndConfirmed() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    call.dtmf(dtmf: "1")
    call.dtmf(dtmf: "2#a")
    _ = await log.first { if case .tonesDelivered("2#A") = $0 { true } else { false } }
    let sent = world.gateway.requests.compactMap { if case .info(let info) = $0 { info.dtmf } else { nil } }
    #expect(sent == ["1", "2#A"])
    call.dtmf(dtmf: "1 2")
    #expect(await log.failure(.callTonesInvalid) != nil)
  }

  @Test(arguments: [
    ("USER_BUSY", 486, VoiceFailure.Code.callBusy), ("CALL_REJECTED", 603, .callRejected),
    ("UNALLOCATED_NUMBER", 404, .callDestinationUnknown), ("NO_ANSWER", 480, .callNotAnswered),
    ("PICKED_OFF", 200, .callAnsweredElsewhere), ("USER_NOT_REGISTERED", 480, .callDestinationNotRegistered),
  ])
  func theEndSaysWhy(cause: String, sip: Int, code: VoiceFailure.Code) async throws {
    var script = ScriptedGateway.Script()
    script.afterInvite = [.ringing, .bye(try #require(HangupCause(name: cause, code: nil)), sipCode: sip)]
    let world = try await CallsWorld.ready(script)
    let call = try await world.client.call("bob")
    do {
      try await call.answered()
      Issue.record("the call was answered")
    } catch let failure as VoiceFailure {
      #expect(failure.code == code)
    }
    guard case .DONE(let reason?) = call.callState else { return }
    #expect(reason.cause == cause)
    #expect(reason.sipCode == sip)
    // The end of a call is a result, not an error of the client.
    #expect(!world.log.names.contains(code.rawValue))
  }

  @Test func aRefusedInviteEndsTheCallWithOneError() async throws {
    var script = ScriptedGateway.Script()
    script.replies[.invite] = [.error(RPCError(code: .sessionError, message: "CODEC ERROR"))]
    let world = try await CallsWorld.ready(script)
    let call = try await world.client.call("bob")
    await #expect(throws: VoiceFailure.self) { try await call.answered() }
    let failure = try #require(await world.log.failure(.callSetupFailed))
    guard case .signalingServerError(let code, let message) = TxError(failure) else {
      Issue.record("not the documented form")
      return
    }
    #expect(code == -32002)
    #expect(message == "CODEC ERROR")
    await world.log.next("callReported")
    #expect(world.log.count("call.setup.failed") == 1)
    #expect(world.log.count("DONE") == 1)
  }

  @Test func anUnansweredCallEndsAfterTheRingTime() async throws {
    var script = ScriptedGateway.Script()
    script.afterInvite = [.ringing]
    var config = CallsWorld.config
    config.ringTimeout = .seconds(30)
    let world = try await CallsWorld.ready(script, config: config)
    let call = try await world.client.call("bob")
    let log = EventRecorder(call.events)
    await world.log.next("RINGING")
    world.clock.advance(by: .seconds(30))
    #expect(await log.ended()?.origin == .timeout)
    _ = try await world.gateway.request(.bye)
  }

  @Test func theMicrophoneStaysMuted() async throws {
    let world = try await CallsWorld.ready()
    let (call, _) = try await world.activeCall()
    call.muteAudio()
    #expect(call.isMuted)
    #expect(world.peer(of: call)?.isMuted == true)
    call.unmuteAudio()
    #expect(world.peer(of: call)?.isMuted == false)
  }

  @Test func aReportSaysWhatHappened() async throws {
    let world = try await CallsWorld.ready()
    let (call, _) = try await world.activeCall()
    world.clock.advance(by: .milliseconds(700))
    call.hangup()
    let report = try #require(call.report)
    #expect(report.direction == .outbound)
    #expect(report.states.map(\.state.value) == ["NEW", "CONNECTING", "RINGING", "ACTIVE", "DONE"])
    #expect(report.duration == .milliseconds(700))
    #expect(report.outages == 0)
    #expect(report.answeredAfter == .zero)
  }

  @Test func everyRequestOfTheGatewayIsConfirmed() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    world.gateway.bye(CallID(try #require(call.callInfo).callId.uuidString))
    _ = await log.ended()
    // ringing, answer, bye
    #expect(world.gateway.acknowledgements == 3)
  }

  @Test func severalCallsGoOnSideBySide() async throws {
    let world = try await CallsWorld.ready()
    let (first, _) = try await world.activeCall("bob")
    let (second, _) = try await world.activeCall("carol")
    #expect(world.client.calls.count == 2)
    first.hangup()
    #expect(second.callState == .ACTIVE)
    #expect(world.client.calls.count == 1)
  }

  @Test func aPeerThatCannotOfferEndsTheCall() async throws {
    var media = ScriptedMedia.Script()
    media.offerFailure = VoiceFailure(.noInputDevice)
    let world = try await CallsWorld.ready(media: media)
    let call = try await world.client.call("bob")
    let reason = try await call.ended()
    #expect(reason.failure?.code == .callMediaFailed)
    #expect(reason.origin == .media)
    #expect(world.gateway.requests.allSatisfy { $0.method != .invite && $0.method != .bye })
  }

  @Test func aClientWithoutMediaSaysSo() async throws {
    let gateway = ScriptedGateway()
    let client = TxClient(transport: gateway.transport, paths: nil)
    try client.connect(txConfig: CallsWorld.config, serverConfiguration: CallsWorld.server)
    let call = try await client.call("bob")
    #expect(try await call.ended().failure?.code == .callMediaFailed)
  }
}
