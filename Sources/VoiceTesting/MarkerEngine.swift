public import SpeechPipeline
import VoiceAudio
public import VoiceCore

/// Recognises ``MarkerAudio``: fast, exact, and without any model, so that tests of what is around an engine can
/// prove that no sample was lost or doubled.
///
/// A word is recognised as `number x length @ place`; its place counts from the start of the channel. The place is
/// kept in the adaptation, so a context that goes on at the wrong sample, or with the wrong adaptation, recognises
/// other words. A word that is still being heard is a hypothesis with its number alone. There is no hangover:
/// speech ends with the first zero.
public struct MarkerEngine: RecognitionEngine {
  public let name = "Markers"
  private let language: String

  /// Creates an engine.
  public init(language: String = "en-US") {
    self.language = language
  }

  public var capabilities: RecognitionCapabilities {
    RecognitionCapabilities(
      languages: [self.language], reportsConfidence: true, detectsVoiceActivity: true)
  }

  public func makeRecognizer() throws(VoiceFailure) -> any Recognizer {
    MarkerRecognizer()
  }
}

/// One decoder of a ``MarkerEngine``.
final class MarkerRecognizer: Recognizer {
  private var base: Int64 = 0
  private var heard: Int64 = 0
  private var words: [RecognizedWord] = []
  private var value: Int16 = 0
  private var run = 0

  var activityHangover: Duration { .zero }

  var adaptation: RecognizerAdaptation? { ChannelPosition(samples: self.base + self.heard).adaptation }

  func begin(_ task: RecognitionTask) throws(VoiceFailure) {
    self.base = try ChannelPosition(task.adaptation).samples
    self.heard = 0
    self.words = []
    self.value = 0
    self.run = 0
  }

  func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool? {
    for sample in samples {
      if sample != self.value {
        self.closeRun()
        self.value = sample
      }
      self.run += 1
      self.heard += 1
    }
    return self.value != 0
  }

  func hypothesis() -> [RecognizedWord] {
    guard self.value != 0 else { return self.words }
    return self.words + [self.word(text: "\(self.value)")]
  }

  func finish(alternatives: Int) throws(VoiceFailure) -> RecognitionResult {
    self.closeRun()
    self.value = 0
    return RecognitionResult(words: self.words)
  }

  func cancel() {}

  private func closeRun() {
    defer { self.run = 0 }
    guard self.value != 0, self.run > 0 else { return }
    let place = self.base + self.heard - Int64(self.run)
    self.words.append(self.word(text: MarkerAudio.text(self.value, length: self.run, place: place)))
  }

  private func word(text: String) -> RecognizedWord {
    let rate = AudioFormat.recognition.sampleRate
    return RecognizedWord(
      text: text,
      start: AudioChunk.time(ofSample: self.heard - Int64(self.run), sampleRate: rate),
      end: AudioChunk.time(ofSample: self.heard, sampleRate: rate), confidence: 1)
  }
}

/// How many samples of a channel were heard before an utterance: what the engines of this module learn.
struct ChannelPosition: Hashable, Sendable {
  var samples: Int64

  init(samples: Int64) {
    self.samples = samples
  }

  /// - Throws: ``VoiceFailure`` with code `speech.stream.request-invalid` for bytes that are no position.
  init(_ adaptation: RecognizerAdaptation?) throws(VoiceFailure) {
    guard let adaptation else {
      self.samples = 0
      return
    }
    guard adaptation.bytes.count == 8 else { throw VoiceFailure(.requestInvalid) }
    self.samples = Int64(bitPattern: adaptation.bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    guard (0...Int64.max / 2).contains(self.samples) else { throw VoiceFailure(.requestInvalid) }
  }

  var adaptation: RecognizerAdaptation {
    let bits = UInt64(bitPattern: self.samples)
    return RecognizerAdaptation(
      bytes: stride(from: UInt64(0), through: 56, by: 8).map { UInt8(truncatingIfNeeded: bits >> $0) })
  }
}
