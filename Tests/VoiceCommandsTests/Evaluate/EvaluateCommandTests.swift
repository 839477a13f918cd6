import ArgumentParser
import Foundation
import SpeechUnderstanding
import Synchronization
import Testing
import VoiceAudio
import VoiceCore
import VoiceTesting

@testable import VoiceCommands

struct EvaluateCommandTests {
  /// Hears the same words in every recording, and keeps what it was given.
  private final class ScriptedRecognizer: EvaluationRecognizer {
    let words: [String]
    let rates = Mutex<[Int]>([])

    init(_ words: String) { self.words = words.split(separator: " ").map(String.init) }

    func prepare() async throws(VoiceFailure) {}

    func hear(_ audio: EvaluationAudio, app: EvaluationApp) async throws(VoiceFailure) -> EvaluationHearing {
      self.rates.withLock { $0.append(audio.sampleRate) }
      let meaning = app.understanding.understand(self.words.joined(separator: " "), in: app.values)
      return EvaluationHearing(words: self.words, meaning: meaning?.annotated)
    }
  }

  private static let app = """
    templates: |
      *turn_on turn on the [lights | radio](device)
    entities:
      - {name: device, type: string}
    lang: en-US
    """

  private func evaluate(
    _ labels: String, _ arguments: [String] = [], words: String = "turn on the radio",
    recordings: [String] = ["a.wav", "b.wav"], errorIsTerminal: Bool = false
  ) async throws -> (status: CommandStatus?, console: RecordedConsole, recognizer: ScriptedRecognizer) {
    try await withTemporaryFolder { folder in
      try Data(labels.utf8).write(to: folder.appending(path: "labels.jsonl"))
      try Data(Self.app.utf8).write(to: folder.appending(path: "app.yaml"))
      for name in recordings {
        let samples = (0..<4_000).map { Int16(truncatingIfNeeded: $0 * 7) }
        let sink = WAVFileSink(path: folder.appending(path: name).path)
        try await sink.write(AudioChunk(position: 0, samples: samples))
        try await sink.finish()
      }
      let console = RecordedConsole(errorIsTerminal: errorIsTerminal)
      let recognizer = ScriptedRecognizer(words)
      let command = try #require(
        try VoiceCommand.parseAsRoot(["evaluate", folder.path] + arguments) as? EvaluateCommand)
      let context = CommandContext(console: console.console)
      do throws(VoiceFailure) {
        let status = try await command.evaluate(with: recognizer, jobs: 2, in: context)
        return (status, console, recognizer)
      } catch {
        return (context.fail(error, json: command.common.json), console, recognizer)
      }
    }
  }

  // MARK: Bad input

  @Test func aFolderWithoutLabelsIsNamed() async {
    let (status, console) = await voice("evaluate", "/none-such")
    #expect(status == .input)
    #expect(console.error.contains("/none-such"))
    #expect(console.error.contains("evaluation.labels.not-found"))
  }

  @Test(arguments: [
    (["--conditions", "clean,babble"], "“babble”"), (["--conditions", "snr20"], "--noise"),
    (["--conditions", ","], "names none"), (["--limit", "0"], "--limit"), (["--jobs", "0"], "--jobs"),
  ])
  func optionsThatMakeNoSenseAreRefused(arguments: [String], message: String) async {
    let context = RecordedConsole()
    let status = await VoiceCommand.run(
      ["evaluate", "/tmp"] + arguments, in: CommandContext(console: context.console))
    #expect(status == .usage)
    #expect(context.error.contains(message))
  }

  @Test func brokenLinesAndRecordingsAreNamedAndTheRestGoesOn() async throws {
    let labels = """
      {"file": "a.wav", "text": "*turn_on turn on the [radio](device)"}
      {"file": "b.wav"
      {"file": "missing.wav", "text": "*turn_on turn on the [radio](device)"}
      """
    let (status, console, _) = try await self.evaluate(labels)
    #expect(status == .input)
    #expect(console.error.contains("labels.jsonl:2: "))
    #expect(console.error.contains("missing.wav"))
    #expect(console.error.contains("1 recording could not be evaluated"))
    #expect(console.output.contains("clean          1  100.0 %   100.0 %"))
  }

  @Test func aBrokenConfigurationIsShownAndNothingIsHeard() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.appending(path: "broken.sal").path
      try Data("*on turn on $devices\n".utf8).write(to: URL(fileURLWithPath: path))
      let (status, console, recognizer) = try await self.evaluate(
        #"{"file": "a.wav", "intent": "on"}"#, ["--config", path])
      #expect(status == .input)
      #expect(console.error.contains("broken.sal:1:"))
      #expect(recognizer.rates.withLock { $0.isEmpty })
    }
  }

  @Test func missingNoiseIsNamed() async throws {
    let (status, console, _) = try await self.evaluate(
      #"{"file": "a.wav", "intent": "turn_on"}"#, ["--conditions", "snr10", "--noise", "/none-such.wav"])
    #expect(status == .input)
    #expect(console.error.contains("/none-such.wav"))
  }

  // MARK: Evaluation

  private static let labels = """
    {"file": "a.wav", "text": "*turn_on turn on the [radio](device)", "voice": "ann"}
    {"file": "b.wav", "intent": "turn_on", "entities": {"device": "lights"}, "voice": "bob"}
    """

  @Test func hearsEveryRecordingInEveryCondition() async throws {
    let (status, console, recognizer) = try await self.evaluate(
      Self.labels, ["--conditions", "clean,pink10,telephone"])
    #expect(status == .done)
    #expect(console.error.isEmpty)
    #expect(recognizer.rates.withLock { $0.sorted() } == [8_000, 8_000, 16_000, 16_000, 16_000, 16_000])
    for condition in ["clean", "pink10", "telephone"] {
      #expect(console.outputLines.contains { $0.hasPrefix("  \(condition) ") && $0.contains("50.0 %") })
    }
    #expect(console.output.contains("device: lights"))
  }

  @Test func printsNothingButObjectsWhenAskedTo() async throws {
    let (status, console, _) = try await self.evaluate(
      Self.labels + "\n{", ["--json", "--conditions", "clean,telephone"], recordings: ["a.wav"],
      errorIsTerminal: true)
    #expect(status == .input)
    let objects = try console.outputLines.map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    #expect(
      objects.compactMap { $0["event"] as? String }
        == ["failure", "failure", "evaluated", "evaluated", "summary", "summary"])
    #expect(objects[1]["file"] as? String == "b.wav")
    #expect(objects[2]["accepted"] as? Bool == true)
  }

  @Test func aLimitIsKept() async throws {
    let (status, _, recognizer) = try await self.evaluate(Self.labels, ["--limit", "1"])
    #expect(status == .done)
    #expect(recognizer.rates.withLock { $0.count } == 1)
  }

  @Test func showsABarOnATerminalOnly() async throws {
    let (_, shown, _) = try await self.evaluate(Self.labels, errorIsTerminal: true)
    #expect(shown.error.contains("2 of 2"))
    #expect(!shown.output.contains("Listening"))
  }
}

struct OtherRecognizersTests {
  private static let app = "*turn_on turn on the [lights | radio](device)\n"

  private func withSet(_ heard: String, _ body: (_ folder: URL, _ arguments: [String]) async throws -> Void)
    async throws
  {
    try await withTemporaryFolder { folder in
      try Data(#"{"file": "a.wav", "text": "*turn_on turn on the [radio](device)"}"#.utf8)
        .write(to: folder.appending(path: "labels.jsonl"))
      try Data(Self.app.utf8).write(to: folder.appending(path: "app.sal"))
      try Data(heard.utf8).write(to: folder.appending(path: "heard.jsonl"))
      let sink = WAVFileSink(path: folder.appending(path: "a.wav").path)
      try await sink.write(AudioChunk(position: 0, samples: [Int16](repeating: 100, count: 3_200)))
      try await sink.finish()
      try await body(
        folder,
        [
          "evaluate", folder.path, "--config", folder.appending(path: "app.sal").path, "--heard",
          folder.appending(path: "heard.jsonl").path,
        ])
    }
  }

  private func run(_ arguments: [String]) async -> (CommandStatus, RecordedConsole) {
    let console = RecordedConsole()
    return (await VoiceCommand.run(arguments, in: CommandContext(console: console.console)), console)
  }

  @Test func aLineThatIsNoneIsNamed() async throws {
    try await self.withSet("{\"file\": \"clean/a.wav\", \"text\": \"turn on\"}\n[]\n") { _, arguments in
      let (status, console) = await self.run(arguments)
      #expect(status == .input)
      #expect(console.error.contains("heard.jsonl:2:"))
    }
  }

  @Test func aRecordingThatWasNotHeardIsNamed() async throws {
    try await self.withSet("") { _, arguments in
      let (status, console) = await self.run(arguments)
      #expect(status == .input)
      #expect(console.error.contains("has no line for clean/a.wav"))
    }
  }

  @Test func whatIsHeardIsKeptAndJudged() async throws {
    let heard =
      #"{"file": "clean/a.wav", "text": "turn on the radio"}"# + "\n"
      + #"{"file": "telephone/a.wav", "text": "turn on the lights"}"#
    try await self.withSet(heard) { folder, arguments in
      let kept = folder.appending(path: "kept").path
      let results = folder.appending(path: "results.jsonl")
      let (status, console) = await self.run(
        arguments + ["--conditions", "clean,telephone", "--keep-audio", kept, "--results", results.path])
      #expect(status == .done)
      #expect(console.outputLines.contains { $0.hasPrefix("  clean ") && $0.contains("100.0 %") })
      #expect(console.outputLines.contains { $0.hasPrefix("  telephone ") && $0.contains("0.0 %") })
      for condition in ["clean", "telephone"] {
        let samples = try await EvaluationRun.samples(at: "\(kept)/\(condition)/a.wav") { _ in }
        #expect(samples.count == 3_200)
      }
      let lines = String(decoding: try Data(contentsOf: results), as: UTF8.self).split(separator: "\n")
      #expect(lines.count == 4)
    }
  }
}
