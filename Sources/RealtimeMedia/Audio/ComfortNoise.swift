/// Makes quiet noise like that between the words, so that silence that is not sent does not sound like a broken line.
///
/// The level follows the quietest 20 ms of what was played; it fades once nothing has come for a while.
struct ComfortNoise: Sendable {
  /// After so many samples without audio it fades over as many.
  private static let patience = 48000
  /// Louder background is not imitated: a mean square, −50 dB below full scale.
  private static let loudest: Float = 100 * 100

  /// The mean square of the background.
  private var floor: Float?
  private var seed: UInt32 = 0x2545_f491
  private var last: Float = 0
  private var age = 0

  /// Takes what was played.
  mutating func observe(_ samples: ArraySlice<Int16>) {
    guard !samples.isEmpty else { return }
    self.age = 0
    var sum: Float = 0
    for sample in samples { sum += Float(sample) * Float(sample) }
    let energy = sum / Float(samples.count)
    // The background may rise by 3 dB in about a second; at first nobody knows whether somebody speaks.
    self.floor = self.floor.map { energy < $0 ? energy : min(energy, $0 * 1.014 + 0.01) } ?? min(energy, 25)
  }

  /// Appends noise.
  mutating func make(_ count: Int, into samples: inout [Int16]) {
    guard let floor = self.floor, floor >= 1, self.age < Self.patience * 2 else {
      for _ in 0..<count { samples.append(0) }
      return
    }
    // A filter of one pole at about 3 kHz leaves a fifth of the power; uniform noise of ±1 has a third.
    let gain = (min(floor, Self.loudest) * 15).squareRoot()
    for _ in 0..<count {
      self.seed ^= self.seed << 13
      self.seed ^= self.seed >> 17
      self.seed ^= self.seed << 5
      let white = Float(Int32(bitPattern: self.seed)) / 2_147_483_648
      self.last += (white - self.last) * 0.333
      let fade = Float(max(0, min(Self.patience, Self.patience * 2 - self.age))) / Float(Self.patience)
      samples.append(TelephoneBandFilter.sample(self.last * gain * fade))
      self.age += 1
    }
  }
}
