import Testing

@testable import PocketSphinxRecognition

struct SignalLevelsTests {
  private func level(_ samples: some Collection<Int16>) -> Float {
    samples.withContiguousStorageIfAvailable { buffer in
      var meter = LevelMeter()
      meter.heard(buffer)
      return meter.levels.speech
    } ?? 0
  }

  @Test func nothingIsToBeLearnedBeforeAnythingWasHeard() {
    #expect(SignalLevels.unknown.warmUp.isEmpty)
    #expect(LevelMeter().levels == .unknown)
  }

  @Test func theWarmUpHasTheLevels() {
    let samples = SignalLevels(speech: 3000, noise: 20).warmUp
    #expect(abs(level(samples[..<3200]) - 3000) < 150)
    #expect(abs(level(samples[3200...]) - 20) < 2)
    #expect(samples == SignalLevels(speech: 3000, noise: 20).warmUp)
  }

  @Test func extremeLevelsFitIntoSamples() {
    #expect(SignalLevels(speech: 32_768, noise: 32_768).warmUp.count == 8000)
  }

  @Test func measuresTheLoudestAndTheQuietestStep() {
    var meter = LevelMeter()
    for value in [Int16](arrayLiteral: 100, .min, 7, 0x7FFF) {
      Array(repeating: value, count: 160).withUnsafeBufferPointer { meter.heard($0) }
    }
    meter.heard(UnsafeBufferPointer(start: nil, count: 0))
    #expect(meter.levels == SignalLevels(speech: 32_768, noise: 7))
  }

  @Test func anUtteranceIsFaintBesideWhoSpokeOrAboveTheNoise() {
    let channel = SignalLevels(speech: 4000, noise: 50)
    #expect(channel.makesFaint(SignalLevels(speech: 400, noise: 50)))
    #expect(!channel.makesFaint(SignalLevels(speech: 600, noise: 50)))
    #expect(SignalLevels.unknown.makesFaint(SignalLevels(speech: 240, noise: 50)))
    #expect(!SignalLevels.unknown.makesFaint(SignalLevels(speech: 260, noise: 50)))
  }

  @Test func aGateThatWasClosedMakesNoSpeechOfWhatComesThroughIt() {
    #expect(SignalLevels.unknown.makesFaint(SignalLevels(speech: 49, noise: 0)))
    #expect(!SignalLevels.unknown.makesFaint(SignalLevels(speech: 51, noise: 0)))
  }

  @Test func theRatioIsKnownOnceSomebodySpoke() throws {
    #expect(SignalLevels.unknown.ratio == nil)
    let loud = try #require(SignalLevels(speech: 1000, noise: 100).ratio)
    #expect(abs(loud - 20) < 0.001)
    // Digital silence is no noise, and no reason for an infinite ratio.
    let quiet = try #require(SignalLevels(speech: 1000, noise: 0).ratio)
    #expect(abs(quiet - 60) < 0.001)
  }
}
