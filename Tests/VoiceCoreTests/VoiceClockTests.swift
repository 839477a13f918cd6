import Testing
import VoiceCore

@Suite(.timeLimit(.minutes(4))) struct VoiceClockTests {
  @Test func instantsAreOrderedAndMeasured() {
    let early = VoiceInstant(offset: .seconds(1))
    let late = early.advanced(by: .milliseconds(500))
    #expect(early < late)
    #expect(early.duration(to: late) == .milliseconds(500))
    #expect(late.duration(to: early) == .milliseconds(-500))
  }

  @Test func theMonotonicClockRunsForward() {
    let clock = MonotonicClock()
    var last = clock.now
    for _ in 0..<1000 {
      let now = MonotonicClock().now
      #expect(now >= last)
      last = now
    }
  }

  @Test func aDeadlineThatIsOverReturnsAtOnce() async throws {
    let clock = MonotonicClock()
    try await clock.sleep(until: clock.now.advanced(by: .seconds(-1)), tolerance: nil)
  }

  @Test func sleepingLastsAtLeastUntilTheDeadline() async throws {
    let clock = MonotonicClock()
    let deadline = clock.now.advanced(by: .milliseconds(2))
    try await clock.sleep(until: deadline, tolerance: nil)
    #expect(clock.now >= deadline)
  }

  @Test(arguments: [Duration.seconds(3600), .seconds(Int64.max)])
  func aCancelledSleepThrows(duration: Duration) async {
    let task = Task {
      let clock = MonotonicClock()
      try await clock.sleep(until: clock.now.advanced(by: duration), tolerance: nil)
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
