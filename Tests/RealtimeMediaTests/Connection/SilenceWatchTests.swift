import Testing
import VoiceCore

@testable import RealtimeMedia

struct SilenceWatchTests {
  private static let start = VoiceInstant()

  /// When the watch asks, in milliseconds, looked at every 20 ms, if packets come at these times.
  private static func asks(until end: Int, packetsAt packets: Set<Int>) -> [Int] {
    Self.times(of: .check, until: end, packetsAt: packets)
  }

  private static func times(
    of finding: SilenceWatch.Finding, until end: Int, packetsAt packets: Set<Int>, expectedFrom: Int = .max
  ) -> [Int] {
    var watch = SilenceWatch()
    var times: [Int] = []
    for time in stride(from: 0, through: end, by: 20) {
      let now = Self.start.advanced(by: .milliseconds(time))
      if packets.contains(time) { watch.received(at: now) }
      if watch.poll(isExpected: time >= expectedFrom, isWayGood: true, at: now) == finding {
        times.append(time)
      }
    }
    return times
  }

  @Test func expectsNothingBeforeTheFirstPacket() {
    #expect(Self.asks(until: 10_000, packetsAt: []).isEmpty)
  }

  @Test func isContentWithAFlow() {
    #expect(Self.asks(until: 10_000, packetsAt: Set(stride(from: 0, through: 10_000, by: 20))).isEmpty)
  }

  @Test func asksAQuarterOfASecondAfterTheLastPacketAndThenEachSecond() {
    #expect(
      Self.asks(until: 3_000, packetsAt: Set(stride(from: 0, through: 400, by: 20))) == [660, 1660, 2660])
  }

  @Test func learnsThatTheOtherSidePauses() {
    let pauses = Set(stride(from: 0, through: 200, by: 20)).union(stride(from: 600, through: 8_000, by: 400))
    #expect(Self.asks(until: 8_000, packetsAt: pauses) == [460])
    let ended = Set(stride(from: 0, through: 200, by: 20)).union([600, 1000])
    #expect(Self.asks(until: 1_600, packetsAt: ended) == [460, 1500])
  }

  @Test func forgetsPausesOnceThereIsAFlow() {
    let packets = Set([0, 400]).union(stride(from: 420, through: 1_000, by: 20))
    #expect(Self.asks(until: 1_300, packetsAt: packets) == [260, 1260])
  }

  @Test func expectsNothingAfterAReset() {
    var watch = SilenceWatch()
    watch.received(at: Self.start)
    watch.reset()
    let finding = watch.poll(isExpected: false, isWayGood: true, at: Self.start.advanced(by: .seconds(1)))
    #expect(finding == .nothing)
  }

  @Test func tellsOnceThatNothingEverCame() {
    #expect(Self.times(of: .missing, until: 20_000, packetsAt: [], expectedFrom: 1_000) == [5_000])
  }

  @Test func tellsOnceThatNothingComesAnyMore() {
    let packets = Set(stride(from: 0, through: 1_000, by: 20))
    #expect(Self.times(of: .missing, until: 20_000, packetsAt: packets, expectedFrom: 0) == [5_000])
  }

  @Test func tellsAgainOfTheNextSilence() {
    let packets = Set([0, 6_000, 6_020])
    #expect(Self.times(of: .missing, until: 12_000, packetsAt: packets, expectedFrom: 0) == [4_000, 10_020])
  }

  @Test func pausesOfTheOtherSideAreNoMissingMedia() {
    let packets = Set(stride(from: 0, through: 20_000, by: 400))
    #expect(Self.times(of: .missing, until: 20_000, packetsAt: packets, expectedFrom: 0).isEmpty)
  }

  @Test func missesNothingThatIsNotExpected() {
    #expect(Self.times(of: .missing, until: 20_000, packetsAt: [0, 20]).isEmpty)
  }

  /// Its end is told by ICE.
  @Test func waitsWithTheNewsUntilTheWayIsKnownToBeGood() {
    var watch = SilenceWatch()
    watch.received(at: Self.start)
    func isMissing(_ seconds: Int, isWayGood: Bool) -> Bool {
      let now = Self.start.advanced(by: .seconds(seconds))
      // The check that is due comes first.
      return [1, 2].contains { _ in watch.poll(isExpected: true, isWayGood: isWayGood, at: now) == .missing }
    }
    let before = isMissing(6, isWayGood: false)
    let after = isMissing(7, isWayGood: true)
    #expect(!before)
    #expect(after)
  }

  /// Both sides rarely find a way good again in the same instant.
  @Test func countsASilenceAnewAfterTheWayWasBroken() {
    var watch = SilenceWatch()
    watch.received(at: Self.start)
    let told = stride(from: 0, through: 40_000, by: 20).filter { time in
      let isBroken = (5_000..<30_000).contains(time)
      return watch.poll(
        isExpected: !isBroken, isWayGood: time >= 3_000 && !isBroken,
        at: Self.start.advanced(by: .milliseconds(time)))
        == .missing
    }
    #expect(told == [4_000])
    watch.received(at: Self.start.advanced(by: .seconds(50)))
    let next = stride(from: 50_000, through: 90_000, by: 20).filter { time in
      let isBroken = (51_000..<80_000).contains(time)
      return watch.poll(
        isExpected: !isBroken, isWayGood: !isBroken, at: Self.start.advanced(by: .milliseconds(time)))
        == .missing
    }
    #expect(next == [83_980])
  }
}
