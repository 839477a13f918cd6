import CallMedia
import Foundation
import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

extension MediaInteropTests {
  @Suite(.serialized) struct SecurityTests {
    /// Changes the last digit of each fingerprint, as somebody in between would who has another certificate.
    private static func forge(_ description: String) -> String {
      description.components(separatedBy: "\r\n").map { line in
        guard line.hasPrefix("a=fingerprint:"), let last = line.last else { return line }
        return line.dropLast() + (last == "0" ? "1" : "0")
      }.joined(separator: "\r\n")
    }

    @Test(arguments: Caller.allCases)
    func acceptsNoOtherCertificate(caller: Caller) async throws {
      try await RemoteMedia.with(.aiortc) { peer in
        try await OwnMedia.with { own in
          switch caller {
          case .own:
            let answer = try await peer.answer(try await own.session.makeOffer())
            try await own.session.receivedAnswer(Self.forge(answer))
          case .peer:
            let offer = try await peer.offer()
            try await peer.accept(try await own.session.receivedOffer(Self.forge(offer)))
          }
          let failure = try await own.first("failed") { event -> VoiceFailure? in
            if case .failed(let failure) = event { failure } else { nil }
          }
          #expect(failure.value.code == .callMediaInsecure)
          let wasConnected = own.events.contains { if case .connected = $0 { true } else { false } }
          #expect(!wasConnected)
          let statistics = try #require(await own.session.statistics())
          #expect(statistics.reports.packetsReceived == 0)
          #expect(statistics.receiver.played == 0)
          #expect(try await peer.report()["received"]?["packets"]?.int ?? 0 == 0)
        }
      }
    }
  }
}
