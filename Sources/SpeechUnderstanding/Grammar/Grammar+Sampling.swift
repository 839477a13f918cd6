extension Grammar {
  /// A random utterance, as likely as the templates say.
  public func sample(using generator: inout some RandomNumberGenerator) -> Interpretation {
    var builder = InterpretationBuilder(grammar: self)
    var returns: [State] = []
    var state = self.root
    while true {
      if state == Self.end {
        guard let next = returns.popLast() else { break }
        state = next
        continue
      }
      guard let arc = self.randomArc(of: state, using: &generator) else { break }
      builder.cost += Double(arc.cost)
      switch arc.label {
      case .word(let word): builder.hear(self.words[Int(word)])
      case .nothing: break
      case .intent(let intent): builder.begin(intent: intent)
      case .beginEntity(let entity): builder.begin(entity: entity)
      case .endEntity: builder.endEntity()
      case .call(let network):
        returns.append(arc.target)
        state = network
        continue
      }
      state = arc.target
    }
    return builder.finish()
  }

  private func randomArc(of state: State, using generator: inout some RandomNumberGenerator) -> Arc? {
    let arcs = self.arcs(of: state)
    var rest = Double.random(in: 0..<1, using: &generator)
    for arc in arcs {
      rest -= Double(exponential(-arc.cost))
      if rest < 0 { return arc }
    }
    // Rounding can leave a little over.
    return arcs.last
  }
}
