import Testing
import VoiceAudio
import VoiceCore

struct SyntheticSourcesTests {
  @Test(arguments: [Double.nan, .infinity, -1, 2])
  func tonesWithImpossibleValuesDoNotTrap(value: Double) async {
    let source = ToneSource(frequency: value, amplitude: value, duration: .milliseconds(10))
    #expect(await Heard(source).samples.count == 160)
  }

  @Test func durationsWithoutSenseGiveNothing() async {
    #expect(await Heard(SilenceSource(duration: .seconds(-1))).samples.isEmpty)
    #expect(await Heard(SamplesSource(samples: [])).samples.isEmpty)
    #expect(await Heard(SamplesSource(samples: [1], sampleRate: 0)).failure?.code == .formatNotSupported)
  }

  @Test func silenceHasItsLength() async {
    let heard = await Heard(SilenceSource(duration: .milliseconds(250)))
    #expect(heard.samples == [Int16](repeating: 0, count: 4_000))
    #expect(heard.chunks.map(\.samples.count) == [1_600, 1_600, 800])
    #expect(heard.isGapless)
  }

  @Test func tonesHaveTheirFrequencyAndLevel() async {
    let heard = await Heard(ToneSource(frequency: 440, amplitude: 0.25, duration: .seconds(1)))
    let (amplitude, phase) = Signals.measure(440, in: heard.samples[...])
    #expect(abs(amplitude - 0.25) < 0.0001)
    #expect(abs(phase) < 0.001)
  }

  @Test func samplesOfAnotherRateAreConverted() async {
    let heard = await Heard(
      SamplesSource(samples: Signals.sine16(1_000, rate: 48_000, count: 48_000), sampleRate: 48_000))
    #expect(heard.samples.count == 16_000)
    #expect(abs(Signals.measure(1_000, in: heard.samples[1_600..<14_400]).phase) < 0.004)
  }

  @Test func endlessSourcesEndWhenTheyAreStopped() async throws {
    let capture = try await SilenceSource().capture()
    var iterator = capture.makeAsyncIterator()
    for _ in 0..<100 { #expect(try await iterator.next() != nil) }
    capture.stop()
    #expect(try await iterator.next() == nil)
  }

  @Test func concatenatedSourcesAreOneStream() async {
    let source = ConcatenatedSource([
      SamplesSource(samples: [1, 2, 3]), SamplesSource(samples: []), SamplesSource(samples: [4, 5]),
    ])
    let heard = await Heard(source)
    #expect(
      heard.chunks == [
        AudioChunk(position: 0, samples: [1, 2, 3]), AudioChunk(position: 3, samples: [4, 5]),
      ])
  }

  @Test func concatenationFailsWhereItsPartFails() async {
    let source = ConcatenatedSource([SamplesSource(samples: [1]), AudioFileSource(path: "/none-such.wav")])
    let heard = await Heard(source)
    #expect(heard.samples == [1])
    #expect(heard.failure?.code == .fileNotFound)
    #expect(await Heard(ConcatenatedSource([])).failure?.code == .audioEmpty)
  }

  @Test func stoppingAConcatenationLeavesOutTheRest() async throws {
    let capture = try await ConcatenatedSource([SilenceSource(), SamplesSource(samples: [1])]).capture()
    var iterator = capture.makeAsyncIterator()
    _ = try await iterator.next()
    capture.stop()
    #expect(try await iterator.next() == nil)
  }
}
