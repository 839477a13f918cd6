/// How loud audio is, as WebRTC's statistics say it: the largest sample of the last 100 ms or so, from 0 to 1.
public struct AudioLevelMeter: Hashable, Sendable {
  private static let period = 4800

  /// The level.
  public private(set) var level = 0.0
  private var peak: UInt16 = 0
  private var count = 0

  /// Creates a meter that has heard nothing.
  public init() {}

  /// Takes samples at 48 kHz.
  public mutating func add(_ samples: ArraySlice<Int16>) {
    var peak = self.peak
    samples.withUnsafeBufferPointer { for sample in $0 { peak = max(peak, sample.magnitude) } }
    self.peak = peak
    self.finish(samples.count)
  }

  /// Takes that many samples of silence.
  public mutating func addSilence(_ count: Int) {
    self.finish(max(0, count))
  }

  private mutating func finish(_ count: Int) {
    self.count += count
    guard self.count >= Self.period else { return }
    self.count %= Self.period
    self.level = min(1, Double(self.peak) / 32767)
    self.peak >>= 2
  }
}
