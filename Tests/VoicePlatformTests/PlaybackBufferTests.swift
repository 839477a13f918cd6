import Testing
import VoiceCore

@testable import VoicePlatform

/// At 1,000 Hz a sample is a millisecond.
struct PlaybackBufferTests {
  private func buffer(limit: Int = 200) -> PlaybackBuffer {
    PlaybackBuffer(sampleRate: 1_000, target: .milliseconds(60), limit: .milliseconds(limit))
  }

  @Test func isSilentUntilTheTargetIsThere() {
    var buffer = buffer()
    buffer.write(1...40)
    #expect(buffer.read(20) == silence(20))
    buffer.write(41...60)
    #expect(buffer.read(20) == Array(1...20))
    #expect(buffer.statistics.underrunCount == 0)
    #expect(buffer.statistics.silentCount == 0)
  }

  @Test func aShortSoundIsPlayedAfterItHasWaited() {
    var buffer = buffer()
    buffer.write(1...20)
    for _ in 0..<3 { #expect(buffer.read(20) == silence(20)) }
    #expect(buffer.read(20) == Array(1...20))
  }

  @Test func silenceBeforeTheFirstSoundIsNotWaiting() {
    var buffer = buffer()
    for _ in 0..<10 { _ = buffer.read(20) }
    buffer.write(1...20)
    #expect(buffer.read(20) == silence(20))
  }

  @Test func whatIsMissingIsSilenceAndCounted() {
    var buffer = buffer()
    buffer.write(1...70)
    _ = buffer.read(60)
    #expect(buffer.read(20) == Array(61...70) + silence(10))
    #expect(buffer.statistics.underrunCount == 1)
    #expect(buffer.statistics.silentCount == 10)
    // It waits for the target again, so that the next late block is not heard.
    buffer.write(1...59)
    #expect(buffer.read(10) == silence(10))
    #expect(buffer.statistics.silentCount == 20)
    buffer.write(60...60)
    #expect(buffer.read(10) == Array(1...10))
    #expect(buffer.statistics.underrunCount == 1)
  }

  @Test func theOldestIsDroppedDownToTheTarget() {
    var buffer = buffer()
    buffer.write(1...200)
    #expect(buffer.statistics.droppedCount == 0)
    buffer.write(201...220)
    #expect(buffer.statistics.droppedCount == 160)
    #expect(buffer.count == 60)
    #expect(buffer.read(60) == Array(161...220))
  }

  @Test func ofABlockThatIsTooLongTheEndIsKept() {
    var buffer = buffer()
    buffer.write(1...10)
    buffer.write(1...1_000)
    #expect(buffer.read(60) == Array(941...1_000))
    #expect(buffer.statistics.writtenCount == 1_010)
    #expect(buffer.statistics.droppedCount == 950)
  }

  @Test func whatIsLeftIsPlayedToTheEnd() {
    var buffer = buffer()
    buffer.write(1...10)
    buffer.drain()
    #expect(!buffer.isDrained)
    #expect(buffer.read(20) == Array(1...10) + silence(10))
    #expect(buffer.isDrained)
    #expect(buffer.statistics.underrunCount == 0)
    buffer.write(1...10)
    #expect(buffer.read(20) == silence(20))
  }

  @Test func aNeedlessDelayIsCutWhereItIsQuiet() {
    var buffer = buffer()
    buffer.write(silence(120))
    for _ in 0..<1_000 {
      buffer.write(silence(20))
      _ = buffer.read(20)
    }
    #expect((40...60).contains(buffer.count), "\(buffer.count) are waiting after a read")
    #expect(buffer.statistics.underrunCount == 0)
    #expect(buffer.statistics.droppedCount > 0)
  }

  @Test func nothingIsCutWhereItIsLoud() {
    var buffer = buffer()
    buffer.write(120, of: 1_000)
    for _ in 0..<1_000 {
      buffer.write(20, of: 1_000)
      _ = buffer.read(20)
    }
    #expect(buffer.count == 120)
    #expect(buffer.statistics.droppedCount == 0)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(1_000_000)])
  func delaysWithoutSenseAreClamped(delay: Duration) {
    var buffer = PlaybackBuffer(sampleRate: 1_000, target: delay, limit: delay)
    #expect((10...2_000).contains(buffer.target))
    #expect((buffer.target * 2...10_000).contains(buffer.limit))
    buffer.write(1...20)
    _ = buffer.read(20)
  }

  private func silence(_ count: Int) -> [Int16] { [Int16](repeating: 0, count: count) }
}

extension PlaybackBuffer {
  fileprivate mutating func write(_ range: ClosedRange<Int16>) { self.write(Array(range)) }

  fileprivate mutating func write(_ count: Int, of value: Int16) {
    self.write([Int16](repeating: value, count: count))
  }

  fileprivate mutating func write(_ samples: [Int16]) {
    samples.withUnsafeBufferPointer { self.write($0) }
  }

  fileprivate mutating func read(_ count: Int) -> [Int16] {
    var samples = [Int16](repeating: -1, count: count)
    samples.withUnsafeMutableBufferPointer { self.read(into: $0) }
    return samples
  }
}
