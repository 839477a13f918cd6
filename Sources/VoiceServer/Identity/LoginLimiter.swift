import VoiceCore

/// How often each client address may log in: a token bucket per address.
///
/// Only addresses that logged in lately take memory; when the table is full, the one that was quiet for longest
/// makes room.
struct LoginLimiter: Sendable {
  private struct Bucket {
    var level: Double
    var updated: VoiceInstant
  }

  private let perSecond: Double
  private let burst: Double
  private let capacity: Int
  private var buckets: [String: Bucket] = [:]

  /// Creates a limiter.
  ///
  /// - Parameters:
  ///   - perSecond: How many logins an address may make in the long run; ten times as many at once.
  ///   - capacity: How many addresses are remembered.
  init(perSecond: Int, capacity: Int = 4096) {
    self.perSecond = Double(max(1, perSecond))
    self.burst = self.perSecond * 10
    self.capacity = max(1, capacity)
  }

  /// How many addresses are remembered now.
  var addressCount: Int { self.buckets.count }

  /// Counts a login.
  ///
  /// - Returns: `nil` if it is allowed, else how long to wait.
  mutating func login(from address: String, at now: VoiceInstant) -> Duration? {
    var bucket = self.buckets[address] ?? Bucket(level: self.burst, updated: now)
    let elapsed = max(.zero, bucket.updated.duration(to: now)) / .seconds(1)
    bucket.level = min(self.burst, bucket.level + elapsed * self.perSecond)
    bucket.updated = now
    let wait: Duration?
    if bucket.level >= 1 {
      bucket.level -= 1
      wait = nil
    } else {
      wait = .seconds((1 - bucket.level) / self.perSecond)
    }
    if self.buckets[address] == nil, self.buckets.count >= self.capacity { self.makeRoom(at: now) }
    self.buckets[address] = bucket
    return wait
  }

  private mutating func makeRoom(at now: VoiceInstant) {
    let fullAfter = Duration.seconds(self.burst / self.perSecond)
    self.buckets = self.buckets.filter { $0.value.updated.duration(to: now) < fullAfter }
    if self.buckets.count >= self.capacity,
      let oldest = self.buckets.min(by: { $0.value.updated < $1.value.updated })
    {
      self.buckets[oldest.key] = nil
    }
  }
}
