import Foundation
import Testing
import VoiceTesting

@testable import VoiceCommands

struct NoiseMixingTests {
  /// A tone that is silent in its first half.
  private let speech: [Int16] = (0..<16_384).map { $0 < 8_192 ? 0 : Int16(8_000 * sin(Double($0) * 0.2)) }

  private func decibels(_ signal: Double, _ noise: Double) -> Double { 10 * log10(signal / noise) }

  @Test func steadyNoiseIsMixedByMeanPower() {
    // Half of the speech is silence, so its mean power is 3 dB below that of its loudest frames.
    let speech = self.speech + [Int16](repeating: 0, count: self.speech.count)
    let noise = NoiseMixing.pinkNoise(count: speech.count, seed: 1)
    let peak = NoiseMixing.mixed(speech, with: noise, decibels: 10, level: .loudestFrame, seed: 2)
    let mean = NoiseMixing.mixed(speech, with: noise, decibels: 10, level: .mean, seed: 2)
    func quiet(_ samples: [Int16]) -> Double {
      let part = samples.suffix(self.speech.count)
      return part.reduce(0) { $0 + Double($1) * Double($1) }
        / samples.reduce(0) { $0 + Double($1) * Double($1) }
    }
    #expect(quiet(mean) < quiet(peak))
  }

  @Test(arguments: [-5, 0, 10, 24])
  func theLoudestFramesHaveTheRatio(ratio: Int) {
    let noise = NoiseMixing.pinkNoise(count: self.speech.count, seed: 1)
    let mixed = NoiseMixing.mixed(self.speech, with: noise, decibels: ratio, seed: 2)
    // The scale of the sum is that of the speech in it, found by projection.
    func product(_ left: [Int16], _ right: [Int16]) -> Double {
      zip(left, right).reduce(0) { $0 + Double($1.0) * Double($1.1) }
    }
    let (ss, nn, sn) = (product(self.speech, self.speech), product(noise, noise), product(self.speech, noise))
    let (ms, mn) = (product(mixed, self.speech), product(mixed, noise))
    let speechScale = (ms * nn - mn * sn) / (ss * nn - sn * sn)
    let noiseScale = (mn * ss - ms * sn) / (ss * nn - sn * sn)
    let measured = self.decibels(
      NoiseMixing.peakEnergy(of: self.speech) * speechScale * speechScale,
      NoiseMixing.peakEnergy(of: noise) * noiseScale * noiseScale)
    #expect(abs(measured - Double(ratio)) < 0.1)
  }

  @Test func theLoudestSampleIsHalfOfFullScale() {
    let loud = self.speech.map { $0 &* 4 }
    let mixed = NoiseMixing.mixed(
      loud, with: NoiseMixing.pinkNoise(count: 20_000, seed: 1), decibels: 0, seed: 2)
    #expect(mixed.map { abs(Int($0)) }.max() == 16_384)
  }

  @Test func theSameSeedGivesTheSameAudio() {
    let noise = NoiseMixing.pinkNoise(count: 40_000, seed: 1)
    let first = NoiseMixing.mixed(self.speech, with: noise, decibels: 10, seed: 2)
    #expect(first == NoiseMixing.mixed(self.speech, with: noise, decibels: 10, seed: 2))
    #expect(first != NoiseMixing.mixed(self.speech, with: noise, decibels: 10, seed: 3))
    #expect(noise != NoiseMixing.pinkNoise(count: 40_000, seed: 2))
  }

  @Test func shortNoiseIsRepeatedAndNoneChangesNothing() {
    let mixed = NoiseMixing.mixed(self.speech, with: [1_000, -1_000, 500], decibels: 10, seed: 1)
    #expect(mixed.count == self.speech.count)
    #expect(mixed[4_000] != 0)
    #expect(NoiseMixing.mixed(self.speech, with: [], decibels: 10, seed: 1) == self.speech)
    #expect(NoiseMixing.mixed(self.speech, with: [0, 0], decibels: 10, seed: 1) == self.speech)
    #expect(NoiseMixing.mixed([], with: [1], decibels: 10, seed: 1).isEmpty)
  }

  @Test func framesThatAreNotWholeDoNotCount() {
    #expect(NoiseMixing.peakEnergy(of: [3, 4]) == 25)
    #expect(NoiseMixing.peakEnergy(of: []) == 0)
    let loudEnd = [Int16](repeating: 1, count: 2_048) + [Int16](repeating: 100, count: 2_047)
    #expect(NoiseMixing.peakEnergy(of: loudEnd) == 2_048)
    #expect(NoiseMixing.peakEnergy(of: loudEnd + [100]) == 2_048 * 10_000)
  }

  @Test func pinkNoiseFallsByThreeDecibelsPerOctave() {
    let noise = NoiseMixing.pinkNoise(count: 1 << 16, seed: 5).map(Double.init)
    /// The mean power of the lines around a frequency.
    func power(_ frequency: Double) -> Double {
      var sum = 0.0
      let lines = 40
      for line in 0..<lines {
        let step = 2 * Double.pi * frequency * (1 + Double(line - lines / 2) * 0.004) / 16_000
        var (real, imaginary) = (0.0, 0.0)
        for (index, sample) in noise.enumerated() {
          real += sample * cos(step * Double(index))
          imaginary += sample * sin(step * Double(index))
        }
        sum += real * real + imaginary * imaginary
      }
      return sum / Double(lines)
    }
    #expect(abs(self.decibels(power(400), power(3_200)) - 9) < 3)
  }

  @Test func aTelephoneKeepsItsBandOnly() throws {
    func level(_ frequency: Double) throws -> Double {
      let tone = (0..<16_000).map { Int16(8_000 * sin(2 * .pi * frequency * Double($0) / 16_000)) }
      let audio = try NoiseMixing.telephone(tone, sampleRate: 16_000)
      #expect(audio.sampleRate == 8_000)
      #expect(audio.samples.count == 8_000)
      let energy = audio.samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(audio.samples.count)
      return self.decibels(energy, 32_000_000)
    }
    #expect(try abs(level(1_000)) < 0.5)
    #expect(try level(60) < -20)
    #expect(try level(6_000) < -20)
  }

  @Test func muLawKeepsTheValuesOfTheStandard() {
    // The decoded levels of ITU-T G.711 table 2, at 16 bits.
    #expect(MuLaw.quantized(0) == 0)
    #expect(MuLaw.quantized(7) == 8)
    #expect(MuLaw.quantized(-7) == -8)
    #expect(MuLaw.quantized(1_000) == 988)
    #expect(MuLaw.quantized(.max) == 32_124)
    #expect(MuLaw.quantized(.min) == -32_124)
    #expect(Set((Int16.min...Int16.max).map(MuLaw.quantized)).count == 255)
  }
}
