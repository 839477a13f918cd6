import CPocketSphinx
import SpeechPipeline
import VoiceCore

/// One utterance that is recognised after a grammar.
///
/// It is searched twice: while it comes, with the mean of the channel as far as it is known, and at its end as a whole, with
/// its own mean. The second pass takes about a hundredth of the utterance's length and is much better in noise.
struct GrammarUtterance {
  let grammar: RecognitionGrammar
  private let search: CepstralDecoder
  private let dimension: Int
  private var mean: CepstralMean
  /// The frames as they came, one after the other.
  private(set) var frames: [Float] = []

  init(
    _ grammar: RecognitionGrammar, search: CepstralDecoder, channel: ChannelState
  ) throws(VoiceFailure) {
    self.grammar = grammar
    self.search = search
    self.dimension = channel.mean.count
    self.mean = CepstralMean(channel)
    try search.begin()
  }

  /// Hears frames.
  mutating func hear(_ new: UnsafeBufferPointer<Float>) throws(VoiceFailure) {
    self.frames.append(contentsOf: new)
    var normalized = Array(new)
    var failure: VoiceFailure?
    normalized.withUnsafeMutableBufferPointer { buffer in
      self.mean.normalize(buffer)
      do throws(VoiceFailure) { try self.search.hear(buffer) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  func hypothesis() -> [CepstralDecoder.Word] { self.search.hypothesis() }

  func cancel() { self.search.cancel() }

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

  /// Ends the utterance.
  ///
  /// - Parameter phones: Searches phones in any order; without, nothing is rejected but what has no words.
  func finish(phones: CepstralDecoder?) throws(VoiceFailure) -> Result {
    let first = try self.search.finish()
    guard self.frames.count >= self.dimension else {
      return Result(words: [], confidences: [], isRejected: false)
    }
    var frames = self.frames
    CepstralMean.normalizeWhole(&frames, dimension: self.dimension)
    let outcome = try self.search.decode(&frames)
    guard !outcome.words.isEmpty else {
      // The second pass has no way to the end of a sentence; the first may have had one.
      return Result(words: first, confidences: first.map { _ in 0 }, isRejected: true)
    }
    guard let phones else {
      return Result(words: outcome.words, confidences: outcome.words.map { _ in 1 }, isRejected: false)
    }
    let coverage = GrammarCoverage(grammar: outcome.scores, phones: try phones.decode(&frames).scores)
    return Result(
      words: outcome.words, confidences: outcome.words.map { coverage.confidence(in: $0.frames) },
      isRejected: coverage.confidence < self.grammar.rejectionThreshold)
  }
}
