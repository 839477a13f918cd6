import Foundation
import Testing

@testable import PocketSphinxRecognition

struct HighBandMeterTests {
  private func tone(_ frequency: Double, amplitude: Double = 10_000, count: Int = 16_000) -> [Int16] {
    (0..<count).map { Int16(amplitude * sin(2 * .pi * frequency * Double($0) / 16_000)) }
  }

  private func levels(_ samples: [Int16], block: Int = 1280) -> SignalLevels {
    var meter = HighBandMeter()
    for start in stride(from: 0, to: samples.count, by: block) {
      samples[start..<min(start + block, samples.count)].withUnsafeBufferPointer { meter.heard($0) }
    }
    return meter.levels
  }

  @Test func whatIsTooShortToTellHasNoLevel() {
    #expect(self.levels([]) == .unknown)
    #expect(self.levels([Int16](repeating: .max, count: 30)) == .unknown)
    #expect(self.levels([Int16](repeating: .min, count: 31)) != .unknown)
  }

  @Test func digitalSilenceIsSilent() {
    #expect(self.levels([Int16](repeating: 0, count: 16_000)) == .unknown)
  }

  @Test func fullScaleIsFinite() {
    let square = (0..<16_000).map { $0.isMultiple(of: 2) ? Int16.max : Int16.min }
    #expect(abs(self.levels(square).speech - 32_768) < 500)
  }

  @Test(arguments: [5500.0, 6500, 7500])
  func highTonesKeepTheirLevel(frequency: Double) {
    #expect(abs(self.levels(self.tone(frequency)).speech - 7071) < 350)
  }

  @Test(arguments: [100.0, 1000, 2500, 3000])
  func whatATelephoneCarriesIsLeftOut(frequency: Double) {
    #expect(self.levels(self.tone(frequency)).speech < 15)
  }

  @Test func theLoudestAndTheQuietestStepAreTold() {
    let levels = self.levels(self.tone(6500) + self.tone(6500, amplitude: 100) + self.tone(6500))
    #expect(abs(levels.speech - 7071) < 350)
    #expect(abs(levels.noise - 71) < 5)
  }

  @Test func oneSampleAtATimeIsHeardToo() {
    #expect(self.levels(self.tone(6500, count: 2000), block: 1).speech > 7000)
  }
}
