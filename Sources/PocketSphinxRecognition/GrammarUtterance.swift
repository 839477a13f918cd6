import CPocketSphinx
import SpeechPipeline
import VoiceCore

/// One utterance that is recognised after a grammar.
///
/// It is searched twice: while it comes, with the mean of the channel as far as it is known, and at its end as a whole, with
/// its own mean. The second pass takes about a fiftieth of the utterance's length and is much better in noise. It is made in the
/// pause in which the utterance will probably end, so that nobody has to wait for it.
struct GrammarUtterance {
  /// What an utterance did while it was quiet.
  private struct EarlyPass {
    var frameCount: Int
    var outcome: CepstralDecoder.Outcome
    var frames: [Float]
  }

  let grammar: RecognitionGrammar
  private let searches: GrammarDecoders
  private let dimension: Int
  private var mean: CepstralMean
  /// The frames as they came, one after the other.
  private(set) var frames: [Float] = []
  private var pause = PauseTracker()
  private var early: EarlyPass?

  init(
    _ grammar: RecognitionGrammar, searches: GrammarDecoders, channel: ChannelState
  ) throws(VoiceFailure) {
    self.grammar = grammar
    self.searches = searches
    self.dimension = channel.mean.count
    self.mean = CepstralMean(channel)
    try searches.live.begin()
  }

  /// Hears frames.
  mutating func hear(_ new: UnsafeBufferPointer<Float>) throws(VoiceFailure) {
    self.frames.append(contentsOf: new)
    var normalized = Array(new)
    var failure: VoiceFailure?
    normalized.withUnsafeMutableBufferPointer { buffer in
      self.mean.normalize(buffer)
      do throws(VoiceFailure) { try self.searches.live.hear(buffer) } catch { failure = error }
    }
    if let failure { throw failure }
    for start in stride(from: 0, to: new.count - self.dimension + 1, by: max(1, self.dimension)) {
      self.pause.heard(energy: new[start])
    }
    guard self.pause.isProbablyTheEnd, self.early?.frameCount != self.pause.speechEnd else { return }
    let (outcome, frames) = try self.wholePass()
    self.early = EarlyPass(frameCount: self.pause.speechEnd, outcome: outcome, frames: frames)
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

  /// Searches what was heard so far as a whole; also returns the frames as they were searched.
  private func wholePass() throws(VoiceFailure) -> (CepstralDecoder.Outcome, [Float]) {
    var frames = self.frames
    CepstralMean.normalizeWhole(&frames, dimension: self.dimension)
    let outcome = try self.searches.whole.decode(&frames)
    return (outcome, frames)
  }

  /// Ends the utterance.
  ///
  /// - Parameter phones: Searches phones in any order, for cases of doubt.
  func finish(phones: CepstralDecoder?) throws(VoiceFailure) -> Result {
    let first = try self.searches.live.finish()
    guard self.frames.count >= self.dimension else {
      return Result(words: [], confidences: [], isRejected: false)
    }
    let outcome: CepstralDecoder.Outcome
    var frames: [Float]
    if let early = self.early, early.frameCount == self.pause.speechEnd {
      (outcome, frames) = (early.outcome, early.frames)
    } else {
      (outcome, frames) = try self.wholePass()
    }
    guard !outcome.words.isEmpty else {
      // The second pass has no way to the end of a sentence; the first may have had one.
      return Result(words: first, confidences: first.map { _ in 0 }, isRejected: true)
    }
    var coverage = GrammarCoverage(grammar: outcome.scores)
    if coverage.isDoubtful, let phones {
      coverage.compare(with: try phones.decode(&frames).scores)
    }
    return Result(
      words: outcome.words, confidences: outcome.words.map { coverage.confidence(in: $0.frames) },
      isRejected: coverage.confidence < self.grammar.rejectionThreshold)
  }
}
