import SpeechPipeline
import SpeechUnderstanding
import VoiceAudio
import VoiceCore

/// What was recognised and understood of a recording.
struct EvaluationHearing: Hashable, Sendable {
  /// The words, as they were recognised.
  var words: [String]
  /// The intents and entities; `nil` if nothing was understood or the speech was rejected.
  var meaning: AnnotatedUtterance?
}

/// Whatever recordings are given to: the only place that knows how they are recognised.
protocol EvaluationRecognizer: Sendable {
  /// Makes it ready.
  func prepare() async throws(VoiceFailure)

  /// Recognises a recording of an app; several calls may be made at a time.
  func hear(_ audio: EvaluationAudio, app: EvaluationApp) async throws(VoiceFailure) -> EvaluationHearing
}

/// An app's grammar and understanding, made once.
struct EvaluationApp: Sendable {
  let understanding: Understanding
  let grammar: RecognitionGrammar
  let values: ValueContext

  init(_ understanding: Understanding, values: ValueContext) {
    self.understanding = understanding
    self.grammar = RecognitionGrammar(understanding)
    self.values = values
  }
}

extension EvaluationAudio {
  /// The samples at the rate of recognisers, brought there as the server does with what clients send.
  func resampled() throws(VoiceFailure) -> [Int16] {
    guard self.sampleRate != AudioFormat.recognition.sampleRate else { return self.samples }
    let resampler = try Resampler(from: self.sampleRate, to: AudioFormat.recognition.sampleRate)
    var output: [Float] = []
    let floats = self.samples.map(Float.init)
    floats.withUnsafeBufferPointer { resampler.process($0, into: &output) }
    resampler.finish(into: &output)
    return output.map { $0.isFinite ? Int16(min(max($0.rounded(), -32_768), 32_767)) : 0 }
  }
}

/// The recognition pipeline in this process, as the server runs it for a stream.
struct PipelineRecognizer: EvaluationRecognizer {
  /// A client sends a tenth of a second at a time.
  private static let pieceLength = 1_600
  private let pool: RecognizerPool

  init(engine: any RecognitionEngine, jobs: Int) {
    self.pool = RecognizerPool(engine: engine, size: jobs)
  }

  func prepare() async throws(VoiceFailure) {
    try await self.pool.load()
  }

  func hear(_ audio: EvaluationAudio, app: EvaluationApp) async throws(VoiceFailure) -> EvaluationHearing {
    // Every recording is a client of its own: nothing is known of its channel.
    let options = ContextOptions(
      understanding: ContextUnderstanding(app.understanding, values: app.values, grammar: app.grammar))
    let samples = try audio.resampled()
    let context = try await self.pool.beginContext(options, patience: .seconds(600))
    defer { context.cancel() }
    var events: [RecognitionEvent] = []
    for start in stride(from: 0, to: samples.count, by: Self.pieceLength) {
      events += try await context.append(Array(samples[start..<min(start + Self.pieceLength, samples.count)]))
    }
    events += try await context.finish()
    return EvaluationHearing(events)
  }
}

extension EvaluationHearing {
  /// What is final of a context.
  init(_ events: [RecognitionEvent]) {
    struct Segment {
      var words: [Int: String] = [:]
      var intent = ""
      var entities: [RecognizedEntity] = []
    }
    var segments: [Int: Segment] = [:]
    for event in events {
      switch event {
      case .word(let number, let index, let word):
        segments[number, default: Segment()].words[index] = word.text
      case .intent(let number, let intent, isFinal: true):
        segments[number, default: Segment()].intent = intent
      case .entity(let number, let entity): segments[number, default: Segment()].entities.append(entity)
      case .intent(_, _, isFinal: false), .hypothesis, .tentativeEntities, .segmentEnded: break
      }
    }
    let ordered = segments.sorted { $0.key < $1.key }.map(\.value)
    let annotated = ordered.map { segment in
      let words = segment.words.sorted { $0.key < $1.key }.map(\.value)
      return AnnotatedUtterance.Segment(
        intent: segment.intent, words: words,
        entities: segment.entities.map { entity in
          let spoken = words[entity.words.clamped(to: words.indices)].joined(separator: " ")
          return AnnotatedUtterance.Entity(
            name: entity.type, value: spoken, normalizedValue: entity.value, words: entity.words)
        })
    }
    self.words = annotated.flatMap(\.words)
    let isUnderstood = annotated.contains { !$0.intent.isEmpty }
    self.meaning = isUnderstood ? AnnotatedUtterance(annotated) : nil
  }
}
