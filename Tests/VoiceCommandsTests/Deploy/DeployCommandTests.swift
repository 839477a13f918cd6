import Foundation
import Logging
import PocketSphinxRecognition
import SpeechUnderstanding
import Testing
import VoiceCore
import VoiceServer
import VoiceTesting

@testable import VoiceCommands

/// The command against a real server on a socket.
@Suite(.timeLimit(.minutes(2)))
struct DeployCommandTests {
  private static let key = "the-key-of-the-demo-project"

  /// Runs the body with a server's address and an empty folder.
  private func withServer(_ body: @escaping (String, URL) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      var configuration = ServerConfiguration(
        grpcPort: 0, httpPort: 0, dataFolder: folder.path + "/data",
        projects: [.init(id: ServerConfiguration.App.demo.project, apiKeys: [Self.key])])
      configuration.limits.decoders = 1
      let server = VoiceServer(
        configuration: configuration, engine: try PocketSphinxEngine(),
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        try await body("\(try await server.addresses.grpc)", folder)
        server.beginGracefulShutdown()
        try await group.waitForAll()
      }
    }
  }

  private func write(_ files: [String: String], into folder: URL) throws -> String {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
    return folder.path
  }

  private static let good = [
    "app.yaml": """
    imports:
      - {name: room, source: rooms.csv, field: 1}
    templates: |
      *go go to the $room(room)
    """,
    "rooms.csv": "kitchen\nhall\n", "notes.txt": "not part of it",
  ]

  // MARK: Bad input

  @Test(arguments: [[], ["a", "--download", "b"], ["a", "--app", "not-a-uuid"]])
  func refusesCommandLinesThatMakeNoSense(arguments: [String]) async {
    let context = CommandContext(console: RecordedConsole().console)
    #expect(await VoiceCommand.run(["deploy"] + arguments, in: context) == .usage)
  }

  @Test func asksForAKeyAndNeverTakesItFromTheCommandLine() async throws {
    try await withTemporaryFolder { folder in
      let path = try self.write(Self.good, into: folder)
      let environment = ["XDG_STATE_HOME": folder.path]
      let (status, console) = await voice("deploy", path, environment: environment)
      #expect(status == .refused)
      #expect(console.error.contains("VOICE_API_KEY"))
      #expect(console.error.contains("speech.identity.credentials-rejected"))
      let (typed, _) = await voice("deploy", path, "--key", Self.key, environment: environment)
      #expect(typed == .usage)
      let (missing, other) = await voice("deploy", path, "--key-file", folder.path + "/none")
      #expect(missing == .refused)
      #expect(other.error.contains(folder.path + "/none"))
    }
  }

  @Test func checksTheConfigurationBeforeAnythingIsSent() async throws {
    try await withTemporaryFolder { folder in
      let path = try self.write(["app.yaml": "templates: \"*go to $missing\"\n"], into: folder)
      // There is no server at this address: nothing gets so far.
      let (status, console) = await voice(
        "deploy", path, "--server", "127.0.0.1:1", environment: ["VOICE_API_KEY": Self.key])
      #expect(status == .input)
      #expect(console.error.contains("app.yaml:1:"))
      #expect(console.error.contains("^"))
    }
  }

  @Test func showsWhatTheServerCannotRecognise() async throws {
    try await self.withServer { address, folder in
      let path = try self.write(["app.yaml": "templates: \"*go fly to [東京 | rome]\"\n"], into: folder)
      let environment = ["VOICE_API_KEY": Self.key]
      let (status, console) = await voice("deploy", path, "--server", address, environment: environment)
      #expect(status == .done)
      #expect(console.error.contains("東京"))
      #expect(console.error.contains("speech.understanding.word-unpronounceable"))
      let (again, json) = await voice(
        "deploy", path, "--json", "--server", address, environment: environment)
      #expect(again == .done)
      let lines = json.output.split(separator: "\n")
      #expect(lines.count == 2)
      #expect(
        lines.first?.contains(#""event":"warning","code":"speech.understanding.word-unpronounceable""#)
          == true)
      #expect(lines.last?.contains(#""event":"deployed""#) == true)
      #expect(json.error.isEmpty)
    }
  }

  // MARK: Watching

  @Test func deploysAgainWhenFilesChangeAndSurvivesErrorsInThem() async throws {
    try await self.withServer { address, folder in
      let path = try self.write(Self.good, into: folder.appending(path: "app"))
      let clock = TestClock()
      let recorder = RecordedConsole()
      let (stops, stop) = AsyncStream.makeStream(of: StopSignal.self)
      let context = CommandContext(
        console: recorder.console, environment: ["VOICE_API_KEY": Self.key], clock: clock,
        stopSignals: { stops })
      async let status = VoiceCommand.run(["deploy", path, "--watch", "--server", address], in: context)
      // It sets one when it begins to wait.
      var timer = await clock.nextTimer()
      func change(_ text: String) async throws {
        try Data(text.utf8).write(to: folder.appending(path: "app/rooms.csv"))
        // Seen, and seen to be whole.
        clock.advance(to: timer)
        clock.advance(to: await clock.nextTimer())
        timer = await clock.nextTimer()
      }
      try await change("kitchen\nhall\nattic\n")
      #expect(recorder.output.split(separator: "\n").map { $0.contains("Deployed") } == [true, true])
      #expect(recorder.output.contains("3 utterances"))
      try Data("templates: \"*go to $missing\"\n".utf8).write(to: folder.appending(path: "app/app.yaml"))
      try await change("kitchen\n")
      #expect(recorder.error.contains("app.yaml:1:"))
      #expect(recorder.error.contains("^"))
      #expect(recorder.output.split(separator: "\n").count == 2)
      stop.yield(.interrupt)
      #expect(await status == .interrupted)
    }
  }

  @Test func watchingEndsIfNoChangeOfTheFilesCanHelp() async throws {
    try await withTemporaryFolder { folder in
      let path = try self.write(Self.good, into: folder)
      let (status, _) = await voice(
        "deploy", path, "--watch", "--server", "127.0.0.1:1", environment: ["VOICE_API_KEY": Self.key])
      #expect(status == .network)
      let (both, _) = await voice("deploy", "--watch", "--download", path)
      #expect(both == .usage)
    }
  }

  @Test func saysThatNoServerIsThere() async throws {
    try await withTemporaryFolder { folder in
      let path = try self.write(Self.good, into: folder)
      let (status, console) = await voice(
        "deploy", path, "--server", "127.0.0.1:1", "--json", environment: ["VOICE_API_KEY": Self.key])
      #expect(status == .network)
      #expect(console.output.contains("network.server.unreachable"))
    }
  }

  @Test func deploysDownloadsAndSaysWhatIsRefused() async throws {
    try await self.withServer { address, folder in
      let path = try self.write(Self.good, into: folder.appending(path: "good"))
      let keys = ["VOICE_API_KEY": Self.key, "VOICE_SERVER": address]

      let refused = await voice(
        "deploy", path, environment: ["VOICE_API_KEY": "wrong", "VOICE_SERVER": address])
      #expect(refused.status == .refused)
      #expect(refused.console.error.contains("speech.identity.credentials-rejected"))
      #expect(!refused.console.error.contains("wrong"))
      let unknown = await voice(
        "deploy", path, "--app", "00000000-0000-4000-8000-00000000dead", environment: keys)
      #expect(unknown.status == .refused)
      #expect(unknown.console.error.contains("speech.identity.unknown-app"))
      let empty = await voice(
        "deploy", "--download", folder.path + "/x", "--app", "00000000-0000-4000-8000-00000000dead", "--json",
        environment: keys)
      #expect(empty.status == .refused)

      let deployed = await voice("deploy", path, environment: keys)
      #expect(deployed.status == .done, "\(deployed.console.error)")
      #expect(deployed.console.output.contains("Deployed to demo"))
      #expect(deployed.console.output.contains("1 intent, 1 entity, 2 utterances"))

      let keyFile = folder.appending(path: "key").path
      try Data("\(Self.key)\n".utf8).write(to: URL(fileURLWithPath: keyFile))
      let json = await voice("deploy", path, "--server", address, "--key-file", keyFile, "--json")
      #expect(json.status == .done)
      #expect(json.console.outputLines.count == 1)
      #expect(
        json.console.output.hasPrefix(
          #"{"event":"deployed","app":"00000000-0000-4000-8000-000000000001","name":"demo","intents":["go"],"entities":["room"],"utterances":2,"seconds":"#
        ))

      let copy = folder.appending(path: "copy").path
      let download = await voice("deploy", "--download", copy, environment: keys)
      #expect(download.status == .done)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: copy).sorted() == ["app.yaml", "rooms.csv"])
      #expect(try String(contentsOfFile: copy + "/app.yaml", encoding: .utf8) == Self.good["app.yaml"])
      let again = await voice("deploy", "--download", copy, environment: keys)
      #expect(again.status == .usage)
      #expect(again.console.error.contains("app.yaml"))
    }
  }
}
