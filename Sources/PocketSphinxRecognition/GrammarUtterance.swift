import CPocketSphinx
import SpeechPipeline
import VoiceCore

/// One utterance that is recognised after a grammar.
///
/// It is searched twice: while it comes, with the mean of the channel as far as it is known, and at its end as a whole, with
/// its own mean. The second pass takes about a fiftieth of the utterance's length, less than half of that where
/// nothing disturbs, and is much better in noise. It is made in the
/// pause in which the utterance will probably end, so that nobody has to wait for it.
struct GrammarUtterance {
  /// What an utterance did while it was quiet.
  private struct EarlyPass {
    var frameCount: Int
    var pass: Pass
  }

  /// What a search of the whole utterance found.
  private struct Pass {
    var outcome: CepstralDecoder.Outcome
    /// The frames as they were searched.
    var frames: [Float]
    /// Whether noise was suppressed before.
    var isSuppressed = false
  }

  let grammar: RecognitionGrammar
  private let searches: GrammarDecoders
  private let suppressed: SuppressedSpeech?
  private let dimension: Int
  private var mean: CepstralMean
  /// The frames as they came, one after the other.
  private(set) var frames: [Float] = []
  private var pause = PauseTracker()
  /// Frames of a pause, normalised, that the live search hears once somebody speaks again.
  private var held: [Float] = []
  private var early: EarlyPass?
  /// How many frames were searched in pauses that may not have been the end.
  private var earlyFrameCount = 0

  init(
    _ grammar: RecognitionGrammar, searches: GrammarDecoders, channel: ChannelState,
    suppressed: SuppressedSpeech?
  ) throws(VoiceFailure) {
    self.grammar = grammar
    self.searches = searches
    self.suppressed = suppressed
    self.dimension = channel.mean.count
    self.mean = CepstralMean(channel)
    try searches.live.begin()
  }

  /// Hears frames.
  ///
  /// - Parameter signal: The levels of the utterance so far.
  mutating func hear(_ new: UnsafeBufferPointer<Float>, signal: UtteranceSignal) throws(VoiceFailure) {
    self.frames.append(contentsOf: new)
    for start in stride(from: 0, to: new.count - self.dimension + 1, by: max(1, self.dimension)) {
      self.pause.heard(energy: new[start])
    }
    try self.hearLive(new)
    // The noise is suppressed while somebody speaks, so that nobody waits for it at the end.
    if signal.isNoisy, self.frames.count >= Self.suppressedFrom * self.dimension {
      try self.suppressed?.catchUp()
    }
    guard self.pause.isProbablyTheEnd, self.early?.frameCount != self.pause.speechEnd else { return }
    let frameCount = self.frames.count / max(1, self.dimension)
    // Somebody who pauses often is not searched from the beginning each time: the work stays linear.
    guard self.earlyFrameCount <= Self.mostWork * frameCount else { return }
    self.earlyFrameCount += frameCount
    self.early = EarlyPass(frameCount: self.pause.speechEnd, pass: try self.wholePass(signal))
  }

  /// Searches frames for hypotheses; those of what is probably the pause at the end wait, as most are never needed.
  private mutating func hearLive(_ new: UnsafeBufferPointer<Float>) throws(VoiceFailure) {
    var normalized = Array(new)
    normalized.withUnsafeMutableBufferPointer { self.mean.normalize($0) }
    self.held += normalized
    // What waits has to be searched in one go, while somebody is speaking.
    guard !self.pause.isProbablyTheEnd || self.held.count > Self.mostHeld * self.dimension else { return }
    var frames: [Float] = []
    swap(&frames, &self.held)
    var failure: VoiceFailure?
    frames.withUnsafeMutableBufferPointer { buffer in
      do throws(VoiceFailure) { try self.searches.live.hear(buffer) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  func hypothesis() -> [CepstralDecoder.Word] { self.searches.live.hypothesis() }

  func cancel() { self.searches.live.cancel() }

  /// What was learned of the channel.
  func channel(levels: SignalLevels) -> ChannelState { self.mean.channel(levels: levels) }

  /// What was said.
  struct Result {
    var words: [CepstralDecoder.Word]
    /// How sure each word is, from 0 to 1.
    var confidences: [Double]
    /// Whether the grammar does not cover it.
    var isRejected: Bool
  }

  /// Searches what was heard so far as a whole.
  private func wholePass(_ signal: UtteranceSignal) throws(VoiceFailure) -> Pass {
    if signal.isNoisy, let suppressed = self.suppressed {
      try suppressed.catchUp()
      var frames = suppressed.frames(signal.times, count: self.frames.count / max(1, self.dimension))
      CepstralMean.normalizeWhole(&frames, dimension: self.dimension)
      return Pass(
        outcome: try self.searches.whole(.full).decode(&frames), frames: frames, isSuppressed: true)
    }
    var frames = self.frames
    CepstralMean.normalizeWhole(&frames, dimension: self.dimension)
    if signal.wholePass == .quick, self.searches.hasQuickPass {
      let outcome = try self.searches.whole(.quick).decode(&frames)
      let coverage = GrammarCoverage(grammar: outcome.scores, levels: signal.levels)
      if !outcome.words.isEmpty, coverage.isBeyondDoubt, coverage.confidence >= self.threshold(isFaint: false)
      {
        return Pass(outcome: outcome, frames: frames)
      }
    }
    return Pass(outcome: try self.searches.whole(.full).decode(&frames), frames: frames)
  }

  /// Ends the utterance.
  ///
  /// - Parameters:
  ///   - phones: Loads the search of phones in any order, for cases of doubt.
  ///   - signal: How loud the utterance and its noise were. If it was so faint that it is rather noise, the grammar must fit
  ///     well.
  func finish(phones: () throws(VoiceFailure) -> CepstralDecoder?, signal: UtteranceSignal)
    throws(VoiceFailure) -> Result
  {
    let first = try self.searches.live.finish()
    guard self.frames.count >= self.dimension else {
      return Result(words: [], confidences: [], isRejected: false)
    }
    var pass: Pass
    if let early = self.early, early.frameCount == self.pause.speechEnd {
      pass = early.pass
    } else {
      if signal.isNoisy { try self.suppressed?.finish() }
      pass = try self.wholePass(signal)
    }
    let outcome = pass.outcome
    guard !outcome.words.isEmpty else {
      // The model's words for noise fit better than any sentence.
      if !outcome.scores.isEmpty { return Result(words: [], confidences: [], isRejected: false) }
      // The second pass has no way to the end of a sentence; the first may have had one.
      return Result(words: first, confidences: first.map { _ in 0 }, isRejected: true)
    }
    var coverage = GrammarCoverage(
      grammar: outcome.scores, levels: signal.levels, isSuppressed: pass.isSuppressed)
    if coverage.isDoubtful, let phones = try phones() {
      coverage.compare(with: try phones.decode(&pass.frames).scores)
    }
    let confidences = outcome.words.map { coverage.confidence(in: $0.frames) }
    // In noise one long sound may fit so well that a word which does not fit at all is hardly noticed.
    let fitsBadly =
      signal.levels.areHardlySpeech && (confidences.min() ?? 0) < self.grammar.rejectionThreshold
    return Result(
      words: outcome.words, confidences: confidences,
      isRejected: fitsBadly || coverage.confidence < self.threshold(isFaint: signal.isFaint))
  }

  /// How sure it must be that the grammar covers what was said.
  private func threshold(isFaint: Bool) -> Double {
    let usual = self.grammar.rejectionThreshold
    // Zero accepts everything.
    return isFaint && usual > 0 ? 1 - (1 - usual) * Self.faintTolerance : usual
  }

  /// As long as the front end waits before it takes a pause for the end.
  private static let mostHeld = 50
  private static let faintTolerance = 0.06
  /// Before so many frames of speech the levels say little.
  private static let suppressedFrom = 50
  /// In all pauses together at most so many times the frames that were heard, and one pass more.
  private static let mostWork = 2
}
