import SpeechPipeline
import Synchronization
import VoiceCore

/// An engine for tests whose words show every sample: audio of the constant value `100 * n` is heard as the word
/// `w<n>`.
///
/// A word needs 50 ms of its value; zeros are silence. The times of the words are exact, so a lost or repeated
/// sample shows.
struct RunEngine: RecognitionEngine {
  let name = "runs of equal samples"
  let capabilities = RecognitionCapabilities(languages: ["en-US"], detectsVoiceActivity: true)
  /// Fails when it hears this word.
  var failingWord: String?
  var loadFailure: VoiceFailure?
  /// Called on the recogniser's thread before it hears something; may block it, or make it fail.
  var hears: @Sendable () throws(VoiceFailure) -> Void = {}
  /// What it says that it cannot recognise of any grammar.
  var problems: [VoiceFailure] = []

  func problems(of grammar: RecognitionGrammar) -> [VoiceFailure] { self.problems }

  func makeRecognizer() throws(VoiceFailure) -> any Recognizer {
    if let loadFailure { throw loadFailure }
    return RunRecognizer(failingWord: self.failingWord, hears: self.hears)
  }

  /// The audio of words that last 200 ms each, with 100 ms of silence after each.
  static func audio(_ numbers: [Int16], rate: Int = 16_000, silence: Int = 100) -> [Int16] {
    numbers.flatMap { number in
      [Int16](repeating: number * 100, count: rate / 5)
        + [Int16](repeating: 0, count: rate * silence / 1000)
    }
  }
}

private final class RunRecognizer: Recognizer {
  private let failingWord: String?
  private let hears: @Sendable () throws(VoiceFailure) -> Void
  private var words: [RecognizedWord] = []
  private var position = 0
  private var runValue = 0
  private var runStart = 0
  private var heard = 0

  init(failingWord: String?, hears: @escaping @Sendable () throws(VoiceFailure) -> Void) {
    self.failingWord = failingWord
    self.hears = hears
  }

  func begin(_ task: RecognitionTask) throws(VoiceFailure) {
    self.words = []
    self.position = 0
    self.runValue = 0
    self.runStart = 0
    self.heard = Int(task.adaptation?.bytes.first ?? 0)
  }

  func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool? {
    try self.hears()
    for sample in samples {
      let value = (Int(sample) + 50) / 100
      if value != self.runValue {
        self.endRun()
        self.runValue = value
        self.runStart = self.position
      }
      self.position += 1
    }
    if let word = self.failingWord, self.current.contains(where: { $0.text == word }) {
      throw VoiceFailure(.engineFailed)
    }
    return self.runValue != 0
  }

  private func endRun() {
    guard let word = self.word else { return }
    self.words.append(word)
  }

  private var word: RecognizedWord? {
    guard self.runValue > 0, self.position - self.runStart >= 800 else { return nil }
    return RecognizedWord(
      text: "w\(self.runValue)", start: .microseconds(self.runStart * 125 / 2),
      end: .microseconds(self.position * 125 / 2))
  }

  private var current: [RecognizedWord] { self.words + (self.word.map { [$0] } ?? []) }

  func hypothesis() -> [RecognizedWord] { self.current }

  func finish(alternatives: Int) throws(VoiceFailure) -> RecognitionResult {
    self.heard += self.current.count
    return RecognitionResult(words: self.current)
  }

  func cancel() {}

  /// How many words of the channel were heard so far.
  var adaptation: RecognizerAdaptation? {
    RecognizerAdaptation(bytes: [UInt8(clamping: self.heard)])
  }

  var activityHangover: Duration { .zero }
}
