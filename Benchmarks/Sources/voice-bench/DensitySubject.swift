import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import VoiceCore

/// What a number of streams in real time did to a processor.
struct DensityLevel: Codable {
  var streams: Int
  var p50: Double
  var p95: Double
  /// CPU time for each second of audio of one stream.
  var cpuPerAudioSecond: Double
}

/// Streams that hear recorded speech in real time; to be run on one core.
enum DensitySubject {
  private static let block = 1600
  /// Partial results may be this late, in milliseconds.
  static let bound = 150.0

  /// Runs level after level until partial results are late, and prints what was seen.
  static func run(streams levels: [Int], seconds: Int, file: String) async throws {
    let samples = try Recordings.read(file)
    var results: [DensityLevel] = []
    let pool = RecognizerPool(engine: try PocketSphinxEngine(), size: levels.max() ?? 1)
    try await pool.load()
    for count in levels {
      let level = try await self.level(count, seconds: seconds, samples, pool)
      results.append(level)
      if level.p95 > self.bound { break }
    }
    print(String(decoding: try JSONEncoder().encode(results), as: UTF8.self))
  }

  private static func level(
    _ count: Int, seconds: Int, _ samples: [Int16], _ pool: RecognizerPool
  ) async throws -> DensityLevel {
    let cpu = clock()
    let origin = ContinuousClock.now + .milliseconds(50)
    let all = try await withThrowingTaskGroup(of: [Double].self) { group in
      for stream in 0..<count {
        group.addTask {
          let context = try await pool.beginContext(
            ContextOptions(silence: .milliseconds(500)), patience: .seconds(5))
          var own: [Double] = []
          // Each begins elsewhere in the recordings and at another moment of the tenth of a second.
          var position = samples.count / count * stream / self.block * self.block
          let phase = Duration.milliseconds(100 * stream / count)
          for index in 1...(seconds * 10) {
            let due = origin + phase + .milliseconds(100 * index)
            try await Task.sleep(until: due, tolerance: .zero, clock: .continuous)
            if position + self.block > samples.count { position = 0 }
            let events = try await context.append(Array(samples[position..<(position + self.block)]))
            position += self.block
            // A block that brought nothing new makes nobody wait.
            if !events.isEmpty { own.append((ContinuousClock.now - due) / .milliseconds(1)) }
          }
          _ = try await context.finish()
          return own
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let spent = Double(clock() - cpu) / Double(CLOCKS_PER_SEC)
    return DensityLevel(
      streams: count, p50: Figures.percentile(all, 0.5), p95: Figures.percentile(all, 0.95),
      cpuPerAudioSecond: spent / Double(count * seconds))
  }
}
