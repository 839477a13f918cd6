public import VoiceCore

extension AudioSender {
  /// A pause in the calls from which on time has passed for the other side too.
  private static let pause = Duration.milliseconds(200)
  /// How long it takes to fade to silence: 5 ms.
  private static let fade = 240

  /// Takes a frame, and makes a packet if enough is there.
  ///
  /// - Parameters:
  ///   - samples: A multiple of 10 ms up to 60 ms, as much as a packet holds, usually 20 ms; `nil` for as much silence as the last frame was long.
  ///   - packet: Holds the packet and nothing else afterwards; a buffer that is kept makes this free of allocations.
  /// - Returns: Whether there is a packet: not while it fills up, nor in silence that is left out (DTX).
  public func send(
    _ samples: ArraySlice<Int16>?, at now: VoiceInstant, into packet: inout [UInt8]
  ) -> Bool {
    packet.removeAll(keepingCapacity: true)
    self.followPause(until: now)
    self.take(samples)
    self.followAgreement()
    return self.sendPending(into: &packet)
  }

  /// Leaves out time: the other side's clock goes on, and what comes next is that much later.
  ///
  /// A pause of some length in the calls of ``send(_:at:into:)`` is noticed by itself. This is for who knows how much of it is left
  /// out, and makes up for the rest with several calls at once.
  public func skip(_ time: Duration) {
    guard let last = self.lastCall else { return }
    self.lastCall = last.advanced(by: time)
    self.pass(time)
  }

  /// Whether the last frame makes another packet.
  public var hasRest: Bool { self.pending.count >= self.packetLength }

  /// Makes the next packet of the last frame.
  ///
  /// - Returns: Whether there is one, as ``send(_:at:into:)``; ``hasRest`` says whether to go on.
  public func sendRest(into packet: inout [UInt8]) -> Bool {
    packet.removeAll(keepingCapacity: true)
    return self.sendPending(into: &packet)
  }

  private func sendPending(into packet: inout [UInt8]) -> Bool {
    guard self.hasRest else { return false }
    let units = self.allowedUnits(atMost: min(self.packetLimit, self.pending.count) / Self.unit)
    let length = max(Self.unit, units * Self.unit)
    defer { self.pending.removeFirst(min(length, self.pending.count)) }
    return self.makePacket(length, into: &packet)
  }

  private func makePacket(_ length: Int, into packet: inout [UInt8]) -> Bool {
    let units = length / (Self.rate / max(1, self.codec.key.clockRate))
    defer { self.timestamp &+= UInt32(units) }
    self.pressNext()
    switch self.keys.nextPacket(at: self.timestamp, length: units) {
    case .event(let event, let timestamp, let marker):
      guard let format = self.telephoneEvent else { return false }
      self.appendHeader(marker: marker, payloadType: format.sends, timestamp: timestamp, to: &packet)
      event.append(to: &packet)
      self.isMarked = true
      self.encoder.reset()
    case .silence:
      for index in 0..<min(length, self.pending.count) { self.pending[index] = 0 }
      guard self.encode(length, into: &packet) else { return false }
    case .audio:
      guard self.encode(length, into: &packet) else { return false }
    }
    self.sequenceNumber &+= 1
    self.counters.packets += 1
    self.counters.payloadBytes += packet.count - 12
    return true
  }

  private func encode(_ length: Int, into packet: inout [UInt8]) -> Bool {
    self.appendHeader(
      marker: self.isMarked, payloadType: self.codec.sends, timestamp: self.timestamp, to: &packet)
    do throws(AudioSenderError) {
      guard try self.encoder.encode(self.pending[..<length], into: &packet) else {
        self.counters.packetsLeftOut += 1
        self.isMarked = true
        packet.removeAll(keepingCapacity: true)
        return false
      }
      self.isMarked = false
      return true
    } catch {
      self.counters.packetsFailed += 1
      packet.removeAll(keepingCapacity: true)
      return false
    }
  }

  private func appendHeader(marker: Bool, payloadType: UInt8, timestamp: UInt32, to packet: inout [UInt8]) {
    packet.append(0x80)
    packet.append((marker ? 0x80 : 0) | payloadType & 0x7f)
    packet.append(bigEndian: self.sequenceNumber)
    packet.append(bigEndian: timestamp)
    packet.append(bigEndian: self.ssrc)
  }

  /// Gives the next key to be sent, one by one, so that those that wait survive a change of the clock.
  private func pressNext() {
    guard !self.keys.isBusy, !self.presses.isEmpty else { return }
    let press = self.presses.removeFirst()
    _ = self.keys.press(press.key, duration: press.duration, pause: press.pause)
  }

  private func take(_ samples: ArraySlice<Int16>?) {
    self.encoder.isMuted = samples == nil && self.isMuted
    if let samples, !samples.isEmpty {
      let samples = samples.prefix(Self.longestPacket)
      let start = self.pending.count
      self.pending.append(contentsOf: samples)
      if self.isMuted {
        for index in 0..<min(Self.fade, samples.count) {
          self.pending[start + index] = Int16(Int(self.pending[start + index]) * index / Self.fade)
        }
      }
      self.isMuted = false
      self.lastFrame = samples.count
      self.lastSample = self.pending[self.pending.count - 1]
      self.meter.add(samples)
    } else {
      // From the last sample to zero: a step would be heard.
      for index in 0..<self.lastFrame {
        let left = self.isMuted ? 0 : max(0, Self.fade - 1 - index)
        self.pending.append(
          Int16(Int(self.lastSample) * left / Self.fade * left / Self.fade))
      }
      self.isMuted = true
      self.meter.addSilence(self.lastFrame)
    }
    self.counters.samples += Int64(self.lastFrame)
  }

  /// Lets time pass in which nothing was given, such as while a call is held.
  private func followPause(until now: VoiceInstant) {
    defer { self.lastCall = now }
    guard let last = self.lastCall else { return }
    let frame = Duration.units(Int64(self.lastFrame), of: Self.rate)
    let missed = last.duration(to: now) - frame
    if missed >= Self.pause { self.pass(missed) }
  }

  private func pass(_ time: Duration) {
    self.pending.removeAll(keepingCapacity: true)
    self.timestamp &+= UInt32(truncatingIfNeeded: time.units(of: self.codec.key.clockRate))
    self.isMarked = true
  }
}

extension TelephoneEvent {
  /// Appends the payload of four bytes.
  func append(to bytes: inout [UInt8]) {
    bytes.append(self.code)
    bytes.append((self.isEnd ? 0x80 : 0) | min(63, self.attenuation))
    bytes.append(bigEndian: self.duration)
  }
}
