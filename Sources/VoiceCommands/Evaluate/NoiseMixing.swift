import Foundation
import VoiceAudio
import VoiceCore
import VoiceTesting

/// What brings recordings into other circumstances. The same seed gives the same audio.
enum NoiseMixing {
  /// The length of the frames whose energies are compared.
  static let frameLength = 2_048

  /// What of speech and noise is compared.
  enum Level: Hashable, Sendable {
    /// The loudest frames, as the public Speech-to-Intent benchmark does; for noise that comes and goes.
    case loudestFrame
    /// The mean power of the whole recordings, as is usual for steady noise.
    case mean

    func energy(of samples: [Int16]) -> Double {
      switch self {
      case .loudestFrame: NoiseMixing.peakEnergy(of: samples)
      case .mean: samples.reduce(0) { $0 + Double($1) * Double($1) }
      }
    }
  }

  /// The energy of the loudest frame; of a signal that is shorter than a frame, that of the whole.
  static func peakEnergy(of samples: [Int16]) -> Double {
    var loudest = 0.0
    var start = 0
    repeat {
      let end = min(start + Self.frameLength, samples.count)
      var energy = 0.0
      for index in start..<end { energy += Double(samples[index]) * Double(samples[index]) }
      loudest = max(loudest, energy)
      start = end
      // What is left over at the end is no frame.
    } while start + Self.frameLength <= samples.count
    return loudest
  }

  /// Adds noise so that the ratio of the levels is a number of decibels.
  ///
  /// Noise that is shorter than the speech is repeated. Which part of longer noise is taken depends on the seed. The sum
  /// is scaled so that its loudest sample is half of full scale. This is how the public Speech-to-Intent benchmark mixes
  /// (its `benchmark/mixer.py`), so that figures can be compared.
  static func mixed(
    _ speech: [Int16], with noise: [Int16], decibels: Int, level: Level = .loudestFrame, seed: UInt64
  )
    -> [Int16]
  {
    guard !noise.isEmpty, !speech.isEmpty else { return speech }
    var generator = SeededGenerator(seed: seed)
    let start = Int.random(in: 0...max(0, noise.count - speech.count), using: &generator)
    let part = speech.indices.map { noise[(start + $0) % noise.count] }
    let noiseEnergy = level.energy(of: part)
    guard noiseEnergy > 0 else { return speech }
    let factor = (level.energy(of: speech) / noiseEnergy / pow(10, Double(decibels) / 10)).squareRoot()
    let sum = zip(speech, part).map { Double($0) + factor * Double($1) }
    let peak = sum.reduce(0) { max($0, abs($1)) }
    let scale = peak > 0 ? 16_384 / peak : 1
    return sum.map { Int16(($0 * scale).rounded()) }
  }

  /// Noise whose power falls by 3 dB per octave.
  ///
  /// White noise through the filter of Paul Kellet, which is within 0.05 dB of that above 10 Hz at 44.1 kHz and shifted
  /// accordingly at other rates.
  static func pinkNoise(count: Int, seed: UInt64) -> [Int16] {
    var generator = SeededGenerator(seed: seed)
    var states = [Double](repeating: 0, count: 7)
    return (0..<max(0, count)).map { _ in
      let white = Double.random(in: -1...1, using: &generator)
      states[0] = 0.99886 * states[0] + white * 0.0555179
      states[1] = 0.99332 * states[1] + white * 0.0750759
      states[2] = 0.96900 * states[2] + white * 0.1538520
      states[3] = 0.86650 * states[3] + white * 0.3104856
      states[4] = 0.55000 * states[4] + white * 0.5329522
      states[5] = -0.7616 * states[5] - white * 0.0168980
      let pink = states.reduce(0, +) + white * 0.5362
      states[6] = white * 0.115926
      return Int16(max(-32_768, min(32_767, pink * 3_000)))
    }
  }

  /// The audio as an 8 kHz telephone line delivers it.
  static func telephone(_ samples: [Int16], sampleRate: Int) throws(VoiceFailure) -> EvaluationAudio {
    var band = samples.map(Double.init)
    Biquad.highPass(300, sampleRate: sampleRate).apply(to: &band)
    Biquad.lowPass(3_400, sampleRate: sampleRate).apply(to: &band)
    Biquad.lowPass(3_400, sampleRate: sampleRate).apply(to: &band)
    let floats = band.map { Float($0) }
    let resampler = try Resampler(from: sampleRate, to: 8_000)
    var narrow: [Float] = []
    floats.withUnsafeBufferPointer { resampler.process($0, into: &narrow) }
    resampler.finish(into: &narrow)
    return EvaluationAudio(
      samples: narrow.map { MuLaw.quantized(Int16(max(-32_768, min(32_767, $0.rounded())))) },
      sampleRate: 8_000)
  }
}

/// The µ-law of ITU-T G.711, as a round trip through its 256 values.
enum MuLaw {
  private static let bias = 132
  private static let limit = 32_635

  /// The sample as it comes out of a decoder.
  static func quantized(_ sample: Int16) -> Int16 {
    let magnitude = min(abs(Int(sample)), Self.limit) + Self.bias
    // The position of the highest bit, which is from 7 to 14, is the segment; four bits below it are kept.
    let exponent = Int.bitWidth - 1 - magnitude.leadingZeroBitCount - 7
    let mantissa = (magnitude >> (exponent + 3)) & 0x0F
    let decoded = (((mantissa << 3) + Self.bias) << exponent) - Self.bias
    return Int16(clamping: sample < 0 ? -decoded : decoded)
  }
}

/// A second-order filter (Robert Bristow-Johnson's cookbook, Butterworth).
struct Biquad {
  private var b0: Double
  private var b1: Double
  private var b2: Double
  private var a1: Double
  private var a2: Double

  static func lowPass(_ frequency: Double, sampleRate: Int) -> Biquad {
    let (cosine, alpha) = Self.angle(frequency, sampleRate)
    return Biquad((1 - cosine) / 2, 1 - cosine, (1 - cosine) / 2, cosine, alpha)
  }

  static func highPass(_ frequency: Double, sampleRate: Int) -> Biquad {
    let (cosine, alpha) = Self.angle(frequency, sampleRate)
    return Biquad((1 + cosine) / 2, -(1 + cosine), (1 + cosine) / 2, cosine, alpha)
  }

  private static func angle(_ frequency: Double, _ sampleRate: Int) -> (cosine: Double, alpha: Double) {
    let omega = 2 * Double.pi * frequency / Double(sampleRate)
    return (cos(omega), sin(omega) / 2.0.squareRoot())
  }

  private init(_ b0: Double, _ b1: Double, _ b2: Double, _ cosine: Double, _ alpha: Double) {
    let a0 = 1 + alpha
    self.b0 = b0 / a0
    self.b1 = b1 / a0
    self.b2 = b2 / a0
    self.a1 = -2 * cosine / a0
    self.a2 = (1 - alpha) / a0
  }

  func apply(to samples: inout [Double]) {
    var (x1, x2, y1, y2) = (0.0, 0.0, 0.0, 0.0)
    for index in samples.indices {
      let x = samples[index]
      let y = self.b0 * x + self.b1 * x1 + self.b2 * x2 - self.a1 * y1 - self.a2 * y2
      (x2, x1, y2, y1) = (x1, x, y1, y)
      samples[index] = y
    }
  }
}
