import Foundation
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceCommands

struct UnderstandCommandTests {
  private static let home = """
    templates: |
      room = [living room | kitchen]
      *turn_on {please} turn on the [lights | radio](device) {in the $room(room)}
      *alarm wake me at $SPEECHLY.TIME(time)
      *buy buy [1..20](amount) apples
    entities:
      - {name: device, type: string}
      - {name: room, type: string}
      - {name: time, type: time}
      - {name: amount, type: number}
    lang: en-US
    """

  /// Runs the body with the path of a configuration.
  private func withConfiguration(
    _ text: String = Self.home, named name: String = "home.yaml", _ body: (String) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "voice-understand-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: name)
    try Data(text.utf8).write(to: file)
    try await body(file.path)
  }

  // MARK: Cache

  @Test func keepsCompiledGrammarsAndSaysIfOneIsDamaged() async throws {
    try await self.withConfiguration { path in
      let cache = URL(filePath: path).deletingLastPathComponent().appending(path: "cache").path
      let understand = {
        await voice(
          "understand", "turn on the radio", "--config", path, environment: ["XDG_CACHE_HOME": cache])
      }
      var (status, console) = await understand()
      #expect(status == .done)
      let names = try FileManager.default.contentsOfDirectory(atPath: cache + "/swift-voice")
      #expect(names.count == 1)
      let file = URL(filePath: "\(cache)/swift-voice/\(try #require(names.first))")
      (status, console) = await understand()
      #expect(console.error.isEmpty)
      try Data("garbage".utf8).write(to: file)
      (status, console) = await understand()
      #expect(status == .done)
      #expect(console.output.contains("(device)"))
      #expect(console.error.contains(file.lastPathComponent))
    }
  }

  @Test(arguments: [
    (["XDG_CACHE_HOME": "/a", "HOME": "/b"], "/a/swift-voice"), (["HOME": "/b"], "/b/.cache/swift-voice"),
    (["XDG_CACHE_HOME": "a", "HOME": "/b"], "/b/.cache/swift-voice"), (["HOME": ""], nil), ([:], nil),
  ])
  func theCacheIsWhereThePlatformKeepsCaches(environment: [String: String], folder: String?) {
    #expect(CacheFolder.path(environment: environment) == folder)
  }

  // MARK: Bad input

  @Test func aMissingConfigurationIsNamed() async {
    let (status, console) = await voice("understand", "hello", "--config", "/nowhere/home.yaml", "--json")
    #expect(status == CommandStatus(.configurationNotFound))
    #expect(console.output.contains("server.configuration.not-found"))
    #expect(console.output.contains("/nowhere/home.yaml"))
  }

  @Test func errorsOfAConfigurationAreShownWithTheirPlace() async throws {
    try await self.withConfiguration("*turn_on turn on the $devices\n", named: "home.sal") { path in
      let (status, console) = await voice("sal", "check", path)
      #expect(status == CommandStatus(.configurationInvalid))
      #expect(console.output.contains("home.sal:1:"))
      #expect(console.output.contains("$devices"))
      #expect(console.output.contains("^"))
      let (understood, other) = await voice("understand", "turn on", "--config", path)
      #expect(understood == CommandStatus(.configurationInvalid))
      #expect(other.error.contains("home.sal:1:"))
    }
  }

  @Test func aTimeThatIsNoneIsRefused() async throws {
    let (status, console) = await voice("understand", "hello", "--config", "x.yaml", "--now", "yesterday")
    #expect(status == .usage)
    #expect(console.error.contains("2026-04-01T09:00:00Z"))
  }

  // MARK: understand

  @Test func findsIntentsEntitiesAndTheirNormalForms() async throws {
    try await self.withConfiguration { path in
      let (status, console) = await voice(
        "understand", "--config", path, "--json",
        "turn on the radio in the kitchen wake me at quarter past six")
      #expect(status == .done)
      let lines = console.output.split(separator: "\n")
      #expect(lines.count == 2)
      #expect(
        lines.first?.contains(
          #""intent":"turn_on","entities":[{"type":"device","value":"radio","start":3,"end":4},{"type":"room","value":"kitchen","start":6,"end":7}]"#
        ) == true)
      #expect(
        lines.last?.contains(
          #""intent":"alarm","entities":[{"type":"time","value":"06:15","start":3,"end":6}]"#)
          == true)
    }
  }

  @Test func saysWhatItOverlooked() async throws {
    try await self.withConfiguration { path in
      let (_, console) = await voice("understand", "--config", path, "buy twelve aples")
      #expect(console.output.contains("*buy buy [twelve|12](amount) aples"))
      #expect(console.output.contains("took “aples” for “apples”"))
    }
  }

  @Test func otherTextIsNotCovered() async throws {
    try await self.withConfiguration { path in
      let (status, console) = await voice("understand", "--config", path, "the weather is nice")
      #expect(status == .done)
      #expect(console.output.contains("Not covered"))
      let (_, json) = await voice("understand", "--config", path, "--json", "the weather is nice")
      #expect(json.output.contains(#""text":"the weather is nice","intent":"","entities":[]"#))
    }
  }

  // MARK: sal

  @Test func checkSumsUpWhatWorks() async throws {
    try await self.withConfiguration { path in
      let (status, console) = await voice("sal", "check", path)
      #expect(status == .done)
      #expect(console.output.contains("3 templates, 3 intents, 4 entities"))
    }
  }

  @Test func expandedUtterancesAreUnderstoodAsAnnotated() async throws {
    try await self.withConfiguration { path in
      let (_, console) = await voice("sal", "expand", "--config", path, "--count", "20", "--seed", "7")
      let (_, again) = await voice("sal", "expand", "--config", path, "--count", "20", "--seed", "7")
      #expect(console.output == again.output)
      let lines = console.output.split(separator: "\n").map(String.init)
      #expect(lines.count == 20)
      #expect(Set(lines).count > 5)
      for line in lines {
        let (parsed, shown) = await voice("sal", "parse", line)
        #expect(parsed == .done)
        #expect(shown.output == line + "\n")
      }
    }
  }

  @Test func parseSaysWhatIsWrong() async {
    let (status, console) = await voice("sal", "parse", "*greet hello [bob(name)")
    #expect(status == .usage)
    #expect(console.error.contains("utterance:1:"))
  }
}
