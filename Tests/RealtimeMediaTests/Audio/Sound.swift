import Foundation

/// Makes and measures test sounds at 48 kHz.
enum Sound {
  static let rate = 48000.0

  /// A second of a sine of 1 Hz.
  private static let sine = (0..<48000).map { sin(2 * .pi * Double($0) / Self.rate) }

  /// A sine of a whole frequency and a level from 0 to 1, from a sample on.
  static func tone(_ frequency: Int, level: Double = 0.3, from start: Int = 0, count: Int) -> [Int16] {
    Self.sum([(frequency, level * 32767)], from: start, count: count)
  }

  /// Something like a vowel: harmonics of a pitch.
  static func vowel(pitch: Int, level: Double = 0.3, from start: Int = 0, count: Int) -> [Int16] {
    let harmonics = (1...8).map { ($0 * pitch, level * 32767 / 2 / Double($0)) }
    return Self.sum(harmonics, from: start, count: count)
  }

  private static func sum(_ sines: [(frequency: Int, level: Double)], from start: Int, count: Int) -> [Int16]
  {
    var values = [Double](repeating: 0, count: count)
    Self.sine.withUnsafeBufferPointer { table in
      values.withUnsafeMutableBufferPointer { values in
        for (frequency, level) in sines {
          var phase = start * frequency % 48000
          var index = 0
          while index < count {
            values[index] += table[phase] * level
            phase += frequency
            if phase >= 48000 { phase -= 48000 }
            index += 1
          }
        }
      }
    }
    return values.map { Int16($0.rounded()) }
  }

  /// The amplitude of a frequency, from 0 to 1 (Goertzel with a Hann window).
  static func amplitude(of frequency: Double, in samples: ArraySlice<Int16>) -> Double {
    let count = samples.count
    guard count > 1 else { return 0 }
    var (real, imaginary, sum) = (0.0, 0.0, 0.0)
    for (index, sample) in samples.enumerated() {
      let window = 0.5 - 0.5 * cos(2 * .pi * Double(index) / Double(count - 1))
      let phase = 2 * .pi * frequency * Double(index) / Self.rate
      real += Double(sample) * window * cos(phase)
      imaginary += Double(sample) * window * sin(phase)
      sum += window
    }
    return 2 * (real * real + imaginary * imaginary).squareRoot() / sum / 32767
  }

  /// The share of the energy that a sine of this frequency, fitted with all of it, leaves over; near 0 for a pure tone.
  static func impurity(_ frequency: Double, in samples: ArraySlice<Int16>) -> Double {
    let count = Double(samples.count)
    guard count > 0 else { return 1 }
    var (sine, cosine, energy) = (0.0, 0.0, 0.0)
    for (index, sample) in samples.enumerated() {
      let phase = 2 * .pi * frequency * Double(index) / Self.rate
      sine += Double(sample) * sin(phase)
      cosine += Double(sample) * cos(phase)
      energy += Double(sample) * Double(sample)
    }
    guard energy > 0 else { return 1 }
    let fitted = 2 * (sine * sine + cosine * cosine) / count
    return max(0, 1 - fitted / energy)
  }

  /// The strongest frequency between two, in steps of 2 Hz.
  static func pitch(of samples: ArraySlice<Int16>, in range: ClosedRange<Int>) -> Int {
    var best = (frequency: 0, amplitude: 0.0)
    for frequency in stride(from: range.lowerBound, through: range.upperBound, by: 2) {
      let amplitude = Self.amplitude(of: Double(frequency), in: samples)
      if amplitude > best.amplitude { best = (frequency, amplitude) }
    }
    return best.frequency
  }

  static func rms(_ samples: ArraySlice<Int16>) -> Double {
    let energy = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
    return (energy / Double(max(1, samples.count))).squareRoot() / 32767
  }

  /// The largest second difference, from 0: a click is a large one, a tone has its amplitude times (2πf/48000)².
  static func roughness(_ samples: ArraySlice<Int16>) -> Double {
    let samples = Array(samples)
    guard samples.count > 2 else { return 0 }
    return (2..<samples.count).reduce(0.0) { largest, index in
      let second = Int(samples[index]) - 2 * Int(samples[index - 1]) + Int(samples[index - 2])
      return max(largest, Double(second.magnitude) / 32767)
    }
  }
}
