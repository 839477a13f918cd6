public import VoiceCore

extension AudioConnection {
  /// How a packet leaves: over a path that is known, without a copy.
  public typealias Transmit = (_ packet: [UInt8], _ path: ICEAgent.SendingPath) -> Void

  /// Sends 20 ms of audio.
  ///
  /// - Parameters:
  ///   - samples: 960 mono samples at 48 kHz; `nil` while nothing is said, as when muted.
  ///   - transmit: Is given the packet if there is one on a direct path; it must not keep it. On relayed paths the packet is
  ///     among the outputs.
  public func sendAudio(_ samples: ArraySlice<Int16>?, at now: VoiceInstant, transmit: Transmit) {
    self.quality.sent(samples ?? [])
    guard case .secured(_, let srtp) = self.keys, let path = self.ice.sendingPath, let sender = self.sender,
      self.negotiator.agreed?.direction.sends ?? false
    else { return }
    let timestamp = sender.timestamp
    guard sender.send(samples, at: now, into: &self.packet) else { return }
    self.reports.sent(timestamp, payloadBytes: self.packet.count - 12, at: now)
    guard (try? srtp.protect(&self.packet)) != nil else { return }
    switch path {
    case .direct: transmit(self.packet, path)
    case .relayed: self.ice.send(self.packet, at: now)
    }
  }

  /// Makes the next samples of what the other side says; there are always as many as asked for.
  ///
  /// - Parameters:
  ///   - count: Mono samples at 48 kHz.
  ///   - samples: Is replaced.
  /// - Returns: How many of them were made up.
  public func readAudio(_ count: Int, into samples: inout [Int16], at now: VoiceInstant) -> Int {
    let info = self.receiver.read(count, into: &samples, at: now)
    self.quality.played(samples[...], concealed: info.concealedCount)
    while let event = self.receiver.poll() {
      switch event {
      case .keyPressed(let key): self.tell(.keyPressed(key))
      case .keyReleased, .sourceChanged, .codecChanged, .codecFailed: break
      }
    }
    return info.concealedCount
  }

  /// Sends keys as telephone events (RFC 4733).
  ///
  /// - Returns: Whether the other side understands them and there was room; otherwise nothing is sent.
  public func press(_ keys: [TelephoneEvent.Key]) -> Bool { self.sender?.press(keys) ?? false }

  /// Sends a report if one is due.
  func sendReports(at now: VoiceInstant) {
    guard case .secured(_, let srtp) = self.keys, var compound = self.reports.timePassed(at: now),
      (try? srtp.protectRTCP(&compound)) != nil
    else { return }
    self.ice.send(compound, at: now)
  }

  func sendGoodbye(at now: VoiceInstant) {
    guard case .secured(_, let srtp) = self.keys else { return }
    var compound = self.reports.goodbye(at: now)
    guard (try? srtp.protectRTCP(&compound)) != nil else { return }
    self.ice.send(compound, at: now)
  }

  /// Units of the timestamp per second of a payload type that was agreed on.
  func clockRate(of payloadType: UInt8) -> Int {
    let agreed = self.negotiator.agreed
    let codecs = (agreed?.codecs ?? []) + (agreed?.telephoneEvents ?? [])
    return codecs.first { $0.receives == payloadType }?.key.clockRate ?? 48_000
  }
}
