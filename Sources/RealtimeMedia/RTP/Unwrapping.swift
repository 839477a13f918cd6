/// Numbers of packets without their wrap: the next one is the one that is nearest to the highest so far.
public struct SequenceUnwrapper: Hashable, Sendable {
  private var highest: Int64?

  /// Creates an unwrapper that has seen nothing.
  public init() {}

  /// The number without its wrap; the first one is as it is.
  public mutating func unwrap(_ number: UInt16) -> Int64 {
    guard let highest = self.highest else {
      self.highest = Int64(number)
      return Int64(number)
    }
    let step = Int16(bitPattern: number &- UInt16(truncatingIfNeeded: highest))
    let value = highest &+ Int64(step)
    if step > 0 { self.highest = value }
    return value
  }
}

/// Timestamps without their wrap, in the same way.
public struct TimestampUnwrapper: Hashable, Sendable {
  private var highest: Int64?

  /// Creates an unwrapper that has seen nothing.
  public init() {}

  /// The timestamp without its wrap; the first one is as it is.
  public mutating func unwrap(_ timestamp: UInt32) -> Int64 {
    guard let highest = self.highest else {
      self.highest = Int64(timestamp)
      return Int64(timestamp)
    }
    let step = Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: highest))
    let value = highest &+ Int64(step)
    if step > 0 { self.highest = value }
    return value
  }
}
