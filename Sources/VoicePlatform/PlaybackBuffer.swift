import VoiceAudio
import VoiceCore

/// Holds samples between a writer that comes in bursts and a device that takes them steadily, and decides what is played
/// when there are too few or too many.
///
/// States: *filling* (silence, until the target is there or what is there has waited as long), *playing*, *draining*
/// (nothing more will be written: what is there is played).
struct PlaybackBuffer {
  private enum State: Hashable {
    case filling(waited: Int)
    case playing
    case draining
  }

  /// A device whose clock is slower than the writer's lets the buffer grow: the surplus is cut out where it is quiet.
  private struct Surplus {
    var lowest = Int.max
    var remaining: Int
    var amount = 0
  }

  // Below -40 dB of full scale: a cut of some milliseconds is not heard.
  private static let quietPeak: UInt16 = 330
  private static let surplusWindow = Duration.seconds(5)

  let sampleRate: Int
  let target: Int
  let limit: Int
  private(set) var statistics = SpeakerPlayback.Statistics()
  private var samples: [Int16]
  private var start = 0
  private(set) var count = 0
  private var state = State.filling(waited: 0)
  private var surplus: Surplus

  /// Creates a buffer.
  ///
  /// - Parameters:
  ///   - target: How much is awaited before it is played; clamped to 10 ms … 2 s.
  ///   - limit: How much may wait; at least twice the target, at most 10 s.
  init(sampleRate: Int, target: Duration, limit: Duration) {
    let target = min(max(target, .milliseconds(10)), .seconds(2))
    let limit = min(max(limit, target * 2), .seconds(10))
    self.sampleRate = sampleRate
    self.target = max(1, Int(AudioChunk.sample(at: target, sampleRate: sampleRate)))
    self.limit = max(2, Int(AudioChunk.sample(at: limit, sampleRate: sampleRate)))
    self.samples = [Int16](repeating: 0, count: self.limit)
    self.surplus = Surplus(
      remaining: Int(AudioChunk.sample(at: Self.surplusWindow, sampleRate: sampleRate)))
  }

  /// Whether all that was written has been read, and nothing more will come.
  var isDrained: Bool { self.state == .draining && self.count == 0 }

  /// Takes samples; drops the oldest down to the target when there are more than the limit.
  mutating func write(_ block: UnsafeBufferPointer<Int16>) {
    guard self.state != .draining else { return }
    self.statistics.writtenCount += block.count
    let total = self.count + block.count
    var block = block[...]
    if total > self.limit {
      // The newest audio counts, also when a single block is longer than all that fits.
      let excess = total - self.target
      let dropped = min(excess, self.count)
      self.remove(dropped)
      block = block.dropFirst(excess - dropped)
      self.statistics.droppedCount += excess
    }
    var index = (self.start + self.count) % self.limit
    for sample in block {
      self.samples[index] = sample
      index = index + 1 == self.limit ? 0 : index + 1
    }
    self.count += block.count
  }

  /// Fills the output: with what is next, or with silence where that is not there.
  mutating func read(into output: UnsafeMutableBufferPointer<Int16>) {
    switch self.state {
    case .filling(let waited):
      guard self.count >= self.target || waited >= self.target else {
        output.update(repeating: 0)
        self.state = .filling(waited: self.count > 0 ? waited + output.count : 0)
        if self.statistics.underrunCount > 0 { self.statistics.silentCount += output.count }
        return
      }
      self.state = .playing
      self.take(into: output)
    case .playing:
      self.cutSurplus(output.count)
      self.take(into: output)
    case .draining:
      self.take(into: output)
    }
  }

  /// Tells that nothing more will be written.
  mutating func drain() {
    self.state = .draining
  }

  private mutating func take(into output: UnsafeMutableBufferPointer<Int16>) {
    let taken = min(self.count, output.count)
    for index in 0..<taken { output[index] = self.samples[(self.start + index) % self.limit] }
    self.remove(taken)
    self.statistics.playedCount += taken
    guard taken < output.count else { return }
    for index in taken..<output.count { output[index] = 0 }
    guard self.state == .playing else { return }
    self.state = .filling(waited: 0)
    self.statistics.underrunCount += 1
    self.statistics.silentCount += output.count - taken
    self.surplus = Surplus(remaining: self.surplusWindowCount)
  }

  private mutating func cutSurplus(_ length: Int) {
    self.surplus.lowest = min(self.surplus.lowest, self.count)
    self.surplus.remaining -= length
    if self.surplus.remaining <= 0 {
      // A fill that never came near the target for the whole window is only delay.
      let amount = self.surplus.lowest - self.target
      self.surplus = Surplus(
        remaining: self.surplusWindowCount, amount: amount > self.target / 3 ? amount : 0)
    }
    guard self.surplus.amount >= length, self.count >= 2 * length else { return }
    for index in 0..<length where self.samples[(self.start + index) % self.limit].magnitude > Self.quietPeak {
      return
    }
    self.remove(length)
    self.surplus.amount -= length
    self.statistics.droppedCount += length
  }

  private var surplusWindowCount: Int {
    Int(AudioChunk.sample(at: Self.surplusWindow, sampleRate: self.sampleRate))
  }

  private mutating func remove(_ length: Int) {
    self.start = (self.start + length) % self.limit
    self.count -= length
  }
}
