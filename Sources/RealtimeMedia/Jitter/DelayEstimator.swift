import VoiceCore

/// How much delay a buffer needs, by how late packets were (as NetEQ does it).
///
/// The delay of a packet is relative to the fastest one of the last two seconds, so a clock that drifts does not
/// matter. Delays go into a histogram that forgets; the target is the delay below which a share of all packets stays.
struct DelayEstimator: Hashable, Sendable {
  /// The width of a bucket.
  static let bucket = Duration.milliseconds(5)
  private static let bucketUnits: Int64 = 5_000_000
  private static let window = Duration.seconds(2)
  private static let buckets = 200

  private struct Sample: Hashable, Sendable {
    var at: VoiceInstant
    /// Arrival minus timestamp, in nanoseconds.
    var offset: Int64
  }

  private let quantile: Double
  private let forgetting: Double
  private var histogram = [Double](repeating: 0, count: Self.buckets)
  private var weight = 0.0
  /// Offsets that may become the smallest one, in rising order.
  private var minima: [Sample] = []

  init(quantile: Double = 0.97, forgetting: Double = 0.995) {
    self.quantile = quantile
    self.forgetting = forgetting
  }

  /// The delay below which the share of packets stays; zero before the first one.
  private(set) var target = Duration.zero

  /// Takes a packet.
  ///
  /// - Parameter media: The time of its first sample in the stream.
  mutating func received(media: Duration, at now: VoiceInstant) {
    let offset = (now.offset - media).units(of: 1_000_000_000)
    self.minima.removeAll { $0.offset >= offset || $0.at.duration(to: now) > Self.window }
    self.minima.append(Sample(at: now, offset: offset))
    let relative = offset &- (self.minima.first?.offset ?? offset)
    let bucket = Int(min(Int64(Self.buckets - 1), max(0, relative) / Self.bucketUnits))
    // The first packets count more, so that a target is known soon.
    let share = max(1 - self.forgetting, 1 / (self.weight + 1))
    for index in self.histogram.indices { self.histogram[index] *= 1 - share }
    self.histogram[bucket] += share
    self.weight = min(self.weight + 1, 1_000_000)
    var sum = 0.0
    for index in self.histogram.indices {
      sum += self.histogram[index]
      if sum >= self.quantile {
        self.target = Self.bucket * (index + 1)
        return
      }
    }
    self.target = Self.bucket * Self.buckets
  }

  /// Forgets the offsets, whose origin has changed, but not how late packets are.
  mutating func restarted() {
    self.minima = []
  }
}
