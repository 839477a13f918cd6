import Testing

@testable import VoiceCommands

struct WordErrorRateTests {
  private func alignment(_ reference: String, _ hypothesis: String) -> Alignment {
    Alignment(reference: Alignment.words(of: reference), hypothesis: Alignment.words(of: hypothesis))
  }

  @Test func nothingAgainstNothingIsRight() {
    #expect(self.alignment("", "").errorRate == 0)
    #expect(self.alignment("", "").steps.isEmpty)
  }

  @Test func everythingMissingOrAdded() {
    #expect(self.alignment("a b", "").steps == [.deletion("a"), .deletion("b")])
    #expect(self.alignment("a b", "").errorRate == 1)
    #expect(self.alignment("", "a b").errorRate == 1)
    #expect(self.alignment("a", "a b c").errorRate == 2)
  }

  @Test func showsWhatWasWrongMissingAndAdded() {
    let alignment = self.alignment(
      "he was not an ill disposed young man", "he was not an illness those young old man")
    #expect(alignment.errors == 3)
    #expect(alignment.marked.plain == "he was not an illness(ill) those(disposed) young {old} man")
    #expect(alignment.summary == "2 wrong, 0 missing, 1 added of 8 words")
    #expect(
      self.alignment("go forward ten meters", "go ten meters").marked.plain == "go [forward] ten meters")
  }

  @Test func caseAndPunctuationDoNotCount() {
    #expect(self.alignment("Go, forward!", "go forward").errors == 0)
    #expect(Alignment.words(of: "Don't “stop” - now…") == ["don't", "stop", "now"])
  }

  @Test func abbreviationsAreTheWordsThatAreSpoken() {
    #expect(self.alignment("mister John", "mr john").errors == 0)
  }

  /// Against the definition: the cheapest way of all, by trying every way.
  @Test func isTheCheapestWay() {
    func cheapest(_ left: ArraySlice<String>, _ right: ArraySlice<String>) -> Int {
      guard let first = left.first else { return right.count }
      guard let other = right.first else { return left.count }
      if first == other { return cheapest(left.dropFirst(), right.dropFirst()) }
      return 1
        + min(
          cheapest(left.dropFirst(), right.dropFirst()), cheapest(left.dropFirst(), right),
          cheapest(left, right.dropFirst()))
    }
    var seed: UInt64 = 1
    func next(_ bound: UInt64) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((seed >> 33) % bound)
    }
    for _ in 0..<300 {
      let left = (0..<next(6)).map { _ in String(next(3)) }
      let right = (0..<next(6)).map { _ in String(next(3)) }
      let alignment = Alignment(reference: left, hypothesis: right)
      #expect(alignment.errors == cheapest(left[...], right[...]))
      // The steps tell both texts again.
      let told = alignment.steps.compactMap { step -> String? in
        switch step {
        case .match(let word), .deletion(let word): word
        case .substitution(let word, _): word
        case .insertion: nil
        }
      }
      #expect(told == left)
    }
  }
}
