import Foundation
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

/// The documented flows, played by a client that shares no code with the gateway (telnyx.md sections 2 and 3).
@Suite struct CallPeerTests {
  @Test func playsTheDocumentedFlows() async throws {
    try await withServer(CallPeer.configuration()) { server in
      try await CallPeer.play(
        [
          "two_clients", "without_acks", "verto_dialect", "mixed_dialects", "early_media", "causes",
          "refused_by_callee", "cancelled_by_caller", "rings_together", "reattach", "tells_later",
          "takeover",
          "duplicates", "odd_requests",
        ], against: server)
      let metrics = try await server.get("/metrics").body
      #expect(metrics.contains("voice_calls_active 0"))
      #expect(metrics.contains("voice_call_legs 0"))
      #expect(metrics.contains(#"voice_calls_total{cause="PICKED_OFF"}"#) == false)
      #expect(metrics.contains(#"voice_calls_total{cause="NORMAL_CLEARING"}"#))
    }
  }

  @Test func letsThoseInWhoProveWhoTheyAre() async throws {
    let folder = try Fixture.Folder()
    let key = try SigningKey.load(folder: folder.path)
    let tokens = await TokenAuthority(
      key: key, lifetime: .seconds(600), now: { Int64(Date().timeIntervalSince1970) })
    let token = try await tokens.issueCallToken(for: "alice").text
    try await withServer(CallPeer.configuration(), dataFolder: folder.path) { server in
      try await CallPeer.play(["logins", "wrong_logins_end"], against: server, token: token)
    }
  }

  @Test func closesTheConnectionsOfARemovedUserAfterItsCalls() async throws {
    let folder = try Fixture.Folder()
    let users = try CallHistory(dataFolder: folder.path)
    try users.setUser("erin", password: "erin-password")
    try await withServer(CallPeer.configuration(), dataFolder: folder.path) { server in
      try await CallPeer.play(["removed_user"], against: server) { report in
        if report.event == "remove" { #expect((try? users.removeUser("erin")) == true) }
      }
    }
    withExtendedLifetime(folder) {}
  }

  @Test func standsFloods() async throws {
    let configuration = CallPeer.configuration { $0.limits.loginsPerSecond = 1 }
    try await withServer(configuration) { server in
      try await CallPeer.play(["login_flood"], against: server)
    }
    try await withServer(CallPeer.configuration()) { server in
      try await CallPeer.play(["large_frame", "flood_of_frames", "two_clients"], against: server)
    }
  }

  @Test func endsCallsWithACauseWhenTheServerStops() async throws {
    let folder = try Fixture.Folder()
    try await withServer(CallPeer.configuration(), dataFolder: folder.path) { server in
      try await CallPeer.play(["waits_for_shutdown"], against: server) { report in
        if report.event == "talking" { server.server.beginGracefulShutdown() }
      }
    }
    // The record was written before the server was gone.
    let calls = try CallStore(dataFolder: folder.path).calls(limit: 10)
    #expect(calls.map(\.cause) == ["SYSTEM_SHUTDOWN"])
    #expect(calls.first?.endedBy == "gateway" && calls.first?.answered != nil)
    withExtendedLifetime(folder) {}
  }
}

extension SigningKey {
  static func load(folder: String) throws -> SigningKey {
    var generator = SystemRandomNumberGenerator()
    return try Self.load(folder: folder, using: &generator).key
  }
}
