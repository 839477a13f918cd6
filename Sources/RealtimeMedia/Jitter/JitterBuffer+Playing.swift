public import VoiceCore

extension JitterBuffer {
  /// Says what to play next.
  ///
  /// - Parameter unplayed: How much audio from before is still to be played; it counts as delay.
  public mutating func next(at now: VoiceInstant, unplayed: Int = 0) -> Action {
    let action: Action
    switch self.state {
    case .buffering: action = self.begin(at: now)
    case .playing(let next, let owed):
      action = self.go(on: next, owed: owed, unplayed: Int64(max(0, min(self.options.clockRate, unplayed))))
    }
    self.count(action)
    return action
  }

  /// Begins once the first packet has waited for the delay that is aimed for, or as much audio is there.
  private mutating func begin(at now: VoiceInstant) -> Action {
    guard let first = self.frames.first, let arrival = self.firstArrival else { return .rest(self.step) }
    let waited = arrival.duration(to: now).units(of: self.options.clockRate)
    guard waited >= self.target || self.newest.end - first.timestamp >= self.target + Int64(first.length)
    else {
      return .rest(self.step)
    }
    return self.play(first, pace: .normal)
  }

  private mutating func go(on next: Int64, owed: Int64, unplayed: Int64) -> Action {
    guard let first = self.frames.first else {
      // It may be late: what is made up now is delay if it comes, and the lost packet if it does not.
      let length = Int64(self.step)
      if owed < Int64(self.options.clockRate) / 5 {
        self.state = .playing(next: next, owed: owed + length)
        return .conceal(self.step)
      }
      // Nothing for 200 ms is silence or an outage: what comes then waits for the delay again.
      self.state = .buffering
      self.firstArrival = nil
      self.smoothed = nil
      return .rest(self.step)
    }
    self.measure(self.newest.end - next + unplayed)
    let gap = first.timestamp - next
    guard gap > owed else { return self.play(first, pace: owed > 0 ? .normal : self.pace(of: first)) }
    let missing = gap - owed
    if let last = self.lastPlayedSequence, first.sequence == last + 1 {
      return self.silence(missing: missing, from: next + owed, before: first)
    }
    // What follows is there, so what is missing is lost or far too late: its time passes.
    let length = Int(min(missing, Int64(first.length)))
    let isLast = missing <= Int64(first.length)
    self.state = .playing(next: first.timestamp - missing + Int64(length), owed: 0)
    return isLast && self.options.hasRedundancy && OpusPacket.mayHoldFEC(first.payload)
      ? .recover(from: first, length) : .conceal(length)
  }

  /// The sender left out silence (DTX): no number is missing, only time, in which the delay can be changed unheard.
  private mutating func silence(missing: Int64, from next: Int64, before first: Frame) -> Action {
    let surplus = self.newest.end - next - self.target - Int64(first.length)
    let skipped = min(missing, max(0, surplus))
    self.statistics.removed += skipped
    guard missing > skipped else { return self.play(first, pace: .normal) }
    let length = min(missing - skipped, Int64(self.step))
    self.state = .playing(next: next + skipped + length, owed: 0)
    return .rest(Int(length))
  }

  /// Takes the first frame out.
  private mutating func play(_ frame: Frame, pace: Pace) -> Action {
    if !self.frames.isEmpty { self.frames.removeFirst() }
    self.state = .playing(next: frame.timestamp + Int64(frame.length), owed: 0)
    self.lastPlayedSequence = frame.sequence
    return .play(frame, pace)
  }

  private mutating func measure(_ delay: Int64) {
    let delay = Double(delay)
    // About eight frames, so that one late packet does not change the pace.
    self.smoothed = self.smoothed.map { $0 + (delay - $0) / 8 } ?? delay
    self.statistics.delay = .units(Int64(self.smoothed ?? 0), of: self.options.clockRate)
  }

  /// Whether to change the pace: the delay is outside of its band, and the last change is some time ago.
  private mutating func pace(of frame: Frame) -> Pace {
    guard let smoothed = self.smoothed else { return .normal }
    let pause = Int64(self.options.clockRate) / 10
    guard self.sincePaceChange >= pause else { return .normal }
    // The packet that is played now is part of the delay.
    let target = Double(self.target) + Double(frame.length)
    let quarter = Double(self.target) / 4
    let surplus = max(Double(self.options.clockRate) / 50, quarter)
    // Less than 10 ms too little is already a gap when a packet is late, so that this side has less room.
    let shortage = max(Double(self.options.clockRate) / 100, quarter)
    // A period of a voice is up to 15 ms.
    let change = min(frame.length, self.options.clockRate * 3 / 200)
    if smoothed > target + surplus {
      self.sincePaceChange = 0
      self.smoothed = smoothed - Double(change)
      return .shortened(change)
    }
    if smoothed < target - shortage {
      self.sincePaceChange = 0
      self.smoothed = smoothed + Double(change)
      return .stretched(change)
    }
    return .normal
  }

  private mutating func count(_ action: Action) {
    let wasConcealing = self.isConcealing
    self.isConcealing = false
    var length: Int
    switch action {
    case .play(let frame, let pace):
      length = frame.length
      switch pace {
      case .normal: break
      case .shortened(let samples):
        self.statistics.removed += Int64(samples)
        length -= samples
      case .stretched(let samples):
        self.statistics.inserted += Int64(samples)
        length += samples
      }
    case .recover(_, let samples):
      length = samples
      self.statistics.recovered += Int64(samples)
    case .conceal(let samples):
      length = samples
      self.isConcealing = true
      self.statistics.concealed += Int64(samples)
      if !wasConcealing { self.statistics.concealments += 1 }
    case .rest(let samples): length = samples
    }
    self.statistics.played += Int64(length)
    self.sincePaceChange += Int64(length)
  }
}
