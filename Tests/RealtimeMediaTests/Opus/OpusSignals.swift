import CMediaOpus
import Foundation
import RealtimeMedia

/// Sounds, and what is left of them.
enum OpusSignals {
  static let frame = 960

  static func tone(_ frequency: Double, count: Int, level: Double = 10_000) -> [Int16] {
    (0..<count).map { Int16(level * sine(frequency * Double($0) / 48_000)) }
  }

  /// A voice that says one vowel with a wandering pitch: harmonics under two formants, in syllables; at most 4 s.
  static func voice(count: Int) -> [Int16] { Array(self.wholeVoice.prefix(count)) }

  private static let wholeVoice: [Int16] = {
    var phase = 0.0
    return (0..<192_000).map { index in
      let time = Double(index) / 48_000
      phase += (130 + 25 * sine(0.7 * time)) / 48_000
      let loudness = 0.65 + 0.35 * sine(3 * time)
      var value = 0.0
      for harmonic in 1...24 {
        let frequency = 130 * Double(harmonic)
        let weight = 1 / (1 + square((frequency - 600) / 250)) + 0.5 / (1 + square((frequency - 1700) / 300))
        value += weight * sine(phase * Double(harmonic) + 0.37 * Double(harmonic * harmonic))
      }
      return Int16(max(-32_000, min(32_000, 3000 * loudness * value)))
    }
  }()

  private static func square(_ value: Double) -> Double { value * value }

  /// The sine of a number of turns.
  static func sine(_ turns: Double) -> Double { sin(turns * 2 * .pi) }

  /// The mean power of samples.
  static func power(_ samples: ArraySlice<Int16>) -> Double {
    samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count))
  }

  /// How much of the power of samples one frequency has, from 0 to 1, and its level.
  static func share(of frequency: Double, in samples: ArraySlice<Int16>) -> (share: Double, level: Double) {
    var real = 0.0
    var imaginary = 0.0
    for (index, sample) in samples.enumerated() {
      let turns = frequency * Double(index) / 48_000
      real += Double(sample) * sine(turns + 0.25)
      imaginary += Double(sample) * sine(turns)
    }
    let count = Double(samples.count)
    let level = 2 * (real * real + imaginary * imaginary).squareRoot() / count
    return (level * level / 2 / power(samples), level)
  }

  /// The packets of a signal.
  static func packets(_ samples: [Int16], frame: Int = frame, by encoder: OpusEncoder) throws -> [[UInt8]] {
    try stride(from: 0, to: samples.count - frame + 1, by: frame).map { start in
      var payload: [UInt8] = []
      _ = try encoder.encode(samples[start..<start + frame], into: &payload)
      return payload
    }
  }

  /// Packets of two channels, which the encoder of this project does not make.
  static func stereoPackets(left: [Int16], right: [Int16]) -> [[UInt8]] {
    guard let encoder = opus_encoder_create(48_000, 2, OPUS_APPLICATION_AUDIO, nil) else { return [] }
    defer { opus_encoder_destroy(encoder) }
    return stride(from: 0, to: left.count - frame + 1, by: frame).map { start in
      let input = (start..<start + frame).flatMap { [left[$0], right[$0]] }
      var payload = [UInt8](repeating: 0, count: 1275)
      let count = opus_encode(encoder, input, Int32(frame), &payload, Int32(payload.count))
      return Array(payload.prefix(max(0, Int(count))))
    }
  }
}
