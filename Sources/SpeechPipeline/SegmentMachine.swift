/// Turns what a recogniser says into the events of segments.
///
/// A segment may span several utterances of the decoder. States: *closed* (no word in the segment), *open*.
/// Nothing is told of a segment in which no word became final, except that its hypotheses are taken back.
struct SegmentMachine: Sendable {
  private let alternativeCount: Int
  private var committer: WordCommitter
  private var segment = 0
  private var wordCount = 0
  /// What the reader shows as not final.
  private var shown: [String] = []
  /// The best words and the alternatives of each utterance of the segment.
  private var utterances: [RecognitionResult] = []
  private var lastEnd = Duration.zero

  init(alternatives: Int, settings: PipelineSettings) {
    self.alternativeCount = max(0, alternatives)
    self.committer = WordCommitter(stableFor: settings.stableFor, lag: settings.lag)
  }

  /// Whether the utterance that ended last had words.
  private(set) var lastUtteranceHadWords = false

  /// The words of the running utterance that are not final.
  func tail(base: Duration) -> [RecognizedWord] { self.committer.tail.map { $0.shifted(by: base) } }

  /// Whether the segment has final words.
  var hasWords: Bool { self.wordCount > 0 }

  /// Takes a hypothesis for the running utterance.
  ///
  /// - Parameters:
  ///   - words: The words; times count from the start of the utterance.
  ///   - head: How much of the utterance was heard.
  ///   - base: Where the utterance starts in the context.
  mutating func hypothesised(
    _ words: [RecognizedWord], head: Duration, base: Duration
  ) -> [RecognitionEvent] {
    let final = self.committer.hypothesised(words, head: head)
    var events = self.finalize(final, base: base)
    self.show(self.committer.tail.map { $0.shifted(by: base) }, into: &events)
    return events
  }

  /// Takes the end result of the running utterance.
  mutating func endedUtterance(_ result: RecognitionResult, base: Duration) -> [RecognitionEvent] {
    let early = self.committer.committed
    let rest = self.committer.finished(result.words)
    var events = self.finalize(rest, base: base)
    self.show([], into: &events)
    let best = (early + rest).map { $0.shifted(by: base) }
    let others = result.alternatives.map { $0.map { $0.shifted(by: base) } }
    self.lastUtteranceHadWords = !best.isEmpty
    if !best.isEmpty {
      self.utterances.append(RecognitionResult(words: best, alternatives: others))
    }
    return events
  }

  /// Ends the utterance with what is known of it, because the recogniser failed.
  mutating func abandonedUtterance(base: Duration) -> [RecognitionEvent] {
    self.endedUtterance(
      RecognitionResult(words: self.committer.committed + self.committer.tail), base: base)
  }

  /// Ends the segment; recognition goes on at `resumePoint`.
  mutating func endedSegment(resumePoint: ResumePoint) -> [RecognitionEvent] {
    guard self.hasWords else { return [] }
    let summary = SegmentSummary(alternatives: self.alternatives(), resumePoint: resumePoint)
    let events: [RecognitionEvent] = [
      .intent(segment: self.segment, "", isFinal: true),
      .segmentEnded(segment: self.segment, summary),
    ]
    self.segment += 1
    self.wordCount = 0
    self.utterances = []
    return events
  }

  /// Where the last final word ends, in the context.
  var lastWordEnd: Duration { self.lastEnd }

  private mutating func finalize(_ words: [RecognizedWord], base: Duration) -> [RecognitionEvent] {
    words.map { word in
      let word = word.shifted(by: base)
      defer {
        self.wordCount += 1
        self.lastEnd = word.end
        // The reader replaces what it shows at this index by the final word.
        if !self.shown.isEmpty { self.shown.removeFirst() }
      }
      return .word(segment: self.segment, index: self.wordCount, word)
    }
  }

  private mutating func show(_ words: [RecognizedWord], into events: inout [RecognitionEvent]) {
    // The times of the newest words move with every block: that alone is no news.
    guard words.map(\.text) != self.shown else { return }
    self.shown = words.map(\.text)
    events.append(.hypothesis(segment: self.segment, firstIndex: self.wordCount, words: words))
  }

  /// Whole-segment alternatives: the n-th of each utterance joined, with the best where an utterance has fewer.
  private func alternatives() -> [[RecognizedWord]] {
    let count = min(self.alternativeCount, self.utterances.map(\.alternatives.count).max() ?? 0)
    return (0..<count).map { rank in
      self.utterances.flatMap { rank < $0.alternatives.count ? $0.alternatives[rank] : $0.words }
    }
  }
}

extension RecognizedWord {
  /// The word in a time that starts `base` earlier.
  func shifted(by base: Duration) -> RecognizedWord {
    var copy = self
    copy.start += base
    copy.end += base
    return copy
  }
}
