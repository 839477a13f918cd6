import Foundation
import SpeechPipeline
import Testing
import VoiceAudio
import VoiceCore
import VoiceTesting

@testable import VoiceCommands

/// Writes silence; whoever hears it is told what was said.
private struct ScriptedSynthesizer: SpeechSynthesizer {
  var names: [String] = []
  var missing: [VoiceFailure] = []
  /// Voices that speak never.
  var broken: Set<String> = []

  func voices() async -> (voices: [SynthesizedVoice], missing: [VoiceFailure]) {
    (self.names.map { SynthesizedVoice(program: .flite, name: $0) }, self.missing)
  }

  func speak(_ text: String, with voice: SynthesizedVoice, to path: String) async throws(VoiceFailure) {
    guard !self.broken.contains(voice.name) else {
      throw VoiceFailure(.audioEmpty, message: "The voice \(voice.name) of flite failed: status 3.")
    }
    do {
      try FileManager.default.createDirectory(
        at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
    } catch {
      throw VoiceFailure(.fileNotWritable, cause: error)
    }
    let sink = WAVFileSink(path: path)
    try await sink.write(
      AudioChunk(position: 0, samples: [Int16](repeating: 0, count: 32_000)))
    try await sink.finish()
  }
}

@Suite(.timeLimit(.minutes(2)))
struct DemoCommandsTests {
  private let lights = "*turn_on turn on the [lights](device) in the [kitchen](room)"
  private let timer = "*set_timer set a timer for [twenty|20](amount) [minutes](unit)"

  /// Runs the act with a server that hears “turn on the lights in the kitchen”, whatever is spoken.
  private func run(
    _ commands: [String], _ synthesizer: ScriptedSynthesizer, json: Bool = false,
    cancelledAfter text: String? = nil
  ) async throws -> (status: CommandStatus, console: RecordedConsole) {
    let console = RecordedConsole()
    let recorded = console.console
    let output = Console.Stream(isTerminal: false) { written in
      recorded.output.write(written)
      if let text, written.contains(text) { withUnsafeCurrentTask { $0?.cancel() } }
    }
    let stage = DemoStage(
      recordings: [], commands: commands.compactMap { SpokenCommand($0, "a remark") },
      synthesizer: synthesizer,
      context: CommandContext(
        console: Console(output: output, error: recorded.error), clock: FastClock()),
      json: json)
    let engine = ScriptedEngine(
      words: ScriptedEngine.Word.sentence("turn on the lights in the kitchen", at: .milliseconds(100)))
    let status = try await withTemporaryFolder { folder in
      try await stage.perform(engine: engine, folder: folder.path)
    }
    return (status, console)
  }

  @Test func withoutVoicesItSaysWhatInstallsThemAndSpeaksNothing() async throws {
    let missing = VoiceFailure(
      .fileNotFound,
      message: "The voices of flite are not installed. This command installs them: apt-get install flite")
    let (status, console) = try await self.run([self.lights], ScriptedSynthesizer(missing: [missing]))
    #expect(status == .input)
    #expect(console.error.contains("The voices of flite are not installed."))
    #expect(console.error.contains("This command installs them: apt-get install flite\n"))
    #expect(console.error.contains("[audio.file.not-found]"))
    #expect(console.output.contains("this part is left out"))
    #expect(!console.output.contains("understood as they were meant"))
  }

  @Test func aVoiceThatFailsIsReplacedByTheNext() async throws {
    let synthesizer = ScriptedSynthesizer(names: ["awb", "slt"], broken: ["awb"])
    let (status, console) = try await self.run([self.lights, self.lights], synthesizer)
    #expect(status == .done)
    // Once: it is not asked again.
    #expect(console.error.split(separator: "\n").count == 1)
    #expect(console.error.contains("The voice awb of flite failed: status 3. [audio.file.empty]"))
    #expect(console.output.components(separatedBy: "slt says").count == 3)
    #expect(console.output.contains("All 2 understood as they were meant"))
  }

  /// A stream that is cancelled ends without words, which must not be taken for what was understood.
  @Test func nothingIsJudgedAfterItWasStopped() async throws {
    let act = Task {
      try await self.run(
        [self.lights, self.lights], ScriptedSynthesizer(names: ["rms"]), json: true,
        cancelledAfter: #""event":"started""#)
    }
    let (status, console) = try await act.value
    #expect(status == .interrupted)
    #expect(console.output.contains(#""event":"started""#))
    #expect(!console.output.contains("understanding"))
    #expect(!console.output.contains("score"))
  }

  @Test func nobodySpeaksAfterItWasStopped() async throws {
    let act = Task {
      try await self.run(
        [self.lights], ScriptedSynthesizer(names: ["rms"]), cancelledAfter: "  Home")
    }
    let (status, console) = try await act.value
    #expect(status == .interrupted)
    #expect(!console.output.contains("says"))
    #expect(!console.output.contains("understood as"))
  }

  @Test func whatNobodyCouldSpeakIsNotCountedAsUnderstood() async throws {
    let synthesizer = ScriptedSynthesizer(names: ["awb", "slt"], broken: ["awb", "slt"])
    let (status, console) = try await self.run([self.lights], synthesizer)
    #expect(status == .input)
    #expect(console.output.contains("0 of 1 understood as they were meant"))
    #expect(console.output.contains("not spoken: “turn on the lights in the kitchen”"))
  }

  @Test func whatIsUnderstoodOtherwiseIsShownWithWhatWasMeant() async throws {
    let synthesizer = ScriptedSynthesizer(names: ["rms", "slt"])
    let (status, console) = try await self.run(
      [self.lights, self.timer, "*_ we had dinner"], synthesizer)
    #expect(status == .done)
    let lines = console.outputLines
    #expect(lines.contains("   *turn_on turn on the [lights](device) in the [kitchen](room)"))
    #expect(lines.contains("   ✔ understood"))
    #expect(lines.contains("   ✖ understood otherwise than meant:"))
    #expect(lines.contains("     *set_timer set a timer for [twenty|20](amount) [minutes](unit)"))
    #expect(lines.contains("   ✖ taken for a command, which it is not"))
    #expect(lines.contains("   ✖ 1 of 3 understood as they were meant."))
    #expect(lines.contains("     not: “set a timer for twenty minutes” (slt)"))
  }

  @Test func scriptsGetOneObjectForEachStep() async throws {
    let synthesizer = ScriptedSynthesizer(
      names: ["awb", "rms"], missing: [VoiceFailure(.fileNotFound)], broken: ["awb"])
    let (status, console) = try await self.run([self.lights, self.timer], synthesizer, json: true)
    #expect(status == .done)
    #expect(console.error.isEmpty)
    let objects = try console.outputLines.map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    let events = objects.compactMap { $0["event"] as? String }
    // The call that follows has a test of its own.
    #expect(
      events.filter { $0 != "segment" }.prefix(11) == [
        "failure", "failure", "command", "started", "finished", "understanding", "command", "started",
        "finished", "understanding", "score",
      ])
    #expect(objects[2]["voice"] as? String == "flite rms")
    let verdicts = objects.filter { $0["event"] as? String == "understanding" }
    #expect(verdicts.map { $0["right"] as? Bool } == [true, false])
    #expect(
      console.output.contains(
        #""expected":[{"intent":"set_timer","entities":[{"type":"amount","value":"20"},{"type":"unit","value":"minutes"}]}]"#
      ))
    let score = objects.first { $0["event"] as? String == "score" }
    #expect(score?["right"] as? Int == 1)
    #expect(score?["spoken"] as? Int == 2)
  }
}
