extension Grammar {
  /// The grammar as bytes.
  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    for names in [self.words, self.intents, self.entities] {
      writer.write(UInt32(clamping: names.count))
      for name in names { writer.write(name) }
    }
    writer.write(UInt32(clamping: self.stateCount))
    writer.write(UInt32(clamping: self.arcs.count))
    writer.write(self.root)
    for start in self.arcStarts { writer.write(start) }
    for start in self.otherStarts { writer.write(start) }
    for arc in self.arcs { writer.write(UInt32(arc.label.code.kind)) }
    for arc in self.arcs { writer.write(arc.label.code.value) }
    for arc in self.arcs { writer.write(arc.target) }
    for arc in self.arcs { writer.write(arc.cost.bitPattern) }
    return writer.bytes
  }

  /// Reads a grammar, and believes nothing: every number is checked before it is used.
  ///
  /// - Returns: `nil` if the bytes are no grammar, or one that could not have been compiled.
  init?(decoding bytes: UnsafeRawBufferPointer) {
    var reader = ByteReader(bytes)
    guard let words = Self.names(&reader), let intents = Self.names(&reader),
      let entities = Self.names(&reader),
      let states = reader.number().map(Int.init), let arcs = reader.number().map(Int.init),
      let root = reader.number(),
      states > 0, root < states, let starts = reader.numbers(states + 1), let others = reader.numbers(states),
      let kinds = reader.numbers(arcs), let values = reader.numbers(arcs), let targets = reader.numbers(arcs),
      let costs = reader.numbers(arcs), reader.rest == 0, starts.first == 0,
      starts.last.map(Int.init) == arcs,
      // The end has no arcs.
      starts[1] == 0
    else { return nil }
    let counts = (words: words.count, intents: intents.count, entities: entities.count)
    var result: [Arc] = []
    result.reserveCapacity(arcs)
    for state in 0..<states {
      let first = starts[state]
      let end = starts[state + 1]
      guard first <= others[state], others[state] <= end, Int(end) <= arcs else { return nil }
      var lastWord: UInt32 = 0
      for index in first..<end {
        let value = values[Int(index)]
        let target = targets[Int(index)]
        let cost = Float(bitPattern: costs[Int(index)])
        guard let label = Label(kind: kinds[Int(index)], value: value, counts: counts, state: State(state)),
          // Targets first: so there are no cycles.
          target < state, cost.isFinite, cost > Self.leastCost
        else { return nil }
        // Words first, in order.
        guard label.isWord == (index < others[state]), !label.isWord || value >= lastWord else { return nil }
        lastWord = label.isWord ? value : lastWord
        result.append(Arc(label: label, target: target, cost: cost))
      }
    }
    self.init(
      words: words, intents: intents, entities: entities, arcStarts: starts, otherStarts: others,
      arcs: result,
      root: root)
  }

  /// Costs are not negative, but for rounding.
  private static let leastCost: Float = -0.01

  private static func names(_ reader: inout ByteReader) -> [String]? {
    guard let count = reader.number().map(Int.init), count <= reader.rest / 8 else { return nil }
    var names: [String] = []
    names.reserveCapacity(count)
    for _ in 0..<count {
      guard let name = reader.text() else { return nil }
      names.append(name)
    }
    return names
  }
}

extension Grammar.Label {
  fileprivate var code: (kind: UInt8, value: UInt32) {
    switch self {
    case .word(let word): (0, word)
    case .nothing: (1, 0)
    case .intent(let intent): (2, intent)
    case .beginEntity(let entity): (3, entity)
    case .endEntity: (4, 0)
    case .call(let network): (5, network)
    }
  }

  fileprivate init?(
    kind: UInt32, value: UInt32, counts: (words: Int, intents: Int, entities: Int), state: Grammar.State
  ) {
    switch kind {
    case 0 where Int(value) < counts.words: self = .word(value)
    case 1: self = .nothing
    case 2 where Int(value) < counts.intents: self = .intent(value)
    case 3 where Int(value) < counts.entities: self = .beginEntity(value)
    case 4: self = .endEntity
    case 5 where value < state: self = .call(value)
    default: return nil
    }
  }
}
