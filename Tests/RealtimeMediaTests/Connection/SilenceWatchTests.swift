import Testing
import VoiceCore

@testable import RealtimeMedia

struct SilenceWatchTests {
  private static let start = VoiceInstant()

  /// When the watch asks, in milliseconds, looked at every 20 ms, if packets come at these times.
  private static func asks(until end: Int, packetsAt packets: Set<Int>) -> [Int] {
    var watch = SilenceWatch()
    var asks: [Int] = []
    for time in stride(from: 0, through: end, by: 20) {
      let now = Self.start.advanced(by: .milliseconds(time))
      if packets.contains(time) { watch.received(at: now) }
      if watch.poll(at: now) { asks.append(time) }
    }
    return asks
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
    let asks = watch.poll(at: Self.start.advanced(by: .seconds(1)))
    #expect(!asks)
  }
}
