extension Grammar {
  /// How a value that begins at a state can be passed over: where the grammar goes on behind it.
  struct Crossing: Hashable, Sendable {
    /// The state behind the value's end; `nil` if the state is not within a value.
    fileprivate(set) var exit: State?
    /// The fewest words of the rest of the value.
    fileprivate(set) var words: UInt8 = 0

    /// Computes all states at once: targets have smaller numbers than the states whose arcs lead to them.
    static func all(arcStarts: [UInt32], arcs: [Arc]) -> [Crossing] {
      let count = max(1, arcStarts.count - 1)
      var result = [Crossing](repeating: Crossing(), count: count)
      // The fewest words to the end of the network.
      var lengths = [UInt8](repeating: .max, count: count)
      lengths[Int(Grammar.end)] = 0
      for state in 1..<count {
        var own = Crossing()
        var length = UInt8.max
        for arc in arcs[Int(arcStarts[state])..<Int(arcStarts[state + 1])] {
          let next = result[Int(arc.target)]
          var said: UInt8 = 0
          switch arc.label {
          case .word: said = 1
          case .nothing, .intent, .beginEntity, .endEntity: break
          case .call(let network): said = lengths[Int(network)]
          }
          length = min(length, said.addingSaturated(lengths[Int(arc.target)]))
          let way: Crossing? =
            switch arc.label {
            case .endEntity: Crossing(exit: arc.target)
            case .beginEntity: nil
            case .word, .nothing, .intent, .call:
              next.exit.map { Crossing(exit: $0, words: said.addingSaturated(next.words)) }
            }
          guard let way, own.exit == nil || way.words < own.words else { continue }
          own = way
        }
        result[state] = own
        lengths[state] = length
      }
      return result
    }
  }
}

extension UInt8 {
  fileprivate func addingSaturated(_ other: UInt8) -> UInt8 {
    let (sum, overflows) = self.addingReportingOverflow(other)
    return overflows ? .max : sum
  }
}
