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
  static func sample(_ value: Float) -> Int16 { Int16(min(32767, max(-32768, value.rounded()))) }

  /// Eight numbers at any place.
  @inline(__always)
  static func load(_ values: UnsafeRawPointer, at index: Int) -> SIMD8<Float> {
    values.loadUnaligned(fromByteOffset: index * MemoryLayout<Float>.stride, as: SIMD8<Float>.self)
  }
}

/// Brings a stream from 8 to 48 kHz.
struct TelephoneBandUpsampler: Sendable {
  private static let block = 160
  /// For each of the six phases the taps in reversed order, eight at a time.
  private let phases: [SIMD8<Float>]
  /// What the filter remembers, and behind it a block of input.
  private var window: [Float]

  init() {
    let (factor, length) = (TelephoneBandFilter.factor, TelephoneBandFilter.tapsPerPhase)
    let taps = TelephoneBandFilter.taps
    var phases: [SIMD8<Float>] = []
    for phase in 0..<factor {
      for start in stride(from: 0, to: length, by: 8) {
        var vector = SIMD8<Float>()
        for lane in 0..<8 {
          vector[lane] = Float(factor) * taps[phase + factor * (length - 1 - start - lane)]
        }
        phases.append(vector)
      }
    }
    self.phases = phases
    self.window = [Float](repeating: 0, count: length - 1 + Self.block)
  }

  /// Appends six samples for each one.
  mutating func process(_ input: ArraySlice<Int16>, into output: inout [Int16]) {
    let kept = TelephoneBandFilter.tapsPerPhase - 1
    var position = input.startIndex
    while position < input.endIndex {
      let count = min(Self.block, input.endIndex - position)
      self.window.withUnsafeMutableBufferPointer { window in
        for index in 0..<count { window[kept + index] = Float(input[position + index]) }
        let values = UnsafeRawPointer(window.baseAddress)
        self.phases.withUnsafeBufferPointer { taps in
          guard let values else { return }
          for index in 0..<count {
            let first = TelephoneBandFilter.load(values, at: index)
            let second = TelephoneBandFilter.load(values, at: index + 8)
            let third = TelephoneBandFilter.load(values, at: index + 16)
            for phase in 0..<TelephoneBandFilter.factor {
              let sum = first * taps[phase * 3] + second * taps[phase * 3 + 1] + third * taps[phase * 3 + 2]
              output.append(TelephoneBandFilter.sample(sum.sum()))
            }
          }
        }
        for index in 0..<kept { window[index] = window[count + index] }
      }
      position += count
    }
  }
}

/// Brings a stream from 48 to 8 kHz.
struct TelephoneBandDownsampler: Sendable {
  private static let block = 960
  private let taps: [SIMD8<Float>]
  private var window: [Float]
  /// How many samples at the end of what is remembered were not yet part of an output.
  private var pending = 0

  init() {
    // The filter is symmetric, so that its taps need not be reversed.
    let taps = TelephoneBandFilter.taps
    self.taps = stride(from: 0, to: TelephoneBandFilter.count, by: 8).map { start in
      var vector = SIMD8<Float>()
      for lane in 0..<8 { vector[lane] = taps[start + lane] }
      return vector
    }
    self.window = [Float](
      repeating: 0, count: TelephoneBandFilter.count - 1 + TelephoneBandFilter.factor + Self.block)
  }

  /// Appends one sample for each six; what is left over waits for more.
  mutating func process(_ input: ArraySlice<Int16>, into output: inout [Int16]) {
    let (kept, factor) = (TelephoneBandFilter.count - 1, TelephoneBandFilter.factor)
    var position = input.startIndex
    while position < input.endIndex {
      let count = min(Self.block, input.endIndex - position)
      let pending = self.pending
      self.window.withUnsafeMutableBufferPointer { window in
        for index in 0..<count { window[kept + pending + index] = Float(input[position + index]) }
        let outputs = (pending + count) / factor
        let values = UnsafeRawPointer(window.baseAddress)
        self.taps.withUnsafeBufferPointer { taps in
          guard let values else { return }
          for index in 0..<outputs {
            // The newest sample of an output is the last one of its six.
            let start = index * factor + factor - 1
            var sum = SIMD8<Float>()
            for group in 0..<taps.count {
              sum += TelephoneBandFilter.load(values, at: start + group * 8) * taps[group]
            }
            output.append(TelephoneBandFilter.sample(sum.sum()))
          }
        }
        let used = outputs * factor
        for index in 0..<(kept + pending + count - used) { window[index] = window[used + index] }
        self.pending = pending + count - used
      }
      position += count
    }
  }
}
