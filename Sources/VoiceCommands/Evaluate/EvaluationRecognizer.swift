import SpeechPipeline
import SpeechUnderstanding
import Synchronization
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
    self.grammar = RecognitionGrammar(understanding.grammar)
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

/// Recognisers of an engine in this process, at most as many as there are calls at a time.
final class EngineRecognizer: EvaluationRecognizer {
  private let engine: any RecognitionEngine
  private let free = Mutex<[Worker]>([])

  init(engine: any RecognitionEngine) {
    self.engine = engine
  }

  func prepare() async throws(VoiceFailure) {
    let worker = Worker(engine: self.engine)
    try await worker.load()
    self.free.withLock { $0.append(worker) }
  }

  func hear(_ audio: EvaluationAudio, app: EvaluationApp) async throws(VoiceFailure) -> EvaluationHearing {
    let worker = self.free.withLock { $0.popLast() } ?? Worker(engine: self.engine)
    defer { self.free.withLock { $0.append(worker) } }
    return try await worker.hear(try audio.resampled(), app: app)
  }

  /// One recogniser; it decodes on the threads of Swift's concurrency, which have nothing else to do here.
  private actor Worker {
    private static let blockLength = 1_600
    private let engine: any RecognitionEngine
    private var recognizer: (any Recognizer)?

    init(engine: any RecognitionEngine) {
      self.engine = engine
    }

    func load() throws(VoiceFailure) {
      if self.recognizer == nil { self.recognizer = try self.engine.makeRecognizer() }
    }

    func hear(_ samples: [Int16], app: EvaluationApp) throws(VoiceFailure) -> EvaluationHearing {
      try self.load()
      guard let recognizer = self.recognizer else { return EvaluationHearing(words: [], meaning: nil) }
      try recognizer.begin(RecognitionTask(grammar: app.grammar))
      for start in stride(from: 0, to: samples.count, by: Self.blockLength) {
        let block = Array(samples[start..<min(start + Self.blockLength, samples.count)])
        var failure: VoiceFailure?
        block.withUnsafeBufferPointer { buffer in
          do throws(VoiceFailure) { _ = try recognizer.process(buffer) } catch { failure = error }
        }
        if let failure { throw failure }
      }
      let result = try recognizer.finish(alternatives: 0)
      let words = result.words.map(\.text)
      let meaning =
        result.isRejected || words.isEmpty
        ? nil : app.understanding.understand(words.joined(separator: " "), in: app.values)?.annotated
      return EvaluationHearing(words: words, meaning: meaning)
    }
  }
}
