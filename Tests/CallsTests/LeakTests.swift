import CallSignaling
import Calls
import Foundation
import Testing
import VoiceCore
import VoiceTesting

@Suite(.timeLimit(.minutes(4))) struct LeakTests {
  @Test func aReleasedClientHangsUpAndLeavesNothing() async throws {
    let leaks = LeakCheck()
    let gateway = ScriptedGateway()
    do {
      let media = ScriptedMedia()
      leaks.track(media, as: "media")
      let client = TxClient(media: media, transport: gateway.transport, paths: nil)
      leaks.track(client, as: "client")
      try client.connect(txConfig: CallsWorld.config, serverConfiguration: CallsWorld.server)
      let call = try await client.call("bob")
      leaks.track(call, as: "call")
      try await call.answered()
    }
    _ = try await gateway.request(.bye)
    let left = await leaks.waitForRelease()
    #expect(left.isEmpty)
    #expect(gateway.connections == 0)
    #expect(gateway.calls.isEmpty)
  }

  @Test func clientsOfOneProcessShareNothing() async throws {
    let worlds = (0..<8).map { _ in CallsWorld() }
    for world in worlds { try world.connect() }
    for world in worlds { try await world.client.ready() }
    worlds[0].client.disconnect()
    worlds[1].gateway.cut()
    for world in worlds.dropFirst(2) { #expect(world.client.isRegistered) }
    _ = try await worlds[7].activeCall()
  }
}
