import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import SpeechUnderstanding
import VoiceCore

/// What was measured of recognition with a grammar.
struct GrammarFigures: Codable {
  /// CPU time for each second of audio.
  var cpuPerAudioSecond: Double
  /// From the end of the audio to the final result, in milliseconds, for each file.
  var finals: [Double]
  /// How many files were understood.
  var understood: Int
}

/// Recognition with a grammar through the pipeline, as the server runs it for a stream.
enum GrammarSubject {
  private static let block = 1_600

  static func run(interface path: String, files: [String]) async throws {
    let loaded = VoiceInterface.load(path: path, packs: [EnglishPack()])
    guard let interface = loaded.interface else { throw Child.Failure(description: loaded.rendered()) }
    let understanding = try Understanding(interface, language: EnglishPack())
    let options = ContextOptions(
      understanding: ContextUnderstanding(
        understanding, values: ValueContext(now: Date(timeIntervalSince1970: 1_790_000_000), timeZone: .gmt),
        grammar: RecognitionGrammar(understanding.grammar)))
    let pool = RecognizerPool(engine: try PocketSphinxEngine(), size: 1)
    try await pool.load()
    let recordings = try files.map { try Recordings.read($0) }
    var figures = GrammarFigures(cpuPerAudioSecond: 0, finals: [], understood: 0)
    var seconds = 0.0
    var spent: clock_t = 0
    // The first is heard twice: it makes what is made from a grammar once.
    for (index, samples) in ([recordings.first ?? []] + recordings).enumerated() {
      let start = clock()
      let context = try await pool.beginContext(options, patience: .seconds(5))
      var events: [RecognitionEvent] = []
      for position in stride(from: 0, to: samples.count, by: self.block) {
        events += try await context.append(
          Array(samples[position..<min(position + self.block, samples.count)]))
      }
      let end = try await ContinuousClock().measure { events += try await context.finish() }
      guard index > 0 else { continue }
      spent += clock() - start
      seconds += Double(samples.count) / 16_000
      figures.finals.append(end / .milliseconds(1))
      let isUnderstood = events.contains { event in
        if case .intent(_, let intent, isFinal: true) = event { !intent.isEmpty } else { false }
      }
      figures.understood += isUnderstood ? 1 : 0
    }
    figures.cpuPerAudioSecond = Double(spent) / Double(CLOCKS_PER_SEC) / max(seconds, 1e-9)
    print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
  }
}
