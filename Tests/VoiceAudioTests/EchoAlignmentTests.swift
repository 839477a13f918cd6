import Testing
import VoiceCore

@testable import VoiceAudio

struct EchoAlignmentTests {
  @Test func nothingBelongsToAFrameBeforeAnythingWasPlayed() {
    var alignment = EchoAlignment(sampleRate: 16_000)
    #expect(alignment.heard(nil, count: 320) == nil)
    #expect(alignment.heard(7, count: 320) == 7)
    #expect(alignment.heard(nil, count: 320) == nil)
    #expect(alignment.heard(900, count: 320) == 900)
  }

  @Test func noiseInTheTimesShiftsNothing() {
    var alignment = EchoAlignment(sampleRate: 16_000)
    for frame in 0..<2_000 {
      let noise: Int64 = [0, 60, -60, 30, -30, 100, -100][frame % 7]
      let start = alignment.heard(Int64(frame * 320) + (frame == 0 ? 0 : noise), count: 320)
      #expect(start == Int64(frame * 320))
    }
    #expect(alignment.jumpCount == 0)
  }

  @Test(arguments: [0.000_2, -0.000_2])
  func clocksThatDriftApartAreFollowedInFewSteps(drift: Double) {
    var alignment = EchoAlignment(sampleRate: 16_000)
    var previous: Int64?
    var steps = 0
    // Ten minutes: 1,920 samples of drift.
    for frame in 0..<30_000 {
      let position = Int64(Double(frame * 320) * (1 + drift))
      guard let start = alignment.heard(position, count: 320) else {
        Issue.record("nothing belongs to the frame")
        return
      }
      // 16 ms, and what is added before it is believed.
      #expect(abs(start - position) < 265)
      if let previous, start - previous != 320 { steps += 1 }
      previous = start
    }
    #expect(steps == 7)
    #expect(alignment.jumpCount == 7)
  }

  @Test func aJumpThatStaysIsFollowedAtOnce() {
    var alignment = EchoAlignment(sampleRate: 16_000)
    #expect(alignment.heard(0, count: 320) == 0)
    // A single wrong time is not believed.
    #expect(alignment.heard(320 + 9_000, count: 320) == 320)
    #expect(alignment.heard(640, count: 320) == 640)
    var start: Int64?
    for frame in 3..<8 { start = alignment.heard(Int64(frame * 320) + 9_000, count: 320) }
    #expect(start == Int64(7 * 320 + 9_000))
    #expect(alignment.jumpCount == 1)
  }

  @Test(arguments: [400, -400])
  func aFirstTimeThatWasWrongIsCorrectedWithinTwoSeconds(error: Int64) {
    var alignment = EchoAlignment(sampleRate: 16_000)
    _ = alignment.heard(error, count: 320)
    var start: Int64?
    for frame in 1...100 { start = alignment.heard(Int64(frame * 320), count: 320) }
    #expect(start == Int64(100 * 320))
    #expect(alignment.jumpCount == 1)
  }

  @Test(arguments: [Int64.max, .min])
  func timesWithoutSenseDoNotTrap(position: Int64) {
    var alignment = EchoAlignment(sampleRate: 16_000)
    _ = alignment.heard(0, count: 320)
    for _ in 0..<20 { _ = alignment.heard(position, count: 320) }
    _ = alignment.heard(0, count: 320)
    alignment.skipped(position)
    for _ in 0..<20 { _ = alignment.heard(-1, count: 320) }
  }

  @Test func missingSamplesAreSkippedOnBothSides() {
    var alignment = EchoAlignment(sampleRate: 16_000)
    _ = alignment.heard(0, count: 320)
    alignment.skipped(1_000)
    #expect(alignment.heard(1_320, count: 320) == 1_320)
  }
}

struct ArrivalClockTests {
  @Test func theQuickestArrivalCounts() {
    var clock = ArrivalClock(sampleRate: 16_000)
    #expect(clock.time(of: 0) == nil)
    clock.arrived(until: 320, at: at(50))
    #expect(clock.time(of: 320) == at(50))
    clock.arrived(until: 640, at: at(60))
    #expect(clock.time(of: 640) == at(60))
    clock.arrived(until: 960, at: at(300))
    #expect(clock.time(of: 960) == at(80))
  }

  @Test func aClockThatIsSlowIsFollowed() {
    var clock = ArrivalClock(sampleRate: 16_000)
    // 0.1 % slow: after 100 s it is 100 ms behind.
    for frame in 1...5_000 {
      clock.arrived(until: Int64(frame * 320), at: at(Double(frame) * 20.02))
    }
    let error = (clock.time(of: 5_000 * 320) ?? at(0)).duration(to: at(100_100))
    #expect(error < .milliseconds(5) && error >= .zero, "\(error)")
  }

  private func at(_ milliseconds: Double) -> VoiceInstant {
    VoiceInstant(offset: .milliseconds(1) * milliseconds)
  }
}

struct PlayedAudioTests {
  @Test func remembersWhatWasHeardAndWhen() {
    let played = PlayedAudio()
    #expect(played.position(at: at(0)) == nil)
    append(1...320, to: played, at: 100)
    append(321...640, to: played, at: 120)
    #expect(played.position(at: at(110)) == 160)
    var samples: [Int16] = []
    #expect(played.read(from: 100, count: 3, into: &samples) == 3)
    #expect(samples == [101, 102, 103])
  }

  @Test func whatIsNotThereIsSilence() {
    let played = PlayedAudio(length: .milliseconds(500))
    append(1...320, to: played, at: 0)
    var samples: [Int16] = []
    #expect(played.read(from: 318, count: 4, into: &samples) == 2)
    #expect(samples == [319, 320, 0, 0])
    #expect(played.read(from: -2, count: 3, into: &samples) == 1)
    #expect(samples == [0, 0, 1])
    for block in 1...30 { append(1...320, to: played, at: block * 20) }
    #expect(played.read(from: 0, count: 10, into: &samples) == 0)
    #expect(played.read(from: .max, count: 10, into: &samples) == 0)
    #expect(played.read(from: .min, count: 2, into: &samples) == 0)
    #expect(played.read(from: 0, count: -1, into: &samples) == 0)
  }

  @Test func anotherRateIsConvertedAndABadOneIsLeftOut() {
    let played = PlayedAudio()
    append(1...320, to: played, at: 0, sampleRate: 0)
    #expect(played.position(at: at(0)) == nil)
    for block in 0..<10 { append(1...960, to: played, at: block * 20, sampleRate: 48_000) }
    #expect(played.position(at: at(100)) == 1_600)
    var samples: [Int16] = []
    #expect(played.read(from: 1_000, count: 320, into: &samples) == 320)
  }

  @Test func aDeviceThatWasInterruptedHasANewTime() {
    let played = PlayedAudio()
    append(1...320, to: played, at: 0)
    append(1...320, to: played, at: 1_000)
    #expect(played.position(at: at(1_000)) == 320)
  }

  private func append(
    _ range: ClosedRange<Int16>, to played: PlayedAudio, at milliseconds: Int, sampleRate: Int = 16_000
  ) {
    Array(range).withUnsafeBufferPointer {
      played.append($0, sampleRate: sampleRate, heardAt: at(milliseconds))
    }
  }

  private func at(_ milliseconds: Int) -> VoiceInstant {
    VoiceInstant(offset: .milliseconds(milliseconds))
  }
}
