import ArgumentParser
import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import SpeechUnderstanding
import Synchronization
import VoiceCore

/// `voice evaluate`: how well recordings with known meaning are understood.
struct EvaluateCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "evaluate",
    abstract: "Measures how well recordings are understood.",
    usage: "voice evaluate DIR [--config FILE] [--conditions clean,pink20,telephone] [--noise FILE] [--json]",
    discussion: """
      DIR holds recordings and labels.jsonl, one object a line: {"file": "a.wav", "intent": "turn_on", \
      "entities": {"device": "lights"}} or {"file": "a.wav", "text": "*turn_on turn on the [lights](device)"}; or \
      labels.txt with lines like “a.wav *turn_on turn on the [lights](device)”. Fields of your choice: “voice”, \
      “condition”, “domain”, and “in_grammar”: false for speech that should be rejected. If DIR has no labels, every \
      folder in it that has is a domain. The app's configuration is app.yaml beside the labels, or --config.
      """)

  @Argument(help: ArgumentHelp("The folder.", valueName: "dir"))
  var folder: String

  @Option(
    help: ArgumentHelp("The app's configuration: a folder, or a .yaml or .sal file.", valueName: "file"))
  var config: String?

  @Option(
    help: ArgumentHelp(
      "Separated by commas: clean, snrN (--noise at N dB), pinkN (pink noise at N dB), telephone.",
      valueName: "list"))
  var conditions = "clean"

  @Option(help: ArgumentHelp("A recording of noise for snrN.", valueName: "file"))
  var noise: String?

  @Option(help: "Evaluate at most N recordings of each folder, spread over it.")
  var limit: Int?

  @Option(help: "How many recordings are recognised at a time; by default one for each processor core.")
  var jobs: Int?

  @Option(
    help: ArgumentHelp(
      "Write what is heard in each condition as WAV files into a folder, for other recognisers.",
      valueName: "dir"))
  var keepAudio: String?

  @Option(
    help: ArgumentHelp(
      """
      Judge what another recogniser heard: lines {"file": "clean/a.wav", "text": "turn on"}, with the names of \
      --keep-audio.
      """, valueName: "file"))
  var heard: String?

  @Option(help: ArgumentHelp("Write the objects of --json into a file, too.", valueName: "file"))
  var results: String?

  @OptionGroup var common: CommonOptions

  func validate() throws {
    let conditions = try self.parsedConditions()
    guard !conditions.contains(where: \.needsNoise) || self.noise != nil else {
      throw ValidationError("snrN needs a recording of noise: add --noise FILE, or use pinkN.")
    }
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
    if let jobs, !(1...64).contains(jobs) { throw ValidationError("--jobs must be from 1 to 64.") }
  }

  private func parsedConditions() throws -> [EvaluationCondition] {
    var conditions: [EvaluationCondition] = []
    for name in self.conditions.split(separator: ",") {
      let name = name.trimmingCharacters(in: .whitespaces)
      guard let condition = EvaluationCondition(name) else {
        throw ValidationError(
          "There is no condition “\(name)”: use clean, snr24, pink10 (any number of dB), telephone.")
      }
      if !conditions.contains(condition) { conditions.append(condition) }
    }
    guard !conditions.isEmpty else { throw ValidationError("--conditions names none.") }
    return conditions
  }

  func run(in context: CommandContext) async -> CommandStatus {
    do throws(VoiceFailure) {
      let jobs = self.jobs ?? max(1, ProcessInfo.processInfo.activeProcessorCount)
      var recognizer: any EvaluationRecognizer =
        if let heard { try HeardWords(path: heard) } else {
          PipelineRecognizer(engine: try PocketSphinxEngine(), jobs: jobs)
        }
      if let keepAudio { recognizer = KeepingRecognizer(next: recognizer, folder: keepAudio) }
      return try await self.evaluate(with: recognizer, jobs: jobs, in: context)
    } catch {
      return context.fail(error, json: self.common.json)
    }
  }

  /// Evaluates with a recogniser.
  func evaluate(
    with recognizer: any EvaluationRecognizer, jobs: Int, in context: CommandContext
  ) async throws(VoiceFailure) -> CommandStatus {
    var sets = try EvaluationSet.load(folder: self.folder, configuration: self.config)
    if let limit { for index in sets.indices { sets[index].limit(to: limit) } }
    var noise: [Int16] = []
    if let path = self.noise {
      noise = try await EvaluationRun.samples(at: path) { self.report($0, about: path, in: context) }
    }
    var apps: [String: EvaluationApp] = [:]
    for set in sets where apps[set.configuration] == nil {
      let understanding = try InterfaceFile(path: set.configuration)
        .understanding(in: context, json: self.common.json)
      apps[set.configuration] = EvaluationApp(understanding, values: .current)
    }
    let work = sets.compactMap { set in apps[set.configuration].map { (set: set, app: $0) } }
    let problems = sets.flatMap(\.problems)
    for problem in problems {
      self.report(VoiceFailure(.labelsInvalid, message: problem), about: nil, in: context)
    }
    try await recognizer.prepare()
    let conditions = (try? self.parsedConditions()) ?? [.clean]
    let run = EvaluationRun(recognizer: recognizer, conditions: conditions, noise: noise, jobs: jobs)
    let outcome = await self.outcome(of: run, on: work, in: context)
    self.present(outcome, in: context)
    if outcome.finished < outcome.total { return .interrupted }
    let isWhole = problems.isEmpty && !outcome.failures.contains { !$0.failure.isNotice }
    return isWhole ? .done : .input
  }

  private func outcome(
    of run: EvaluationRun, on work: [(set: EvaluationSet, app: EvaluationApp)], in context: CommandContext
  ) async -> EvaluationRun.Outcome {
    let stop = StopFlag()
    let bar = EvaluationProgress(stream: context.console.error, symbols: context.console.symbols)
    return await withTaskGroup(of: EvaluationRun.Outcome?.self) { group in
      group.addTask {
        for await _ in context.stopSignals() {
          stop.isSet.store(true, ordering: .relaxed)
          break
        }
        return nil
      }
      group.addTask {
        await run.run(work, stop: { stop.isSet.load(ordering: .relaxed) }, progress: { bar.show($0, of: $1) })
      }
      defer { bar.clear() }
      while let outcome = await group.next() {
        guard let outcome else { continue }
        group.cancelAll()
        return outcome
      }
      return EvaluationRun.Outcome()
    }
  }

  /// How many failures of single recordings a person sees.
  private static let failuresShown = 20

  private func present(_ outcome: EvaluationRun.Outcome, in context: CommandContext) {
    let shown = self.common.json ? outcome.failures.count : Self.failuresShown
    for (file, failure) in outcome.failures.prefix(shown) { self.report(failure, about: file, in: context) }
    if outcome.failures.count > shown {
      context.console.error.line(StyledText("  and \(outcome.failures.count - shown) more", .dim))
    }
    let report = EvaluationReport(outcome.scores)
    let output = context.console.output
    let objects =
      outcome.scores.map(EventObject.evaluated)
      + (report.conditions + report.domains + report.voices).map(EventObject.summary)
    if let results {
      do {
        try Data(objects.map { $0.text + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: results))
      } catch {
        self.report(
          VoiceFailure(.fileNotWritable, message: "\(results) cannot be written.", cause: error), about: nil,
          in: context)
      }
    }
    if self.common.json {
      for object in objects { output.write(object.text + "\n") }
      return
    }
    // A table is not broken between words: that would make it hard to read.
    for line in report.lines(symbols: context.console.symbols) {
      output.write(line.rendered(withColor: output.showsColor) + "\n")
    }
    if outcome.finished < outcome.total {
      context.console.error.line(
        StyledText(
          "Stopped after \(outcome.finished) of \(Phrases.count(outcome.total, "recording")).", .yellow))
    }
    let unreadable = outcome.failures.count { !$0.failure.isNotice }
    if unreadable > 0 {
      context.console.error.line(
        StyledText(
          "\(Phrases.count(unreadable, "recording")) could not be evaluated and count nowhere.", .yellow))
    }
  }

  private func report(_ failure: VoiceFailure, about file: String?, in context: CommandContext) {
    if self.common.json {
      var object = EventObject.failure(failure)
      if let file, case .object(let fields) = object {
        object = .object(fields + [.init(name: "file", value: .string(file))])
      }
      context.console.output.write(object.text + "\n")
    } else {
      // Failures of files name them in their message.
      FailurePresentation(failure, symbols: context.console.symbols).write(to: context.console.error)
    }
  }
}

/// Whether somebody asked to stop.
private final class StopFlag: Sendable {
  let isSet = Atomic(false)
}

/// The bar that shows how far an evaluation is, on terminals only.
final class EvaluationProgress: Sendable {
  private let stream: Console.Stream
  private let symbols: Console.Symbols
  private let block: Mutex<LiveBlock>

  init(stream: Console.Stream, symbols: Console.Symbols) {
    self.stream = stream
    self.symbols = symbols
    self.block = Mutex(LiveBlock(showsColor: stream.showsColor))
  }

  func show(_ done: Int, of total: Int) {
    guard self.stream.movesCursor else { return }
    let size = self.stream.size
    let row = StyledText("  ") + ProgressBar.row("Listening", done, of: total, symbols: self.symbols)
    self.stream.write(self.block.withLock { $0.draw([row], on: size) })
  }

  func clear() {
    guard self.stream.movesCursor else { return }
    let size = self.stream.size
    self.stream.write(self.block.withLock { $0.clear(on: size) })
  }
}
