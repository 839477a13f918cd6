import CallMedia
import RealtimeMedia
import Testing
import VoiceCore

extension MediaInteropTests {
  /// A browser that goes away.
  @Suite(.serialized) struct ChromiumEndTests {
    @Test func aClosedBrowserEndsTheCallAtOnce() async throws {
      try await RemoteMedia.with(.chromium) { peer in
        try await OwnMedia.with { own in
          try await peer.called(by: own)
          try await peer.hearEachOther(own)
          try await peer.ask("close", for: "closed")
          try await own.first(within: .seconds(3), "remoteClosed") { event -> Bool? in
            if case .remoteClosed = event { true } else { nil }
          }
        }
      }
    }

    @Test func aBrowserLearnsThatOurSideClosed() async throws {
      try await RemoteMedia.with(.chromium) { peer in
        try await OwnMedia.with { own in
          try await peer.called(by: own)
          try await peer.hearEachOther(own)
          await own.session.close()
          try await peer.state("closed", of: "dtls")
        }
      }
    }

    @Test func aKilledBrowserInterruptsTheCallAndThenFailsIt() async throws {
      var configuration = MediaSession.Configuration()
      configuration.connection.ice.failedAfter = .seconds(8)
      configuration.connection.ice.checkingTimeout = .seconds(4)
      try await RemoteMedia.with(.chromium) { peer in
        try await OwnMedia.with(configuration) { own in
          try await peer.called(by: own)
          try await peer.hearEachOther(own)
          let killed = ContinuousClock.now
          try await peer.ask("kill", for: "killed")
          let interrupted = try await own.first("interrupted") { event -> Bool? in
            if case .interrupted = event { true } else { nil }
          }
          let failed = try await own.first("failed") { event -> VoiceFailure? in
            if case .failed(let failure) = event { failure } else { nil }
          }
          #expect(killed.duration(to: interrupted.at) < .seconds(8))
          #expect(failed.value.code == .callMediaUnreachable)
          #expect(killed.duration(to: failed.at) < .seconds(20))
        }
      }
    }
  }
}
