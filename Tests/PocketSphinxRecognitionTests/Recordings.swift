import Foundation
import SpeechPipeline
import SpeechUnderstanding
import Testing
import VoiceCore

@testable import PocketSphinxRecognition

/// The recordings of Debian's package pocketsphinx-testdata, with what is said in them.
struct Recording: Hashable, Sendable, CustomTestStringConvertible {
  var path: String
  var text: String

  var testDescription: String { self.path }

  static let folder = "/usr/share/pocketsphinx/test/data"

  static let goForward = Recording(path: "goforward.raw", text: "go forward ten meters")
  static let something = Recording(path: "something.raw", text: "go somewhere and do something")
  static let cards = Self.transcribed(in: "cards", by: "cards.transcription")
  static let librivox = Self.transcribed(in: "librivox", by: "transcription")

  /// The 16 kHz mono samples.
  var samples: [Int16] {
    let file = FileManager.default.contents(atPath: "\(Self.folder)/\(self.path)") ?? Data()
    // The wav files have the plain header of 44 bytes.
    let bytes = self.path.hasSuffix(".wav") ? file.dropFirst(44) : file
    return bytes.withUnsafeBytes { raw in
      (0..<raw.count / 2).map {
        Int16(littleEndian: raw.loadUnaligned(fromByteOffset: 2 * $0, as: Int16.self))
      }
    }
  }

  /// The words in the spelling of the language model.
  var words: [String] {
    self.text.split(separator: " ").map { $0 == "mister" ? "mr" : String($0) }
  }

  private static func transcribed(in folder: String, by file: String) -> [Recording] {
    let text = (try? String(contentsOfFile: "\(Self.folder)/\(folder)/\(file)", encoding: .utf8)) ?? ""
    // <s> ten of clubs  </s> (001)
    return text.split(separator: "\n").compactMap { line in
      let parts = line.split(whereSeparator: " ()".contains)
      guard let name = parts.last, parts.count > 3 else { return nil }
      let words = parts.dropLast().filter { $0 != "<s>" && $0 != "</s>" }
      return Recording(path: "\(folder)/\(name).wav", text: words.joined(separator: " "))
    }
  }
}

/// Helpers for the tests with the real engine.
enum Speech {
  /// One pool for all tests: loading is what takes long.
  static let pool: RecognizerPool = {
    let engine = PocketSphinxEngine(
      configuration: (try? PocketSphinxEngine().configuration)
        ?? .init(model: .init(language: "", acousticModel: "", languageModel: "", dictionary: "")))
    return RecognizerPool(engine: engine, size: 4)
  }()

  static func recognize(
    _ samples: some Collection<Int16>, chunk: Int = 1600, options: ContextOptions = ContextOptions()
  ) async throws -> [RecognitionEvent] {
    let context = try await self.pool.beginContext(options, patience: .seconds(600))
    var events: [RecognitionEvent] = []
    var rest = samples[...]
    while !rest.isEmpty {
      events += try await context.append(Array(rest.prefix(chunk)))
      rest = rest.dropFirst(chunk)
    }
    return try await events + context.finish()
  }

  static func words(_ events: [RecognitionEvent]) -> [RecognizedWord] {
    events.compactMap { if case .word(_, _, let word) = $0 { word } else { nil } }
  }

  static func ends(_ events: [RecognitionEvent]) -> [SegmentSummary] {
    events.compactMap { if case .segmentEnded(_, let summary) = $0 { summary } else { nil } }
  }

  /// The fewest insertions, deletions and substitutions that make one out of the other.
  static func edits(_ left: [String], _ right: [String]) -> Int {
    var row = Array(0...right.count)
    for (i, word) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in right.enumerated() {
        let above = row[j + 1]
        row[j + 1] = word == other ? diagonal : 1 + min(diagonal, above, row[j])
        diagonal = above
      }
    }
    return row[right.count]
  }

  /// Noise of a quiet room, the same each time.
  static func room(_ length: Int) -> [Int16] {
    var state: UInt32 = 12_345
    return (0..<length).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return Int16(state >> 28) - 8
    }
  }

  /// Several recordings with pauses between them.
  static func session(_ recordings: [Recording], pause: Int = 24_000) -> [Int16] {
    recordings.reduce(into: Self.room(8000)) { samples, recording in
      samples += recording.samples
      samples += Self.room(pause)
    }
  }
}

extension RecognitionGrammar {
  /// The grammar of templates in English.
  static func english(_ templates: String, threshold: Double = defaultRejectionThreshold) throws
    -> RecognitionGrammar
  {
    let file = ConfigurationFile(name: "app.sal", bytes: Array(templates.utf8))
    let loaded = VoiceInterface.load(files: [file], packs: [EnglishPack()])
    let interface = try #require(loaded.interface, "\(loaded.rendered())")
    return RecognitionGrammar(
      try Understanding(interface, language: EnglishPack()).grammar, rejectionThreshold: threshold)
  }
}
