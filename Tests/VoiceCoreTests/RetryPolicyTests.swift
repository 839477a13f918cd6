import Testing
import VoiceCore
import VoiceTesting

@Suite struct RetryPolicyTests {
  @Test func theBoundDoublesUpToTheCap() {
    let policy = RetryPolicy(base: .milliseconds(250), cap: .seconds(5))
    let bounds = (1...7).map { policy.bound(ofAttempt: $0) }
    #expect(
      bounds == [
        .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(5),
        .seconds(5),
      ])
  }

  @Test func anAttemptBelowOneHasTheFirstBound() {
    let policy = RetryPolicy(base: .seconds(1), cap: .seconds(8))
    for attempt in [0, -1, Int.min] {
      #expect(policy.bound(ofAttempt: attempt) == .seconds(1))
    }
  }

  @Test func aHugeAttemptHasTheCap() {
    #expect(RetryPolicy(base: .nanoseconds(1), cap: .seconds(30)).bound(ofAttempt: .max) == .seconds(30))
  }

  /// One attosecond needs 66 doublings to pass a minute: no count of attempts may stop it early.
  @Test func theSmallestBaseReachesTheCap() {
    let policy = RetryPolicy(base: Duration(attoseconds: 1), cap: .seconds(60))
    #expect(policy.bound(ofAttempt: 65) == Duration(attoseconds: 1 << 64))
    #expect(policy.bound(ofAttempt: 67) == .seconds(60))
    #expect(policy.bound(ofAttempt: 1000) == .seconds(60))
  }

  @Test func theLargestDurationsDoNotOverflow() {
    let longest = Duration(attoseconds: .max)
    #expect(RetryPolicy(base: longest, cap: longest).bound(ofAttempt: 100) == longest)
    let almost = Duration(attoseconds: .max - 1)
    #expect(RetryPolicy(base: almost, cap: longest).bound(ofAttempt: 100) == longest)
  }

  @Test(arguments: [
    RetryPolicy(base: .zero, cap: .seconds(5)), RetryPolicy(base: .seconds(-1), cap: .seconds(5)),
    RetryPolicy(base: .seconds(1), cap: .zero), RetryPolicy(base: .seconds(1), cap: .seconds(-5)),
    RetryPolicy(base: Duration(attoseconds: .min), cap: Duration(attoseconds: .min)),
  ])
  func zeroAndNegativeDurationsMeanNoWait(policy: RetryPolicy) {
    for attempt in [1, 2, 64, 65, Int.max] {
      #expect(policy.bound(ofAttempt: attempt) == .zero)
    }
  }

  @Test func aBaseAboveTheCapIsCapped() {
    #expect(RetryPolicy(base: .seconds(10), cap: .seconds(2)).bound(ofAttempt: 1) == .seconds(2))
  }
}

@Suite struct RetryScheduleTests {
  static func instant(_ seconds: Double) -> VoiceInstant { VoiceInstant(offset: .seconds(seconds)) }

  static let unlimited = RetryPolicy(base: .seconds(1), cap: .seconds(8), budget: nil)

  @Test func everyWaitIsBetweenZeroAndItsBound() {
    for seed in 0..<500 {
      var generator = SeededGenerator(seed: UInt64(seed))
      var schedule = RetrySchedule(policy: Self.unlimited)
      for attempt in 1...6 {
        let decision = schedule.failed(at: Self.instant(100), using: &generator)
        guard case .retry(let at, let state) = decision else {
          Issue.record("gave up at attempt \(attempt)")
          return
        }
        #expect(state.attempt == attempt)
        #expect(at == Self.instant(100).advanced(by: state.delay))
        #expect(state.delay >= .zero && state.delay <= Self.unlimited.bound(ofAttempt: attempt))
      }
    }
  }

  /// Full jitter: a tenth of the waits in each tenth of the range, within four standard deviations.
  @Test func waitsAreSpreadEvenlyOverTheWholeRange() {
    var buckets = [Int](repeating: 0, count: 10)
    let rounds = 10_000
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<rounds {
      var schedule = RetrySchedule(policy: Self.unlimited)
      let decision = schedule.failed(at: Self.instant(0), using: &generator)
      let delay = decision.delay ?? .seconds(-1)
      buckets[min(9, Int(delay / .milliseconds(100)))] += 1
    }
    for bucket in buckets {
      #expect(abs(bucket - rounds / 10) < 120)
    }
  }

  @Test func theEndsOfTheRangeAreReachedAndNotPassed() {
    // Not a power of two in attoseconds: a wait computed in floating point would round past the bound.
    let base = Duration(attoseconds: (1 << 53) + 3)
    let policy = RetryPolicy(base: base, cap: .seconds(60), budget: nil)
    var highest = ConstantGenerator(value: .max)
    var lowest = ConstantGenerator(value: 0)
    var schedule = RetrySchedule(policy: policy)
    #expect(schedule.failed(at: Self.instant(0), using: &highest).delay == base)
    schedule = RetrySchedule(policy: policy)
    #expect(schedule.failed(at: Self.instant(0), using: &lowest).delay == .zero)
  }

  @Test func theSameSeedGivesTheSameWaits() {
    func waits() -> [Duration?] {
      var generator = SeededGenerator(seed: 42)
      var schedule = RetrySchedule(policy: Self.unlimited)
      return (0..<10).map { _ in schedule.failed(at: Self.instant(0), using: &generator).delay }
    }
    #expect(waits() == waits())
  }

  @Test func neverTriesAgainWithThePolicyNever() {
    var generator = SeededGenerator(seed: 1)
    var schedule = RetrySchedule(policy: .never)
    #expect(schedule.pathChanged(at: Self.instant(0)) == .giveUp)
    #expect(schedule.failed(at: Self.instant(0), using: &generator) == .giveUp)
    #expect(schedule.failed(at: Self.instant(1), pushBack: .zero, using: &generator) == .giveUp)
    #expect(schedule.pathChanged(at: Self.instant(2)) == .giveUp)
  }

  @Test(arguments: [1, 2, 5]) func givesUpAfterTheAllowedTries(limit: Int) {
    var generator = SeededGenerator(seed: 1)
    var schedule = RetrySchedule(policy: RetryPolicy(base: .zero, attempts: limit, budget: nil))
    for attempt in 1...limit {
      let decision = schedule.failed(at: Self.instant(0), using: &generator)
      #expect(decision.state == RetryState(attempt: attempt, limit: limit, delay: .zero))
    }
    #expect(schedule.failed(at: Self.instant(0), using: &generator) == .giveUp)
    #expect(schedule.failed(at: Self.instant(0), using: &generator) == .giveUp)
  }

  @Test func aNegativeNumberOfTriesMeansNone() {
    var generator = SeededGenerator(seed: 1)
    var schedule = RetrySchedule(policy: RetryPolicy(attempts: -3))
    #expect(schedule.failed(at: Self.instant(0), using: &generator) == .giveUp)
  }

  @Test func theBudgetCountsFromTheFirstFailure() {
    var generator = ConstantGenerator(value: .max)
    let policy = RetryPolicy(base: .seconds(1), cap: .seconds(1), budget: .seconds(10))
    var schedule = RetrySchedule(policy: policy)
    let first = schedule.failed(at: Self.instant(100), using: &generator)
    #expect(first.state?.deadline == Self.instant(110))
    #expect(
      schedule.failed(at: Self.instant(109), using: &generator)
        == .retry(
          at: Self.instant(110),
          RetryState(attempt: 2, delay: .seconds(1), deadline: Self.instant(110))))
    #expect(schedule.failed(at: Self.instant(109.000_001), using: &generator) == .giveUp)
  }

  @Test func aBudgetOfZeroAllowsOnlyATryAtOnce() {
    var lowest = ConstantGenerator(value: 0)
    var highest = ConstantGenerator(value: .max)
    var schedule = RetrySchedule(policy: RetryPolicy(budget: .zero))
    #expect(schedule.failed(at: Self.instant(5), using: &lowest).delay == .zero)
    schedule = RetrySchedule(policy: RetryPolicy(budget: .zero))
    #expect(schedule.failed(at: Self.instant(5), using: &highest) == .giveUp)
  }

  @Test func aNegativeBudgetAllowsNoTry() {
    var generator = ConstantGenerator(value: 0)
    var schedule = RetrySchedule(policy: RetryPolicy(budget: .seconds(-1)))
    #expect(schedule.failed(at: Self.instant(5), using: &generator) == .giveUp)
  }

  @Test func aShortConnectionDoesNotResetTheCount() {
    var generator = SeededGenerator(seed: 1)
    let policy = RetryPolicy(base: .zero, attempts: 2, budget: nil, stableAfter: .seconds(10))
    var schedule = RetrySchedule(policy: policy)
    for attempt in 1...2 {
      #expect(
        schedule.failed(at: Self.instant(Double(attempt) * 20), using: &generator).state?.attempt == attempt)
      schedule.connected(at: Self.instant(Double(attempt) * 20 + 10.1))
    }
    #expect(schedule.failed(at: Self.instant(60), using: &generator) == .giveUp)
  }

  @Test func aStableConnectionResetsCountAndBudget() {
    var generator = ConstantGenerator(value: 0)
    let policy = RetryPolicy(attempts: 1, budget: .seconds(5), stableAfter: .seconds(10))
    var schedule = RetrySchedule(policy: policy)
    _ = schedule.failed(at: Self.instant(0), using: &generator)
    schedule.connected(at: Self.instant(1))
    let decision = schedule.failed(at: Self.instant(11), using: &generator)
    #expect(decision.state == RetryState(attempt: 1, limit: 1, delay: .zero, deadline: Self.instant(16)))
  }

  @Test func tellingOfAConnectionAgainDoesNotStartItsTimeAnew() {
    var generator = ConstantGenerator(value: 0)
    var schedule = RetrySchedule(policy: RetryPolicy(attempts: 1, budget: nil, stableAfter: .seconds(10)))
    _ = schedule.failed(at: Self.instant(0), using: &generator)
    schedule.connected(at: Self.instant(1))
    schedule.connected(at: Self.instant(10))
    #expect(schedule.failed(at: Self.instant(11), using: &generator).state?.attempt == 1)
  }

  /// One stable period is one reset: the failures after it count on.
  @Test func theResetIsNotRepeatedByLaterFailures() {
    var generator = ConstantGenerator(value: 0)
    var schedule = RetrySchedule(policy: RetryPolicy(attempts: 1, budget: nil, stableAfter: .seconds(10)))
    schedule.connected(at: Self.instant(0))
    #expect(schedule.failed(at: Self.instant(50), using: &generator).state?.attempt == 1)
    #expect(schedule.failed(at: Self.instant(100), using: &generator) == .giveUp)
  }

  @Test func theServersPushBackIsALowerLimit() {
    var generator = ConstantGenerator(value: .max)
    var schedule = RetrySchedule(policy: Self.unlimited)
    #expect(
      schedule.failed(at: Self.instant(0), pushBack: .seconds(7), using: &generator).delay == .seconds(7))
    #expect(
      schedule.failed(at: Self.instant(0), pushBack: .milliseconds(1), using: &generator).delay == .seconds(2)
    )
  }

  @Test func aNegativePushBackChangesNothing() {
    var generator = ConstantGenerator(value: .max)
    var schedule = RetrySchedule(policy: Self.unlimited)
    #expect(
      schedule.failed(at: Self.instant(0), pushBack: .seconds(-7), using: &generator).delay == .seconds(1))
  }

  @Test func aPushBackBeyondTheBudgetGivesUp() {
    var generator = ConstantGenerator(value: 0)
    var schedule = RetrySchedule(policy: RetryPolicy(budget: .seconds(10)))
    #expect(
      schedule.failed(at: Self.instant(0), pushBack: .milliseconds(Int64.max), using: &generator) == .giveUp)
  }

  @Test func aNewPathIsTriedAtOnce() {
    var generator = ConstantGenerator(value: .max)
    var schedule = RetrySchedule(policy: RetryPolicy(attempts: 3, budget: .seconds(60)))
    _ = schedule.failed(at: Self.instant(0), using: &generator)
    _ = schedule.failed(at: Self.instant(1), using: &generator)
    #expect(
      schedule.pathChanged(at: Self.instant(1.1))
        == .retry(
          at: Self.instant(1.1),
          RetryState(attempt: 2, limit: 3, delay: .zero, deadline: Self.instant(60))))
  }

  @Test func aNewPathWithoutAFailureIsTheFirstTry() {
    var schedule = RetrySchedule(policy: RetryPolicy())
    #expect(
      schedule.pathChanged(at: Self.instant(3))
        == .retry(at: Self.instant(3), RetryState(attempt: 1, delay: .zero)))
  }

  @Test func aNewPathDoesNotOverruleThePushBack() {
    var generator = ConstantGenerator(value: 0)
    var schedule = RetrySchedule(policy: Self.unlimited)
    _ = schedule.failed(at: Self.instant(0), pushBack: .seconds(30), using: &generator)
    #expect(
      schedule.pathChanged(at: Self.instant(10))
        == .retry(at: Self.instant(30), RetryState(attempt: 1, delay: .seconds(20))))
    _ = schedule.failed(at: Self.instant(31), using: &generator)
    #expect(schedule.pathChanged(at: Self.instant(32)).delay == .zero)
  }

  @Test func aFlappingPathStillMeetsTheBudget() {
    var generator = ConstantGenerator(value: 0)
    var schedule = RetrySchedule(policy: RetryPolicy(budget: .seconds(10)))
    _ = schedule.failed(at: Self.instant(0), using: &generator)
    #expect(schedule.pathChanged(at: Self.instant(10)).delay == .zero)
    #expect(schedule.pathChanged(at: Self.instant(10.1)) == .giveUp)
  }

  @Test func anOldFailureDoesNotSpoilANewPathAfterAStableConnection() {
    var generator = ConstantGenerator(value: 0)
    var schedule = RetrySchedule(policy: RetryPolicy(attempts: 1, budget: .seconds(10)))
    _ = schedule.failed(at: Self.instant(0), using: &generator)
    schedule.connected(at: Self.instant(1))
    #expect(
      schedule.pathChanged(at: Self.instant(3600)).state == RetryState(attempt: 1, limit: 1, delay: .zero))
  }

  @Test func manyFailuresDoNotOverflow() {
    var generator = SeededGenerator(seed: 9)
    var schedule = RetrySchedule(policy: Self.unlimited)
    for attempt in 1...10_000 {
      #expect(schedule.failed(at: Self.instant(0), using: &generator).state?.attempt == attempt)
    }
  }
}

extension RetrySchedule.Decision {
  fileprivate var state: RetryState? {
    switch self {
    case .retry(_, let state): state
    case .giveUp: nil
    }
  }

  fileprivate var delay: Duration? { self.state?.delay }
}

/// Draws one end of every range.
private struct ConstantGenerator: RandomNumberGenerator {
  let value: UInt64

  mutating func next() -> UInt64 { self.value }
}
