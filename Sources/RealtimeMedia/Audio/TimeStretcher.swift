/// Makes audio shorter or longer without changing its pitch.
///
/// It takes out or repeats one stretch of sound that is like what follows it, and fades between the two (WSOLA, as in
/// NetEQ's accelerate and preemptive expand). Where nothing is alike it refuses, unless the audio is quiet; after many
/// refusals in a row it asks for less likeness, so that music and noise do not keep a delay forever. The work of a call
/// depends on the length of the audio only, and nothing is allocated once a length has been seen.
public struct TimeStretcher: Sendable {
  /// A correlation above which a cut is not heard.
  private static let likeness: Float = 0.9
  /// What is asked for at least after many refusals.
  private static let leastLikeness: Float = 0.3
  /// The loudness below which any cut goes: −54 dB below full scale, as a mean square.
  private static let quiet: Float = 65 * 65

  private let sampleRate: Int
  /// Samples per sample that the first search looks at: about 12 kHz.
  private let step: Int
  private let shortestLag: Int
  private let overlap: Int
  private var copy: [Int16] = []
  private var coarse: [Float] = []
  private var scores: [Float] = []
  private var refusals = 0

  /// Creates a stretcher.
  ///
  /// - Parameter sampleRate: 8,000 to 192,000 Hz.
  public init(sampleRate: Int = 48000) {
    self.sampleRate = max(8000, min(192_000, sampleRate))
    self.step = max(1, self.sampleRate / 12000)
    self.shortestLag = self.sampleRate / 400
    self.overlap = self.sampleRate / 200
  }

  /// Takes out up to so many samples.
  ///
  /// - Returns: How many are gone; 0 if it would be heard.
  public mutating func shorten(_ samples: inout [Int16], by limit: Int) -> Int {
    let count = samples.count
    guard let lag = self.lag(in: samples, limit: limit) else { return 0 }
    let overlap = self.overlap(for: count)
    self.keep(samples)
    samples.removeLast(lag)
    samples.withUnsafeMutableBufferPointer { samples in
      self.copy.withUnsafeBufferPointer { copy in
        for index in 0..<overlap {
          samples[index] = Self.fade(copy[index], copy[lag + index], index, overlap)
        }
        for index in overlap..<(count - lag) { samples[index] = copy[lag + index] }
      }
    }
    return lag
  }

  /// Puts in up to so many samples.
  ///
  /// - Returns: How many there are more; 0 if it would be heard.
  public mutating func lengthen(_ samples: inout [Int16], by limit: Int) -> Int {
    let count = samples.count
    guard let lag = self.lag(in: samples, limit: limit) else { return 0 }
    let overlap = self.overlap(for: count)
    self.keep(samples)
    for _ in 0..<lag { samples.append(0) }
    samples.withUnsafeMutableBufferPointer { samples in
      self.copy.withUnsafeBufferPointer { copy in
        for index in 0..<overlap {
          samples[lag + index] = Self.fade(copy[lag + index], copy[index], index, overlap)
        }
        for index in overlap..<count { samples[lag + index] = copy[index] }
      }
    }
    return lag
  }

  private func overlap(for count: Int) -> Int { min(self.overlap, count / 4) }

  private static func fade(_ from: Int16, _ to: Int16, _ index: Int, _ length: Int) -> Int16 {
    let weight = Float(index + 1) / Float(length + 1)
    return TelephoneBandFilter.sample(Float(from) + (Float(to) - Float(from)) * weight)
  }

  private mutating func keep(_ samples: [Int16]) {
    self.copy.removeAll(keepingCapacity: true)
    self.copy.append(contentsOf: samples)
  }

  /// By how much to shift, if that is not heard.
  private mutating func lag(in samples: [Int16], limit: Int) -> Int? {
    let overlap = self.overlap(for: samples.count)
    let longest = min(limit, samples.count - overlap)
    guard longest >= self.shortestLag, overlap > 0 else { return nil }
    self.makeCoarse(samples)
    let energy = self.coarse.reduce(0) { $0 + $1 * $1 } / Float(max(1, self.coarse.count))
    if energy < Self.quiet {
      self.refusals = 0
      return longest
    }
    let likeness = max(Self.leastLikeness, Self.likeness - Float(self.refusals) * 0.02)
    guard let lag = self.bestLag(longest: longest, likeness: likeness) else {
      self.refusals += 1
      return nil
    }
    self.refusals = 0
    return self.refine(lag * self.step, in: samples, longest: longest)
  }

  private mutating func makeCoarse(_ samples: [Int16]) {
    let step = self.step
    self.coarse.removeAll(keepingCapacity: true)
    samples.withUnsafeBufferPointer { samples in
      for start in stride(from: 0, through: samples.count - step, by: step) {
        var sum: Float = 0
        for index in 0..<step { sum += Float(samples[start + index]) }
        self.coarse.append(sum / Float(step))
      }
    }
  }

  /// The longest lag among those at which the audio is about as much like itself as it can be.
  private mutating func bestLag(longest: Int, likeness: Float) -> Int? {
    let first = max(1, self.shortestLag / self.step)
    let last = min(longest / self.step, self.coarse.count - 1)
    guard first <= last else { return nil }
    // 10 ms, or what there is.
    let window = self.sampleRate / 100 / self.step
    self.scores.removeAll(keepingCapacity: true)
    self.coarse.withUnsafeBufferPointer { coarse in
      for lag in first...last {
        var (product, here, there) = (Float(0), Float(1), Float(1))
        for index in 0..<min(window, coarse.count - lag) {
          product += coarse[index] * coarse[index + lag]
          here += coarse[index] * coarse[index]
          there += coarse[index + lag] * coarse[index + lag]
        }
        self.scores.append(product / (here.squareRoot() * there.squareRoot()))
      }
    }
    guard let best = self.scores.max(), best >= likeness else { return nil }
    let needed = max(likeness, best - 0.02)
    var found: Int?
    for index in self.scores.indices.reversed() where self.scores[index] >= needed {
      let isPeak =
        (index == 0 || self.scores[index - 1] <= self.scores[index])
        && (index == self.scores.count - 1 || self.scores[index + 1] <= self.scores[index])
      guard isPeak || self.scores[index] == best else { continue }
      found = first + index
      break
    }
    return found
  }

  /// The lag within one coarse step at which the samples themselves fit best.
  private func refine(_ lag: Int, in samples: [Int16], longest: Int) -> Int {
    var best = (lag: min(lag, longest), score: -Float.infinity)
    samples.withUnsafeBufferPointer { samples in
      for candidate in max(1, lag - self.step)...(lag + self.step) where candidate <= longest {
        let window = min(self.overlap * 2, samples.count - candidate)
        var (product, energy) = (Float(0), Float(1))
        for index in 0..<window {
          let other = Float(samples[index + candidate])
          product += Float(samples[index]) * other
          energy += other * other
        }
        let score = product / energy.squareRoot()
        if score > best.score { best = (candidate, score) }
      }
    }
    return best.lag
  }
}
