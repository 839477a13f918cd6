import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import VoiceCore

/// The pipeline as a program, to be compared with programs around the C library.
enum EngineSubject {
  private static let block = 1600

  /// The options of the C library that the engine sets.
  static func options(_ configuration: PocketSphinxEngine.Configuration) -> [String] {
    [
      "-hmm", configuration.model.acousticModel, "-lm", configuration.model.languageModel,
      "-dict", configuration.model.dictionary, "-samprate", "16000",
      "-maxhmmpf", "\(configuration.maximumActiveStates)", "-maxwpf", "\(configuration.maximumWordEnds)",
      "-fwdflat", configuration.searchesTwice ? "yes" : "no", "-bestpath",
      configuration.usesBestPath ? "yes" : "no",
      "-dither", "no", "-remove_silence", "yes", "-vad_prespeech", "20", "-vad_postspeech", "50",
    ]
  }

  /// Recognises a raw file.
  static func recognize(_ path: String) async throws {
    let samples = try Recordings.read(path)
    let pool = RecognizerPool(engine: try PocketSphinxEngine(), size: 1)
    try await pool.load()
    let start = clock()
    let context = try await pool.beginContext(ContextOptions(), patience: .zero)
    var words = 0
    for position in stride(from: 0, to: samples.count, by: self.block) {
      let events = try await context.append(
        Array(samples[position..<min(position + self.block, samples.count)]))
      words += events.count { if case .word = $0 { true } else { false } }
    }
    words += try await context.finish().count { if case .word = $0 { true } else { false } }
    print("{\"cpu\":\(Double(clock() - start) / Double(CLOCKS_PER_SEC)),\"words\":\(words)}")
  }

  /// Measures for raw files how long the end takes, from `finish()` to its events, in microseconds.
  static func timeFinals(rounds: Int, files: [String]) async throws {
    let pool = RecognizerPool(engine: try PocketSphinxEngine(), size: 1)
    try await pool.load()
    var all: [[Double]] = []
    for file in files {
      let samples = try Recordings.read(file)
      var times: [Double] = []
      for _ in 0..<rounds {
        let context = try await pool.beginContext(ContextOptions(), patience: .seconds(5))
        for position in stride(from: 0, to: samples.count, by: self.block) {
          _ = try await context.append(Array(samples[position..<min(position + self.block, samples.count)]))
        }
        let time = try await ContinuousClock().measure { _ = try await context.finish() }
        times.append(time / .microseconds(1))
      }
      all.append(times)
    }
    print(String(decoding: try JSONEncoder().encode(FinalTimes(files: all)), as: UTF8.self))
  }
}

/// For each file the times of the end in microseconds, round by round.
struct FinalTimes: Codable {
  var files: [[Double]]
}
