import Testing
import VoiceCore

@testable import VoiceAudio

struct ResamplerTests {
  @Test(arguments: [0, -1, 999, 768_001, Int.max])
  func refusesRatesThatCannotBeConverted(rate: Int) {
    #expect(
      throws: VoiceFailure(
        .formatNotSupported,
        message: "A sample rate of \(rate) Hz cannot be converted; use 1,000 to 768,000 Hz.")
    ) { try Resampler(from: rate) }
  }

  @Test(arguments: [
    1_000, 7_999, 8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 96_000, 192_000, 767_999, 768_000,
  ])
  func givesOneSampleForEachInstantWithinTheInput(rate: Int) throws {
    for count in [1, 2, 159, 1_601, rate / 3 + 1] {
      let output = try resample([Float](repeating: 100, count: count), from: rate)
      #expect(output.count == (count * 16_000 + rate - 1) / rate, "\(count) samples at \(rate) Hz")
    }
  }

  @Test(arguments: [8_000, 11_025, 22_050, 44_100, 48_000, 96_000, 767_999])
  func keepsLevelAndPhaseOfATone(rate: Int) throws {
    let input = Signals.sine(1_000, rate: rate, count: rate).map { $0 * 32_768 }
    let output = try resample(input, from: rate).map { Int16($0.rounded()) }
    #expect(output.count == 16_000)
    let (amplitude, phase) = Signals.measure(1_000, in: output[1_600..<14_400])
    #expect(abs(amplitude - 0.5) < 0.002)
    // 0.004 rad at 1 kHz is 0.6 µs, a hundredth of a sample.
    #expect(abs(phase) < 0.004)
  }

  @Test func removesWhatTheLowerRateCannotCarry() throws {
    let input = Signals.sine(12_000, rate: 48_000, count: 48_000).map { $0 * 32_768 }
    let output = try resample(input, from: 48_000)
    #expect(output[1_600..<14_400].allSatisfy { abs($0) < 16_384 / 1_000 })
  }

  @Test func passesSamplesOfTheSameRateUnchanged() throws {
    let input: [Float] = [0, 1, -1, 32_767, -32_768]
    #expect(try resample(input, from: 16_000) == input)
  }

  @Test func startsAnewAfterItsEnd() throws {
    let resampler = try Resampler(from: 44_100)
    let input = Signals.sine(440, rate: 44_100, count: 4_410).map { $0 * 32_768 }
    var first: [Float] = []
    var second: [Float] = []
    input.withUnsafeBufferPointer { resampler.process($0, into: &first) }
    resampler.finish(into: &first)
    input.withUnsafeBufferPointer { resampler.process($0, into: &second) }
    resampler.finish(into: &second)
    #expect(first.count == 1_600)
    #expect(first == second)
  }

  private func resample(_ input: [Float], from rate: Int) throws -> [Float] {
    let resampler = try Resampler(from: rate)
    var output: [Float] = []
    input.withUnsafeBufferPointer { resampler.process($0, into: &output) }
    resampler.finish(into: &output)
    return output
  }
}
