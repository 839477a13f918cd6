import Testing
import VoiceTesting

@testable import SpeechPipeline

struct SegmentMachineTests {
  private let resume = ResumePoint(sample: 1600, adaptation: nil)

  private func machine(alternatives: Int = 0) -> SegmentMachine {
    SegmentMachine(alternatives: alternatives, settings: PipelineSettings())
  }

  @Test func endsASegmentWithWordsThenIntentThenEnd() {
    var machine = machine()
    var events = machine.hypothesised(words("turn off"), head: .seconds(1), base: .zero)
    events += machine.endedUtterance(RecognitionResult(words: words("turn on")), base: .zero)
    events += machine.endedSegment(resumePoint: self.resume)
    #expect(
      events == [
        .hypothesis(segment: 0, firstIndex: 0, words: words("turn off")),
        .word(segment: 0, index: 0, words("turn on")[0]),
        .word(segment: 0, index: 1, words("turn on")[1]),
        .intent(segment: 0, "", isFinal: true),
        .segmentEnded(segment: 0, SegmentSummary(resumePoint: self.resume)),
      ])
  }

  @Test func tellsNothingOfASegmentWithoutWords() {
    var machine = machine()
    expectEqual(machine.hypothesised([], head: .seconds(1), base: .zero).isEmpty, true)
    expectEqual(machine.endedUtterance(RecognitionResult(words: []), base: .zero).isEmpty, true)
    expectEqual(machine.endedSegment(resumePoint: self.resume).isEmpty, true)
  }

  @Test func takesBackAHypothesisThatCameToNothing() {
    var machine = machine()
    _ = machine.hypothesised(words("uh"), head: .seconds(1), base: .zero)
    let events = machine.endedUtterance(RecognitionResult(words: []), base: .zero)
    #expect(events == [.hypothesis(segment: 0, firstIndex: 0, words: [])])
    expectEqual(machine.endedSegment(resumePoint: self.resume).isEmpty, true)
    let next = machine.endedUtterance(RecognitionResult(words: words("yes")), base: .zero)
    #expect(next == [.word(segment: 0, index: 0, words("yes")[0])])
  }

  @Test func takesBackTheEndOfAHypothesisThatWasTooLong() {
    var machine = machine()
    _ = machine.hypothesised(words("go for word"), head: .seconds(1), base: .zero)
    let events = machine.endedUtterance(RecognitionResult(words: words("go forward")), base: .zero)
    #expect(events.last == .hypothesis(segment: 0, firstIndex: 2, words: []))
  }

  @Test func repeatsNoHypothesis() {
    var machine = machine()
    expectEqual(machine.hypothesised(words("turn on"), head: .seconds(1), base: .zero).count, 1)
    expectEqual(
      machine.hypothesised(words("turn on", length: 310), head: .seconds(1), base: .zero).isEmpty, true)
    expectEqual(machine.hypothesised(words("turn on the"), head: .seconds(1), base: .zero).count, 1)
  }

  @Test func finalWordsBeforeTheEndAreNotRepeated() {
    var machine = machine()
    _ = machine.hypothesised(words("turn on the lights"), head: .seconds(2), base: .zero)
    let events = machine.hypothesised(words("turn on the lights"), head: .seconds(6), base: .zero)
    #expect(events == words("turn on the").enumerated().map { .word(segment: 0, index: $0, $1) })
    let more = machine.hypothesised(words("turn on the lights please"), head: .seconds(7), base: .zero)
    let tail = Array(words("turn on the lights please").suffix(2))
    #expect(
      more == [
        .word(segment: 0, index: 3, tail[0]), .hypothesis(segment: 0, firstIndex: 4, words: [tail[1]]),
      ])
    let end = machine.endedUtterance(
      RecognitionResult(words: words("turn on the lights please")), base: .zero)
    #expect(end == [.word(segment: 0, index: 4, tail[1])])
  }

  @Test func aSegmentGoesOnOverUtterances() {
    var machine = machine(alternatives: 2)
    _ = machine.endedUtterance(
      RecognitionResult(words: words("turn on"), alternatives: [words("turn off"), words("learn on")]),
      base: .zero)
    let base = Duration.seconds(3)
    let second = machine.endedUtterance(
      RecognitionResult(words: words("the lights"), alternatives: [words("the light")]), base: base)
    let shifted = words("the lights", from: 3000)
    #expect(second == [.word(segment: 0, index: 2, shifted[0]), .word(segment: 0, index: 3, shifted[1])])
    guard case .segmentEnded(0, let summary)? = machine.endedSegment(resumePoint: self.resume).last else {
      Issue.record("no end")
      return
    }
    #expect(
      summary.alternatives.map { $0.map(\.text) } == [
        ["turn", "off", "the", "light"], ["learn", "on", "the", "lights"],
      ])
  }

  @Test func keepsWhatIsKnownWhenTheRecogniserFails() {
    var machine = machine()
    _ = machine.hypothesised(words("turn on the"), head: .seconds(1), base: .zero)
    let events = machine.abandonedUtterance(base: .zero)
    #expect(events == words("turn on the").enumerated().map { .word(segment: 0, index: $0, $1) })
    #expect(machine.lastWordEnd == .milliseconds(900))
  }
}
