/// Finds the words of a changing hypothesis that may become final before the utterance ends.
///
/// A word is final when it, and every word before it, has stood unchanged for a while and ends well behind the
/// newest sample. Later hypotheses and the end result are continued behind the final words: by equality if they
/// still begin with them, else by time.
struct WordCommitter: Sendable {
  private struct Candidate: Sendable {
    var word: RecognizedWord
    var since: Duration
  }

  private let stableFor: Duration?
  private let lag: Duration
  /// The words of this utterance that are final.
  private(set) var committed: [RecognizedWord] = []
  private var candidates: [Candidate] = []

  init(stableFor: Duration?, lag: Duration) {
    self.stableFor = stableFor
    self.lag = lag
  }

  /// The words of the last hypothesis that are not final.
  var tail: [RecognizedWord] { self.candidates.map(\.word) }

  /// Takes a hypothesis for the whole utterance; times count from the start of the utterance.
  ///
  /// - Returns: The words that became final.
  mutating func hypothesised(_ words: [RecognizedWord], head: Duration) -> [RecognizedWord] {
    let rest = Self.continuation(of: self.committed, in: words)
    var next: [Candidate] = []
    next.reserveCapacity(rest.count)
    var isUnchanged = true
    for (index, word) in rest.enumerated() {
      let old = index < self.candidates.count ? self.candidates[index] : nil
      isUnchanged = isUnchanged && old?.word.text == word.text
      if let old, isUnchanged {
        next.append(Candidate(word: word, since: old.since))
      } else {
        next.append(Candidate(word: word, since: head))
      }
    }
    self.candidates = next
    guard let stableFor = self.stableFor else { return [] }
    // The newest word is never final: what follows may still join it.
    let final = next.dropLast().prefix { candidate in
      head - candidate.since >= stableFor && head - candidate.word.end >= self.lag
    }
    guard !final.isEmpty else { return [] }
    self.candidates.removeFirst(final.count)
    let words = final.map(\.word)
    self.committed += words
    return words
  }

  /// Takes the end result of the utterance and begins the next utterance.
  ///
  /// - Returns: The words of the result that were not final yet.
  mutating func finished(_ words: [RecognizedWord]) -> [RecognizedWord] {
    let rest = Self.continuation(of: self.committed, in: words)
    self.committed = []
    self.candidates = []
    return rest
  }

  /// The words of `words` that follow `committed`, without changing, doubling or losing any.
  static func continuation(
    of committed: [RecognizedWord], in words: [RecognizedWord]
  ) -> [RecognizedWord] {
    guard let last = committed.last else { return words }
    let isPrefix =
      words.count >= committed.count && zip(words, committed).allSatisfy { $0.text == $1.text }
    let cut = isPrefix ? committed.count : Self.cut(behind: last, in: words)
    return words[cut...].map { word in
      guard word.start < last.end else { return word }
      var word = word
      word.start = last.end
      word.end = max(word.end, last.end)
      return word
    }
  }

  /// The index in `words` at which the audio behind `last` begins: the boundary nearest to its end, preferring one
  /// behind the same word.
  private static func cut(behind last: RecognizedWord, in words: [RecognizedWord]) -> Int {
    var best = 0
    var bestCost = words.first.map { Self.distance($0.start, last.end) } ?? .zero
    for (index, word) in words.enumerated() {
      // A pause behind the word belongs to the boundary.
      let pauseEnd = index + 1 < words.count ? max(word.end, words[index + 1].start) : word.end
      let boundary = min(max(last.end, word.end), pauseEnd)
      var cost = Self.distance(boundary, last.end)
      if word.text == last.text { cost -= .milliseconds(300) }
      if cost < bestCost {
        best = index + 1
        bestCost = cost
      }
    }
    return best
  }

  private static func distance(_ left: Duration, _ right: Duration) -> Duration {
    left < right ? right - left : left - right
  }
}
