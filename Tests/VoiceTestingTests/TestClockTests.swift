import Dispatch
import Testing
import VoiceCore
import VoiceTesting

@Suite(.timeLimit(.minutes(4))) struct TestClockTests {
  static func instant(_ seconds: Int) -> VoiceInstant { VoiceInstant(offset: .seconds(seconds)) }

  @Test func aSleepingTaskIsWokenAtItsDeadlineAndNotBefore() async throws {
    let clock = TestClock()
    let woken = Recorder<Bool>()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await clock.sleep(until: Self.instant(5), tolerance: nil)
        woken.append(true)
      }
      #expect(await clock.nextTimer() == Self.instant(5))
      clock.advance(to: VoiceInstant(offset: .seconds(5) - .nanoseconds(1)))
      #expect(clock.timers == [Self.instant(5)])
      #expect(woken.values.isEmpty)
      clock.advance(by: .nanoseconds(1))
      try await group.waitForAll()
    }
    #expect(woken.values == [true])
    #expect(clock.now == Self.instant(5))
  }

  @Test func aDeadlineThatIsOverReturnsAtOnceAndIsNoTimer() async throws {
    let clock = TestClock(now: Self.instant(10))
    try await clock.sleep(until: Self.instant(10), tolerance: nil)
    try await clock.sleep(until: Self.instant(-10), tolerance: nil)
    try await clock.sleep(for: .zero)
    #expect(clock.timers.isEmpty)
    async let next = clock.nextTimer()
    let task = Task { try await clock.sleep(for: .seconds(3)) }
    #expect(await next == Self.instant(13))
    clock.advance(by: .seconds(3))
    try await task.value
  }

  @Test func cancellationWakesWithAnError() async {
    let clock = TestClock()
    let task = Task { try await clock.sleep(for: .seconds(1)) }
    await clock.nextTimer()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.timers.isEmpty)
  }

  @Test func aTaskCancelledBeforeItSleepsDoesNotSleep() async {
    let clock = TestClock()
    let (starts, start) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      for await _ in starts {}
      try await clock.sleep(for: .seconds(1))
    }
    task.cancel()
    start.finish()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.timers.isEmpty)
  }

  @Test func oneSleeperIsCancelledAndTheOthersSleepOn() async throws {
    let clock = TestClock()
    let stays = Task { try await clock.sleep(for: .seconds(1)) }
    await clock.nextTimer()
    let goes = Task { try await clock.sleep(for: .seconds(2)) }
    await clock.nextTimer()
    goes.cancel()
    await #expect(throws: CancellationError.self) { try await goes.value }
    #expect(clock.timers == [Self.instant(1)])
    clock.advance(by: .seconds(2))
    try await stays.value
  }

  @Test func timersAreReportedOnceInTheOrderInWhichTheyWereSet() async throws {
    let clock = TestClock()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, seconds) in [3, 1, 2].enumerated() {
        group.addTask { try await clock.sleep(for: .seconds(seconds)) }
        await clock.waitForTimers(count: index + 1)
      }
      #expect(await clock.nextTimer() == Self.instant(3))
      #expect(await clock.nextTimer() == Self.instant(1))
      #expect(await clock.nextTimer() == Self.instant(2))
      async let fourth = clock.nextTimer()
      group.addTask { try await clock.sleep(for: .seconds(4)) }
      #expect(await fourth == Self.instant(4))
      clock.advance(by: .seconds(4))
      try await group.waitForAll()
    }
  }

  @Test func aTimerThatIsGoneIsNotReported() async throws {
    let clock = TestClock()
    let cancelled = Task { try await clock.sleep(for: .seconds(1)) }
    await clock.waitForTimers(count: 1)
    cancelled.cancel()
    _ = await cancelled.result
    let woken = Task { try await clock.sleep(for: .seconds(2)) }
    await clock.waitForTimers(count: 1)
    clock.advance(by: .seconds(2))
    try await woken.value
    let third = Task { try await clock.sleep(for: .seconds(3)) }
    #expect(await clock.nextTimer() == Self.instant(5))
    clock.advance(by: .seconds(3))
    try await third.value
  }

  @Test func sleepersAreWokenInTheOrderOfTheirDeadlines() async throws {
    let clock = TestClock()
    let executor = SerialExecutor()
    let order = Recorder<Int>()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, seconds) in [4, 2, 5, 1, 3].enumerated() {
        group.addTask(executorPreference: executor) {
          try await clock.sleep(for: .seconds(seconds))
          order.append(seconds)
        }
        await clock.waitForTimers(count: index + 1)
      }
      await executor.runsNothing()
      clock.advance(by: .seconds(4))
      for _ in 0..<4 { try await group.next() }
      #expect(order.values == [1, 2, 3, 4])
      #expect(clock.timers == [Self.instant(5)])
      clock.advance(by: .seconds(1))
      try await group.waitForAll()
    }
    #expect(order.values == [1, 2, 3, 4, 5])
  }

  @Test func equalDeadlinesAreWokenInTheOrderOfSetting() async throws {
    let clock = TestClock()
    let executor = SerialExecutor()
    let order = Recorder<Int>()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<6 {
        group.addTask(executorPreference: executor) {
          try await clock.sleep(for: .seconds(1))
          order.append(index)
        }
        await clock.waitForTimers(count: index + 1)
      }
      await executor.runsNothing()
      clock.advance(by: .seconds(1))
      try await group.waitForAll()
    }
    #expect(order.values == [0, 1, 2, 3, 4, 5])
  }

  @Test func timeNeverGoesBack() {
    let clock = TestClock(now: Self.instant(10))
    clock.advance(to: Self.instant(3))
    clock.advance(by: .seconds(-4))
    #expect(clock.now == Self.instant(10))
  }

  @Test func aNamedTimerIsFoundAmongOthers() async throws {
    let clock = TestClock()
    async let found: Void = clock.waitForTimer(at: Self.instant(2))
    let other = Task { try await clock.sleep(for: .seconds(1)) }
    let wanted = Task { try await clock.sleep(for: .seconds(2)) }
    await found
    await clock.waitForTimer(at: Self.instant(2))
    #expect(await clock.nextTimer() == Self.instant(1))
    clock.advance(by: .seconds(2))
    try await other.value
    try await wanted.value
  }

  @Test func severalObserversGetOneTimerEach() async throws {
    let clock = TestClock()
    let reported = await withTaskGroup(of: VoiceInstant.self) { observers in
      observers.addTask { await clock.nextTimer() }
      observers.addTask { await clock.nextTimer() }
      let one = Task { try await clock.sleep(for: .seconds(1)) }
      let two = Task { try await clock.sleep(for: .seconds(2)) }
      var reported: [VoiceInstant] = []
      for await instant in observers { reported.append(instant) }
      clock.advance(by: .seconds(2))
      _ = await (one.result, two.result)
      return reported
    }
    #expect(Set(reported) == [Self.instant(1), Self.instant(2)])
  }

  @Test func aCancelledObserverReturnsTheTime() async {
    let clock = TestClock(now: Self.instant(8))
    let observer = Task { await clock.nextTimer() }
    observer.cancel()
    #expect(await observer.value == Self.instant(8))
    let counting = Task { await clock.waitForTimers(count: 3) }
    counting.cancel()
    await counting.value
  }

  @Test func timersMaySetFurtherTimers() async throws {
    let clock = TestClock()
    let task = Task {
      for _ in 0..<100 { try await clock.sleep(for: .seconds(1)) }
    }
    for second in 1...100 {
      let deadline = await clock.nextTimer()
      #expect(deadline == Self.instant(second))
      clock.advance(to: deadline)
    }
    try await task.value
  }

  @Test func noSleeperIsLostWhenCancellationRacesWithAdvancing() async {
    for round in 0..<200 {
      let clock = TestClock()
      let sleepers = (0..<4).map { _ in Task { try await clock.sleep(for: .seconds(1)) } }
      await clock.waitForTimers(count: sleepers.count)
      await withTaskGroup(of: Void.self) { group in
        group.addTask { clock.advance(by: .seconds(1)) }
        group.addTask { sleepers[round % sleepers.count].cancel() }
      }
      for sleeper in sleepers { _ = await sleeper.result }
      #expect(clock.timers.isEmpty)
    }
  }
}

/// Runs its tasks one after the other in the order in which they were resumed, so that this order can be seen.
private final class SerialExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "TestClockTests.SerialExecutor")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    self.queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Waits until the tasks that have begun are suspended.
  ///
  /// A timer is reported while its task is still on the way into the suspension, and a task that is woken there goes on at
  /// once, before those that have to be resumed.
  func runsNothing() async {
    await withCheckedContinuation { continuation in
      self.queue.async { continuation.resume() }
    }
  }
}
