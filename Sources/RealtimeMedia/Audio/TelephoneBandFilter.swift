/// The low-pass filter between the rate of G.711, 8 kHz, and the rate of the audio path, 48 kHz.
///
/// A windowed sinc (Kaiser, β = 5.65, about 60 dB) of 144 taps with its edge at 4 kHz: it passes what a telephone
/// passes, up to 3.4 kHz, and holds back the images from 4.6 kHz on. It delays by 71.5 samples at 48 kHz, 1.5 ms.
enum TelephoneBandFilter {
  /// 48 kHz over 8 kHz.
  static let factor = 6
  /// How many samples at 8 kHz one at 48 kHz depends on.
  static let tapsPerPhase = 24
  /// The number of taps.
  static let count = factor * tapsPerPhase

  /// The taps for a gain of one when samples are taken out; put in between, they need ``factor`` times that.
  static let taps: [Float] = {
    // sin(πx/6) at the odd multiples of one half, which are all that the sinc needs.
    let sines = [0.258_819_045_102_521, 0.707_106_781_186_548, 0.965_925_826_289_068]
    let quarter = sines + sines.reversed()
    let centre = Double(Self.count - 1) / 2
    var taps = (0..<Self.count).map { index -> Double in
      let x = Double(index) - centre
      let step = Int(x.magnitude)
      let sine = quarter[step % 6] * (step / 6 % 2 == 0 ? 1 : -1)
      let window = Self.bessel(5.65 * (1 - x * x / (centre * centre)).squareRoot())
      return sine / (x.magnitude * .pi / 6) * window
    }
    let sum = taps.reduce(0, +)
    for index in taps.indices { taps[index] /= sum }
    return taps.map { Float($0) }
  }()

  /// The modified Bessel function of the first kind and order zero.
  private static func bessel(_ x: Double) -> Double {
    var (sum, term) = (1.0, 1.0)
    for index in 1...30 {
      term *= x / 2 / Double(index) * (x / 2 / Double(index))
      sum += term
    }
    return sum
  }

  @inline(__always)
  static func sample(_ value: Float) -> Int16 {
    if value >= 32767 { return 32767 }
    if value <= -32768 { return -32768 }
    // Half up is as good as any other rounding here.
    return Int16(truncatingIfNeeded: Int32(value + 32768.5) - 32768)
  }
}

/// Brings a stream from 8 to 48 kHz.
struct TelephoneBandUpsampler: Sendable {
  private static let block = 160
  /// Six taps for each sample that is remembered, the oldest one first.
  private let taps: [Float]
  /// What the filter remembers, and behind it a block of input.
  private var window: [Float]

  init() {
    let (factor, length) = (TelephoneBandFilter.factor, TelephoneBandFilter.tapsPerPhase)
    let taps = TelephoneBandFilter.taps
    self.taps = (0..<TelephoneBandFilter.count).map { index in
      Float(factor) * taps[index % factor + factor * (length - 1 - index / factor)]
    }
    self.window = [Float](repeating: 0, count: length - 1 + Self.block)
  }

  /// Appends six samples for each one.
  mutating func process(_ input: ArraySlice<Int16>, into output: inout [Int16]) {
    let length = TelephoneBandFilter.tapsPerPhase
    var position = input.startIndex
    while position < input.endIndex {
      let count = min(Self.block, input.endIndex - position)
      self.window.withUnsafeMutableBufferPointer { window in
        self.taps.withUnsafeBufferPointer { taps in
          guard let window = window.baseAddress, let taps = taps.baseAddress else { return }
          var index = 0
          while index < count {
            window[length - 1 + index] = Float(input[position + index])
            Self.filter(window + index, taps, into: &output)
            index += 1
          }
          window.update(from: window + count, count: length - 1)
        }
      }
      position += count
    }
  }

  /// Six sums at once, which do not wait for each other.
  @inline(__always)
  private static func filter(
    _ window: UnsafePointer<Float>, _ taps: UnsafePointer<Float>, into output: inout [Int16]
  ) {
    var (a, b, c, d, e, f): (Float, Float, Float, Float, Float, Float) = (0, 0, 0, 0, 0, 0)
    var taps = taps
    var index = 0
    while index < TelephoneBandFilter.tapsPerPhase {
      let value = window[index]
      a += value * taps[0]
      b += value * taps[1]
      c += value * taps[2]
      d += value * taps[3]
      e += value * taps[4]
      f += value * taps[5]
      taps += 6
      index += 1
    }
    output.append(TelephoneBandFilter.sample(a))
    output.append(TelephoneBandFilter.sample(b))
    output.append(TelephoneBandFilter.sample(c))
    output.append(TelephoneBandFilter.sample(d))
    output.append(TelephoneBandFilter.sample(e))
    output.append(TelephoneBandFilter.sample(f))
  }
}

/// Brings a stream from 48 to 8 kHz.
struct TelephoneBandDownsampler: Sendable {
  private static let block = 960
  /// The filter is symmetric, so that its taps need not be reversed.
  private let taps = TelephoneBandFilter.taps
  private var window = [Float](
    repeating: 0, count: TelephoneBandFilter.count - 1 + TelephoneBandFilter.factor + Self.block)
  /// How many samples at the end of what is remembered were not yet part of an output.
  private var pending = 0

  /// Appends one sample for each six; what is left over waits for more.
  mutating func process(_ input: ArraySlice<Int16>, into output: inout [Int16]) {
    let (kept, factor) = (TelephoneBandFilter.count - 1, TelephoneBandFilter.factor)
    var position = input.startIndex
    while position < input.endIndex {
      let count = min(Self.block, input.endIndex - position)
      let total = self.pending + count
      let outputs = total / factor
      self.window.withUnsafeMutableBufferPointer { window in
        self.taps.withUnsafeBufferPointer { taps in
          guard let window = window.baseAddress, let taps = taps.baseAddress else { return }
          let target = window + kept + self.pending
          var index = 0
          while index < count {
            target[index] = Float(input[position + index])
            index += 1
          }
          index = 0
          while index < outputs {
            // The newest sample of an output is the last one of its six.
            output.append(Self.filter(window + (index * factor + factor - 1), taps))
            index += 1
          }
          window.update(from: window + outputs * factor, count: kept + total - outputs * factor)
        }
      }
      self.pending = total - outputs * factor
      position += count
    }
  }

  @inline(__always)
  private static func filter(_ window: UnsafePointer<Float>, _ taps: UnsafePointer<Float>) -> Int16 {
    var (a, b, c, d): (Float, Float, Float, Float) = (0, 0, 0, 0)
    var index = 0
    while index < TelephoneBandFilter.count {
      a += window[index] * taps[index]
      b += window[index + 1] * taps[index + 1]
      c += window[index + 2] * taps[index + 2]
      d += window[index + 3] * taps[index + 3]
      index += 4
    }
    return TelephoneBandFilter.sample(a + b + (c + d))
  }
}
