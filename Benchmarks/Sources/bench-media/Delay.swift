import CallMedia
import Foundation
import Synchronization

/// From mouth to ear: how long a sound is on its way, from its capture to the listener's program.
///
/// A frame of 20 ms is captured by its end; so a sound at its beginning has been on its way for 20 ms when it is handed over,
/// which is counted.
struct Delay {
  let count: Int
  /// Frames from one sound to the next; it is longer than any delay, so each sound heard belongs to the last one made.
  private static let period = 40
  private static let frame = Duration.milliseconds(20)

  func measure() async throws -> [String: Double] {
    let engine = MediaEngine(paths: nil)
    let pair = Pair(on: engine)
    try await pair.connect()
    let made = Mutex(ContinuousClock.Instant?.none)
    let delays = Mutex([Double]())
    let listener = Task {
      for await frame in pair.callee.audio.frames {
        let now = ContinuousClock.now
        guard let onset = frame.samples.firstIndex(where: Tone.isAudible) else { continue }
        guard let instant = made.withLock({ $0.take() }) else { continue }
        delays.withLock { $0.append((now - instant).milliseconds + Double(onset) / 48) }
      }
    }
    let clock = ContinuousClock()
    var due = clock.now
    // The first second lets the jitter buffer learn.
    for number in 0..<(Self.period * self.count + 50) {
      due += Self.frame
      try await clock.sleep(until: due, tolerance: .zero)
      let sounds = number >= 50 && number % Self.period == 10
      if sounds { made.withLock { $0 = due - Self.frame } }
      pair.caller.audio.sendLive(sounds ? Array(Tone.second.prefix(960)) : [Int16](repeating: 0, count: 960))
    }
    try await clock.sleep(for: .seconds(1))
    listener.cancel()
    await pair.close()
    let sorted = delays.withLock { $0.sorted() }
    guard !sorted.isEmpty else { return ["heard": 0] }
    return [
      "heard": Double(sorted.count), "p50": sorted[sorted.count / 2],
      "p95": sorted[min(sorted.count - 1, sorted.count * 95 / 100)],
    ]
  }
}
