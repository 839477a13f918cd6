/// Which words follow each other in what a grammar allows, and how often: what a language model of pairs is made from.
///
/// The numbers are expected ones for one utterance, computed without saying any: a list of 100,000 values takes about as long
/// as reading it.
public struct WordPairs: Sendable {
  /// Two words in a row, as indices of the grammar's words.
  public struct Pair: Hashable, Sendable {
    /// The first word; ``WordPairs/edge`` for the beginning of the utterance.
    public var first: Int32
    /// The second word; ``WordPairs/edge`` for the end of the utterance.
    public var second: Int32

    /// Creates a pair.
    public init(_ first: Int32, _ second: Int32) {
      self.first = first
      self.second = second
    }
  }

  /// Stands for the beginning and the end of the utterance.
  public static let edge: Int32 = -1

  /// How often each word of the grammar is said in an utterance, on average.
  public let words: [Double]
  /// How often two words follow each other, on average.
  ///
  /// Rare pairs are left out where any of very many words may follow any of very many others; so those of a first word may
  /// be fewer than the word.
  public let pairs: [Pair: Double]
}

extension Grammar {
  /// The words of the grammar in pairs.
  ///
  /// - Parameter limit: The most pairs.
  /// - Returns: The pairs, or `nil` if there would be more.
  public func wordPairs(atMost limit: Int) -> WordPairs? {
    var counter = WordPairCounter(grammar: self, limit: limit)
    return counter.count()
  }
}

/// Follows the probabilities of a grammar from its states with larger numbers to those with smaller ones, which is the
/// direction of all arcs and calls.
private struct WordPairCounter {
  /// What was said last, with how much of the probability; the edge stands for nothing.
  private typealias Last = [Int32: Double]

  private let grammar: Grammar
  private let limit: Int
  private var words: [Double]
  private var pairs: [WordPairs.Pair: Double] = [:]
  /// What is said last in each network that is called; ``WordPairs/edge`` for a way through it without a word.
  private var ends: [Grammar.State: Last] = [:]

  /// Where more pairs than this meet at one state, only words that are often said before count.
  private static let mostPairsOfAState = 200_000

  /// One in so many is often.
  private static let leastShare = 100.0

  init(grammar: Grammar, limit: Int) {
    self.grammar = grammar
    self.limit = limit
    self.words = Array(repeating: 0, count: grammar.words.count)
  }

  mutating func count() -> WordPairs? {
    var networks: Set<Grammar.State> = [self.grammar.root]
    for arc in self.grammar.arcs {
      if case .call(let network) = arc.label { networks.insert(network) }
    }
    // A network calls only those with smaller numbers.
    for network in networks.sorted() { self.ends[network] = self.end(of: network) }
    var waiting: [Grammar.State: Last] = [self.grammar.root: [WordPairs.edge: 1]]
    for state in stride(from: Int(self.grammar.root), to: Int(Grammar.end), by: -1) {
      guard let last = waiting.removeValue(forKey: UInt32(state)) else { continue }
      self.take(last, at: UInt32(state))
      guard self.pairs.count <= self.limit else { return nil }
      self.follow(last, from: UInt32(state), into: &waiting, entersCalls: true)
    }
    for (word, share) in self.ends[self.grammar.root] ?? [:] where word != WordPairs.edge {
      self.pairs[.init(word, WordPairs.edge), default: 0] += share
    }
    return self.pairs.count <= self.limit ? WordPairs(words: self.words, pairs: self.pairs) : nil
  }

  /// What is said last on the ways through a network.
  private func end(of network: Grammar.State) -> Last {
    var waiting: [Grammar.State: Last] = [network: [WordPairs.edge: 1]]
    for state in stride(from: Int(network), to: Int(Grammar.end), by: -1) {
      guard let last = waiting.removeValue(forKey: UInt32(state)) else { continue }
      self.follow(last, from: UInt32(state), into: &waiting, entersCalls: false)
    }
    return waiting[Grammar.end] ?? [WordPairs.edge: 1]
  }

  /// Counts the words of a state's arcs, and what they come after.
  private mutating func take(_ last: Last, at state: Grammar.State) {
    let arcs = self.grammar.wordArcs(of: state)
    let total = last.values.reduce(0, +)
    let isWide = arcs.count.multipliedReportingOverflow(by: last.count).partialValue > Self.mostPairsOfAState
    let counted = isWide ? last.filter { $0.value * Self.leastShare >= total } : last
    for arc in arcs {
      guard case .word(let word) = arc.label else { continue }
      let share = Double(exponential(-arc.cost))
      self.words[Int(word)] += total * share
      for (first, mass) in counted {
        self.pairs[.init(first, Int32(word)), default: 0] += mass * share
      }
    }
  }

  /// Moves what was said last over the arcs of a state.
  private func follow(
    _ last: Last, from state: Grammar.State, into waiting: inout [Grammar.State: Last], entersCalls: Bool
  ) {
    let total = last.values.reduce(0, +)
    for arc in self.grammar.arcs(of: state) {
      let share = Double(exponential(-arc.cost))
      switch arc.label {
      case .word(let word):
        waiting[arc.target, default: [:]][Int32(word), default: 0] += total * share
      case .nothing, .intent, .beginEntity, .endEntity:
        Self.add(last, share, to: &waiting[arc.target, default: [:]])
      case .call(let network):
        if entersCalls { Self.add(last, share, to: &waiting[network, default: [:]]) }
        var end = self.ends[network] ?? [:]
        if let silent = end.removeValue(forKey: WordPairs.edge) {
          Self.add(last, share * silent, to: &waiting[arc.target, default: [:]])
        }
        Self.add(end, share * total, to: &waiting[arc.target, default: [:]])
      }
    }
  }

  private static func add(_ last: Last, _ share: Double, to sum: inout Last) {
    for (word, mass) in last { sum[word, default: 0] += mass * share }
  }
}
