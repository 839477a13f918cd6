public import SpeechPipeline
import SpeechUnderstanding
import Synchronization
import VoiceAudio
public import VoiceCore

/// Recognises what a script says, at the times that it says, whatever the samples are; and fails where it says.
///
/// Times count from the start of the channel's audio: a context without adaptation hears the script from its
/// start, a context that goes on from an earlier one's adaptation hears the rest. Each word is a hypothesis from
/// when its start was heard and final when its utterance ends. Speech is where words are; there is no hangover.
///
/// If its ``capabilities`` say that it follows grammars, an utterance that is no beginning of what a task's grammar covers is
/// rejected, as is one with a word that the script marks so.
///
/// ```swift
/// let engine = ScriptedEngine(words: [
///   .init("turn", at: .milliseconds(200)), .init("on", at: .milliseconds(500), guess: "off"),
/// ])
/// ```
public final class ScriptedEngine: RecognitionEngine {
  /// A word of the script.
  public struct Word: Hashable, Sendable {
    /// The final text.
    public var text: String
    /// Where it starts.
    public var start: Duration
    /// Where it ends.
    public var end: Duration
    /// The confidence of the final word.
    public var confidence: Double?
    /// What the hypothesis shows until the utterance ends, if something else.
    public var guess: String?
    /// Whether the word is dropped at the end: a hypothesis that comes to nothing.
    public var isPhantom: Bool
    /// Whether an engine that follows grammars finds that none covers it.
    public var isRejected: Bool

    /// Creates a word of 0.2 s.
    public init(_ text: String, at start: Duration, guess: String? = nil, isRejected: Bool = false) {
      self.init(text, start: start, end: start + .milliseconds(200), guess: guess, isRejected: isRejected)
    }

    /// Creates the words of a text, each of 0.25 s, without a pause between them.
    public static func sentence(_ text: String, at start: Duration, isRejected: Bool = false) -> [Word] {
      text.split(separator: " ").enumerated().map { index, word in
        let start = start + .milliseconds(250) * index
        return Word(String(word), start: start, end: start + .milliseconds(250), isRejected: isRejected)
      }
    }

    /// Creates a word.
    public init(
      _ text: String, start: Duration, end: Duration, confidence: Double? = nil, guess: String? = nil,
      isPhantom: Bool = false, isRejected: Bool = false
    ) {
      self.text = text
      self.start = start
      self.end = end
      self.confidence = confidence
      self.guess = guess
      self.isPhantom = isPhantom
      self.isRejected = isRejected
    }
  }

  /// A step that fails.
  public struct Fault: Hashable, Sendable {
    /// What fails.
    public enum Step: Hashable, Sendable {
      /// Making a recogniser.
      case load
      /// Making a recogniser when one was made before.
      case reload
      /// Hearing the sample at a time.
      case process(at: Duration)
      /// Finishing an utterance.
      case finish
    }

    /// What fails.
    public var step: Step
    /// How often it fails; after that it works.
    public var times: Int
    /// The code of the failure.
    public var code: VoiceFailure.Code

    /// Creates a fault.
    public init(_ step: Step, times: Int = 1, code: VoiceFailure.Code = .engineFailed) {
      self.step = step
      self.times = times
      self.code = code
    }
  }

  private struct State: Sendable {
    var faults: [Fault]
    var recognizersMade = 0
    var samplesHeard: Int64 = 0
    var lastTask: RecognitionTask?
  }

  public let name = "Script"
  public let capabilities: RecognitionCapabilities
  fileprivate let words: [Word]
  fileprivate let alternatives: [[String]]
  fileprivate let hearsFreeText: Bool
  fileprivate let gate: EngineGate?
  fileprivate let slowness: Duration
  private let state: Mutex<State>

  /// Creates an engine.
  ///
  /// - Parameters:
  ///   - words: The script, by rising time.
  ///   - alternatives: Other texts for every utterance that has words.
  ///   - faults: The steps that fail.
  ///   - hearsFreeText: Whether rejected utterances have words.
  ///   - gate: Holds every block until it is open.
  ///   - slowness: How long the thread of a recogniser is blocked by each block.
  ///   - capabilities: What the engine declares.
  public init(
    words: [Word],
    alternatives: [[String]] = [],
    faults: [Fault] = [],
    hearsFreeText: Bool = true,
    gate: EngineGate? = nil,
    slowness: Duration = .zero,
    capabilities: RecognitionCapabilities = RecognitionCapabilities(
      languages: ["en-US"], revisesAtEnd: true, reportsConfidence: true, maximumAlternatives: 5,
      detectsVoiceActivity: true)
  ) {
    self.words = words
    self.alternatives = alternatives
    self.hearsFreeText = hearsFreeText
    self.gate = gate
    self.slowness = slowness
    self.capabilities = capabilities
    self.state = Mutex(State(faults: faults))
  }

  /// How many recognisers were made.
  public var recognizersMade: Int { self.state.withLock { $0.recognizersMade } }

  /// How many samples all recognisers have heard.
  public var samplesHeard: Int64 { self.state.withLock { $0.samplesHeard } }

  /// What the latest utterance was begun with.
  public var lastTask: RecognitionTask? { self.state.withLock { $0.lastTask } }

  public func makeRecognizer() throws(VoiceFailure) -> any Recognizer {
    let isFirst = self.recognizersMade == 0
    try self.failIfDue { $0 == .load || $0 == .reload && !isFirst }
    self.state.withLock { $0.recognizersMade += 1 }
    return ScriptedRecognizer(engine: self)
  }

  fileprivate func began(_ task: RecognitionTask) {
    self.state.withLock { $0.lastTask = task }
  }

  fileprivate func heard(_ count: Int) {
    self.state.withLock { $0.samplesHeard += Int64(count) }
  }

  fileprivate func failIfDue(_ isDue: (Fault.Step) -> Bool) throws(VoiceFailure) {
    let code = self.state.withLock { state -> VoiceFailure.Code? in
      guard let index = state.faults.firstIndex(where: { $0.times > 0 && isDue($0.step) }) else { return nil }
      state.faults[index].times -= 1
      return state.faults[index].code
    }
    if let code { throw VoiceFailure(code, message: "The script says so.") }
  }
}

/// One decoder of a ``ScriptedEngine``.
private final class ScriptedRecognizer: Recognizer {
  private let engine: ScriptedEngine
  private var base: Int64 = 0
  private var length: Int64 = 0
  private var grammar: RecognitionGrammar?

  init(engine: ScriptedEngine) {
    self.engine = engine
  }

  var activityHangover: Duration { .zero }

  var adaptation: RecognizerAdaptation? { ChannelPosition(samples: self.base + self.length).adaptation }

  func begin(_ task: RecognitionTask) throws(VoiceFailure) {
    self.engine.began(task)
    self.base = try ChannelPosition(task.adaptation).samples
    self.length = 0
    self.grammar = self.engine.capabilities.followsGrammars ? task.grammar : nil
  }

  func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool? {
    self.engine.gate?.pass()
    if self.engine.slowness > .zero { EngineGate.block(for: self.engine.slowness) }
    let before = self.time(self.base + self.length)
    let after = self.time(self.base + self.length + Int64(samples.count))
    try self.engine.failIfDue { step in
      if case .process(let at) = step { at >= before && at < after } else { false }
    }
    self.length += Int64(samples.count)
    self.engine.heard(samples.count)
    guard self.engine.capabilities.detectsVoiceActivity else { return nil }
    return self.engine.words.contains { $0.start < after && after <= $0.end }
  }

  func hypothesis() -> [RecognizedWord] {
    self.spoken.map { self.recognized($0, text: $0.guess ?? $0.text, confidence: nil) }
  }

  func finish(alternatives: Int) throws(VoiceFailure) -> RecognitionResult {
    try self.engine.failIfDue { $0 == .finish }
    let words = self.spoken.filter { !$0.isPhantom }
    guard let first = words.first, let last = words.last else { return RecognitionResult(words: []) }
    let others = self.engine.alternatives.prefix(max(0, alternatives)).map { texts in
      texts.map { text in
        var word = self.recognized(first, text: text, confidence: nil)
        word.end = self.recognized(last, text: text, confidence: nil).end
        return word
      }
    }
    let isRejected = self.isRejected(words)
    guard !isRejected || self.engine.hearsFreeText else {
      return RecognitionResult(words: [], isRejected: true)
    }
    return RecognitionResult(
      words: words.map { self.recognized($0, text: $0.text, confidence: $0.confidence) },
      alternatives: Array(others), isRejected: isRejected)
  }

  private func isRejected(_ words: [ScriptedEngine.Word]) -> Bool {
    guard let grammar = self.grammar else { return false }
    var matcher = GrammarMatcher(grammar: grammar.grammar)
    for word in words { matcher.append(word.text) }
    return !matcher.isExact || words.contains(where: \.isRejected)
  }

  func cancel() {}

  /// The words whose start this utterance has heard.
  private var spoken: [ScriptedEngine.Word] {
    let from = self.time(self.base)
    let to = self.time(self.base + self.length)
    return self.engine.words.filter { $0.start >= from && $0.start < to }
  }

  private func recognized(_ word: ScriptedEngine.Word, text: String, confidence: Double?) -> RecognizedWord {
    let from = self.time(self.base)
    let to = self.time(self.base + self.length)
    return RecognizedWord(
      text: text, start: word.start - from, end: min(word.end, to) - from, confidence: confidence)
  }

  private func time(_ sample: Int64) -> Duration {
    AudioChunk.time(ofSample: sample, sampleRate: self.engine.capabilities.sampleRate)
  }
}
