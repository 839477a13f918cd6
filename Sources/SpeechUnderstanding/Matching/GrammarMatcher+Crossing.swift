extension GrammarMatcher {
  /// Passes over values that were not understood, or not said: everything around them still counts.
  ///
  /// A word that was skipped right before stands in the place of the value, so that the two cost little more than one.
  mutating func cross(_ hypothesis: Hypothesis, at position: Int, onto work: inout [Pending]) {
    let grammar = self.shared.grammar
    let settings = self.shared.settings
    for arc in grammar.otherArcs(of: hypothesis.state) {
      guard case .beginEntity(let entity) = arc.label else { continue }
      let crossing = grammar.crossings[Int(arc.target)]
      // What can be passed without a word needs no edit.
      guard let exit = crossing.exit, crossing.words > 0 else { continue }
      var crossed = hypothesis
      crossed.follow(arc, weightFactor: settings.weightFactor)
      crossed.state = exit
      let replaces = position > 0 && self.paths.endsWithSkippedWord(hypothesis.path, at: position - 1)
      crossed.add(edit: replaces ? settings.replacedValueCost : settings.missingValueCost)
      crossed.path = self.paths.append(.missingValue(entity), at: position, to: hypothesis.path)
      work.append(Pending(crossed, mayMiss: false))
    }
  }
}
