import SpeechUnderstanding

/// Follows the words of a segment through an app's grammar: first those that are settled, then those that may still change.
///
/// A changed hypothesis is followed from where it differs.
struct SentenceFollower: Sendable {
  private struct Step: Sendable {
    var word: String
    /// What has heard everything up to the word.
    var matcher: GrammarMatcher
  }

  private var matcher: GrammarMatcher
  private var ahead: [Step] = []

  init(_ understanding: Understanding) {
    self.matcher = understanding.makeMatcher()
  }

  /// Takes a word that will not change.
  mutating func settle(_ word: String) {
    if self.ahead.first?.word == word {
      self.matcher = self.ahead.removeFirst().matcher
    } else {
      self.ahead = []
      self.matcher.hear(word)
    }
  }

  /// The same with more settled words.
  func following(_ words: [RecognizedWord]) -> SentenceFollower {
    var copy = self
    for word in words { copy.settle(word.text) }
    return copy
  }

  /// What the settled words and those behind them mean together.
  ///
  /// - Parameter isComplete: Whether the words may be everything that is said.
  mutating func reading(_ words: [String], isComplete: Bool) -> Reading {
    let known = zip(words, self.ahead).prefix { $0 == $1.word }.count
    self.ahead.removeSubrange(known...)
    for word in words.dropFirst(known) {
      var matcher = self.ahead.last?.matcher ?? self.matcher
      matcher.hear(word)
      self.ahead.append(Step(word: word, matcher: matcher))
    }
    let matcher = self.ahead.last?.matcher ?? self.matcher
    let outlook = matcher.outlook
    if isComplete, outlook.isComplete, let best = matcher.interpretations(atMost: 1).first {
      return Reading(best)
    }
    return outlook.likely.map(Reading.init) ?? Reading()
  }

  /// What the settled words mean while more may come.
  var outlook: GrammarMatcher.Outlook { self.matcher.outlook }

  /// Whether the settled words are whole sentences.
  var isComplete: Bool { self.matcher.outlook.isComplete }

  /// What the settled words mean if they are everything, best first.
  func readings(atMost count: Int) -> [Reading] {
    self.matcher.interpretations(atMost: count).map(Reading.init).filter { !$0.segments.isEmpty }
  }

  /// The meaning of the settled words if they are one sentence without a word too many or too few.
  var exactMeaning: Meaning? {
    guard self.matcher.isExact, self.matcher.outlook.isComplete,
      let segments = self.readings(atMost: 1).first?.segments, segments.count == 1
    else { return nil }
    return Meaning(intent: segments[0].intent, entities: segments[0].entities)
  }
}

extension GrammarMatcher {
  /// Hears a word, also one that is no word, so that positions are those of the recogniser.
  fileprivate mutating func hear(_ word: String) {
    let count = self.words.count
    self.append(word)
    if self.words.count == count { self.append("\u{FFFD}") }
  }
}

/// How words are divided into sentences; those without words are left out.
struct Reading: Hashable, Sendable {
  var segments: [Interpretation.Segment] = []

  init() {}

  init(_ interpretation: Interpretation) {
    self.segments = interpretation.segments.filter { !$0.words.isEmpty }
  }

  /// The first place from a position on at which a new sentence begins.
  func boundary(from position: Int) -> Int? {
    self.segments.dropFirst().first { $0.words.lowerBound >= position }?.words.lowerBound
  }

  /// What the words before a place mean; the first sentence decides.
  func meaning(upTo position: Int) -> Meaning {
    let segments = self.segments.prefix { $0.words.lowerBound < position }
    return Meaning(
      intent: segments.first?.intent ?? "",
      entities: segments.flatMap(\.entities).filter { $0.words.upperBound <= position })
  }
}

/// What a segment means.
struct Meaning: Hashable, Sendable {
  var intent = ""
  var entities: [Interpretation.Entity] = []
  /// Whether the grammar does not cover the words.
  var isRejected = false

  static let rejected = Meaning(isRejected: true)
}
