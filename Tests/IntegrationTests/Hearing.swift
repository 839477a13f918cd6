import PocketSphinxRecognition
import SpeechPipeline
import SpeechUnderstanding
import VoiceAudio

/// What the real recogniser hears.
enum Hearing {
  /// The words of a whole source, in lower case.
  ///
  /// - Parameter templates: What may be said, in SAL; without them anything.
  static func words(
    in source: any AudioSource, with engine: PocketSphinxEngine, templates: String? = nil
  ) async throws -> String {
    let pool = RecognizerPool(engine: engine, size: 1)
    let understanding = try templates.map { templates in
      let understanding = try Understanding(templates: templates)
      return ContextUnderstanding(
        understanding, values: .current, grammar: RecognitionGrammar(understanding))
    }
    let context = try await pool.beginContext(
      ContextOptions(understanding: understanding), patience: .seconds(30))
    let capture = try await source.capture()
    var events: [RecognitionEvent] = []
    for try await event in capture {
      if case .chunk(let chunk) = event { events += try await context.append(chunk.samples) }
    }
    events += try await context.finish()
    return events.compactMap { if case .word(_, _, let word) = $0 { word.text } else { nil } }
      .joined(separator: " ").lowercased()
  }
}
