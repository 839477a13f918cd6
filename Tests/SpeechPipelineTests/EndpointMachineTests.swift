import Testing

@testable import SpeechPipeline

struct EndpointMachineTests {
  private func machine(silence: Int64?, hangover: Int64 = 5) -> EndpointMachine {
    EndpointMachine(silenceLimit: silence, hangover: hangover, splitAfter: 100, splitLimit: 150)
  }

  @Test func silenceOpensNothing() {
    var machine = machine(silence: 20)
    for _ in 0..<100 {
      expectEqual(machine.heard(count: 10, energy: 0, speech: false), .wait)
    }
  }

  @Test func endsTheUtteranceWhenSpeechEnds() {
    var machine = machine(silence: nil)
    expectEqual(machine.heard(count: 10, energy: 1, speech: true), .listen)
    expectEqual(machine.heard(count: 10, energy: 1, speech: true), .listen)
    expectEqual(machine.heard(count: 10, energy: 1, speech: false), .endUtterance)
    expectEqual(machine.endedUtterance(newWords: true, overlap: 5), false)
    expectEqual(machine.heard(count: 10, energy: 1, speech: false), .wait)
  }

  @Test func endsTheSegmentWithTheUtteranceWhenTheSilenceIsShorterThanTheDetectorSees() {
    var machine = machine(silence: 3)
    _ = machine.heard(count: 10, energy: 1, speech: true)
    _ = machine.heard(count: 10, energy: 1, speech: false)
    expectEqual(machine.endedUtterance(newWords: true, overlap: 0), true)
  }

  @Test func countsTheHangoverAndNotTheOverlapTwice() {
    var machine = machine(silence: 30)
    _ = machine.heard(count: 10, energy: 1, speech: true)
    _ = machine.heard(count: 10, energy: 1, speech: false)
    // 5 of hangover have passed, 5 are heard again: 30 are left.
    expectEqual(machine.endedUtterance(newWords: true, overlap: 5), false)
    expectEqual(machine.heard(count: 10, energy: 1, speech: false), .wait)
    expectEqual(machine.heard(count: 10, energy: 1, speech: false), .wait)
    expectEqual(machine.heard(count: 10, energy: 1, speech: false), .endSegment)
    machine.endedSegment()
    expectEqual(machine.heard(count: 10, energy: 1, speech: false), .wait)
  }

  @Test func noiseWithoutWordsDoesNotInterruptTheSilence() {
    var machine = machine(silence: 30)
    _ = machine.heard(count: 10, energy: 1, speech: true)
    _ = machine.heard(count: 10, energy: 1, speech: false)
    expectEqual(machine.endedUtterance(newWords: true, overlap: 0), false)
    _ = machine.heard(count: 10, energy: 1, speech: true)
    _ = machine.heard(count: 10, energy: 1, speech: true)
    expectEqual(machine.heard(count: 10, energy: 1, speech: false), .endUtterance)
    expectEqual(machine.endedUtterance(newWords: false, overlap: 0), true)
  }

  @Test func wordsStartTheSilenceAnew() {
    var machine = machine(silence: 30)
    for _ in 0..<2 {
      _ = machine.heard(count: 10, energy: 1, speech: true)
      _ = machine.heard(count: 20, energy: 1, speech: false)
      expectEqual(machine.endedUtterance(newWords: true, overlap: 0), false)
    }
  }

  @Test func splitsLongSpeechWhereItIsQuiet() {
    var machine = machine(silence: 1)
    for _ in 0..<10 {
      expectEqual(machine.heard(count: 10, energy: 1000, speech: true), .listen)
    }
    expectEqual(machine.heard(count: 10, energy: 900, speech: true), .listen)
    expectEqual(machine.heard(count: 10, energy: 9, speech: true), .splitUtterance)
    expectEqual(machine.endedUtterance(newWords: true, wasSplit: true, overlap: 0), false)
    expectEqual(machine.heard(count: 10, energy: 1000, speech: true), .listen)
  }

  @Test func splitsLoudSpeechAtTheLimit() {
    var machine = machine(silence: nil)
    var actions: [EndpointMachine.Action] = []
    for _ in 0..<15 { actions.append(machine.heard(count: 10, energy: 1000, speech: true)) }
    #expect(actions.dropLast().allSatisfy { $0 == .listen })
    #expect(actions.last == .splitUtterance)
  }
}
