import Calls
import RealtimeMedia
import Testing
import VoiceCore

/// The preflight against our gateway, over real sockets.
@Suite(.timeLimit(.minutes(2))) struct PreflightCallTests {
  @Test func aGatewayOnThisMachineIsExcellent() async throws {
    try await CallMediaTests.withGateway { port in
      let alice = try await CallMediaTests.client("alice", at: port)
      let report = try await alice.preflight(PreflightSettings(duration: .seconds(4)))
      // The best second is that of the way; in others this machine may have been busy.
      let best = MOSCalculator.getQuality(mos: report.mos.maximum)
      #expect(best == .excellent || best == .good, "\(report)")
      #expect(report.localCandidate == .host && report.remoteCandidate != nil)
      #expect(try #require(report.loss) < 0.05)
      #expect((0..<0.2).contains(report.roundTrip.minimum))
      let answered = try #require(report.answeredAfter)
      let connected = try #require(report.connectedAfter)
      let heard = try #require(report.firstAudioAfter)
      #expect(report.registeredAfter == nil && answered > .zero && connected <= heard)
      #expect(alice.calls.isEmpty)
      await alice.disconnected()
    }
  }

  @Test func aDestinationThatDoesNotExistSaysWhy() async throws {
    try await CallMediaTests.withGateway { port in
      let alice = try await CallMediaTests.client("alice", at: port)
      let failure = await #expect(throws: VoiceFailure.self) {
        try await alice.preflight(PreflightSettings(destination: "fail-486"))
      }
      #expect(failure?.code == .callBusy)
      await alice.disconnected()
    }
  }
}
