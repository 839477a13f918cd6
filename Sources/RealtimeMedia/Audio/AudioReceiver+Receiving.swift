public import VoiceCore

extension AudioReceiver {
  /// How long a source must have been silent until the one that it replaced may come back.
  private static let sourcePatience = Duration.milliseconds(500)

  /// Takes a packet of audio or of a key.
  ///
  /// - Returns: False if it is ignored: its payload type was not agreed on, or it cannot be what it says.
  @discardableResult
  public func received(_ packet: RTPPacket, at now: VoiceInstant) -> Bool {
    let isTaken = self.take(packet, at: now)
    if isTaken {
      self.counters.packetsReceived += 1
      self.counters.bytesReceived += packet.payload.count
    } else {
      self.counters.packetsIgnored += 1
    }
    return isTaken
  }

  private func take(_ packet: RTPPacket, at now: VoiceInstant) -> Bool {
    if let index = self.tracks.firstIndex(where: { $0.payloadType == packet.payloadType }) {
      let key = self.tracks[index].key
      guard let length = AudioDecoders.duration(of: packet.payload, key),
        self.follow(packet.ssrc, at: now),
        let place = self.timeline.place(
          sequence: packet.sequenceNumber, timestamp: packet.timestamp, clockRate: key.clockRate,
          length: length)
      else { return false }
      var placed = packet
      placed.timestamp = UInt32(truncatingIfNeeded: place)
      return self.buffer.received(placed, length: length, at: now) != .ignored
    }
    if let index = self.keyTracks.firstIndex(where: { $0.payloadType == packet.payloadType }) {
      guard let event = TelephoneEvent(parsing: packet.payload), self.follow(packet.ssrc, at: now) else {
        return false
      }
      self.take(event, packet, index, at: now)
      return true
    }
    return false
  }

  /// Notices a new source; false for late packets of the one before.
  private func follow(_ ssrc: UInt32, at now: VoiceInstant) -> Bool {
    guard let source = self.source, source.ssrc != ssrc else {
      if self.source == nil { self.add(.sourceChanged(ssrc: ssrc)) }
      self.source = (ssrc, now)
      return true
    }
    if self.leftSource == ssrc, source.lastPacket.duration(to: now) < Self.sourcePatience { return false }
    self.leftSource = source.ssrc
    self.source = (ssrc, now)
    self.timeline = RTPTimeline()
    self.decodersAreOfLeftSource = true
    self.mute = nil
    for index in self.keyTracks.indices {
      // A key that was down is released: nothing more of it can come.
      let rate = self.keyTracks[index].clockRate
      let later = UInt32(truncatingIfNeeded: now.units(of: rate)) &+ 1 << 30
      self.report(self.keyTracks[index].receiver.timePassed(at: later), clockRate: rate)
      self.keyTracks[index].receiver = TelephoneEventReceiver(clockRate: rate)
    }
    self.add(.sourceChanged(ssrc: ssrc))
    return true
  }

  private func take(_ event: TelephoneEvent, _ packet: RTPPacket, _ index: Int, at now: VoiceInstant) {
    let rate = self.keyTracks[index].clockRate
    let outputs = self.keyTracks[index].receiver.received(
      event, timestamp: packet.timestamp, isMarked: packet.marker,
      at: UInt32(truncatingIfNeeded: now.units(of: rate)))
    self.report(outputs, clockRate: rate)
    guard event.key != nil else { return }
    // Keys with a clock that the audio does not have are taken to be pressed right behind the newest audio.
    let isNew = outputs.contains { if case .began = $0 { true } else { false } }
    guard
      let start = self.timeline.place(packet.timestamp, clockRate: rate)
        ?? (isNew ? self.timeline.end : self.mute?.start)
    else { return }
    let length = Int64(event.duration) * Int64(RTPTimeline.rate) / Int64(max(1, rate))
    if let mute = self.mute, mute.start == start {
      self.mute?.end = max(mute.end, start + length)
    } else if isNew {
      self.mute = Mute(start: start, end: start + length)
    }
  }

  /// Releases keys of which nothing came for a while.
  func releaseKeys(at now: VoiceInstant) {
    for index in self.keyTracks.indices {
      let rate = self.keyTracks[index].clockRate
      let units = UInt32(truncatingIfNeeded: now.units(of: rate))
      self.report(self.keyTracks[index].receiver.timePassed(at: units), clockRate: rate)
    }
  }

  private func report(_ outputs: [TelephoneEventReceiver.Output], clockRate: Int) {
    for output in outputs {
      switch output {
      case .began(let key): self.add(.keyPressed(key))
      case .ended(let key, let duration):
        self.add(.keyReleased(key, after: .units(Int64(duration), of: clockRate)))
      }
    }
  }
}
