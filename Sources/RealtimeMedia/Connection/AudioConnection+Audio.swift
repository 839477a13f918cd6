public import VoiceCore

extension AudioConnection {
  /// How a packet leaves: over a path that is known, without a copy.
  public typealias Transmit = (_ packet: [UInt8], _ path: ICEAgent.SendingPath) -> Void

  /// Sends 20 ms of audio.
  ///
  /// - Parameters:
  ///   - samples: 960 mono samples at 48 kHz; `nil` while nothing is said, as when muted.
  ///   - transmit: Is given each packet if there is one on a direct path; it must not keep it. On relayed paths the packet is
  ///     among the outputs.
  public func sendAudio(_ samples: ArraySlice<Int16>?, at now: VoiceInstant, transmit: Transmit) {
    guard case .secured(_, let srtp) = self.keys, let path = self.ice.sendingPath, let sender = self.sender,
      self.negotiator.agreed?.direction.sends ?? false
    else { return }
    var timestamp = sender.timestamp
    var isPacket = sender.send(samples, at: now, into: &self.packet)
    while true {
      if isPacket { self.transmit(timestamp, srtp, path, at: now, by: transmit) }
      guard sender.hasRest else { return }
      timestamp = sender.timestamp
      isPacket = sender.sendRest(into: &self.packet)
    }
  }

  /// Lets time pass in which this side could not send, for want of time of the machine.
  ///
  /// - Parameter time: What is left out, besides what the calls of ``sendAudio(_:at:transmit:)`` make up for.
  public func skipAudio(_ time: Duration) { self.sender?.skip(time) }

  private func transmit(
    _ timestamp: UInt32, _ srtp: SRTPContext, _ path: ICEAgent.SendingPath, at now: VoiceInstant,
    by transmit: Transmit
  ) {
    self.reports?.sent(timestamp: timestamp, payloadBytes: self.packet.count - 12, at: now)
    guard (try? srtp.protect(&self.packet)) != nil else {
      self.packetsNotProtected += 1
      return
    }
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
    let isExpected = self.state == .connected && self.negotiator.agreed?.direction.receives ?? false
    switch self.silence.poll(isExpected: isExpected, isWayGood: self.ice.isAnswered, at: now) {
    case .nothing: break
    case .check: self.checkNow(at: now)
    case .missing: self.tell(.mediaMissing)
    }
    let info = self.receiver.read(count, into: &samples, at: now)
    while let event = self.receiver.poll() {
      switch event {
      case .keyPressed(let key): self.tell(.keyPressed(key))
      case .codecFailed(let codec):
        self.tell(
          .decodingFailed(
            VoiceFailure(
              .callMediaFailed, message: "There is no decoder for \(codec.encoding); what comes is not heard."
            )))
      case .keyReleased, .sourceChanged, .codecChanged: break
      }
    }
    return info.concealedCount
  }

  /// Sends keys as telephone events (RFC 4733).
  ///
  /// - Returns: Whether the other side understands them and there was room; otherwise nothing is sent.
  public func press(_ keys: [TelephoneEvent.Key]) -> Bool { self.sender?.press(keys) ?? false }

  func beginReports(at now: VoiceInstant) {
    // A handshake that is made anew goes on with the same source.
    guard self.reports == nil, let sender = self.sender else { return }
    self.reports = RTCPSchedule(
      ssrc: self.ssrc, name: self.cname, clockRate: sender.codec.key.clockRate,
      allowsReducedSize: self.negotiator.agreed?.allowsReducedSizeRTCP ?? false, random: self.random, at: now)
  }

  /// Sends a report if one is due.
  func sendReports(at now: VoiceInstant) {
    guard case .secured(_, let srtp) = self.keys, self.reports?.poll(at: now, into: &self.report) ?? false
    else { return }
    self.transmitReport(srtp, at: now)
  }

  func sendGoodbye(at now: VoiceInstant) {
    guard case .secured(_, let srtp) = self.keys, self.reports?.leave(at: now, into: &self.report) ?? false
    else { return }
    self.transmitReport(srtp, at: now)
  }

  private func transmitReport(_ srtp: SRTPContext, at now: VoiceInstant) {
    guard (try? srtp.protectRTCP(&self.report)) != nil else {
      self.packetsNotProtected += 1
      return
    }
    self.ice.send(self.report, at: now)
  }

  /// What a payload type is that was agreed on: its clock, and whether it is of keys.
  func kind(of payloadType: UInt8) -> (clockRate: Int, isKey: Bool) {
    let agreed = self.negotiator.agreed
    if let codec = agreed?.codecs.first(where: { $0.receives == payloadType }) {
      return (codec.key.clockRate, false)
    }
    let key = agreed?.telephoneEvents.first { $0.receives == payloadType }
    return (key?.key.clockRate ?? 48_000, key != nil)
  }
}
