import Foundation
import Synchronization
import Testing
import VoiceTesting

@testable import VoiceServer

/// The services of understanding as a client sees them that shares no code with the server: Python with grpcio.
@Suite(.timeLimit(.minutes(2)))
struct UnderstandingPeerTests {
  private struct Report: Decodable, Sendable {
    var event: String
    var `case`: String?
    var refused: String?
    var failure: String?
    var details: String?
    var status: String?
    var error: String?
    var recent: Bool?
    var same: Bool?
    var intents: [String]?
    var annotated: [String]?
    var entities: [String]?
    var lines: [String]?
    var templates: [String]?
    var names: [String]?
    var words: [String]?
    var ends: String?
  }

  private func run(_ cases: String...) async throws -> [Report] {
    try await withServer { server in
      let reports = Mutex<[Report]>([])
      let status = try await withPeerProcess(
        "Tests/Peers/understanding_client.py",
        arguments: ["--grpc", "\(server.addresses.grpc)", "--key", Fixture.apiKey] + cases
      ) { peer in
        for await event in peer.events {
          let report = try JSONDecoder().decode(Report.self, from: Data(event.line.utf8))
          reports.withLock { $0.append(report) }
        }
        return peer.exitStatus
      }
      #expect(status == 0, "the peer failed; its errors are above")
      return reports.withLock { $0 }
    }
  }

  @Test func refusesWhatIsWrong() async throws {
    let reports = try await self.run(
      "deploy-good", "deploy-bad", "deploy-cut-off", "deploy-wrong-key", "batch-uri", "text")
    #expect(reports.map(\.event) == ["case", "note", "case", "case", "case", "case", "case"])
    guard reports.count == 7 else { return }
    #expect(reports[1].status == "STATUS_FAILED")
    #expect(reports[1].error?.contains("app.yaml:3:20: ") == true, "\(reports[1].error ?? "")")
    #expect(reports[2].refused == "INVALID_ARGUMENT")
    #expect(reports[2].failure == "server.interface.invalid")
    #expect(reports[3].failure == "server.interface.archive-invalid")
    #expect(reports[4].refused == "PERMISSION_DENIED")
    #expect(reports[4].failure == "speech.identity.credentials-rejected")
    #expect(reports[5].refused == "UNIMPLEMENTED")
    #expect(reports[5].failure == "server.batch.source-not-offered")
    // The configuration that was deployed first still serves.
    #expect(reports[6].intents == ["clean"])
  }

  @Test func understandsChecksAndCompiles() async throws {
    let reports = try await self.run("deploy-good", "text", "texts", "validate", "compile", "download")
    #expect(reports.compactMap(\.refused).isEmpty, "\(reports.compactMap(\.details))")
    guard reports.count == 6 else { return }
    #expect(reports[0].status == "STATUS_TRAINED")
    #expect(reports[0].recent == true)
    #expect(reports[1].annotated == ["*clean clean the [kitchen](room) [tomorrow|2026-04-02](day)"])
    #expect(reports[1].entities == ["room=kitchen@2-3", "day=2026-04-02@3-4"])
    #expect(reports[2].intents == ["stop", ""])
    #expect(reports[3].lines?.contains("app.yaml:3:20 LEVEL_ERROR") == true)
    #expect(reports[3].lines?.contains { $0.hasPrefix("app.yaml:4:") } == true)
    #expect(reports[4].same == true)
    #expect(reports[4].templates == ["*greet hello [ann](name)", "*greet hello [bob](name)"])
    #expect(reports[5].names == ["app.yaml", "rooms.csv"])
    #expect(reports[5].same == true)
  }

  @Test func swapsTheConfigurationWithoutCuttingAStream() async throws {
    let reports = try await self.run("swap-in-stream")
    #expect(reports.compactMap(\.refused).isEmpty, "\(reports.compactMap(\.details))")
    #expect(reports.first?.words == ["w1", "w2", "w3"])
    #expect(reports.first?.ends == "finished")
    #expect(reports.first?.status == "STATUS_TRAINED")
  }

  @Test func recognisesARecordingInTheBackground() async throws {
    let reports = try await self.run("batch")
    #expect(reports.first?.status == "STATUS_DONE")
    #expect(reports.first?.words == ["w5@0-200", "w6@300-500"])
  }
}
