public import VoiceCore

extension AudioReceiver {
  /// How long it takes to go from one sound to another one: 5 ms.
  private static let fade = 240
  /// Behind a key more of it may be missing than what its last packet said: 100 ms.
  private static let muteSlack: Int64 = 4800
  /// The most that is read at once: ten seconds.
  private static let most = 480_000

  /// Gives the next samples.
  ///
  /// - Parameters:
  ///   - count: How many; more than ten seconds are cut.
  ///   - samples: Holds these samples and nothing else afterwards; a buffer that is kept makes this free of allocations.
  /// - Returns: Which of them were received, recovered, made up or silent.
  public func read(_ count: Int, into samples: inout [Int16], at now: VoiceInstant) -> ReadInfo {
    samples.removeAll(keepingCapacity: true)
    let count = max(0, min(Self.most, count))
    self.releaseKeys(at: now)
    while self.queue.count < count { self.step(at: now) }
    var info = ReadInfo()
    self.queue.take(count, into: &samples) { info.add($0) }
    self.meter.add(samples[...])
    self.counters.played += Int64(count)
    return info
  }

  private func step(at now: VoiceInstant) {
    let position = self.position
    let action = self.buffer.next(at: now, unplayed: self.queue.count)
    self.block.removeAll(keepingCapacity: true)
    let origin: SampleOrigin
    switch action {
    case .play(let frame, let pace):
      origin = self.play(frame, pace)
      self.setMuted(self.isKeyDown(at: frame.timestamp, slack: 0))
    case .recover(let frame, let count):
      origin = self.makeUp(count, before: frame, at: position)
    case .conceal(let count):
      origin = self.makeUp(count, before: nil, at: position)
    case .rest(let count):
      origin = .resting
      self.rest(count)
      self.setMuted(false)
    }
    if self.block.isEmpty { self.block.append(contentsOf: repeatElement(0, count: 480)) }
    self.count(origin)
    self.queue.append(self.block, origin: origin)
    self.lastOrigin = origin
  }

  /// The time of what is to be played next, while something is played.
  private var position: Int64? {
    switch self.buffer.state {
    case .buffering: nil
    case .playing(let next, let owed): next + owed
    }
  }

  private func count(_ origin: SampleOrigin) {
    let count = Int64(self.block.count)
    switch origin {
    case .received: break
    case .recovered: self.counters.recovered += count
    case .resting: self.counters.resting += count
    case .concealed:
      self.counters.concealed += count
      if self.lastOrigin != .concealed { self.counters.concealments += 1 }
    }
  }

  // MARK: Playing

  private func play(_ frame: JitterBuffer.Frame, _ pace: JitterBuffer.Pace) -> SampleOrigin {
    self.starved = 0
    guard let index = self.tracks.firstIndex(where: { $0.payloadType == frame.payloadType }) else {
      return self.concealWhatCannotBeDecoded(frame.length)
    }
    self.follow(index, frame)
    guard let decoder = self.decoder(index), decoder.decode(frame.payload, into: &self.block) else {
      self.counters.packetsUndecodable += 1
      return self.concealWhatCannotBeDecoded(frame.length)
    }
    self.playing = (index, frame.timestamp + Int64(frame.length))
    self.noise.observe(self.block[...])
    switch pace {
    case .normal: break
    case .shortened(let limit):
      self.counters.removed += Int64(self.stretcher.shorten(&self.block, by: limit))
    case .stretched(let limit):
      self.counters.inserted += Int64(self.stretcher.lengthen(&self.block, by: limit))
    }
    self.fadeFromTail()
    return .received
  }

  /// Prepares the way from what was played before to a frame.
  private func follow(_ index: Int, _ frame: JitterBuffer.Frame) {
    let decoder = self.tracks[index].decoder
    if self.decodersAreOfLeftSource {
      self.makeTail()
      for index in self.tracks.indices { self.tracks[index].decoder = nil }
      self.decodersAreOfLeftSource = false
    } else if let playing = self.playing, playing.track != index {
      self.makeTail()
      decoder?.rested()
    } else if self.lastOrigin == .resting {
      self.makeTail()
      decoder?.rested()
    } else if self.lastOrigin == .received, let playing = self.playing, playing.end != frame.timestamp {
      decoder?.jumped()
    }
    if self.counters.codec != self.tracks[index].key {
      self.counters.codec = self.tracks[index].key
      self.add(.codecChanged(self.tracks[index].key))
    }
  }

  private func decoder(_ index: Int) -> (any AudioDecoding)? {
    if let decoder = self.tracks[index].decoder { return decoder }
    let decoder = self.makeDecoder(self.tracks[index].key)
    if decoder == nil, !self.tracks[index].hasFailed {
      self.tracks[index].hasFailed = true
      self.add(.codecFailed(self.tracks[index].key))
    }
    self.tracks[index].decoder = decoder
    return decoder
  }

  private var lastDecoder: (any AudioDecoding)? { self.playing.flatMap { self.tracks[$0.track].decoder } }

  // MARK: Making up

  private func makeUp(_ count: Int, before frame: JitterBuffer.Frame?, at position: Int64?) -> SampleOrigin {
    let isKey = position.map { self.isKeyDown(at: $0, slack: Self.muteSlack) } ?? false
    let origin: SampleOrigin
    if let frame, let decoder = self.lastDecoder, let playing = self.playing,
      self.tracks[playing.track].payloadType == frame.payloadType,
      decoder.recover(from: frame.payload, count: count, into: &self.block)
    {
      origin = .recovered
    } else if let decoder = self.lastDecoder {
      decoder.conceal(count, into: &self.block)
      // What is not sent in silence is not lost.
      origin = decoder.isSilent ? .resting : .concealed
    } else {
      self.noise.make(count, into: &self.block)
      origin = .concealed
    }
    self.setMuted(isKey)
    return isKey ? .resting : origin
  }

  private func concealWhatCannotBeDecoded(_ count: Int) -> SampleOrigin {
    self.block.removeAll(keepingCapacity: true)
    if let decoder = self.lastDecoder {
      decoder.conceal(count, into: &self.block)
    } else {
      for _ in 0..<count { self.block.append(0) }
    }
    return .concealed
  }

  // MARK: Resting

  private func rest(_ count: Int) {
    if self.lastOrigin != .resting { self.makeTail() }
    self.starved += count
    if let decoder = self.lastDecoder, decoder.isSilent, self.starved < RTPTimeline.rate {
      // The decoder goes on with the noise that the other side described.
      decoder.conceal(count, into: &self.block)
    } else if self.options.playsComfortNoise {
      self.noise.make(count, into: &self.block)
    } else {
      for _ in 0..<count { self.block.append(0) }
    }
    self.fadeFromTail()
  }

  // MARK: From one sound to another one

  /// Continues what is played now by as much as the way to something else takes.
  private func makeTail() {
    self.tail.removeAll(keepingCapacity: true)
    if self.lastOrigin == .resting, self.lastDecoder?.isSilent != true {
      if self.options.playsComfortNoise { self.noise.make(Self.fade, into: &self.tail) }
    } else {
      self.lastDecoder?.conceal(Self.fade, into: &self.tail)
    }
    if self.tail.isEmpty { for _ in 0..<Self.fade { self.tail.append(0) } }
  }

  private func fadeFromTail() {
    let count = min(self.tail.count, self.block.count)
    for index in 0..<count {
      let weight = Float(index + 1) / Float(count + 1)
      let from = Float(self.tail[index])
      self.block[index] = TelephoneBandFilter.sample(from + (Float(self.block[index]) - from) * weight)
    }
    self.tail.removeAll(keepingCapacity: true)
  }

  // MARK: Keys

  private func isKeyDown(at position: Int64, slack: Int64) -> Bool {
    guard let mute = self.mute else { return false }
    // The buffer counts from the 32 bits that it got: only differences agree.
    let since = Int64(Int32(truncatingIfNeeded: position &- mute.start))
    return since >= 0 && since < mute.end - mute.start + slack
  }

  /// Fades the block out, in, or makes it silent.
  private func setMuted(_ isMuted: Bool) {
    defer { self.isMuted = isMuted }
    guard isMuted || self.isMuted else { return }
    let count = min(Self.fade, self.block.count)
    if isMuted != self.isMuted {
      for index in 0..<count {
        let weight = Float(isMuted ? count - index : index + 1) / Float(count + 1)
        self.block[index] = TelephoneBandFilter.sample(Float(self.block[index]) * weight)
      }
    }
    guard isMuted else { return }
    for index in (self.isMuted ? 0 : count)..<self.block.count { self.block[index] = 0 }
  }
}
