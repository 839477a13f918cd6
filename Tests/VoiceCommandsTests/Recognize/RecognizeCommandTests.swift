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

  @Test func noColorOnTheCommandLineMeansNone() async {
    let recorder = RecordedConsole(
      outputIsTerminal: true, errorIsTerminal: true, environment: ["TERM": "xterm"])
    let (_, console) = await voice(
      "recognize", "--local", "--raw", "--no-color", recordings + "/goforward.raw", console: recorder)
    #expect(!(console.output + console.error).contains("m\u{1B}"))
    #expect(!console.output.contains("\u{1B}[2m"))
  }
}
