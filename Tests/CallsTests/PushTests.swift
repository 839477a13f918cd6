import CallSignaling
import Calls
import Foundation
import Testing
import VoiceCore
import VoiceTesting

/// A push message woke the app for a call (telnyx.md sections 1.1, 2.2 and 3.7).
@Suite(.timeLimit(.minutes(4))) struct PushTests {
  static let pushed = "1b0c9f4e-7a1f-4f0e-9e6b-0f6f3a1b2c3d"

  private func woken(
    _ script: ScriptedGateway.Script = .init(), callID: String? = Self.pushed
  ) throws -> CallsWorld {
    let world = CallsWorld(script)
    var push = ["voice_sdk_id": "VSDK1abc"]
    push["call_id"] = callID
    try world.client.processVoIPNotification(
      txConfig: TxConfig(sipUser: "alice", password: "secret", pushDeviceToken: "token"),
      serverConfiguration: CallsWorld.server, pushMetaData: push)
    return world
  }

  @Test func aPushedCallIsAskedForAndTold() async throws {
    let world = try self.woken()
    guard case .login(let login) = try await world.gateway.request(.login) else { return }
    #expect(login.fromPush == true)
    guard case .attachCalls(let attach) = try await world.gateway.request(.attachCalls) else { return }
    #expect(attach.pushProvider == "ios")
    #expect(attach.userVariables["push_notification_environment"]?.stringValue == "production")
    world.gateway.invite(CallID(Self.pushed))
    await world.log.next("pushCall")
    #expect(
      world.log.names.filter { ["incomingCall", "pushCall"].contains($0) } == ["incomingCall", "pushCall"])
    // It came, so nobody waits for it any more; a further call is an ordinary one.
    world.clock.advance(by: .seconds(11))
    world.gateway.invite(CallID("2b0c9f4e-7a1f-4f0e-9e6b-0f6f3a1b2c3d"))
    let count = world.log.count("incomingCall")
    while world.log.count("incomingCall") < 2 { await Task.yield() }
    #expect(count <= 2)
    #expect(world.log.count("pushCall") == 1)
    #expect(world.log.count("pushedCallEnded") == 0)
  }

  @Test func aPushedCallThatDoesNotComeEndsAfterTenSeconds() async throws {
    let world = try self.woken()
    _ = try await world.gateway.request(.attachCalls)
    world.clock.advance(by: .milliseconds(9_999))
    #expect(world.log.count("pushedCallEnded") == 0)
    world.clock.advance(by: .milliseconds(1))
    let event = await world.log.first { if case .pushedCallEnded = $0 { true } else { false } }
    guard case .pushedCallEnded(let id, let reason)? = event else { return }
    #expect(id?.uuidString.lowercased() == Self.pushed)
    #expect(reason.cause == "ORIGINATOR_CANCEL" && reason.causeCode == 487)
    #expect(reason.sipCode == 487 && reason.sipReason == "Request Terminated")
    let failure = try #require(await world.log.failure(.callNotFound))
    guard case .callFailed(.callNotFound) = TxError(failure) else {
      Issue.record("not the documented form")
      return
    }
    #expect(world.client.isRegistered)
  }

  @Test func aPushedCallThatTheGatewayDoesNotKnowEndsAtOnce() async throws {
    var script = ScriptedGateway.Script()
    script.replies[.attachCalls] = [.error(.callDoesNotExist())]
    let world = try self.woken(script)
    await world.log.next("pushedCallEnded")
    #expect(world.log.count("call.request.refused") == 0)
  }

  @Test(arguments: [nil, "", "no id at all"]) func aPushThatNamesNoCallMeansTheFirst(id: String?) async throws
  {
    let world = try self.woken(callID: id)
    _ = try await world.gateway.request(.attachCalls)
    world.gateway.invite(CallID(Self.pushed))
    await world.log.next("pushCall")
  }

  @Test func aLaterLoginIsNoneOfAPush() async throws {
    let world = try self.woken()
    _ = try await world.gateway.request(.attachCalls)
    world.gateway.cut()
    world.clock.advance(by: .seconds(1))
    guard case .login(let login) = try await world.gateway.request(.login, count: 2) else { return }
    #expect(login.fromPush != true)
    #expect(world.gateway.requests.count { $0.method == .attachCalls } == 1)
  }
}
