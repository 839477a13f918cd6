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

/// Recognition with a grammar, block by block, up to the meaning.
enum GrammarSubject {
  private static let block = 1_600

  static func run(interface path: String, files: [String]) async throws {
    let loaded = VoiceInterface.load(path: path, packs: [EnglishPack()])
    guard let interface = loaded.interface else { throw Child.Failure(description: loaded.rendered()) }
    let understanding = try Understanding(interface, language: EnglishPack())
    let task = RecognitionTask(grammar: RecognitionGrammar(understanding.grammar))
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    let values = ValueContext(now: Date(timeIntervalSince1970: 1_790_000_000), timeZone: .gmt)
    let recordings = try files.map { try Recordings.read($0) }
    var figures = GrammarFigures(cpuPerAudioSecond: 0, finals: [], understood: 0)
    var seconds = 0.0
    var spent: clock_t = 0
    // The first makes what is made from a grammar once.
    for (index, samples) in ([recordings.first ?? []] + recordings).enumerated() {
      let start = clock()
      try recognizer.begin(task)
      for position in stride(from: 0, to: samples.count, by: self.block) {
        let block = Array(samples[position..<min(position + self.block, samples.count)])
        let isSpeech = try block.withUnsafeBufferPointer { try recognizer.process($0) }
        if isSpeech != false { _ = recognizer.hypothesis() }
      }
      var meaning: Understanding.Utterance?
      let end = try ContinuousClock().measure {
        let result = try recognizer.finish(alternatives: 0)
        meaning = understanding.understand(result.words.map(\.text).joined(separator: " "), in: values)
      }
      guard index > 0 else { continue }
      spent += clock() - start
      seconds += Double(samples.count) / 16_000
      figures.finals.append(end / .milliseconds(1))
      figures.understood += meaning == nil ? 0 : 1
    }
    figures.cpuPerAudioSecond = Double(spent) / Double(CLOCKS_PER_SEC) / max(seconds, 1e-9)
    print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
  }
}
