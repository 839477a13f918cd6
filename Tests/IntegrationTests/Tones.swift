import CallMedia
import Foundation

/// Tones to send through calls, and how much of them arrives.
enum Tones {
  /// A sine at 48 kHz.
  static func sine(_ frequency: Double, samples count: Int, level: Double = 0.3) -> [Int16] {
    (0..<count).map { Int16(level * 32_767 * sin(2 * .pi * frequency * Double($0) / 48_000)) }
  }

  /// The share of the energy that lies at a frequency, from 0 to 1 (Goertzel).
  static func share(of frequency: Double, in samples: ArraySlice<Int16>) -> Double {
    guard samples.count > 1 else { return 0 }
    let coefficient = 2 * cos(2 * .pi * frequency / 48_000)
    var (first, second, energy) = (0.0, 0.0, 0.0)
    for sample in samples {
      let value = Double(sample)
      (first, second) = (value + coefficient * first - second, first)
      energy += value * value
    }
    guard energy > 0 else { return 0 }
    let power = first * first + second * second - coefficient * first * second
    return 2 * power / (energy * Double(samples.count))
  }

  /// The energy per sample.
  static func power(of samples: ArraySlice<Int16>) -> Double {
    samples.isEmpty ? 0 : samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(samples.count)
  }
}

extension CallAudio {
  /// Waits until a fifth of a second in a row is nearly nothing but a tone.
  ///
  /// - Parameter found: Is told the share of the tone in each piece that is not.
  /// - Returns: False if the call ended first.
  func hears(
    _ frequency: Double, share: Double = 0.95, found: (Double) -> Void = { _ in }
  ) async -> Bool {
    var window: [Int16] = []
    for await frame in self.frames {
      window.append(contentsOf: frame.samples)
      guard window.count >= 9_600 else { continue }
      let present = Tones.share(of: frequency, in: window[...])
      if Tones.power(of: window[...]) > 1e5, present > share { return true }
      found(present)
      window = []
    }
    return false
  }

  /// Waits for half a second of nearly nothing.
  ///
  /// - Parameter power: What counts as nothing.
  /// - Returns: False if the call ended first.
  func isSilent(below power: Double = 1e4) async -> Bool {
    var quiet = 0
    for await frame in self.frames {
      quiet = Tones.power(of: frame.samples[...]) < power ? quiet + frame.samples.count : 0
      if quiet >= 24_000 { return true }
    }
    return false
  }
}
