/// Random numbers that are the same in every run with the same seed (SplitMix64).
///
/// Give it wherever the toolkit takes a `RandomNumberGenerator`, so that jitter and impairments can be repeated. A copy
/// goes on from the same place as the original. It is not fit for secrets.
public struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
  private var state: UInt64

  /// Creates a generator; all seeds are equally good.
  public init(seed: UInt64) {
    self.state = seed
  }

  public mutating func next() -> UInt64 {
    self.state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = self.state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// Splits off a generator whose numbers do not depend on how often this one is asked from now on.
  public mutating func split() -> SeededGenerator {
    SeededGenerator(seed: self.next())
  }
}
