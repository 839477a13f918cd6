/// Makes up what is missing in a stream at 8 kHz by repeating its last periods (in the spirit of ITU-T G.711 appendix I).
///
/// The first 10 ms repeat one period, the next 10 ms two, then three, so that nothing beeps; from 10 ms on it fades,
/// and after 60 ms there is silence. The beginning is shifted to meet the last sample, and what comes next is faded in
/// over the continuation. Unlike in the appendix the output is not delayed.
struct PitchConcealer: Sendable {
  /// 66 to 200 Hz; higher voices repeat several periods.
  private static let lags = 40...120
  private static let window = 160
  /// Three of the longest periods, and a quarter of one.
  private static let length = 400
  private static let fadeStart = 80
  private static let fadeLength = 400
  static let longestMerge = 80

  /// What was played last.
  private var history = [Int16](repeating: 0, count: Self.length)
  /// What had been played when the gap began.
  private var source = [Int16](repeating: 0, count: Self.length)
  private var gap: Gap?

  private struct Gap: Sendable {
    var period: Int
    /// How much was made up.
    var produced = 0
    /// The place in the pass, and how many periods this pass and the next one have.
    var position = 0
    var periods = 1
    var next = 1
    /// How far the last sample was from where the repetition would have begun.
    var offset: Float
  }

  /// Takes samples that came: fades them in behind a gap, and remembers them.
  mutating func play(_ samples: inout [Int16]) {
    if let gap = self.gap {
      // A quarter of a period, and 4 ms for each 10 ms that were made up.
      let length = min(samples.count, Self.longestMerge, gap.period / 4 + gap.produced * 2 / 5)
      for index in 0..<length {
        let weight = Float(index + 1) / Float(length + 1)
        let made = Float(self.nextSample())
        samples[index] = TelephoneBandFilter.sample(made + (Float(samples[index]) - made) * weight)
      }
      self.gap = nil
    }
    self.remember(samples[...])
  }

  /// Appends samples that are made up.
  mutating func conceal(_ count: Int, into samples: inout [Int16]) {
    let start = samples.count
    self.begin()
    for _ in 0..<count { samples.append(self.nextSample()) }
    self.remember(samples[start...])
  }

  /// Says that the next samples do not follow the last ones, so that the two are faded.
  mutating func begin() {
    guard self.gap == nil else { return }
    for index in 0..<Self.length { self.source[index] = self.history[index] }
    let period = Self.period(of: self.source)
    let offset = Float(self.source[Self.length - 1]) - Float(self.source[Self.length - 1 - period])
    self.gap = Gap(period: period, offset: offset)
  }

  /// Forgets that something was made up: the next samples are not faded.
  mutating func end() {
    self.gap = nil
  }

  private mutating func nextSample() -> Int16 {
    guard var gap = self.gap else { return 0 }
    defer { self.gap = gap }
    guard gap.produced < Self.fadeStart + Self.fadeLength else { return 0 }
    let overlap = gap.period / 4
    let passLength = gap.periods * gap.period
    var value = Float(self.source[Self.length - passLength + gap.position])
    let left = passLength - gap.position
    if left <= overlap {
      // The end of a pass leads to the beginning of the next one.
      let place = Self.length - gap.next * gap.period - left
      let weight = Float(overlap - left + 1) / Float(overlap + 1)
      value += (Float(self.source[place]) - value) * weight
    }
    if gap.produced < overlap { value += gap.offset * (1 - Float(gap.produced + 1) / Float(overlap + 1)) }
    if gap.produced > Self.fadeStart {
      value *= 1 - Float(gap.produced - Self.fadeStart) / Float(Self.fadeLength)
    }
    gap.produced += 1
    gap.position += 1
    if gap.position == passLength {
      gap.position = 0
      gap.periods = gap.next
      gap.next = min(3, 1 + (gap.produced + gap.periods * gap.period) / 80)
    }
    return TelephoneBandFilter.sample(value)
  }

  private mutating func remember(_ samples: ArraySlice<Int16>) {
    let count = min(samples.count, Self.length)
    self.history.withUnsafeMutableBufferPointer { history in
      for index in 0..<(Self.length - count) { history[index] = history[index + count] }
      for index in 0..<count {
        history[Self.length - count + index] = samples[samples.endIndex - count + index]
      }
    }
  }

  /// The lag at which the last 20 ms are most like what was before.
  private static func period(of samples: [Int16]) -> Int {
    var best = (lag: Self.lags.upperBound, score: Float(0))
    samples.withUnsafeBufferPointer { samples in
      let start = samples.count - Self.window
      for lag in Self.lags {
        var (product, energy) = (Float(0), Float(1))
        for index in start..<samples.count {
          let other = Float(samples[index - lag])
          product += Float(samples[index]) * other
          energy += other * other
        }
        guard product > 0 else { continue }
        let score = product * (product / energy)
        if score > best.score { best = (lag, score) }
      }
    }
    return best.lag
  }
}
