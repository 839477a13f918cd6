import Synchronization
public import VoiceCore

/// What a loudspeaker has played in the last seconds and when it was heard: what a canceller of echo compares the microphone with.
///
/// One thread appends, others read; positions count samples at ``sampleRate`` from the first appended one.
public final class PlayedAudio: Sendable {
  private struct State: ~Copyable {
    var samples: [Int16]
    var end: Int64 = 0
    /// When position zero was heard, smoothed: devices tell their delay with some noise.
    var origin: VoiceInstant?
    var sourceRate = 0
    var sourceCount: Int64 = 0
    var sourceStart: Int64 = 0
    var resampler: Resampler?
    var floats: [Float] = []
    var resampled: [Float] = []
  }

  // A device that was interrupted for so long has another origin.
  private static let originTolerance = Duration.milliseconds(40)

  /// The rate at which it is read, in Hz.
  public let sampleRate: Int

  private let state: Mutex<State>

  /// Creates an empty history.
  ///
  /// - Parameters:
  ///   - sampleRate: The rate at which it is read, 8,000 to 48,000 Hz; clamped.
  ///   - length: How much is kept; clamped to 0.5 … 10 s.
  public init(sampleRate: Int = AudioFormat.recognition.sampleRate, length: Duration = .seconds(2)) {
    let rate = min(max(sampleRate, 8_000), 48_000)
    self.sampleRate = rate
    let length = min(max(length, .milliseconds(500)), .seconds(10))
    let count = Int(AudioChunk.sample(at: length, sampleRate: rate))
    self.state = Mutex(State(samples: [Int16](repeating: 0, count: count)))
  }

  /// Appends what is played next; for the thread of the device.
  ///
  /// - Parameters:
  ///   - block: Mono samples; silence too.
  ///   - sampleRate: Their rate in Hz; a rate that cannot be converted appends nothing.
  ///   - instant: When the first of them is heard.
  public func append(_ block: UnsafeBufferPointer<Int16>, sampleRate: Int, heardAt instant: VoiceInstant) {
    self.state.withLock { state in
      if state.sourceRate != sampleRate {
        guard let resampler = try? Resampler(from: sampleRate, to: self.sampleRate, quality: 4) else {
          return
        }
        state.resampler = resampler
        state.sourceRate = sampleRate
        state.sourceCount = 0
        state.sourceStart = state.end
        state.origin = nil
      }
      guard let resampler = state.resampler else { return }
      let start =
        AudioChunk.time(ofSample: state.sourceStart, sampleRate: self.sampleRate)
        + AudioChunk.time(ofSample: state.sourceCount, sampleRate: sampleRate)
      let origin = instant.advanced(by: .zero - start)
      let tolerance = Self.originTolerance
      if let earlier = state.origin, (.zero - tolerance...tolerance).contains(earlier.duration(to: origin)) {
        state.origin = earlier.advanced(by: earlier.duration(to: origin) / 32)
      } else {
        state.origin = origin
      }
      state.sourceCount += Int64(block.count)
      state.floats.removeAll(keepingCapacity: true)
      state.floats.append(contentsOf: block.lazy.map { Float($0) })
      state.resampled.removeAll(keepingCapacity: true)
      var resampled: [Float] = []
      swap(&resampled, &state.resampled)
      state.floats.withUnsafeBufferPointer { resampler.process($0, into: &resampled) }
      swap(&resampled, &state.resampled)
      let count = Int64(state.samples.count)
      for value in state.resampled {
        state.samples[Int(state.end % count)] = Int16(min(max(value.rounded(), -32_768), 32_767))
        state.end += 1
      }
    }
  }

  /// The position that is heard at an instant; `nil` as long as nothing was appended.
  public func position(at instant: VoiceInstant) -> Int64? {
    self.state.withLock { state in
      state.origin.map { AudioChunk.sample(at: $0.duration(to: instant), sampleRate: self.sampleRate) }
    }
  }

  /// Replaces the content of an array by samples from a position on; what is not there, or no more, is silence.
  ///
  /// - Returns: How many of them are there.
  @discardableResult
  public func read(from position: Int64, count: Int, into output: inout [Int16]) -> Int {
    output.removeAll(keepingCapacity: true)
    guard count > 0, !position.addingReportingOverflow(Int64(count)).overflow else { return 0 }
    return self.state.withLock { state in
      let capacity = Int64(state.samples.count)
      let oldest = max(0, state.end - capacity)
      var found = 0
      for index in position..<position + Int64(count) {
        guard index >= oldest, index < state.end else {
          output.append(0)
          continue
        }
        output.append(state.samples[Int(index % capacity)])
        found += 1
      }
      return found
    }
  }
}
