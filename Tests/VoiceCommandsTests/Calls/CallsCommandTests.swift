import Foundation
import Testing
import VoiceTesting

@testable import VoiceCommands

@Suite struct CallsCommandTests {
  @Test func saysThatThereAreNoCallsYet() async throws {
    try await withTemporaryFolder { folder in
      let (status, console) = await voice("calls", "--data", folder.path)
      #expect(status == .done)
      #expect(console.output.contains("no calls yet"))
      let (_, json) = await voice("calls", "--json", "--data", folder.path)
      #expect(json.output.isEmpty)
    }
  }

  @Test(arguments: ["0", "-1", "many"])
  func refusesANumberThatIsNone(_ limit: String) async throws {
    let (status, _) = await voice("calls", "--limit=\(limit)")
    #expect(status == .usage)
  }

  @Test func complainsAboutAFolderThatCannotBeUsed() async throws {
    let (status, console) = await voice("calls", "--json", "--data", "/proc/none-such")
    #expect(status != .done)
    #expect(console.output.contains("server.data-folder"))
  }

  @Test func issuesTokensAndRefusesNamesOfServices() async throws {
    try await withTemporaryFolder { folder in
      let (status, console) = await voice("users", "token", "alice", "--data", folder.path)
      #expect(status == .done)
      #expect(console.output.split(separator: ".").count == 3)
      let (refused, _) = await voice("users", "token", "echo", "--data", folder.path)
      #expect(refused == .usage)
    }
  }

  private struct Claims: Decodable { let gen: Int? }

  /// The generation that a new token of a user names.
  private static func generation(of name: String, _ folder: String) async throws -> Int? {
    let (_, console) = await voice("users", "token", name, "--data", folder)
    var payload = console.output.split(separator: ".").dropFirst().first.map { String($0) } ?? ""
    payload += String(repeating: "=", count: (4 - payload.utf8.count % 4) % 4)
    let data = try #require(Data(base64Encoded: payload))
    return try JSONDecoder().decode(Claims.self, from: data).gen
  }

  @Test func revokesTokens() async throws {
    try await withTemporaryFolder { folder in
      let before = try await Self.generation(of: "alice", folder.path)
      let (status, console) = await voice("users", "revoke", "alice", "--data", folder.path)
      #expect(status == .done && console.output == "alice\n")
      let after = try await Self.generation(of: "alice", folder.path)
      #expect((before, after) == (0, 1))
      let (refused, _) = await voice("users", "revoke", "echo", "--data", folder.path)
      #expect(refused == .usage)
    }
  }

  @Test(arguments: [
    ["add"], ["remove"], ["revoke"], ["token"], ["hash", "alice"], ["list", "alice"], ["nonsense"], [],
  ])
  func refusesWhatMakesNoSense(_ arguments: [String]) async throws {
    let console = RecordedConsole()
    let context = CommandContext(console: console.console)
    #expect(await VoiceCommand.run(["users"] + arguments, in: context) == .usage)
  }

  @Test func doesNotRemoveAUserThatIsNotThere() async throws {
    try await withTemporaryFolder { folder in
      let (status, console) = await voice("users", "remove", "carol", "--data", folder.path)
      #expect(status == .usage)
      #expect(console.error.contains("carol"))
    }
  }
}
