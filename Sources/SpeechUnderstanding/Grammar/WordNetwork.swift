/// A grammar as speech recognisers take it: a plain network of words, without calls, intents and entities.
///
/// What is called is copied to every place that calls it, so it can be much larger than the grammar.
public struct WordNetwork: Sendable {
  /// A way from one state to another.
  public struct Arc: Hashable, Sendable {
    /// The state where the arc begins.
    public var from: Int32
    /// The state where it ends.
    public var to: Int32
    /// The word as an index of ``WordNetwork/words``; -1 for none.
    public var word: Int32
    /// The negative natural logarithm of the arc's probability among those of its state.
    public var cost: Float
  }

  /// The words, in lower case.
  public let words: [String]
  /// The arcs, in the order of the states where they begin.
  public let arcs: [Arc]
  /// The number of states, which are numbered from 0.
  public let stateCount: Int
  /// Where utterances begin.
  public let start: Int32
  /// Where utterances end; it has no arcs.
  public let end: Int32

  /// The same states with other arcs and words.
  package func replacing(arcs: [Arc], words: [String]) -> WordNetwork {
    WordNetwork(
      words: words, arcs: arcs, stateCount: self.stateCount, start: self.start, end: self.end)
  }
}

extension Grammar {
  /// The grammar as a plain network.
  ///
  /// - Parameter limit: The most arcs that it may have.
  /// - Returns: The network, or `nil` if it would be larger.
  public func wordNetwork(atMost limit: Int) -> WordNetwork? {
    var builder = WordNetworkBuilder(grammar: self, limit: limit)
    return builder.build()
  }
}

/// Copies a grammar from its root, following calls.
private struct WordNetworkBuilder {
  /// A state of the grammar with the places to return to below it.
  private struct Place: Hashable {
    var state: Grammar.State
    var returns: Int32
  }

  private struct Return: Hashable {
    var state: Grammar.State
    var rest: Int32
  }

  private let grammar: Grammar
  private let limit: Int
  private var returns: [Return] = []
  private var knownReturns: [Return: Int32] = [:]
  private var numbers: [Place: Int32] = [:]
  private var work: [Place] = []
  private var arcs: [WordNetwork.Arc] = []

  private static let end = Place(state: Grammar.end, returns: -1)

  init(grammar: Grammar, limit: Int) {
    self.grammar = grammar
    self.limit = limit
  }

  mutating func build() -> WordNetwork? {
    let end = self.number(of: Self.end)
    let start = self.number(of: self.settled(Place(state: self.grammar.root, returns: -1)).place)
    var next = 0
    while next < self.work.count {
      let place = self.work[next]
      for arc in self.grammar.arcs(of: place.state) { self.add(arc, of: place, number: Int32(next)) }
      guard self.arcs.count <= self.limit else { return nil }
      next += 1
    }
    return WordNetwork(
      words: self.grammar.words, arcs: self.arcs, stateCount: self.work.count, start: start, end: end)
  }

  private mutating func add(_ arc: Grammar.Arc, of place: Place, number: Int32) {
    let (target, cost) = self.settled(self.followed(arc, from: place))
    var word: Int32 = -1
    if case .word(let value) = arc.label { word = Int32(value) }
    self.arcs.append(
      .init(from: number, to: self.number(of: target), word: word, cost: arc.cost + cost))
  }

  private mutating func followed(_ arc: Grammar.Arc, from place: Place) -> Place {
    guard case .call(let network) = arc.label else { return Place(state: arc.target, returns: place.returns) }
    return Place(state: network, returns: self.push(arc.target, onto: place.returns))
  }

  /// Goes on from a place as long as there is only one way, and that has no word.
  private mutating func settled(_ place: Place) -> (place: Place, cost: Float) {
    var place = place
    var cost: Float = 0
    while true {
      if place.state == Grammar.end {
        guard place.returns >= 0 else { return (place, cost) }
        let top = self.returns[Int(place.returns)]
        place = Place(state: top.state, returns: top.rest)
        continue
      }
      let arcs = self.grammar.arcs(of: place.state)
      guard arcs.count == 1, let only = arcs.first else { return (place, cost) }
      if case .word = only.label { return (place, cost) }
      cost += only.cost
      place = self.followed(only, from: place)
    }
  }

  private mutating func number(of place: Place) -> Int32 {
    if let known = self.numbers[place] { return known }
    let number = Int32(self.work.count)
    self.numbers[place] = number
    self.work.append(place)
    return number
  }

  private mutating func push(_ state: Grammar.State, onto rest: Int32) -> Int32 {
    let key = Return(state: state, rest: rest)
    if let known = self.knownReturns[key] { return known }
    let number = Int32(self.returns.count)
    self.returns.append(key)
    self.knownReturns[key] = number
    return number
  }
}
