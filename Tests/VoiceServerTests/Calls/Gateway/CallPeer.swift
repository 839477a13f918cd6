import CallSignaling
import Foundation
import Testing
import VoiceTesting

@testable import VoiceServer

/// The independent clients for calls in `Tests/Peers`.
enum CallPeer {
  struct Report: Decodable, Sendable {
    var event: String
    var `case`: String?
    var ok: Bool?
    var error: String?
  }

  static let users: [ServerConfiguration.Calls.User] = [
    .init(name: "alice", password: "alice-password", tokens: ["an-opaque-token-of-alice"]),
    .init(name: "bob", password: "bob-password"), .init(name: "carol", password: "carol-password"),
    // Of "dave-password".
    .init(name: "dave", passwordHash: Self.daveHash),
  ]

  static let daveHash: String = {
    var generator = SeededGenerator(seed: 4)
    let hash = try? PasswordHash(of: "dave-password", cost: .init(logRounds: 10), using: &generator)
    return hash?.text ?? ""
  }()

  static func configuration(
    _ change: (inout ServerConfiguration.Calls) -> Void = { _ in }
  ) -> ServerConfiguration {
    var configuration = Fixture.configuration()
    configuration.calls.users = self.users
    configuration.calls.allowsGuests = true
    configuration.calls.limits.loginsPerSecond = 1000
    change(&configuration.calls)
    return configuration
  }

  /// Plays cases; each must go as the peer expects.
  ///
  /// - Parameter handle: Hears of other events.
  static func play(
    _ cases: [String], script: String = "call_client.py", against server: RunningServer,
    token: String? = nil, _ handle: (Report) -> Void = { _ in }
  ) async throws {
    let arguments =
      ["--http", "\(server.addresses.http)"] + (token.map { ["--token", "alice=\($0)"] } ?? []) + cases
    var reported: [String] = []
    let status = try await withPeerProcess("Tests/Peers/\(script)", arguments: arguments) { peer in
      for await event in peer.events {
        let report = try JSONDecoder().decode(Report.self, from: Data(event.line.utf8))
        guard let name = report.case else {
          handle(report)
          continue
        }
        reported.append(name)
        #expect(report.ok == true, "\(name): \(report.error ?? "")")
      }
      return peer.exitStatus
    }
    #expect(status == 0, "the peer failed; its errors are above")
    #expect(reported == cases)
  }
}
