import CSherpaOnnx
import Foundation
import SpeechPipeline
import VoiceAudio
import VoiceCore

/// One stream of a loaded model at a time: every utterance begins with a new one, so that it depends on nothing before it.
final class SherpaOnnxRecognizer: Recognizer {
  private enum State {
    case idle
    case listening(OpaquePointer)
    /// The library failed in this utterance.
    case failed(VoiceFailure)
  }

  private let model: LoadedModel
  private var state = State.idle
  private var sampleCount: Int64 = 0

  init(model: LoadedModel) {
    self.model = model
  }

  deinit { self.cancel() }

  // Each utterance begins the same.
  var adaptation: RecognizerAdaptation? { nil }

  var activityHangover: Duration { .zero }

  func begin(_ task: RecognitionTask) throws(VoiceFailure) {
    self.cancel()
    self.sampleCount = 0
    let phrases = PhraseList(
      vocabulary: task.vocabulary, bias: task.vocabularyBias, tokens: self.model.tokens,
      isPossible: self.model.prefersPhrases)
    var stream: OpaquePointer?
    let reason = CText.reason { message, capacity in
      stream = vso_stream_create(self.model.handle, phrases.text, message, capacity)
    }
    guard let stream else { throw Self.failure("The recogniser cannot begin an utterance.", reason) }
    self.state = .listening(stream)
  }

  func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool? {
    let stream = try self.stream()
    guard let base = samples.baseAddress, !samples.isEmpty else { return nil }
    try self.perform { vso_stream_hear(stream, base, samples.count, $0, $1) != 0 }
    self.sampleCount += Int64(samples.count)
    // Speech is told from silence by the pipeline's detector.
    return nil
  }

  func hypothesis() -> [RecognizedWord] {
    guard case .listening(let stream) = self.state else { return [] }
    // A failure is thrown by the next call that can.
    return (try? self.words(stream)) ?? []
  }

  func finish(alternatives: Int) throws(VoiceFailure) -> RecognitionResult {
    let stream = try self.stream()
    guard self.sampleCount > 0 else {
      self.cancel()
      return RecognitionResult(words: [])
    }
    try self.perform { vso_stream_hear_silence(stream, self.model.tailLength, $0, $1) != 0 }
    let words = try self.words(stream)
    self.cancel()
    return RecognitionResult(words: words)
  }

  func cancel() {
    if case .listening(let stream) = self.state { vso_stream_free(stream) }
    self.state = .idle
  }

  private func stream() throws(VoiceFailure) -> OpaquePointer {
    switch self.state {
    case .idle: throw Self.failure("No utterance was begun.", "")
    case .failed(let failure): throw failure
    case .listening(let stream): return stream
    }
  }

  /// Calls the library, which may fail at anything that it computes; the utterance is then lost.
  private func perform(_ body: (UnsafeMutablePointer<CChar>, Int) -> Bool) throws(VoiceFailure) {
    var isDone = false
    let reason = CText.reason { isDone = body($0, $1) }
    guard !isDone else { return }
    let failure = Self.failure("The recogniser failed.", reason)
    self.cancel()
    self.state = .failed(failure)
    throw failure
  }

  private func words(_ stream: OpaquePointer) throws(VoiceFailure) -> [RecognizedWord] {
    var result = vso_result()
    try self.perform { vso_stream_result(stream, &result, $0, $1) != 0 }
    defer { vso_result_free(stream, &result) }
    let length = AudioChunk.time(ofSample: self.sampleCount, sampleRate: SherpaOnnxEngine.sampleRate)
    return WordAssembly.words(of: Self.pieces(result), length: length)
  }

  private static func pieces(_ result: vso_result) -> [WordAssembly.Piece] {
    guard result.count > 0, let tokens = result.tokens else { return [] }
    let count = Int(result.count)
    let scores = result.json.map { TokenScores.logProbabilities(in: String(cString: $0)) } ?? []
    let hasScores = scores.count == count
    return (0..<count).compactMap { index in
      guard let text = tokens[index] else { return nil }
      let seconds = result.times.map { Double($0[index]) } ?? 0
      let time = seconds.isFinite && seconds > 0 ? min(seconds, 1e6) : 0
      return WordAssembly.Piece(
        text: String(cString: text), time: .milliseconds(Int((time * 1000).rounded())),
        logProbability: hasScores ? scores[index] : nil)
    }
  }

  private static func failure(_ message: String, _ reason: String) -> VoiceFailure {
    VoiceFailure(.engineFailed, message: message, cause: reason.isEmpty ? nil : CText.Reason(text: reason))
  }
}

/// Reads the scores of tokens, which the library gives only in the JSON form of a result.
enum TokenScores {
  /// The logarithms of the probabilities, in the order of the tokens; empty if there are none.
  static func logProbabilities(in json: String) -> [Double] {
    // What was said comes before, with its quotation marks escaped.
    guard let key = json.range(of: "\"ys_probs\": [", options: .backwards),
      let end = json[key.upperBound...].firstIndex(of: "]")
    else { return [] }
    return json[key.upperBound..<end].split(separator: ",").map {
      Double($0.trimmingCharacters(in: .whitespaces)) ?? .nan
    }
  }
}
