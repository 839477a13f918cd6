/// A run of mono signed 16-bit samples with its exact place in the stream that it belongs to.
public struct AudioChunk: Hashable, Sendable {
  /// The index of the first sample, counted from the start of the stream.
  ///
  /// Positions never repeat and never go back. A chunk that starts later than the previous one ended tells of
  /// missing audio.
  public var position: Int64

  /// The samples, in host byte order.
  public var samples: [Int16]

  /// Samples per second.
  public var sampleRate: Int

  /// Creates a chunk.
  public init(position: Int64, samples: [Int16], sampleRate: Int = AudioFormat.recognition.sampleRate) {
    self.position = position
    self.samples = samples
    self.sampleRate = sampleRate
  }

  /// The position after the last sample.
  public var endPosition: Int64 { self.position + Int64(self.samples.count) }

  /// The time of the first sample from the start of the stream.
  public var startTime: Duration { Self.time(ofSample: self.position, sampleRate: self.sampleRate) }

  /// The time after the last sample.
  public var endTime: Duration { Self.time(ofSample: self.endPosition, sampleRate: self.sampleRate) }

  /// The time of a sample, exact to the nanosecond; zero if the rate is not positive.
  public static func time(ofSample position: Int64, sampleRate: Int) -> Duration {
    guard sampleRate > 0 else { return .zero }
    let rate = Int64(sampleRate)
    let (seconds, rest) = position.quotientAndRemainder(dividingBy: rate)
    return .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / rate)
  }

  /// The index of the sample that is heard at a time, rounded down; clamped to what 64 bits hold.
  public static func sample(at time: Duration, sampleRate: Int) -> Int64 {
    let (seconds, attoseconds) = time.components
    let rate = Int64(sampleRate)
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: rate)
    guard !overflow else { return seconds < 0 ? .min : .max }
    return whole.addingReportingOverflow(attoseconds / 1_000_000_000 * rate / 1_000_000_000).partialValue
  }
}
