/// Makes hypotheses of a whole task of the phrases in which SpeechTranscriber tells what it heard.
///
/// A phrase is told one or more times until it is final; phrases come in order. An empty phrase takes back what was told of its
/// range.
struct PhraseAssembler: Hashable, Sendable {
  private var final: [[HeardTranscription]] = []
  private var tentative: [HeardTranscription] = []

  /// Takes a phrase; returns all transcriptions of everything so far.
  ///
  /// - Parameter transcriptions: The ways to understand the phrase, the best first.
  mutating func heard(_ transcriptions: [HeardTranscription], isFinal: Bool) -> [HeardTranscription] {
    let phrase = transcriptions.filter { !$0.segments.isEmpty }
    if isFinal {
      if !phrase.isEmpty { self.final.append(phrase) }
      self.tentative = []
    } else {
      self.tentative = phrase
    }
    return self.transcriptions
  }

  /// All transcriptions: the n-th of each phrase joined, with the best where a phrase has fewer.
  var transcriptions: [HeardTranscription] {
    let phrases = self.final + (self.tentative.isEmpty ? [] : [self.tentative])
    let count = phrases.map(\.count).max() ?? 0
    return (0..<count).map { rank in
      HeardTranscription(segments: phrases.flatMap { (rank < $0.count ? $0[rank] : $0[0]).segments })
    }
  }
}
