import Testing
import VoiceCore

@testable import VoiceServer

/// What the gateway does with sockets that keep RFC 6455, and with those that do not.
@Suite struct RawFrameTests {
  @Test func keepsTheRulesOfWebSockets() async throws {
    try await withServer(CallPeer.configuration()) { server in
      try await CallPeer.play(
        [
          "fragments_with_control_frames_between", "byte_by_byte", "many_in_one_packet", "closes_as_asked",
          "violations", "handshakes",
        ], script: "call_raw.py", against: server)
      #expect(try await server.get("/metrics").body.contains("voice_call_connections"))
    }
  }

  @Test func cutsThoseWhoAreTooSlow() async throws {
    let configuration = CallPeer.configuration { calls in
      // The third socket has to be through its handshake in time, also on a busy machine.
      calls.limits.handshakeTime = .seconds(3)
      calls.limits.loginTime = .seconds(3)
    }
    try await withServer(configuration) { server in
      try await CallPeer.play(["slow_loris"], script: "call_raw.py", against: server)
    }
  }

  @Test func doesNotKeepEverythingForThoseWhoDoNotRead() async throws {
    try await withServer(CallPeer.configuration { $0.limits.outgoingBytes = 1_048_576 }) { server in
      try await CallPeer.play(["slow_reader"], script: "call_raw.py", against: server)
      #expect(try await server.get("/metrics").body.contains("voice_call_slow_readers_total 1\n"))
    }
  }

  @Test func limitsTheSocketsOfAnAddress() async throws {
    try await withServer(CallPeer.configuration { $0.limits.connectionsPerAddress = 2 }) { server in
      try await CallPeer.play(["no_room"], script: "call_raw.py", against: server)
    }
  }
}
