import VoiceCore

/// Decides which part of what was played belongs to each frame of a microphone.
///
/// States: *unaligned* (nothing was played yet), *aligned*. Both devices tell their times with noise, and a canceller unlearns the
/// room whenever the two streams shift against each other, even if only by a sample every now and then: so the streams run side by
/// side, sample by sample, until the times say for a while that they are too far apart, as when clocks drift. Then they are aligned
/// anew.
struct EchoAlignment {
  private enum State: Hashable {
    case unaligned
    case aligned(next: Int64)
  }

  // Of frames of 20 ms: a second or two until a drift is believed, and a tenth of one until a jump is.
  private static let smoothing = 1.0 / 64
  private static let jumpPatience = 5

  private let driftLimit: Double
  private let jumpLimit: Double
  private var state = State.unaligned
  private var deviation = 0.0
  private var framesApart = 0

  /// How often the streams were aligned anew.
  private(set) var jumpCount = 0

  /// Creates the alignment of streams of a rate in Hz.
  init(sampleRate: Int) {
    // An echo that is some milliseconds earlier or later is an echo all the same; only what leaves the reach of the canceller
    // must be followed.
    self.driftLimit = Double(sampleRate) * 0.016
    self.jumpLimit = Double(sampleRate) * 0.040
  }

  /// A frame of the microphone came.
  ///
  /// - Parameters:
  ///   - position: What was heard from the loudspeaker at the start of the frame, as far as is known; `nil` if nothing was
  ///     played yet.
  ///   - count: The length of the frame.
  /// - Returns: Where the part that belongs to the frame starts, or `nil` if there is none.
  mutating func heard(_ position: Int64?, count: Int) -> Int64? {
    guard let position else {
      self.state = .unaligned
      return nil
    }
    switch self.state {
    case .unaligned:
      return self.align(position, count: count)
    case .aligned(let next):
      let difference = Double(position.subtractingReportingOverflow(next).partialValue)
      self.framesApart = abs(difference) > self.jumpLimit ? self.framesApart + 1 : 0
      if self.framesApart >= Self.jumpPatience {
        self.jumpCount += 1
        return self.align(position, count: count)
      }
      if self.framesApart == 0 { self.deviation += (difference - self.deviation) * Self.smoothing }
      if abs(self.deviation) > self.driftLimit {
        self.jumpCount += 1
        return self.align(position, count: count)
      }
      self.state = .aligned(next: next.addingReportingOverflow(Int64(count)).partialValue)
      return next
    }
  }

  /// Samples of the microphone are missing.
  mutating func skipped(_ count: Int64) {
    switch self.state {
    case .unaligned: break
    case .aligned(let next): self.state = .aligned(next: next.addingReportingOverflow(count).partialValue)
    }
  }

  private mutating func align(_ position: Int64, count: Int) -> Int64 {
    self.state = .aligned(next: position.addingReportingOverflow(Int64(count)).partialValue)
    self.deviation = 0
    self.framesApart = 0
    return position
  }
}

/// Finds out when the samples of a stream were recorded from when they arrive.
///
/// Samples may be delivered late, never early: of all that arrived in the last seconds the quickest counts.
struct ArrivalClock {
  private static let window = Duration.seconds(2)

  private let sampleRate: Int
  private var origin: VoiceInstant?
  private var candidate: VoiceInstant?
  private var windowEnd = VoiceInstant()

  /// Creates the clock of a stream with a rate in Hz.
  init(sampleRate: Int) {
    self.sampleRate = sampleRate
  }

  /// The samples up to a position have arrived.
  mutating func arrived(until position: Int64, at now: VoiceInstant) {
    let origin = now.advanced(by: .zero - AudioChunk.time(ofSample: position, sampleRate: self.sampleRate))
    guard let earlier = self.origin else {
      self.origin = origin
      self.windowEnd = now.advanced(by: Self.window)
      return
    }
    self.origin = min(earlier, origin)
    self.candidate = self.candidate.map { min($0, origin) } ?? origin
    guard now >= self.windowEnd else { return }
    // A slow clock of the device makes everything later: then the quickest of the last window is right.
    self.origin = self.candidate
    self.candidate = nil
    self.windowEnd = now.advanced(by: Self.window)
  }

  /// When the sample at a position was recorded; `nil` before anything arrived.
  func time(of position: Int64) -> VoiceInstant? {
    self.origin?.advanced(by: AudioChunk.time(ofSample: position, sampleRate: self.sampleRate))
  }
}
