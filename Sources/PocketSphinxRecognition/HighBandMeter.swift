import Foundation

/// Measures the levels of what is above 4 kHz in audio of 16 kHz.
struct HighBandMeter: Hashable, Sendable {
  /// A windowed sinc with its corner at 4.4 kHz; of 3.4 kHz it leaves a sixtieth, of 3 kHz less than a thousandth.
  private static let filter: [Float] = {
    let middle = 15
    let corner = 2 * 4_400.0 / 16_000
    return (0...2 * middle).map { index in
      let angle = Double.pi * Double(index) / Double(middle)
      let window = 0.42 - 0.5 * cos(angle) + 0.08 * cos(2 * angle)
      let place = Double.pi * Double(index - middle)
      return Float(window * (index == middle ? 1 - corner : -sin(corner * place) / place))
    }
  }()
  /// Of so many filtered samples one is enough for a level.
  private static let stride = 4

  private var meter = LevelMeter()
  /// Samples that the next filtered one needs.
  private var rest: [Float] = []

  /// Takes a run of samples.
  mutating func heard(_ samples: UnsafeBufferPointer<Int16>) {
    for sample in samples { self.rest.append(Float(sample)) }
    var start = 0
    var sum: Float = 0
    var count = 0
    while self.rest.count - start >= Self.filter.count {
      var value: Float = 0
      for (sample, weight) in zip(self.rest[start...], Self.filter) { value += sample * weight }
      sum += value * value
      count += 1
      start += Self.stride
    }
    self.rest.removeFirst(start)
    if count > 0 { self.meter.heard(level: (sum / Float(count)).squareRoot()) }
  }

  /// The levels of what was heard.
  var levels: SignalLevels { self.meter.levels }
}
