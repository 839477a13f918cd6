import Foundation
import SpeechStreaming
import Testing
import VoiceCore

@testable import VoiceCommands

private let recordings = "/usr/share/pocketsphinx/test/data"

struct RecognizeCommandTests {
  @Test(arguments: [
    ["recognize"], ["recognize", "a.wav", "--mic"], ["recognize", "-", "-"],
    ["recognize", "a.wav", "--local", "--server", "x:1"],
    ["recognize", "a.wav", "--config", "x.yaml", "--server", "x:1"],
    ["recognize", "a.wav", "--config", "x.yaml", "--tls-ca", "x"], ["recognize", "a.wav", "--config"],
    ["recognize", "a.wav", "--device", "hw:0"], ["recognize", "a.wav", "--rate", "8000"],
    ["recognize", "a.wav", "--encoding", "s16le"], ["recognize", "a.wav", "--raw", "--encoding", "mp3"],
    ["recognize", "--mic", "--realtime"], ["recognize", "--mic", "--raw"],
    ["recognize", "a.wav", "--silence", "0"],
    ["recognize", "a.wav", "--silence", "soon"], ["recognize", "a.wav", "--model", "x"],
    ["recognize", "a.wav", "--local", "--tls-ca", "x"], ["recognize", "a.wav", "--server"],
    ["recognize", "a.wav", "--app", "not-a-uuid", "--server", "127.0.0.1:1"],
    ["recognize", "a.wav", "--server", "http://127.0.0.1"], ["recognize", "a.wav", "--server", "grpc://"],
  ])
  func whatCannotWorkExitsWithTwo(arguments: [String]) async {
    let console = RecordedConsole()
    let status = await VoiceCommand.run(arguments, in: CommandContext(console: console.console))
    #expect(status == .usage)
    #expect(console.output.isEmpty)
    #expect(!console.error.isEmpty)
  }

  @Test func standardInputMustNotBeTheKeyboard() async {
    let (status, console) = await voice("recognize", "--local", "-", inputIsTerminal: true)
    #expect(status == .usage)
    #expect(console.error.contains("Pipe audio into it"))
  }

  @Test(arguments: [
    ("127.0.0.1:50051", "grpc://127.0.0.1:50051"), ("grpc+tls://a:1", "grpc+tls://a:1"),
    ("[::1]:5", "grpc://[::1]:5"),
    // The port of `voice serve`, where that of HTTP was asked.
    ("localhost", "grpc://localhost:50051"), ("192.0.2.1", "grpc://192.0.2.1:50051"),
    ("[::1]", "grpc://[::1]:50051"), ("::1", "grpc://[::1]:50051"),
    ("fe80::1%eth0", "grpc://[fe80::1%eth0]:50051"),
    // Who writes a scheme gets what the SDK makes of it, which has the ports of HTTP.
    ("grpc://a", "grpc://a"), ("http://a", "http://a"), ("", "grpc://"), ("a:", "grpc://a:"),
  ])
  func anAddressNeedsNoScheme(typed: String, meant: String) {
    #expect(RecognizeCommand.address(typed) == meant)
  }

  @Test func aPasswordInAnAddressIsNotShown() async {
    let (status, console) = await voice(
      "recognize", "--server", "grpc://ann:secret@127.0.0.1:1", recordings + "/goforward.raw", "--raw",
      console: RecordedConsole(errorIsTerminal: true))
    #expect(status == .usage)
    #expect(console.error.contains("…@127.0.0.1:1"))
    #expect(!console.error.contains("secret") && !console.output.contains("secret"))
  }

  @Test func aServerThatIsNotThereIsReportedAtOnce() async {
    let (status, console) = await voice(
      "recognize", "--server", "grpc://127.0.0.1:1", "--json", recordings + "/goforward.raw", "--raw")
    #expect(status == .network)
    #expect(console.outputLines.count == 1)
    #expect(console.output.contains(#""code":"network.server.unreachable""#))
    #expect(console.output.contains(#""recovery":"retry""#))
  }

  @Test func theServerOfTheEnvironmentIsUsed() async {
    let (status, console) = await voice(
      "recognize", recordings + "/goforward.raw", "--raw", environment: ["VOICE_SERVER": "grpc://127.0.0.1:1"]
    )
    #expect(status == .network)
    #expect(console.error.contains("127.0.0.1:1"))
  }

  @Test func aModelThatIsMissingEndsTheCommand() async {
    let (status, console) = await voice("recognize", "--local", "--model", "/none-such", "a.wav")
    #expect(status == .input)
    #expect(console.error.contains("speech.engine.model-missing"))
  }

  @Test func aLanguageWithoutAModelEndsTheCommand() async {
    let (status, console) = await voice("recognize", "--local", "--language", "fi-FI", "--json", "a.wav")
    #expect(status == .input)
    #expect(console.output.contains("speech.engine.language-missing"))
  }
}

/// The whole command in this process, with the real recogniser and real recordings.
@Suite(.timeLimit(.minutes(2)))
struct LocalRecognitionTests {
  private func objects(_ console: RecordedConsole) throws -> [[String: Any]] {
    try console.outputLines.map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }

  @Test func recognisesSamplesWithoutAHeader() async throws {
    let (status, console) = await voice(
      "recognize", "--local", "--json", "--raw", recordings + "/goforward.raw")
    #expect(status == .done)
    #expect(console.error.isEmpty)
    let objects = try self.objects(console)
    #expect(objects.first?["event"] as? String == "started")
    #expect(objects.first?["source"] as? String == recordings + "/goforward.raw")
    #expect(objects.last?["event"] as? String == "finished")
    let segment = try #require(objects.last { $0["event"] as? String == "segment" })
    #expect(segment["final"] as? Bool == true)
    #expect(segment["text"] as? String == "go forward ten meters")
    let words = try #require(segment["words"] as? [[String: Any]])
    #expect(words.count == 4)
    let times = words.flatMap { word in ["start", "end"].map { word[$0] as? Double ?? -1 } }
    #expect(times == times.sorted())
    #expect(words.allSatisfy { (0...1).contains($0["confidence"] as? Double ?? -1) })
    #expect(objects.contains { $0["final"] as? Bool == false })
  }

  @Test func goesOnAfterABadFile() async throws {
    let (status, console) = await voice(
      "recognize", "--local", "--json", "/none-such.wav", recordings,
      recordings + "/librivox/sense_and_sensibility_01_austen_64kb-0880.wav")
    #expect(status == .input)
    let objects = try self.objects(console)
    #expect(
      objects.compactMap { $0["code"] as? String } == ["audio.file.not-found", "audio.file.is-directory"])
    #expect(objects.last?["event"] as? String == "finished")
    #expect(objects.count { $0["event"] as? String == "started" } == 1)
  }

  @Test func aPipeGetsOneLineForEachSegment() async {
    let (status, console) = await voice("recognize", "--local", "--raw", recordings + "/goforward.raw")
    #expect(status == .done)
    #expect(console.output == "go forward ten meters\n")
    #expect(console.error.isEmpty)
  }

  @Test func aTerminalEndsWithTheSameWords() async {
    let recorder = RecordedConsole(
      outputIsTerminal: true, errorIsTerminal: true, environment: ["TERM": "xterm"])
    let (status, console) = await voice(
      "recognize", "--local", "--raw", recordings + "/goforward.raw", console: recorder)
    #expect(status == .done)
    var terminal = VirtualTerminal(width: 80)
    terminal.feed(console.output)
    #expect(terminal.rows == ["go forward ten meters"])
    #expect(terminal.dimText == "")
    #expect(console.error.contains("using PocketSphinx en-US in this process"))
  }

  // MARK: Understanding

  private static let robot = """
    lang: en-US
    templates: |
      *move go [forward | backward](direction) [1..20](distance) [meters | feet](unit)
      *stop stop
    entities:
      - {name: distance, type: number}
    """

  /// Runs the command with a configuration in a file.
  private func recognize(
    _ text: String, _ arguments: String..., named name: String = "robot.yaml",
    console: RecordedConsole = RecordedConsole()
  ) async throws -> (CommandStatus, RecordedConsole, path: String) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "voice-recognize-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: name).path
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    let arguments = ["recognize", "--raw", recordings + "/goforward.raw", "--config", path] + arguments
    let status = await VoiceCommand.run(arguments, in: CommandContext(console: console.console))
    return (status, console, path)
  }

  @Test func withAConfigurationItUnderstands() async throws {
    let (status, console, _) = try await self.recognize(Self.robot, "--json")
    #expect(status == .done)
    let segments = try self.objects(console).filter { $0["event"] as? String == "segment" }
    let last = try #require(segments.last)
    #expect(last["final"] as? Bool == true)
    #expect(last["text"] as? String == "go forward ten meters")
    #expect(last["intent"] as? String == "move")
    let entities = try #require(last["entities"] as? [[String: Any]])
    #expect(entities.map { $0["type"] as? String } == ["direction", "distance", "unit"])
    #expect(entities.map { $0["value"] as? String } == ["forward", "10", "meters"])
    #expect(entities.map { $0["start"] as? Int } == [1, 2, 3])
    #expect(entities.map { $0["end"] as? Int } == [2, 3, 4])
    // The intent is there before everything is said.
    #expect(
      segments.contains { $0["final"] as? Bool == false && $0["intent"] as? String == "move" })
  }

  @Test func aPipeGetsTheMeaningToo() async throws {
    let (_, console, _) = try await self.recognize(Self.robot, "--local")
    #expect(console.output == "*move go [forward](direction) [ten|10](distance) [meters](unit)\n")
  }

  @Test func whatIsNotCoveredHasNoIntent() async throws {
    let other = "lang: en-US\ntemplates: |\n  *dance dance a waltz with the [red | blue](color) robot\n"
    let (status, console, _) = try await self.recognize(other, "--local")
    #expect(status == .done)
    #expect(console.output.hasSuffix(" (not covered)\n"))
    #expect(!console.output.contains("*"))
    let (_, json, _) = try await self.recognize(other, "--json")
    let last = try #require(try self.objects(json).last { $0["event"] as? String == "segment" })
    #expect(last["intent"] as? String == "")
    #expect((last["entities"] as? [Any])?.isEmpty == true)
  }

  @Test func wordsThatNobodyCanPronounceAreAWarning() async throws {
    let text = Self.robot.replacing("stop stop", with: "stop [stop | 東京]")
    let (status, console, _) = try await self.recognize(text, "--json")
    #expect(status == .done)
    #expect(console.error.isEmpty)
    let warning = try #require(try self.objects(console).first)
    #expect(warning["event"] as? String == "warning")
    #expect(warning["code"] as? String == "speech.understanding.word-unpronounceable")
    #expect((warning["message"] as? String)?.contains("東京") == true)
    #expect(warning["recovery"] != nil)
    let (_, plain, _) = try await self.recognize(text)
    #expect(plain.error.contains("東京"))
    #expect(!plain.output.contains("東京"))
  }

  @Test func aBadConfigurationIsShownWithItsPlace() async throws {
    let (status, console, _) = try await self.recognize("*go go $where\n", named: "robot.sal")
    #expect(status == CommandStatus(.configurationInvalid))
    #expect(console.output.isEmpty)
    #expect(console.error.contains("robot.sal:1:"))
    #expect(console.error.contains("^"))
    let (_, json, _) = try await self.recognize("*go go $where\n", "--json", named: "robot.sal")
    #expect(try self.objects(json).map { $0["code"] as? String } == ["server.configuration.invalid"])
  }

  @Test func aConfigurationThatIsMissingIsNamed() async {
    let (status, console) = await voice("recognize", "a.wav", "--local", "--config", "/none-such.yaml")
    #expect(status == CommandStatus(.configurationNotFound))
    #expect(console.error.contains("/none-such.yaml"))
  }

  @Test func aLanguageThatCannotBeUnderstoodIsAFailure() async throws {
    let finnish = "lang: fi-FI\ntemplates: |\n  *avaa avaa [ovi | ikkuna](kohde)\n"
    let (status, console, _) = try await self.recognize(finnish, "--local")
    #expect(status == CommandStatus(.configurationInvalid))
    #expect(console.error.contains("fi-FI"))
    #expect(console.error.contains("There is: en."))
  }

  @Test func noColorOnTheCommandLineMeansNone() async {
    let recorder = RecordedConsole(
      outputIsTerminal: true, errorIsTerminal: true, environment: ["TERM": "xterm"])
    let (_, console) = await voice(
      "recognize", "--local", "--raw", "--no-color", recordings + "/goforward.raw", console: recorder)
    #expect(!(console.output + console.error).contains("m\u{1B}"))
    #expect(!console.output.contains("\u{1B}[2m"))
  }
}
