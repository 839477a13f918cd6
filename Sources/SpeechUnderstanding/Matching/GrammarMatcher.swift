/// Follows an utterance through a grammar, word by word.
///
/// All ways through the grammar that fit the words so far are followed at once, each at most once per place, and those
/// much worse than the best are dropped. As long as the words fit exactly, nothing else is looked at. The first word that
/// does not fit starts the utterance again with edits: words are skipped, taken for similar ones, or assumed, at a cost.
///
/// A matcher is a value: a copy goes on by itself, so that a revised hypothesis continues from where it differs.
///
/// ```swift
/// var matcher = GrammarMatcher(grammar: grammar, fillers: ["please"])
/// for word in ["turn", "on", "the", "lights"] { matcher.append(word) }
/// let best = matcher.interpretations(atMost: 3).first
/// ```
public struct GrammarMatcher: Sendable {
  /// What the matchers of one grammar share.
  final class Shared: Sendable {
    let grammar: Grammar
    let settings: MatchSettings
    let fillers: Set<String>
    let similarWords: SimilarWords

    init(
      grammar: Grammar, settings: MatchSettings, fillers: Set<String>, language: (any LanguagePack)? = nil
    ) {
      self.grammar = grammar
      self.settings = settings
      self.fillers = fillers
      self.similarWords = SimilarWords(vocabulary: grammar.words, language: language)
    }
  }

  let shared: Shared
  /// The words so far, in lower case.
  public private(set) var words: [String] = []
  /// Whether the words so far fit the grammar as they are.
  public private(set) var isExact = true

  /// How many places were looked at, which is what matching costs.
  private(set) var effort = 0

  var paths = Paths()
  var hypotheses: [Hypothesis]

  /// Creates a matcher that has heard nothing yet.
  ///
  /// - Parameter fillers: Words that may stand anywhere at nearly no cost, in lower case.
  public init(grammar: Grammar, settings: MatchSettings = MatchSettings(), fillers: Set<String> = []) {
    self.init(shared: Shared(grammar: grammar, settings: settings, fillers: fillers))
  }

  init(shared: Shared) {
    self.shared = shared
    self.hypotheses = [Hypothesis(state: shared.grammar.root)]
  }

  /// Forgets what was heard.
  public mutating func reset() {
    self = GrammarMatcher(shared: self.shared)
  }

  /// Hears the next word.
  public mutating func append(_ word: String) {
    let word = SpokenText.folded(word)
    guard !word.isEmpty else { return }
    self.words.append(word)
    if self.isExact {
      let next = self.step(word, at: self.words.count - 1, tolerant: false)
      if !next.isEmpty || !self.shared.settings.toleratesEdits {
        self.hypotheses = next
        return
      }
      self.startTolerating()
    } else {
      self.hypotheses = self.step(word, at: self.words.count - 1, tolerant: true)
    }
  }

  /// Hears the words again, this time with edits.
  private mutating func startTolerating() {
    self.isExact = false
    self.paths = Paths()
    self.hypotheses = [Hypothesis(state: self.shared.grammar.root)]
    for (position, word) in self.words.enumerated() {
      self.hypotheses = self.step(word, at: position, tolerant: true)
    }
  }

  // MARK: One word

  private mutating func step(_ word: String, at position: Int, tolerant: Bool) -> [Hypothesis] {
    let settings = self.shared.settings
    var next = Frontier(beam: settings.beam)
    var visits = Visits(limit: Self.mostVisits)
    defer { self.effort += visits.count }
    if tolerant {
      // First, because their costs bound what else is worth looking at.
      let skipCost = self.shared.fillers.contains(word) ? settings.fillerCost : settings.skipCost
      for hypothesis in self.hypotheses {
        var skipped = hypothesis
        skipped.add(edit: skipCost)
        guard next.accepts(skipped) else { continue }
        skipped.path = self.paths.append(.skipped, at: position, to: hypothesis.path)
        next.insert(skipped)
      }
    }
    if let number = self.shared.grammar.wordNumbers[word] {
      self.advance(
        self.hypotheses, by: number, edit: nil, at: position, tolerant: tolerant, visits: &visits,
        into: &next)
    }
    guard tolerant else { return next.best(settings.maximumHypotheses) }
    for match in self.shared.similarWords.matches(word) {
      let cost = settings.replacementCost * match.distance
      self.advance(
        self.hypotheses, by: match.word, edit: (.replaced(by: match.word), cost), at: position,
        tolerant: true, visits: &visits, into: &next)
    }
    return next.best(settings.maximumHypotheses)
  }

  /// Moves the hypotheses over one word of the grammar.
  private mutating func advance(
    _ hypotheses: [Hypothesis], by word: UInt32, edit: (mark: Paths.Mark, cost: Float)?, at position: Int,
    tolerant: Bool, visits: inout Visits, into next: inout Frontier
  ) {
    let factor = self.shared.settings.weightFactor
    visits.restart()
    var work: [Pending] = []
    for hypothesis in hypotheses {
      work.append(Pending(hypothesis, mayMiss: tolerant))
      if let edit { work[0].hypothesis.add(edit: edit.cost) }
      while let pending = work.popLast() {
        guard next.isWithinBeam(pending.hypothesis), visits.begin(pending) else { continue }
        for arc in self.shared.grammar.arcs(of: pending.hypothesis.state, word: word) {
          var moved = pending.hypothesis
          moved.follow(arc, weightFactor: factor)
          guard next.accepts(moved) else { continue }
          if let edit { moved.path = self.paths.append(edit.mark, at: position, to: moved.path) }
          next.insert(moved)
        }
        if pending.mayMiss { self.miss(pending.hypothesis, at: position, onto: &work) }
        self.follow(pending, at: position, onto: &work) { lookahead in
          // A missing word may lie before every other.
          pending.mayMiss || lookahead.mayContain(word)
        }
      }
    }
  }

  /// Goes on from a state without a word.
  private mutating func follow(
    _ pending: Pending, at position: Int, onto work: inout [Pending],
    where leadsOn: (Grammar.Lookahead) -> Bool
  ) {
    let hypothesis = pending.hypothesis
    if hypothesis.state == Grammar.end {
      var next = pending
      if let caller = self.paths.pop(hypothesis.returns) {
        next.hypothesis.state = caller.state
        next.hypothesis.returns = caller.rest
      } else {
        // Another sentence may follow, but not one without words after another.
        guard !pending.hasBegunSentence, position > 0 else { return }
        next.hasBegunSentence = true
        next.hypothesis.state = self.shared.grammar.root
        next.hypothesis.add(weight: self.shared.settings.sentenceCost)
      }
      let lookahead = self.shared.grammar.lookahead[Int(next.hypothesis.state)]
      if leadsOn(lookahead) || lookahead.reachesEnd { work.append(next) }
      return
    }
    for arc in self.shared.grammar.otherArcs(of: hypothesis.state) {
      var next = pending
      next.hypothesis.follow(arc, weightFactor: self.shared.settings.weightFactor)
      var lookahead = self.shared.grammar.lookahead[Int(arc.target)]
      switch arc.label {
      case .word, .nothing: break
      case .call(let network):
        lookahead = self.shared.grammar.lookahead[Int(network)]
        if lookahead.reachesEnd, !leadsOn(lookahead) {
          lookahead = self.shared.grammar.lookahead[Int(arc.target)]
        }
      case .intent, .beginEntity, .endEntity: break
      }
      guard leadsOn(lookahead) || lookahead.reachesEnd else { continue }
      switch arc.label {
      case .word, .nothing: break
      case .intent(let intent):
        self.mark(&next.hypothesis, .intent(intent), at: position)
      case .beginEntity(let entity):
        self.mark(&next.hypothesis, .beginEntity(entity), at: position)
      case .endEntity:
        self.mark(&next.hypothesis, .endEntity, at: position)
      case .call(let network):
        next.hypothesis.returns = self.paths.push(arc.target, onto: hypothesis.returns)
        next.hypothesis.state = network
      }
      work.append(next)
    }
  }

  private mutating func mark(_ hypothesis: inout Hypothesis, _ mark: Paths.Mark, at position: Int) {
    hypothesis.mark(self.paths.append(mark, at: position, to: hypothesis.path), mark, at: position)
  }

  /// Assumes a word of the grammar that was not said; not in front of long lists, where it would be any of them.
  private mutating func miss(_ hypothesis: Hypothesis, at position: Int, onto work: inout [Pending]) {
    self.cross(hypothesis, at: position, onto: &work)
    let arcs = self.shared.grammar.wordArcs(of: hypothesis.state)
    guard arcs.count <= Self.mostAssumable else { return }
    for arc in arcs {
      guard case .word(let word) = arc.label else { continue }
      var assumed = hypothesis
      assumed.follow(arc, weightFactor: self.shared.settings.weightFactor)
      assumed.add(edit: self.shared.settings.missingCost)
      assumed.path = self.paths.append(.missing(word), at: position, to: hypothesis.path)
      work.append(Pending(assumed, mayMiss: false))
    }
  }

  private static let mostAssumable = 8
  /// How many places are looked at for one word of the grammar: the hypotheses come best first, so what is left out is unlikely.
  private static let mostVisits = 4096

  // MARK: Results

  /// The ways in which the words so far are a whole utterance, best first; none if they are not.
  public func interpretations(atMost count: Int) -> [Interpretation] {
    var copy = self
    return copy.complete(atMost: count)
  }

  /// What the words so far mean if the utterance goes on: the best of the ways that are being followed.
  ///
  /// An entity whose value may still grow ends with the last word.
  public var best: Interpretation? {
    guard let best = self.hypotheses.min(by: { $0.total < $1.total }) else { return nil }
    return self.interpretation(of: best, confidence: 1)
  }

  private mutating func complete(atMost count: Int) -> [Interpretation] {
    guard count > 0, !self.words.isEmpty else { return [] }
    var found = self.completions()
    if found.isEmpty, self.isExact, self.shared.settings.toleratesEdits {
      self.startTolerating()
      found = self.completions()
    }
    let limit = self.shared.settings.maximumEditsPerWord * Float(self.words.count)
    found.removeAll { $0.edits > limit }
    found.sort { $0.total < $1.total }
    // Different ways to the same meaning are one.
    var different: [(Interpretation, Hypothesis)] = []
    for hypothesis in found {
      let interpretation = self.interpretation(of: hypothesis, confidence: 1)
      if different.contains(where: { $0.0.segments == interpretation.segments }) { continue }
      different.append((interpretation, hypothesis))
      if different.count > count { break }
    }
    guard let least = different.first?.1.total else { return [] }
    let sum = different.reduce(Float(0)) { $0 + exponential(least - $1.1.total) }
    return different.prefix(count).map { interpretation, hypothesis in
      var interpretation = interpretation
      let accuracy = exponential(-hypothesis.edits / Float(self.words.count))
      interpretation.confidence = Double(accuracy * exponential(least - hypothesis.total) / sum)
      return interpretation
    }
  }

  mutating func completions() -> [Hypothesis] {
    var found: [Hypothesis] = []
    let position = self.words.count
    var visits = Visits(limit: Self.mostVisits)
    defer { self.effort += visits.count }
    for hypothesis in self.hypotheses {
      var work = [Pending(hypothesis, mayMiss: !self.isExact)]
      // An utterance ends once.
      work[0].hasBegunSentence = true
      while let pending = work.popLast() {
        guard visits.begin(pending) else { continue }
        if pending.hypothesis.state == Grammar.end, self.paths.pop(pending.hypothesis.returns) == nil {
          found.append(pending.hypothesis)
          continue
        }
        if pending.mayMiss { self.miss(pending.hypothesis, at: position, onto: &work) }
        self.follow(pending, at: position, onto: &work) { _ in pending.mayMiss }
      }
    }
    return found
  }

  func interpretation(of hypothesis: Hypothesis, confidence: Double) -> Interpretation {
    let grammar = self.shared.grammar
    var builder = InterpretationBuilder(grammar: grammar)
    builder.cost = Double(hypothesis.weight)
    var position = 0
    for entry in self.paths.entries(of: hypothesis.path) {
      while position < entry.position {
        builder.hear(self.words[position])
        position += 1
      }
      switch entry.mark {
      case .intent(let intent): builder.begin(intent: intent)
      case .beginEntity(let entity): builder.begin(entity: entity)
      case .endEntity: builder.endEntity()
      case .skipped:
        builder.hear(self.words[position], as: nil)
        position += 1
      case .replaced(let word):
        builder.hear(self.words[position], as: grammar.words[Int(word)])
        position += 1
      case .missing(let word):
        builder.miss(grammar.words[Int(word)])
      case .missingValue(let entity):
        builder.miss(entity: entity)
      }
    }
    while position < self.words.count {
      builder.hear(self.words[position])
      position += 1
    }
    return builder.finish(confidence: confidence)
  }
}

extension GrammarMatcher {
  /// A way through the grammar.
  struct Hypothesis: Hashable, Sendable {
    var state: Grammar.State
    /// Where called networks return to.
    var returns: Int32 = -1
    /// What happened on the way.
    var path: Int32 = -1
    /// Equal for equal intents and entities on the way, so that ways to different meanings do not displace each other.
    private(set) var meaning: UInt64 = 0
    /// The costs of edits.
    var edits: Float = 0
    /// The costs of the grammar.
    var weight: Float = 0
    /// What decides.
    private(set) var total: Float = 0

    init(state: Grammar.State) {
      self.state = state
    }

    var place: Place { Place(state: self.state, returns: self.returns, meaning: self.meaning) }

    mutating func follow(_ arc: Grammar.Arc, weightFactor: Float) {
      self.state = arc.target
      self.weight += arc.cost
      self.total += arc.cost * weightFactor
    }

    /// Takes an intent or an end of an entity into the meaning.
    mutating func mark(_ path: Int32, _ mark: Paths.Mark, at position: Int) {
      self.path = path
      let code =
        switch mark {
        case .intent(let intent): UInt64(intent) << 3 | 1
        case .beginEntity(let entity): UInt64(entity) << 3 | 2
        case .endEntity: UInt64(3)
        case .skipped, .replaced, .missing, .missingValue: UInt64(0)
        }
      guard code != 0 else { return }
      // The constant of multiplicative hashing: each step moves all bits.
      self.meaning = (self.meaning ^ (code << 16 ^ UInt64(position))) &* 0x9E37_79B9_7F4A_7C15
    }

    mutating func add(edit cost: Float) {
      self.edits += cost
      self.total += cost
    }

    mutating func add(weight cost: Float) {
      self.weight += cost
      self.total += cost
    }
  }

  /// A hypothesis between two words.
  struct Pending: Sendable {
    var hypothesis: Hypothesis
    /// Whether a word may be assumed.
    var mayMiss: Bool
    var hasBegunSentence = false

    init(_ hypothesis: Hypothesis, mayMiss: Bool) {
      self.hypothesis = hypothesis
      self.mayMiss = mayMiss
    }
  }
}
