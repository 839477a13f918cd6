/// What an app's users may say, compiled: a weighted automaton over words, intents and entities.
///
/// The automaton has no cycles. Parts that are used in several places are networks of their own that an arc *calls*: what
/// follows the call goes on at the arc's target when the called network reaches its end. So the size is about that of the
/// templates, however many utterances they stand for. Costs are negative natural logarithms of probabilities; those of the
/// arcs of one state add up to a probability of 1.
public struct Grammar: Sendable {
  /// The words that users may say, in lower case, each once.
  public internal(set) var words: [String]
  /// The names of the intents.
  public internal(set) var intents: [String]
  /// The names of the entities.
  public internal(set) var entities: [String]

  /// Where the arcs of each state begin in ``arcs``, and behind the last where they end.
  var arcStarts: [UInt32]
  /// Where the arcs of each state that are not words begin; words come first, in the order of their numbers.
  var otherStarts: [UInt32]
  var arcs: [Arc]
  var root: State

  /// What can be said next at a state, computed when the grammar is made.
  let lookahead: [Lookahead]
  /// How values can be passed over, computed when the grammar is made.
  let crossings: [Crossing]
  let wordNumbers: [String: UInt32]

  typealias State = UInt32

  /// The end of every network: it has no arcs.
  static let end: State = 0

  struct Arc: Hashable, Sendable {
    var label: Label
    var target: State
    var cost: Float
  }

  /// What happens on an arc.
  enum Label: Hashable, Sendable {
    case word(UInt32)
    case nothing
    case intent(UInt32)
    case beginEntity(UInt32)
    case endEntity
    /// Goes through the network that starts at the state, and then to the arc's target.
    case call(State)
  }

  /// The number of states.
  public var stateCount: Int { self.arcStarts.count - 1 }

  /// The number of arcs.
  public var arcCount: Int { self.arcs.count }

  init(
    words: [String], intents: [String], entities: [String], arcStarts: [UInt32], otherStarts: [UInt32],
    arcs: [Arc],
    root: State
  ) {
    self.words = words
    self.intents = intents
    self.entities = entities
    self.arcStarts = arcStarts
    self.otherStarts = otherStarts
    self.arcs = arcs
    self.root = root
    self.wordNumbers = Dictionary(
      words.enumerated().map { ($1, UInt32($0)) }, uniquingKeysWith: { first, _ in first })
    self.lookahead = Lookahead.all(arcStarts: arcStarts, arcs: arcs)
    self.crossings = Crossing.all(arcStarts: arcStarts, arcs: arcs)
  }

  /// How many utterances there are, those counted once for each way to say them; infinity beyond the range of the type.
  public var utteranceCount: Double {
    var counts = [Double](repeating: 0, count: self.stateCount)
    counts[Int(Self.end)] = 1
    for state in 1..<max(1, self.stateCount) {
      for arc in self.arcs(of: UInt32(state)) {
        var count = counts[Int(arc.target)]
        if case .call(let network) = arc.label { count *= counts[Int(network)] }
        counts[state] += count
      }
    }
    return counts[Int(self.root)]
  }

  func arcs(of state: State) -> ArraySlice<Arc> {
    self.arcs[Int(self.arcStarts[Int(state)])..<Int(self.arcStarts[Int(state) + 1])]
  }

  func wordArcs(of state: State) -> ArraySlice<Arc> {
    self.arcs[Int(self.arcStarts[Int(state)])..<Int(self.otherStarts[Int(state)])]
  }

  func otherArcs(of state: State) -> ArraySlice<Arc> {
    self.arcs[Int(self.otherStarts[Int(state)])..<Int(self.arcStarts[Int(state) + 1])]
  }

  /// The arcs of a state with a word: usually one or none.
  func arcs(of state: State, word: UInt32) -> ArraySlice<Arc> {
    var low = Int(self.arcStarts[Int(state)])
    let end = Int(self.otherStarts[Int(state)])
    var high = end
    while low < high {
      let middle = (low + high) / 2
      if case .word(let number) = self.arcs[middle].label, number < word {
        low = middle + 1
      } else {
        high = middle
      }
    }
    var last = low
    while last < end, self.arcs[last].label == .word(word) { last += 1 }
    return self.arcs[low..<last]
  }
}

extension Grammar {
  /// The words that can come next at a state, as a set that may hold too much but never too little.
  struct Lookahead: Sendable {
    private(set) var bits: SIMD4<UInt64> = .zero
    /// Whether the end of the network can be reached without a word.
    private(set) var reachesEnd = false

    func mayContain(_ word: UInt32) -> Bool {
      let bit = Self.bit(word)
      return self.bits[bit / 64] & (1 << UInt64(bit % 64)) != 0
    }

    private static func bit(_ word: UInt32) -> Int {
      // Numbers of words are given in order of appearance, so neighbours would else crowd the same bits of a state.
      Int((word &* 2_654_435_769) >> 24)
    }

    private mutating func insert(_ word: UInt32) {
      let bit = Self.bit(word)
      self.bits[bit / 64] |= 1 << UInt64(bit % 64)
    }

    /// Computes all states at once: targets have smaller numbers than the states whose arcs lead to them.
    static func all(arcStarts: [UInt32], arcs: [Arc]) -> [Lookahead] {
      var result = [Lookahead](repeating: Lookahead(), count: max(1, arcStarts.count - 1))
      result[Int(Grammar.end)].reachesEnd = true
      for state in 1..<max(1, arcStarts.count - 1) {
        var own = Lookahead()
        for arc in arcs[Int(arcStarts[state])..<Int(arcStarts[state + 1])] {
          let next = result[Int(arc.target)]
          switch arc.label {
          case .word(let word):
            own.insert(word)
          case .nothing, .intent, .beginEntity, .endEntity:
            own.bits |= next.bits
            own.reachesEnd = own.reachesEnd || next.reachesEnd
          case .call(let network):
            own.bits |= result[Int(network)].bits
            guard result[Int(network)].reachesEnd else { continue }
            own.bits |= next.bits
            own.reachesEnd = own.reachesEnd || next.reachesEnd
          }
        }
        result[state] = own
      }
      return result
    }
  }
}
