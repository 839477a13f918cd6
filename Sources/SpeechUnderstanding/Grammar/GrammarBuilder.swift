import Foundation

/// Compiles a program to a grammar, from the end of each template to its start.
///
/// Every expression is built in front of a state that follows it. States with the same arcs are the same state, so equal
/// endings are shared; alternatives that begin alike are merged before they are built, so equal beginnings are too. What is
/// large and used in several places becomes a network that is called.
struct GrammarBuilder {
  /// To be raised with every change after which a program compiles to another grammar: it makes cached grammars invalid.
  static let version: UInt32 = 1

  let program: SALProgram
  private let language: any LanguagePack

  private var words = Numbering()
  private var intents = Numbering()
  private var entities = Numbering()

  private var states: [[Grammar.Arc]] = [[]]
  private var known: [[Grammar.Arc]: Grammar.State] = [:]
  var networks: [NetworkKey: Grammar.State] = [:]
  /// How much of each variable there is, and how deep it is nested with what it uses.
  var extents: [String: Extent] = [:]
  /// How many merges of beginnings are open.
  private var openMerges = 0

  enum NetworkKey: Hashable {
    case variable(String)
    case numbers(ClosedRange<Int>)
    case expression(SALExpression)
  }

  /// A variable with at most as many items is copied to where it stands: a call would cost more.
  static let inlineLimit = 24
  /// The items of a permutation of two are copied up to this size.
  private static let permutedLimit = 8
  /// Copying the arcs of an alternative instead of an arc that leads to them is worth it up to this number.
  private static let copyLimit = 4
  /// A variable that is nested deeper is called too, so that a chain of variables is not built by one deep recursion.
  static let inlineDepth = 6
  /// Merging of beginnings nests no deeper, in all lists that are open together.
  private static let mergeDepth = 64

  init(program: SALProgram, language: any LanguagePack) {
    self.program = program
    self.language = language
  }

  /// Compiles all templates, each as likely as the others.
  ///
  /// Recursion is as deep as brackets are nested, whatever variables use.
  mutating func build() throws(GrammarFailure) -> Grammar {
    let start = self
    return try LargeStack.run { () throws(GrammarFailure) in
      var builder = start
      return try builder.buildTemplates()
    }
  }

  private mutating func buildTemplates() throws(GrammarFailure) -> Grammar {
    try self.buildVariables()
    let alternatives = self.program.templates.map { SALAlternative($0.expression) }
    let root = try self.list(alternatives, before: Grammar.end)
    return self.compacted(root: root)
  }

  // MARK: Expressions

  mutating func sequence(
    _ items: ArraySlice<SALItem>, before next: Grammar.State
  ) throws(GrammarFailure) -> Grammar.State {
    var state = next
    for item in items.reversed() { state = try self.item(item, before: state) }
    return state
  }

  private mutating func item(
    _ item: SALItem, before next: Grammar.State
  ) throws(GrammarFailure) -> Grammar.State {
    switch item.kind {
    case .word(let text):
      var state = next
      for word in SpokenText.words(of: text).reversed() {
        state = self.state([Self.arc(.word(self.words.number(of: word)), next: state)])
      }
      return state
    case .intent(let name):
      return self.state([Self.arc(.intent(self.intents.number(of: name)), next: next)])
    case .entity(let value, let name):
      let end = self.state([Self.arc(.endEntity, next: next)])
      let start = try self.item(value, before: end)
      return self.state([Self.arc(.beginEntity(self.entities.number(of: name)), next: start)])
    case .list(let alternatives):
      return try self.list(alternatives, before: next)
    case .permutation(let items):
      return try self.permutation(items, at: item.range, before: next)
    case .optional(let expression, let probability):
      guard probability > 0 else { return next }
      let start = try self.sequence(expression.items[...], before: next)
      guard probability < 1 else { return start }
      return self.union([(start, Float(-log(probability))), (next, Float(-log(1 - probability)))])
    case .numbers(let range):
      guard range.count > Self.inlineLimit else {
        return try self.list(self.alternatives(of: range, at: item.range), before: next)
      }
      return try self.call(.numbers(range), before: next) { builder throws(GrammarFailure) in
        try builder.list(builder.alternatives(of: range, at: item.range), before: Grammar.end)
      }
    case .variable(let name):
      guard let expression = self.program.variables[name] else { throw .undefined(name, item.range) }
      guard let network = self.networks[.variable(name)] else {
        return try self.sequence(expression.items[...], before: next)
      }
      return self.call(network, before: next)
    }
  }

  private mutating func call(
    _ key: NetworkKey, before next: Grammar.State,
    build: (inout GrammarBuilder) throws(GrammarFailure) -> Grammar.State
  ) throws(GrammarFailure) -> Grammar.State {
    self.call(try self.network(key, build: build), before: next)
  }

  private mutating func network(
    _ key: NetworkKey, build: (inout GrammarBuilder) throws(GrammarFailure) -> Grammar.State
  ) throws(GrammarFailure) -> Grammar.State {
    if let known = self.networks[key] { return known }
    let network = try build(&self)
    self.networks[key] = network
    return network
  }

  private mutating func call(_ network: Grammar.State, before next: Grammar.State) -> Grammar.State {
    // At the end of a network the caller's own end follows: nothing has to be remembered.
    if next == Grammar.end || network == Grammar.end { return network == Grammar.end ? next : network }
    return self.state([Self.arc(.call(network), next: next)])
  }

  /// All orders of the items: one state for each set of items that are left.
  private mutating func permutation(
    _ items: [SALExpression], at range: SALRange, before next: Grammar.State
  ) throws(GrammarFailure) -> Grammar.State {
    guard items.count <= SALParser.permutationLimit else { throw .permutationTooLong(items.count, range) }
    guard items.count > 1 else { return try self.sequence((items.first?.items ?? [])[...], before: next) }
    var networks: [Grammar.State] = []
    // Copied once for each state: with large items, or permutations in permutations, that would be too much.
    if items.count > 2 || items.contains(where: { self.extent(of: $0).size > Self.permutedLimit }) {
      for item in items {
        networks.append(
          try self.network(.expression(item)) { builder throws(GrammarFailure) in
            try builder.sequence(item.items[...], before: Grammar.end)
          })
      }
    }
    var rest = [Grammar.State](repeating: next, count: 1 << items.count)
    for left in 1..<rest.count {
      let members = items.indices.filter { left & (1 << $0) != 0 }
      let cost = Float(log(Double(members.count)))
      var parts: [(Grammar.State, Float)] = []
      for member in members {
        let follow = rest[left & ~(1 << member)]
        let start =
          networks.isEmpty
          ? try self.sequence(items[member].items[...], before: follow)
          : self.call(networks[member], before: follow)
        parts.append((start, cost))
      }
      rest[left] = self.union(parts)
    }
    return rest[rest.count - 1]
  }

  private func alternatives(of range: ClosedRange<Int>, at place: SALRange) -> [SALAlternative] {
    range.flatMap { number in
      let forms = self.language.spokenForms(of: number)
      return forms.map { form in
        SALAlternative(
          SALExpression(form.map { SALItem(.word($0), at: place) }), weight: 1 / Double(max(1, forms.count)))
      }
    }
  }

  // MARK: Lists

  private enum Beginning: Hashable {
    case word(String)
    case intent(String)
    case variable(String)
  }

  private static func beginning(of items: ArraySlice<SALItem>) -> Beginning? {
    switch items.first?.kind {
    case .word(let text): .word(SpokenText.folded(text))
    case .intent(let name): .intent(name)
    case .variable(let name): .variable(name)
    case .entity, .list, .permutation, .optional, .numbers, nil: nil
    }
  }

  private mutating func list(
    _ alternatives: [SALAlternative], before next: Grammar.State
  ) throws(GrammarFailure) -> Grammar.State {
    try self.merged(
      alternatives.map { ($0.expression.items[...], max($0.weight, .leastNormalMagnitude)) }, before: next)
  }

  /// One state for the alternatives, those that begin with the same item grouped.
  private mutating func merged(
    _ alternatives: [(items: ArraySlice<SALItem>, weight: Double)], before next: Grammar.State
  ) throws(GrammarFailure) -> Grammar.State {
    if alternatives.count == 1 { return try self.sequence(alternatives[0].items, before: next) }
    self.openMerges += 1
    defer { self.openMerges -= 1 }
    let total = alternatives.reduce(0) { $0 + $1.weight }
    var order: [[Int]] = []
    var places: [Beginning: Int] = [:]
    for (index, alternative) in alternatives.enumerated() {
      guard self.openMerges < Self.mergeDepth, let beginning = Self.beginning(of: alternative.items) else {
        order.append([index])
        continue
      }
      if let place = places[beginning] {
        order[place].append(index)
      } else {
        places[beginning] = order.count
        order.append([index])
      }
    }
    var parts: [(Grammar.State, Float)] = []
    for group in order {
      let weight = group.reduce(0) { $0 + alternatives[$1].weight }
      let first = alternatives[group[0]].items
      let start: Grammar.State
      if group.count == 1 {
        start = try self.sequence(first, before: next)
      } else {
        let rest = group.map { (alternatives[$0].items.dropFirst(), alternatives[$0].weight) }
        let inner = try self.merged(rest, before: next)
        start = try self.sequence(first.prefix(1), before: inner)
      }
      parts.append((start, Float(-log(weight / total))))
    }
    return self.union(parts)
  }

  // MARK: States

  private static func arc(_ label: Grammar.Label, next: Grammar.State) -> Grammar.Arc {
    Grammar.Arc(label: label, target: next, cost: 0)
  }

  private mutating func union(_ parts: [(state: Grammar.State, cost: Float)]) -> Grammar.State {
    var arcs: [Grammar.Arc] = []
    for part in parts {
      let own = self.states[Int(part.state)]
      if part.state != Grammar.end, own.count <= Self.copyLimit {
        arcs += own.map { Grammar.Arc(label: $0.label, target: $0.target, cost: $0.cost + part.cost) }
      } else {
        arcs.append(Grammar.Arc(label: .nothing, target: part.state, cost: part.cost))
      }
    }
    return self.state(arcs)
  }

  /// The state with exactly these arcs.
  private mutating func state(_ arcs: [Grammar.Arc]) -> Grammar.State {
    var arcs = arcs
    if arcs.count > 1 {
      arcs.sort { ($0.label.order, $0.target) < ($1.label.order, $1.target) }
      var merged: [Grammar.Arc] = []
      merged.reserveCapacity(arcs.count)
      for arc in arcs {
        if let last = merged.last, last.label == arc.label, last.target == arc.target {
          merged[merged.count - 1].cost = -log(exp(-last.cost) + exp(-arc.cost))
        } else {
          merged.append(arc)
        }
      }
      arcs = merged
    }
    if arcs.count == 1, arcs[0].label == .nothing { return arcs[0].target }
    if let known = self.known[arcs] { return known }
    let state = Grammar.State(self.states.count)
    self.states.append(arcs)
    self.known[arcs] = state
    return state
  }

  /// Drops the states that nothing leads to; the order of the others, targets first, stays.
  private func compacted(root: Grammar.State) -> Grammar {
    var used = [Bool](repeating: false, count: self.states.count)
    used[Int(Grammar.end)] = true
    used[Int(root)] = true
    for state in stride(from: self.states.count - 1, to: 0, by: -1) where used[state] {
      for arc in self.states[state] {
        used[Int(arc.target)] = true
        if case .call(let network) = arc.label { used[Int(network)] = true }
      }
    }
    var numbers = [Grammar.State](repeating: 0, count: self.states.count)
    var arcStarts: [UInt32] = []
    var otherStarts: [UInt32] = []
    var arcs: [Grammar.Arc] = []
    for state in self.states.indices where used[state] {
      numbers[state] = UInt32(arcStarts.count)
      arcStarts.append(UInt32(arcs.count))
      let own = self.states[state]
      otherStarts.append(UInt32(arcs.count + own.count { $0.label.isWord }))
      for arc in own {
        var label = arc.label
        if case .call(let network) = label { label = .call(numbers[Int(network)]) }
        arcs.append(Grammar.Arc(label: label, target: numbers[Int(arc.target)], cost: arc.cost))
      }
    }
    arcStarts.append(UInt32(arcs.count))
    return Grammar(
      words: self.words.names, intents: self.intents.names, entities: self.entities.names,
      arcStarts: arcStarts,
      otherStarts: otherStarts, arcs: arcs, root: numbers[Int(root)])
  }
}

extension Grammar.Label {
  var isWord: Bool {
    switch self {
    case .word: true
    case .nothing, .intent, .beginEntity, .endEntity, .call: false
    }
  }

  /// Words first, by number.
  fileprivate var order: UInt64 {
    switch self {
    case .word(let word): UInt64(word)
    case .nothing: 1 << 32
    case .intent(let intent): 2 << 32 | UInt64(intent)
    case .beginEntity(let entity): 3 << 32 | UInt64(entity)
    case .endEntity: 4 << 32
    case .call(let network): 5 << 32 | UInt64(network)
    }
  }
}

/// Why a program cannot be compiled.
enum GrammarFailure: Error, Hashable {
  case undefined(String, SALRange)
  /// A variable needs itself, in a template.
  case cyclic(String, SALRange)
  case permutationTooLong(Int, SALRange)
}

/// Names, numbered in the order in which they came.
struct Numbering {
  private(set) var names: [String] = []
  private var numbers: [String: UInt32] = [:]

  mutating func number(of name: String) -> UInt32 {
    if let number = self.numbers[name] { return number }
    let number = UInt32(self.names.count)
    self.names.append(name)
    self.numbers[name] = number
    return number
  }
}
