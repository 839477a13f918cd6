public import VoiceCore

extension AudioConnection {
  /// How a packet leaves: over a path that is known, without a copy.
  public typealias Transmit = (_ packet: [UInt8], _ path: ICEAgent.SendingPath) -> Void

  /// Whether this side may send audio now.
  public var canSend: Bool {
    guard case .secured = self.keys, let agreed = self.negotiator.agreed else { return false }
    return agreed.direction.sends && self.ice.sendingPath != nil
  }

  /// Sends 20 ms of audio.
  ///
  /// - Parameters:
  ///   - samples: 960 mono samples at 48 kHz; `nil` while muted.
  ///   - transmit: Is given the packet if there is one on a direct path; it must not keep it. On relayed paths the packet is
  ///     among the outputs.
  public func sendAudio(_ samples: ArraySlice<Int16>?, at now: VoiceInstant, transmit: Transmit) {
    if let samples { self.quality.sent(samples) } else { self.quality.sent([]) }
    guard case .secured(_, let srtp) = self.keys, let path = self.ice.sendingPath else { return }
    let isSending = self.negotiator.agreed?.direction.sends ?? false
    guard self.sender.send(samples, isHeld: !isSending, at: now, into: &self.packet) else { return }
    self.reports.sent(self.sender.lastTimestamp, payloadBytes: self.sender.lastPayloadBytes, at: now)
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
    samples.removeAll(keepingCapacity: true)
    let info = self.receiver.read(count, into: &samples, at: now)
    self.quality.played(samples[...], concealed: info.concealed)
    while let event = self.receiver.poll() {
      if case .keyPressed(let key) = event { self.tell(.keyPressed(key)) }
    }
    return info.concealed
  }

  /// Sends keys as telephone events (RFC 4733).
  ///
  /// - Returns: Whether the other side understands them and there was room; otherwise nothing is sent.
  public func press(_ keys: [TelephoneEvent.Key]) -> Bool { self.sender.press(keys) }

  func sendReports(at now: VoiceInstant) {
    guard case .secured(_, let srtp) = self.keys else { return }
    guard var compound = self.reports.timePassed(at: now) else { return }
    guard (try? srtp.protectRTCP(&compound)) != nil else { return }
    self.ice.send(compound, at: now)
  }

  func sendGoodbye(at now: VoiceInstant) {
    guard case .secured(_, let srtp) = self.keys else { return }
    var compound = self.reports.goodbye(at: now)
    guard (try? srtp.protectRTCP(&compound)) != nil else { return }
    self.ice.send(compound, at: now)
  }
}
