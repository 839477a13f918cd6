public import VoiceCore

extension Grammar {
  /// The most words of a random utterance: nobody says as much, and variables that stand for others many times over
  /// can make sentences beyond all memory.
  public static let sampleWordLimit = 1000
  /// The most steps to one. A part of the templates may take many of them and say nothing.
  private static let sampleStepLimit = 100_000

  /// A random utterance, as likely as the templates say.
  ///
  /// - Throws: ``VoiceFailure`` with `server.interface.too-large` if it has more than ``sampleWordLimit`` words.
  public func sample(
    using generator: inout some RandomNumberGenerator
  ) throws(VoiceFailure) -> Interpretation {
    var builder = InterpretationBuilder(grammar: self)
    var returns: [State] = []
    var state = self.root
    var wordCount = 0
    var stepCount = 0
    while true {
      stepCount += 1
      guard wordCount <= Self.sampleWordLimit, stepCount <= Self.sampleStepLimit else {
        throw VoiceFailure(
          .interfaceTooLarge,
          message: "An utterance of the templates has more than \(Self.sampleWordLimit) words. "
            + "Use fewer variables that stand for others many times.")
      }
      if state == Self.end {
        guard let next = returns.popLast() else { break }
        state = next
        continue
      }
      guard let arc = self.randomArc(of: state, using: &generator) else { break }
      builder.cost += Double(arc.cost)
      switch arc.label {
      case .word(let word):
        builder.hear(self.words[Int(word)])
        wordCount += 1
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
