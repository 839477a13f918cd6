public import VoiceCore

/// A kind of recogniser: knows what it can do, and makes recognisers.
public protocol RecognitionEngine: Sendable {
  /// A short name for people, such as `PocketSphinx en-us`.
  var name: String { get }

  /// What the engine's recognisers can do.
  var capabilities: RecognitionCapabilities { get }

  /// Loads the models and makes a recogniser.
  ///
  /// This can take a second and blocks the calling thread: call it on a thread of your own.
  ///
  /// - Throws: ``VoiceFailure`` with a `speech.engine.*` code.
  func makeRecognizer() throws(VoiceFailure) -> any Recognizer

  /// What of a grammar the engine cannot recognise; each failure says what happens instead.
  ///
  /// This can take a second and blocks the calling thread.
  func problems(of grammar: RecognitionGrammar) -> [VoiceFailure]

  /// What of a ``RecognitionTask/vocabulary`` the engine cannot recognise; each failure names the words.
  ///
  /// This can take a second and blocks the calling thread.
  func problems(ofVocabulary vocabulary: [String]) -> [VoiceFailure]
}

extension RecognitionEngine {
  public func problems(of grammar: RecognitionGrammar) -> [VoiceFailure] { [] }

  public func problems(ofVocabulary vocabulary: [String]) -> [VoiceFailure] { [] }
}

/// What an engine declares of itself; the pipeline and the app adapt to it.
public struct RecognitionCapabilities: Hashable, Sendable {
  /// The languages as BCP 47 tags, the default first.
  public var languages: [String]
  /// The sample rate that the engine takes, in Hz.
  public var sampleRate: Int
  /// Whether hypotheses are available before the end of an utterance.
  public var reportsPartialResults: Bool
  /// Whether the end of an utterance can change words of earlier hypotheses (a second pass).
  public var revisesAtEnd: Bool
  /// Whether words carry times.
  public var reportsWordTimes: Bool
  /// Whether words carry a confidence.
  public var reportsConfidence: Bool
  /// How many alternative transcriptions a result can have; 1 for none beside the best.
  public var maximumAlternatives: Int
  /// Whether the engine tells speech from silence by itself.
  public var detectsVoiceActivity: Bool
  /// Whether a ``RecognitionTask/grammar`` bounds what is recognised; without, it is ignored.
  public var followsGrammars: Bool
  /// Whether audio may leave the device to be recognised.
  public var needsNetwork: Bool

  /// Creates a declaration.
  public init(
    languages: [String],
    sampleRate: Int = 16_000,
    reportsPartialResults: Bool = true,
    revisesAtEnd: Bool = false,
    reportsWordTimes: Bool = true,
    reportsConfidence: Bool = false,
    maximumAlternatives: Int = 1,
    detectsVoiceActivity: Bool = false,
    followsGrammars: Bool = false,
    needsNetwork: Bool = false
  ) {
    self.languages = languages
    self.sampleRate = sampleRate
    self.reportsPartialResults = reportsPartialResults
    self.revisesAtEnd = revisesAtEnd
    self.reportsWordTimes = reportsWordTimes
    self.reportsConfidence = reportsConfidence
    self.maximumAlternatives = maximumAlternatives
    self.detectsVoiceActivity = detectsVoiceActivity
    self.followsGrammars = followsGrammars
    self.needsNetwork = needsNetwork
  }
}

/// One decoder, which hears one utterance at a time.
///
/// A recogniser is not `Sendable`: whoever made it keeps it on one thread at a time. Legal order:
/// ``begin(_:)``, any number of ``process(_:)`` and ``hypothesis()``, then ``finish(alternatives:)`` or
/// ``cancel()``; then again from ``begin(_:)``. The same samples in the same blocks for the same task give the same
/// words, whatever the recogniser heard before.
public protocol Recognizer: AnyObject {
  /// Begins an utterance; times count from here.
  func begin(_ task: RecognitionTask) throws(VoiceFailure)

  /// Hears mono 16-bit samples at the engine's rate.
  ///
  /// - Returns: Whether somebody is speaking at the end of the block, or `nil` if the engine cannot tell.
  func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool?

  /// What has been understood so far; may change.
  func hypothesis() -> [RecognizedWord]

  /// Ends the utterance.
  ///
  /// - Parameter alternatives: How many other transcriptions are wanted, best first.
  func finish(alternatives: Int) throws(VoiceFailure) -> RecognitionResult

  /// Drops the utterance.
  func cancel()

  /// What was learned of the channel, to be given to the next ``begin(_:)`` of the same channel.
  ///
  /// Valid between ``finish(alternatives:)`` and the next ``begin(_:)``.
  var adaptation: RecognizerAdaptation? { get }

  /// How much later than speech ends the engine's own voice activity turns false; zero without a detector.
  var activityHangover: Duration { get }
}

extension Recognizer {
  /// Begins an utterance of free text.
  public func begin(adaptation: RecognizerAdaptation?) throws(VoiceFailure) {
    try self.begin(RecognitionTask(adaptation: adaptation))
  }
}

/// What a recogniser learned about a channel (microphone, room, line): opaque, small, and free of what was said.
public struct RecognizerAdaptation: Hashable, Sendable {
  /// The engine's own form, at most ``maximumByteCount`` bytes.
  public var bytes: [UInt8]

  /// The most bytes that an adaptation may have.
  public static let maximumByteCount = 4096

  /// Creates an adaptation from an engine's bytes; the engine checks them when it begins.
  public init(bytes: [UInt8]) {
    self.bytes = bytes
  }
}

/// A word with its place in the utterance.
public struct RecognizedWord: Hashable, Sendable {
  /// The word, in lower case where the language has case.
  public var text: String
  /// Where the word starts, from the start of the audio of the utterance or context.
  public var start: Duration
  /// Where the word ends.
  public var end: Duration
  /// How sure the engine is, from 0 to 1, or `nil` if it cannot tell.
  public var confidence: Double?

  /// Creates a word.
  public init(text: String, start: Duration, end: Duration, confidence: Double? = nil) {
    self.text = text
    self.start = start
    self.end = end
    self.confidence = confidence
  }
}

/// What a recogniser heard in one utterance.
public struct RecognitionResult: Hashable, Sendable {
  /// The words of the best transcription; empty if nothing was said.
  public var words: [RecognizedWord]
  /// Other transcriptions, best first, without the best.
  public var alternatives: [[RecognizedWord]]
  /// Whether the grammar of the task does not cover what was said; the words are then those of the language model, or
  /// empty without one.
  public var isRejected: Bool

  /// Creates a result.
  public init(words: [RecognizedWord], alternatives: [[RecognizedWord]] = [], isRejected: Bool = false) {
    self.words = words
    self.alternatives = alternatives
    self.isRejected = isRejected
  }
}
