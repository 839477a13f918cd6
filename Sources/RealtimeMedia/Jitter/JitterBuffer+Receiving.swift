public import VoiceCore

extension JitterBuffer {
  /// Takes a packet.
  ///
  /// - Parameters:
  ///   - packet: A packet of audio; key presses and comfort noise do not belong here.
  ///   - length: How long its audio is, as the codec says (``OpusPacket/duration(of:)``); one that cannot be is ignored.
  public mutating func received(_ packet: RTPPacket, length: Int, at now: VoiceInstant) -> Reception {
    self.statistics.received += 1
    // 120 ms is the most that a packet of Opus can hold; others may have a second.
    guard length > 0, length <= self.options.clockRate else { return .ignored }
    var reception = Reception.stored
    if self.ssrc == nil {
      self.restart(packet)
    } else if self.ssrc != packet.ssrc {
      self.restart(packet)
      reception = .restarted
    } else if self.isFar(packet) {
      // While nothing is played, nothing can be lost by following at once.
      let isIdle = self.frames.isEmpty && self.state == .buffering
      guard isIdle || self.confirmsJump(packet) else {
        self.suspect = Suspect(sequence: packet.sequenceNumber, timestamp: packet.timestamp)
        return .ignored
      }
      self.restart(packet)
      reception = .restarted
    }
    if reception == .restarted { self.statistics.restarts += 1 }
    self.suspect = nil
    let frame = Frame(
      payload: packet.payload, payloadType: packet.payloadType, length: length,
      timestamp: self.timestamps.unwrap(packet.timestamp),
      sequence: self.sequences.unwrap(packet.sequenceNumber))
    let isFirst = self.frames.isEmpty && self.firstArrival == nil
    if isFirst || frame.sequence > self.newest.sequence {
      self.newestSequence = frame.sequence
      self.newestEnd = frame.timestamp + Int64(length)
    }
    self.estimator.received(media: .units(frame.timestamp, of: self.options.clockRate), at: now)
    self.statistics.targetDelay = .units(self.target, of: self.options.clockRate)
    if let last = self.lastPlayedSequence {
      let isPlayed: Bool
      switch self.state {
      case .buffering: isPlayed = frame.sequence <= last
      case .playing(let next, _): isPlayed = frame.timestamp < next
      }
      if frame.sequence == last {
        self.statistics.duplicates += 1
        return .duplicate
      }
      if isPlayed {
        self.statistics.late += 1
        return .late
      }
    }
    guard self.insert(frame) else {
      self.statistics.duplicates += 1
      return .duplicate
    }
    if isFirst { self.firstArrival = now }
    self.dropOldest()
    return reception
  }

  /// Whether a packet is so far from the others, three seconds, that it may not belong to them.
  private func isFar(_ packet: RTPPacket) -> Bool {
    let step = Int32(bitPattern: packet.timestamp &- UInt32(truncatingIfNeeded: self.newest.end))
    return step.magnitude > UInt32(self.options.clockRate * 3)
  }

  /// Whether a packet follows the one before that was far away (RFC 3550 section A.1).
  private func confirmsJump(_ packet: RTPPacket) -> Bool {
    guard let suspect = self.suspect, packet.sequenceNumber == suspect.sequence &+ 1 else { return false }
    let step = Int32(bitPattern: packet.timestamp &- suspect.timestamp)
    return step.magnitude <= UInt32(self.options.clockRate)
  }

  private mutating func restart(_ packet: RTPPacket) {
    self.statistics.discarded += self.frames.count
    self.ssrc = packet.ssrc
    self.frames = []
    self.state = .buffering
    self.sequences = SequenceUnwrapper()
    self.timestamps = TimestampUnwrapper()
    self.firstArrival = nil
    self.lastPlayedSequence = nil
    self.smoothed = nil
    self.estimator.restarted()
  }

  /// Inserts a frame in its order; false if it is there already.
  private mutating func insert(_ frame: Frame) -> Bool {
    var index = self.frames.endIndex
    while index > 0, self.frames[index - 1].timestamp > frame.timestamp { index -= 1 }
    if index > 0, self.frames[index - 1].timestamp == frame.timestamp { return false }
    self.frames.insert(frame, at: index)
    return true
  }

  /// Keeps twice the largest delay: beyond it nobody has asked for long, and old audio is worth less than new one.
  private mutating func dropOldest() {
    let limit = max(self.options.maximumDelay * 2, .milliseconds(240)).units(of: self.options.clockRate)
    var dropped = 0
    while dropped + 1 < self.frames.count,
      self.newest.end - self.frames[dropped].timestamp > limit || self.frames.count - dropped > 1000
    {
      dropped += 1
    }
    guard dropped > 0 else { return }
    self.frames.removeFirst(dropped)
    self.statistics.discarded += dropped
    if case .playing(let next, _) = self.state, let first = self.frames.first {
      self.state = .playing(next: max(next, first.timestamp), owed: 0)
    }
    self.smoothed = nil
  }
}
