import Foundation
import Testing
import VoiceCore

@testable import PocketSphinxRecognition
@testable import SpeechPipeline

private let listOfRecordings = ProcessInfo.processInfo.environment["VOICE_MEASURE"]

/// Prints how settings change errors and delays; the figures in `docs/` come from here.
///
/// `VOICE_MEASURE=LIST swift test --filter RecognitionMeasurements`, where LIST has a line for each recording: the
/// name of its speaker, the path of its samples (raw, 16 kHz, mono, 16 bits) and its words, separated by tabs.
@Suite(.serialized, .enabled(if: listOfRecordings != nil))
struct RecognitionMeasurements {
  private struct Row {
    var speaker: String
    var samples: [Int16]
    var words: [String]
  }

  private struct Score {
    var edits = 0
    var words = 0
    var early = 0
    var delays: [Double] = []

    var line: String {
      let sorted = self.delays.sorted()
      func quantile(_ part: Double) -> Double {
        sorted.isEmpty ? 0 : sorted[Int(Double(sorted.count - 1) * part)]
      }
      return String(
        format:
          "WER %.1f %% (%d of %d), final before the end %.0f %%, word end to final: median %.1f s, 90 %% %.1f s",
        100 * Double(self.edits) / Double(max(1, self.words)), self.edits, self.words,
        100 * Double(self.early) / Double(max(1, sorted.count)), quantile(0.5), quantile(0.9))
    }
  }

  private func rows() throws -> [Row] {
    let text = try String(contentsOfFile: listOfRecordings ?? "", encoding: .utf8)
    return text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
      guard fields.count == 3, let file = FileManager.default.contents(atPath: String(fields[1])) else {
        return nil
      }
      let samples = file.withUnsafeBytes { raw in
        (0..<raw.count / 2).map { raw.loadUnaligned(fromByteOffset: 2 * $0, as: Int16.self) }
      }
      return Row(
        speaker: String(fields[0]), samples: samples, words: fields[2].split(separator: " ").map(String.init))
    }
  }

  /// Recognises one recording and adds to the score; returns what was learned.
  private func run(
    _ recognizer: any Recognizer, _ row: Row, _ settings: PipelineSettings, adaptation: RecognizerAdaptation?,
    into score: inout Score
  ) throws -> RecognizerAdaptation? {
    let driver = UtteranceDriver(
      recognizer: recognizer, detector: nil, options: ContextOptions(adaptation: adaptation),
      capabilities: try PocketSphinxEngine().capabilities, settings: settings)
    try driver.begin()
    var words: [String] = []
    func take(_ events: [RecognitionEvent], head: Int) {
      for case .word(_, _, let word) in events {
        words.append(word.text)
        score.delays.append(Double(head) / 16_000 - Double(word.end.milliseconds) / 1000)
        if word.confidence == nil { score.early += 1 }
      }
    }
    for start in stride(from: 0, to: row.samples.count, by: 1600) {
      var events: [RecognitionEvent] = []
      let end = min(start + 1600, row.samples.count)
      try driver.append(Array(row.samples[start..<end]), into: &events)
      take(events, head: end)
    }
    var events: [RecognitionEvent] = []
    try driver.finish(into: &events)
    take(events, head: row.samples.count)
    score.edits += Speech.edits(row.words, words)
    score.words += row.words.count
    return driver.adaptation
  }

  @Test func finalWordsBeforeTheEnd() throws {
    let rows = try rows()
    let recorder = RecordingRecognizer(try PocketSphinxEngine().makeRecognizer())
    var recordings: [[RecordingRecognizer.Step]] = []
    var learned: [String: RecognizerAdaptation] = [:]
    var settings = PipelineSettings.standard
    settings.stableFor = nil
    var score = Score()
    for row in rows {
      recorder.steps = []
      learned[row.speaker] = try run(recorder, row, settings, adaptation: learned[row.speaker], into: &score)
      recordings.append(recorder.steps)
    }
    print("no word before the end: \(score.line)")
    for stable in [600, 1000, 2000, 3000] {
      for lag in [800, 1500, 2000, 3000] {
        settings.stableFor = .milliseconds(stable)
        settings.lag = .milliseconds(lag)
        var score = Score()
        for (row, steps) in zip(rows, recordings) {
          _ = try run(ReplayedRecognizer(steps), row, settings, adaptation: nil, into: &score)
        }
        print("unchanged for \(stable) ms, \(lag) ms behind: \(score.line)")
      }
    }
  }

  @Test(arguments: [(true, true), (false, true), (true, false), (false, false)])
  func passes(searchesTwice: Bool, usesBestPath: Bool) throws {
    var configuration = try PocketSphinxEngine().configuration
    configuration.searchesTwice = searchesTwice
    configuration.usesBestPath = usesBestPath
    let recorder = RecordingRecognizer(try PocketSphinxEngine(configuration: configuration).makeRecognizer())
    var settings = PipelineSettings.standard
    settings.stableFor = nil
    var learned: [String: RecognizerAdaptation] = [:]
    var score = Score()
    for row in try rows() {
      learned[row.speaker] = try run(recorder, row, settings, adaptation: learned[row.speaker], into: &score)
    }
    let ends = recorder.endings.sorted()
    let median = ends.isEmpty ? 0 : ends[ends.count / 2] * 1000
    let longest = (ends.last ?? 0) * 1000
    print("second pass \(searchesTwice), best path \(usesBestPath): \(score.line)")
    print("  end of an utterance: median \(median) ms, longest \(longest) ms")
  }
}

/// Notes all that a recogniser answers.
private final class RecordingRecognizer: Recognizer {
  enum Step {
    case processed(Bool?)
    case hypothesis([RecognizedWord])
    case finished(RecognitionResult)
  }

  private let base: any Recognizer
  var steps: [Step] = []
  /// How long each end of an utterance took, in seconds.
  var endings: [Double] = []

  init(_ base: any Recognizer) {
    self.base = base
  }

  func begin(_ task: RecognitionTask) throws(VoiceFailure) {
    try self.base.begin(task)
  }

  func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool? {
    let speech = try self.base.process(samples)
    self.steps.append(.processed(speech))
    return speech
  }

  func hypothesis() -> [RecognizedWord] {
    let words = self.base.hypothesis()
    self.steps.append(.hypothesis(words))
    return words
  }

  func finish(alternatives: Int) throws(VoiceFailure) -> RecognitionResult {
    let start = MonotonicClock().now
    let result = try self.base.finish(alternatives: alternatives)
    self.endings.append(start.duration(to: MonotonicClock().now) / .seconds(1))
    self.steps.append(.finished(result))
    return result
  }

  func cancel() { self.base.cancel() }
  var adaptation: RecognizerAdaptation? { self.base.adaptation }
  var activityHangover: Duration { self.base.activityHangover }
}

/// Answers as a recogniser did before.
private final class ReplayedRecognizer: Recognizer {
  private var steps: ArraySlice<RecordingRecognizer.Step>

  init(_ steps: [RecordingRecognizer.Step]) {
    self.steps = steps[...]
  }

  func begin(_ task: RecognitionTask) throws(VoiceFailure) {}

  func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool? {
    guard case .processed(let speech)? = self.steps.popFirst() else { throw VoiceFailure(.engineFailed) }
    return speech
  }

  func hypothesis() -> [RecognizedWord] {
    guard case .hypothesis(let words)? = self.steps.popFirst() else { return [] }
    return words
  }

  func finish(alternatives: Int) throws(VoiceFailure) -> RecognitionResult {
    guard case .finished(let result)? = self.steps.popFirst() else { throw VoiceFailure(.engineFailed) }
    return result
  }

  func cancel() {}
  var adaptation: RecognizerAdaptation? { nil }
  var activityHangover: Duration { .milliseconds(500) }
}
