import Testing

@testable import SpeechPipeline

/// A sentence of words of 300 ms each.
func words(_ text: String, from start: Int = 0, length: Int = 300) -> [RecognizedWord] {
  text.split(separator: " ").enumerated().map { index, word in
    RecognizedWord(
      text: String(word), start: .milliseconds(start + index * length),
      end: .milliseconds(start + (index + 1) * length))
  }
}

struct WordCommitterTests {
  private func committer() -> WordCommitter {
    WordCommitter(stableFor: .milliseconds(600), lag: .milliseconds(500))
  }

  @Test func commitsNothingWithoutADelay() {
    var committer = WordCommitter(stableFor: nil, lag: .zero)
    for head in 1...50 {
      expectEqual(committer.hypothesised(words("turn on the lights"), head: .seconds(head)).isEmpty, true)
    }
    expectEqual(committer.finished(words("turn on the lights")).map(\.text), ["turn", "on", "the", "lights"])
  }

  @Test func commitsWordsThatStoodUnchanged() {
    var committer = committer()
    expectEqual(committer.hypothesised(words("turn on"), head: .milliseconds(600)).isEmpty, true)
    expectEqual(committer.hypothesised(words("turn on the"), head: .milliseconds(1000)).isEmpty, true)
    let final = committer.hypothesised(words("turn on the"), head: .milliseconds(1200))
    #expect(final.map(\.text) == ["turn", "on"])
    #expect(committer.tail.map(\.text) == ["the"])
  }

  @Test func neverCommitsTheNewestWord() {
    var committer = committer()
    for head in 1...50 {
      expectEqual(committer.hypothesised(words("turn"), head: .seconds(head)).isEmpty, true)
    }
  }

  @Test func aChangedWordHoldsBackThoseBehindIt() {
    var committer = committer()
    _ = committer.hypothesised(words("turn on the lights"), head: .milliseconds(1200))
    _ = committer.hypothesised(words("turn off the lights"), head: .milliseconds(1700))
    let final = committer.hypothesised(words("turn off the lights"), head: .milliseconds(1800))
    #expect(final.map(\.text) == ["turn"])
  }

  @Test func continuesBehindWordsThatTheEndChanged() {
    var committer = committer()
    _ = committer.hypothesised(words("turn on the lights"), head: .milliseconds(1200))
    let final = committer.hypothesised(words("turn on the lights"), head: .milliseconds(1800))
    #expect(final.map(\.text) == ["turn", "on", "the"])
    let rest = committer.finished(words("turned on a light please"))
    #expect(rest.map(\.text) == ["light", "please"])
  }

  @Test func aLongerWordInPlaceOfTwoIsNotDoubled() {
    var committer = committer()
    let early = words("for ward ten meters")
    _ = committer.hypothesised(early, head: .milliseconds(1200))
    expectEqual(committer.hypothesised(early, head: .milliseconds(1800)).map(\.text), ["for", "ward", "ten"])
    let end = [
      RecognizedWord(text: "forward", start: .zero, end: .milliseconds(590)),
      RecognizedWord(text: "ten", start: .milliseconds(590), end: .milliseconds(910)),
      RecognizedWord(text: "meters", start: .milliseconds(910), end: .milliseconds(1200)),
    ]
    expectEqual(committer.finished(end).map(\.text), ["meters"])
  }

  @Test func laterWordsNeverStartBeforeAFinalOneEnds() {
    let committed = words("a b c")
    let rest = WordCommitter.continuation(of: committed, in: words("x y c d", length: 220))
    #expect(rest.map(\.text) == ["d"])
    #expect(rest.allSatisfy { $0.start >= .milliseconds(900) && $0.end >= $0.start })
  }

  @Test func anEmptyEndKeepsWhatIsFinal() {
    let committed = words("a b c")
    #expect(WordCommitter.continuation(of: committed, in: []).isEmpty)
  }

  @Test func aSecondUtteranceStartsAnew() {
    var committer = committer()
    _ = committer.hypothesised(words("one two"), head: .seconds(1))
    _ = committer.hypothesised(words("one two"), head: .seconds(3))
    _ = committer.finished(words("one two"))
    #expect(committer.committed.isEmpty)
    expectEqual(committer.finished(words("three")).map(\.text), ["three"])
  }
}
