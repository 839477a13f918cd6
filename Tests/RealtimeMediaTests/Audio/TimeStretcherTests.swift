import RealtimeMedia
import Testing
import VoiceTesting

@Suite struct TimeStretcherTests {
  @Test func whatCannotBeStretchedStaysAsItIs() {
    var stretcher = TimeStretcher()
    for (count, limit) in [(0, 100), (1, 1), (100, 1000), (960, 0), (960, -5), (960, Int.min), (960, 119)] {
      let samples = Sound.tone(440, count: count)
      var changed = samples
      #expect(stretcher.shorten(&changed, by: limit) == 0 && changed == samples)
      #expect(stretcher.lengthen(&changed, by: limit) == 0 && changed == samples)
    }
    var all = [Int16](repeating: .min, count: 960)
    let gone = stretcher.shorten(&all, by: .max)
    #expect(gone > 0 && all.count == 960 - gone && all.allSatisfy { $0 == .min })
    var odd = TimeStretcher(sampleRate: -7)
    #expect(odd.lengthen(&all, by: 60) <= 60)
  }

  @Test func lengthsChangeAsIsSaid() {
    var random = SeededGenerator(seed: 5)
    var stretcher = TimeStretcher()
    for _ in 0..<100 {
      let count = Int.random(in: 0...3000, using: &random)
      let limit = Int.random(in: 0...1000, using: &random)
      let level = Double.random(in: 0...1, using: &random)
      var samples = Sound.vowel(
        pitch: Int.random(in: 70...300, using: &random), level: level, count: count)
      let gone = stretcher.shorten(&samples, by: limit)
      #expect(gone >= 0 && gone <= limit && samples.count == count - gone)
      let more = stretcher.lengthen(&samples, by: limit)
      #expect(more >= 0 && more <= limit && samples.count == count - gone + more)
    }
  }

  /// Stretches a sound frame by frame, all the time.
  static func stretch(_ sound: [Int16], shorter: Bool, frame: Int = 960) -> (samples: [Int16], changed: Int) {
    var stretcher = TimeStretcher()
    var output: [Int16] = []
    var changed = 0
    for start in stride(from: 0, to: sound.count - frame, by: frame) {
      var block = Array(sound[start..<start + frame])
      changed += shorter ? stretcher.shorten(&block, by: 720) : stretcher.lengthen(&block, by: 720)
      output += block
    }
    return (output, changed)
  }

  @Test(arguments: [true, false])
  func aToneKeepsItsPitchAndHasNoClicks(shorter: Bool) {
    for frequency in [180, 440, 1000, 3000] {
      let sound = Sound.tone(frequency, count: 48000)
      let (samples, changed) = Self.stretch(sound, shorter: shorter)
      #expect(changed > 9000, "\(frequency) Hz: \(changed)")
      #expect(samples.count == 47040 + (shorter ? -changed : changed))
      let range = frequency - 20...frequency + 20
      #expect(abs(Sound.pitch(of: samples[2000..<10000], in: range) - frequency) <= 6)
      let limit = Sound.roughness(sound[...]) * 1.3 + 0.01
      #expect(Sound.roughness(samples[...]) < limit, "\(frequency) Hz: \(Sound.roughness(samples[...]))")
      #expect(abs(Sound.rms(samples[...]) / Sound.rms(sound[...]) - 1) < 0.05)
    }
  }

  @Test(arguments: [true, false])
  func aVowelKeepsItsPitch(shorter: Bool) {
    for pitch in [90, 140, 220] {
      let sound = Sound.vowel(pitch: pitch, count: 48000)
      let (samples, changed) = Self.stretch(sound, shorter: shorter)
      #expect(changed > 9000, "\(pitch) Hz: \(changed)")
      #expect(abs(Sound.pitch(of: samples[2000..<10000], in: pitch - 14...pitch + 14) - pitch) <= 3)
      #expect(Sound.roughness(samples[...]) < Sound.roughness(sound[...]) * 1.3 + 0.01)
    }
  }

  @Test func soundWithoutAnyPeriodIsLeftAloneAtFirstButNotForever() {
    var random = SeededGenerator(seed: 7)
    var stretcher = TimeStretcher()
    var changes: [Int] = []
    for _ in 0..<60 {
      var block = (0..<960).map { _ in Int16.random(in: -8000...8000, using: &random) }
      changes.append(stretcher.shorten(&block, by: 720))
    }
    #expect(changes.prefix(15).allSatisfy { $0 == 0 }, "\(changes)")
    #expect(changes.contains { $0 > 0 }, "\(changes)")
  }

  @Test func silenceIsStretchedAsFarAsIsAsked() {
    var stretcher = TimeStretcher()
    var block = [Int16](repeating: 3, count: 960)
    #expect(stretcher.shorten(&block, by: 600) == 600)
    #expect(stretcher.lengthen(&block, by: 250) == 250)
    #expect(block.count == 610)
  }
}
