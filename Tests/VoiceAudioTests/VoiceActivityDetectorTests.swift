import Testing
import VoiceCore

@testable import VoiceAudio

struct VoiceActivityDetectorTests {
  private func tone(_ length: Int, level: Int16) -> [Int16] {
    (0..<length).map { $0 % 32 < 16 ? level : -level }
  }

  private func run(_ audio: [Int16], block: Int = 160, detector: inout EnergyActivityDetector) throws
    -> [Bool]
  {
    try stride(from: 0, to: audio.count, by: block).map { start in
      try audio[start..<min(start + block, audio.count)].withUnsafeBufferPointer { try detector.process($0) }
    }
  }

  @Test(arguments: [0, 1, 159, 160, 16_000])
  func silenceIsSilence(length: Int) throws {
    var detector = EnergyActivityDetector()
    let speech = try run([Int16](repeating: 0, count: length), detector: &detector)
    #expect(!speech.contains(true))
  }

  @Test func extremeSamplesDoNoHarm() throws {
    var detector = EnergyActivityDetector()
    _ = try run(
      [Int16](repeating: .min, count: 1600) + [Int16](repeating: .max, count: 1600), detector: &detector)
    let before = try run([0], detector: &detector)
    let after = try detector.process(UnsafeBufferPointer(start: nil, count: 0))
    #expect(before == [after])
  }

  @Test func steadyNoiseIsSilence() throws {
    var detector = EnergyActivityDetector()
    let speech = try run(tone(64_000, level: 300), detector: &detector)
    #expect(!speech.contains(true))
  }

  @Test func speechBeginsAfterTheOnsetAndEndsAfterTheHangover() throws {
    var detector = EnergyActivityDetector()
    let audio = tone(8000, level: 20) + tone(16_000, level: 5000) + tone(16_000, level: 20)
    let speech = try run(audio, detector: &detector)
    #expect(speech.firstIndex(of: true) == 50 + 5)
    #expect(speech.lastIndex(of: true) == 50 + 100 + 28)
    #expect(detector.hangover == .milliseconds(300))
  }

  @Test func aClickIsNoSpeech() throws {
    var detector = EnergyActivityDetector()
    let audio = tone(8000, level: 20) + tone(480, level: 20_000) + tone(8000, level: 20)
    let speech = try run(audio, detector: &detector)
    #expect(!speech.contains(true))
  }

  @Test(arguments: [1, 7, 159, 161, 1600])
  func theEndStateDoesNotDependOnTheBlocks(block: Int) throws {
    let audio = tone(8000, level: 20) + tone(9000, level: 5000)
    var detector = EnergyActivityDetector()
    let speech = try run(audio, block: block, detector: &detector)
    #expect(speech.last == true)
    detector.reset()
    let again = try run(audio, block: block, detector: &detector)
    #expect(again == speech)
  }
}
