extension GrammarMatcher {
  /// The places that were looked at between two words, so that of many ways to a place only better ones are followed.
  struct Visits {
    private var best = PlaceTable<Float>(nothing: 0)
    private var rest: Int
    private let limit: Int
    /// How often it was asked.
    private(set) var count = 0

    init(limit: Int) {
      self.rest = limit
      self.limit = limit
    }

    /// Forgets all places, for another word.
    mutating func restart() {
      self.best.removeAll()
      self.rest = self.limit
    }

    /// Whether to look at a place.
    mutating func begin(_ pending: Pending) -> Bool {
      self.count += 1
      guard self.rest > 0 else { return false }
      let place = pending.hypothesis.place
      let kind: UInt8 = (pending.mayMiss ? 1 : 0) | (pending.hasBegunSentence ? 2 : 0)
      let total = pending.hypothesis.total
      if let known = self.best.value(of: place, kind: kind), known <= total { return false }
      self.best.set(total, for: place, kind: kind)
      self.rest -= 1
      return true
    }
  }

  /// Hypotheses at the same place go on in the same way.
  struct Place: Hashable {
    var state: Grammar.State
    var returns: Int32
    var meaning: UInt64
  }

  /// The hypotheses after a word: for each place in the grammar, and each meaning, the best.
  struct Frontier {
    private var hypotheses: [Hypothesis] = []
    private var places = PlaceTable<Int>(nothing: 0)
    private var least = Float.infinity
    private let beam: Float

    /// With fewer, looking at all is faster than a table.
    private static let few = 12

    init(beam: Float) {
      self.beam = beam
    }

    var isEmpty: Bool { self.hypotheses.isEmpty }

    func isWithinBeam(_ hypothesis: Hypothesis) -> Bool {
      hypothesis.total <= self.least + self.beam
    }

    func accepts(_ hypothesis: Hypothesis) -> Bool {
      guard self.isWithinBeam(hypothesis) else { return false }
      guard let index = self.index(of: hypothesis) else { return true }
      return hypothesis.total < self.hypotheses[index].total
    }

    mutating func insert(_ hypothesis: Hypothesis) {
      self.least = min(self.least, hypothesis.total)
      if let index = self.index(of: hypothesis) {
        self.hypotheses[index] = hypothesis
        return
      }
      self.hypotheses.append(hypothesis)
      if self.hypotheses.count == Self.few + 1 {
        for (index, other) in self.hypotheses.enumerated() { self.places.set(index, for: other.place) }
      } else if self.hypotheses.count > Self.few {
        self.places.set(self.hypotheses.count - 1, for: hypothesis.place)
      }
    }

    func best(_ count: Int) -> [Hypothesis] {
      if self.hypotheses.count <= 1 { return self.hypotheses }
      let kept = self.hypotheses.filter { self.isWithinBeam($0) }
      return Array(kept.sorted { $0.total < $1.total }.prefix(count))
    }

    private func index(of hypothesis: Hypothesis) -> Int? {
      if self.hypotheses.count > Self.few { return self.places.value(of: hypothesis.place) }
      let place = hypothesis.place
      return self.hypotheses.firstIndex { $0.place == place }
    }
  }
}
