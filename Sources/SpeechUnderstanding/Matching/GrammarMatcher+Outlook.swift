import Foundation

extension GrammarMatcher {
  /// What the words so far mean while the utterance goes on.
  public struct Outlook: Hashable, Sendable {
    /// A sentence of the utterance, as far as it is certain.
    public struct Sentence: Hashable, Sendable {
      /// The position of its first word.
      public var start: Int
      /// The position behind its last word, or `nil` while it may go on.
      public var end: Int?
      /// The intent, or `nil` while it is undecided.
      public var intent: String?
      /// The entities whose values cannot grow any more.
      public var entities: [Interpretation.Entity]

      /// Creates a sentence.
      public init(start: Int, end: Int? = nil, intent: String? = nil, entities: [Interpretation.Entity] = [])
      {
        self.start = start
        self.end = end
        self.intent = intent
        self.entities = entities
      }
    }

    /// The best reading if the utterance goes on; `nil` if too much would have to be overlooked.
    ///
    /// The intent of its last segment is empty as long as less than half of what may be said has it. An entity whose value
    /// may still grow ends with the last word.
    public var likely: Interpretation?
    /// What holds in every way that fits the words about equally well, however the grammar lets the utterance go on.
    ///
    /// Words that the grammar does not expect can still make the utterance be read anew.
    public var certain: [Sentence]
    /// Whether the words so far are a whole utterance too.
    public var isComplete: Bool

    /// Creates an outlook.
    public init(likely: Interpretation? = nil, certain: [Sentence] = [], isComplete: Bool = false) {
      self.likely = likely
      self.certain = certain
      self.isComplete = isComplete
    }
  }

  /// Ways that overlook more than the best by this much, one wrong word, do not make anything uncertain.
  private static let rivalMargin: Float = 0.99

  /// How much more than the best way a way may overlook that ends with the last word.
  private static let completionMargin: Float = 0.2

  /// What the words so far mean while the utterance goes on: what is likely, and what is certain already.
  public var outlook: Outlook {
    guard let best = self.hypotheses.min(by: { $0.total < $1.total }), !self.words.isEmpty else {
      return Outlook()
    }
    let limit = self.shared.settings.maximumEditsPerWord * Float(self.words.count)
    guard best.edits <= limit else { return Outlook() }
    var sure: [Outlook.Sentence]?
    var shares: [String: Double] = [:]
    var likely = self.interpretation(of: best, confidence: 1)
    for hypothesis in self.hypotheses {
      let reading = hypothesis == best ? likely : self.interpretation(of: hypothesis, confidence: 1)
      let intent = reading.segments.last?.intent ?? ""
      shares[intent, default: 0] += self.share(of: hypothesis, best: best)
      guard hypothesis.edits < best.edits + Self.rivalMargin else { continue }
      let sentences = self.sentences(of: reading, canGrow: self.canGrow(hypothesis))
      sure = sure.map { Self.common($0, sentences) } ?? sentences
    }
    if let last = likely.segments.indices.last {
      let all = shares.values.reduce(0, +)
      let share = shares[likely.segments[last].intent] ?? 0
      if share * 2 <= all { likely.segments[last].intent = "" }
    }
    var copy = self
    // A sentence that is whole only if something is assumed at its end is not over.
    let isComplete = copy.completions().contains {
      $0.edits <= min(limit, best.edits + Self.completionMargin)
    }
    return Outlook(likely: likely, certain: sure ?? [], isComplete: isComplete)
  }

  /// How probable a way is, relative to the best one.
  private func share(of hypothesis: Hypothesis, best: Hypothesis) -> Double {
    let factor = max(self.shared.settings.weightFactor, 1e-3)
    return exp(Double((best.total - hypothesis.total) / factor))
  }

  private func sentences(of reading: Interpretation, canGrow: Bool) -> [Outlook.Sentence] {
    reading.segments.enumerated().map { index, segment in
      let isLast = index == reading.segments.count - 1
      var entities = segment.entities
      if isLast, canGrow, !entities.isEmpty { entities.removeLast() }
      return Outlook.Sentence(
        start: segment.words.lowerBound, end: isLast ? nil : segment.words.upperBound,
        intent: segment.intent, entities: entities)
    }
  }

  /// What two ways have in common.
  private static func common(_ left: [Outlook.Sentence], _ right: [Outlook.Sentence]) -> [Outlook.Sentence] {
    var result: [Outlook.Sentence] = []
    for (one, other) in zip(left, right) {
      guard one.start == other.start else { break }
      var both = one
      if one.end != other.end { both.end = nil }
      if one.intent != other.intent { both.intent = nil }
      both.entities = one.entities.filter(other.entities.contains)
      result.append(both)
      if both.end == nil { break }
    }
    return result
  }

  /// Whether a way is in an entity whose value can have another word.
  private func canGrow(_ hypothesis: Hypothesis) -> Bool {
    let lastMark = self.paths.entries(of: hypothesis.path).last { entry in
      switch entry.mark {
      case .beginEntity, .endEntity, .missingValue: true
      case .intent, .skipped, .replaced, .missing: false
      }
    }
    guard case .beginEntity? = lastMark?.mark else { return false }
    let grammar = self.shared.grammar
    var work: [(state: Grammar.State, returns: Int32)] = [(hypothesis.state, hypothesis.returns)]
    // Without a bound, a value of many optional parts would be looked at in all their combinations.
    var rest = 256
    while let (state, returns) = work.popLast() {
      guard rest > 0 else { return true }
      rest -= 1
      if state == Grammar.end {
        if let caller = self.paths.pop(returns) { work.append((caller.state, caller.rest)) }
        continue
      }
      if !grammar.wordArcs(of: state).isEmpty { return true }
      for arc in grammar.otherArcs(of: state) {
        switch arc.label {
        case .word: return true
        case .endEntity: continue
        case .nothing, .intent, .beginEntity: work.append((arc.target, returns))
        case .call(let network):
          let lookahead = grammar.lookahead[Int(network)]
          if lookahead.hasWords { return true }
          if lookahead.reachesEnd { work.append((arc.target, returns)) }
        }
      }
    }
    return false
  }
}

extension Grammar.Lookahead {
  /// Whether any word can come.
  var hasWords: Bool { self.bits != .zero }
}
