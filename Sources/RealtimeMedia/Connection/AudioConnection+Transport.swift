public import VoiceCore

extension AudioConnection {
  // MARK: Sockets

  /// A socket was bound; candidates are looked for on it, also in the middle of a call.
  public func addSocket(_ id: ICEAgent.SocketID, local: TransportAddress, at now: VoiceInstant) {
    guard !self.isClosed else { return }
    self.ice.addSocket(id, local: local, at: now)
    self.tellState()
  }

  /// A socket is gone, with the interface that it was on.
  public func removeSocket(_ id: ICEAgent.SocketID, at now: VoiceInstant) {
    guard !self.isClosed else { return }
    self.ice.removeSocket(id, at: now)
    self.tellState()
  }

  /// All sockets that there are now were added.
  public func socketsAdded(at now: VoiceInstant) {
    guard !self.isClosed else { return }
    self.ice.noMoreSockets(at: now)
    self.tellState()
  }

  /// Checks the way in use and the others at once, because something hints that it is broken; audio that is missing for a
  /// quarter of a second does so by itself.
  public func checkNow(at now: VoiceInstant) {
    guard !self.isClosed else { return }
    self.ice.checkNow(at: now)
    self.tellState()
  }

  /// A connection to a relay was opened.
  public func streamOpened(_ id: ICEAgent.StreamID, at now: VoiceInstant) {
    guard !self.isClosed else { return }
    self.ice.streamOpened(id, at: now)
  }

  /// Bytes came on a connection to a relay.
  public func streamReceived(_ bytes: [UInt8], on id: ICEAgent.StreamID, at now: VoiceInstant) {
    guard !self.isClosed else { return }
    self.ice.streamReceived(bytes, id, at: now)
    self.drainReceived(at: now)
    self.paceHandshake(at: now)
    self.tellState()
  }

  /// A connection to a relay ended, or could not be opened.
  public func streamClosed(_ id: ICEAgent.StreamID, at now: VoiceInstant) {
    guard !self.isClosed else { return }
    self.ice.streamClosed(id, at: now)
    self.tellState()
  }

  // MARK: Datagrams

  /// Takes a datagram from a socket; what it is shows its first byte (RFC 7983).
  ///
  /// - Parameter datagram: Its storage is used for decryption; its contents are undefined afterwards.
  public func received(
    _ datagram: inout [UInt8], on id: ICEAgent.SocketID, from remote: TransportAddress, at now: VoiceInstant
  ) {
    guard !self.isClosed else { return }
    switch DatagramKind(datagram) {
    case .stun, .turnChannel:
      self.ice.received(datagram[...], on: id, from: remote, at: now)
      self.drainReceived(at: now)
      self.paceHandshake(at: now)
    case .dtls, .rtp, .rtcp:
      self.takeApplication(&datagram, isFromKnownAddress: self.ice.knows(remote, on: id), at: now)
    case .unknown: return
    }
    self.tellState()
  }

  /// Takes what came on a way that ICE found, unwrapped from a relay or not.
  private func takeApplication(
    _ datagram: inout [UInt8], isFromKnownAddress: Bool, at now: VoiceInstant
  ) {
    switch DatagramKind(datagram) {
    case .dtls:
      // Anybody can make an alert that ends a handshake.
      guard isFromKnownAddress else {
        self.packetsRefused += 1
        return
      }
      self.takeHandshake(datagram, at: now)
    case .rtp:
      guard case .secured(_, let srtp) = self.keys, (try? srtp.unprotect(&datagram)) != nil,
        let packet = try? RTPPacket(parsing: datagram[...])
      else {
        self.packetsRefused += 1
        return
      }
      // Packets that were on their way when a hold was agreed on promise no others.
      if self.negotiator.agreed?.direction.receives ?? false { self.silence.received(at: now) }
      let (clockRate, isKey) = self.kind(of: packet.payloadType)
      self.reports?.received(packet, clockRate: clockRate, isKey: isKey, at: now)
      _ = self.receiver.received(packet, at: now)
    case .rtcp:
      guard case .secured(_, let srtp) = self.keys, (try? srtp.unprotectRTCP(&datagram)) != nil,
        (try? self.reports?.received(datagram[...], at: now)) != nil
      else {
        self.packetsRefused += 1
        return
      }
      if let loss = self.reports?.statistics.remoteLoss {
        self.sender?.expectedLoss = self.lossExpectation.reported(loss, at: now)
      }
    case .stun, .turnChannel, .unknown: return
    }
  }

  /// What the agent unwrapped from relays is taken at once; the rest is kept for ``poll()``.
  private func drainReceived(at now: VoiceInstant) {
    self.drain()
    guard !self.unwrapped.isEmpty else { return }
    var unwrapped: [(datagram: [UInt8], isFromKnownAddress: Bool)] = []
    swap(&unwrapped, &self.unwrapped)
    for index in unwrapped.indices {
      let isKnown = unwrapped[index].isFromKnownAddress
      self.takeApplication(&unwrapped[index].datagram, isFromKnownAddress: isKnown, at: now)
    }
  }

  /// Turns what the agent and the handshake want into outputs.
  func drain() {
    while let output = self.ice.poll() {
      switch output {
      case .send(let bytes, let id, let remote): self.outputs.append(.send(bytes, on: id, to: remote))
      case .openStream(let id, let server): self.outputs.append(.openStream(id, server))
      case .sendStream(let bytes, let id): self.outputs.append(.sendStream(bytes, id))
      case .closeStream(let id): self.outputs.append(.closeStream(id))
      case .candidate(let candidate): self.tell(.candidateFound(candidate))
      case .gatheringEnded: self.tell(.gatheringEnded)
      case .received(let datagram, let isKnown): self.unwrapped.append((datagram, isKnown))
      case .warned(let warning): self.tell(.warned(warning))
      case .stateChanged(.failed):
        // A restart can repair it, so it is no end.
        self.tell(
          .failed(
            VoiceFailure(
              .callMediaUnreachable,
              message: self.ice.failure?.description ?? "There is no path to the other side.",
              cause: self.ice.failure)))
      case .selected: self.foundWay()
      case .stateChanged: break
      }
    }
    self.tellState()
  }

  /// A restart is over when there is a way with the new credentials; who asked for it is told, also if the old way was good.
  private func foundWay() {
    guard self.awaitsNewWay else { return }
    self.awaitsNewWay = false
    self.connectDeadline = nil
    if self.state == .connected, self.told == .connected { self.tell(.stateChanged(.connected)) }
  }

  // MARK: Handshake

  func beginHandshake(_ applied: Applied, _ audio: NegotiatedAudio, at now: VoiceInstant) {
    var early: [[UInt8]] = []
    switch self.keys {
    case .waiting(let datagrams): early = datagrams
    case .ready: break
    case .handshaking(let old, _), .paused(let old), .secured(let old, _): old.close()
    case .failed, .closed: self.failure = nil
    }
    do {
      let handshake = try self.makeHandshake(self.certificate, audio.dtlsRole, audio.remote.fingerprints)
      self.keys = .ready(handshake, early: early)
      self.paceHandshake(at: now)
    } catch {
      self.keys = .failed
      self.fail(error.failure)
    }
  }

  /// The handshake begins when there is a way, not to waste its first flight, and stands still while the way is lost.
  func paceHandshake(at now: VoiceInstant) {
    let hasWay: Bool
    switch self.ice.state {
    case .connected, .completed: hasWay = true
    case .new, .checking, .disconnected, .failed, .closed: hasWay = false
    }
    let deadline = now.advanced(by: self.configuration.handshakeTimeout)
    switch self.keys {
    case .ready(let handshake, let early):
      guard hasWay else { return }
      self.keys = .handshaking(handshake, until: deadline)
      handshake.start()
      // It takes nothing before it has started.
      for datagram in early { handshake.received(datagram[...]) }
    case .handshaking(let handshake, _):
      guard !hasWay else { return }
      self.keys = .paused(handshake)
    case .paused(let handshake):
      guard hasWay else { return }
      self.keys = .handshaking(handshake, until: deadline)
      handshake.handleTimeout()
    case .waiting, .secured, .failed, .closed: return
    }
    self.drainHandshake(at: now)
  }

  private func takeHandshake(_ datagram: [UInt8], at now: VoiceInstant) {
    switch self.keys {
    case .waiting(let early):
      if early.count < Self.earlyHandshakeLimit { self.keys = .waiting(early: early + [datagram]) }
    case .ready(let handshake, let early):
      if early.count < Self.earlyHandshakeLimit { self.keys = .ready(handshake, early: early + [datagram]) }
    case .handshaking(let handshake, _), .paused(let handshake), .secured(let handshake, _):
      handshake.received(datagram[...])
      self.drainHandshake(at: now)
    case .failed, .closed: break
    }
  }

  func drainHandshake(at now: VoiceInstant) {
    let handshake: any DTLSHandshaking
    switch self.keys {
    case .handshaking(let running, _), .paused(let running), .secured(let running, _): handshake = running
    case .waiting, .ready, .failed, .closed: return
    }
    while let output = handshake.poll() {
      switch output {
      case .send(let datagram): self.ice.send(datagram, at: now)
      case .established(let keys):
        do {
          self.keys = .secured(handshake, try SRTPContext(keys: keys))
          self.connectDeadline = nil
          self.beginReports(at: now)
        } catch {
          self.keys = .failed
          self.fail(
            VoiceFailure(.callMediaFailed, message: "The keys of the call are not usable.", cause: error))
        }
      case .failed(let error):
        self.keys = .failed
        self.fail(error.failure)
      case .closed:
        self.keys = .closed
        self.tell(.remoteClosed)
      }
    }
    self.drain()
  }

  // MARK: Time

  /// When ``timePassed(at:)`` has something to do.
  public func nextWake(at now: VoiceInstant) -> VoiceInstant? {
    guard !self.isClosed else { return nil }
    // Asked after each packet, so without arrays.
    let wake = earlier(self.ice.nextWake, self.connectDeadline)
    switch self.keys {
    case .handshaking(let handshake, let deadline):
      return earlier(wake, earlier(deadline, handshake.timeout.map { now.advanced(by: $0) }))
    case .secured: return earlier(wake, self.reports?.nextWake)
    case .waiting, .ready, .paused, .failed, .closed: return wake
    }
  }

  /// Does what is due.
  public func timePassed(at now: VoiceInstant) {
    guard !self.isClosed else { return }
    self.ice.timePassed(at: now)
    self.drainReceived(at: now)
    self.paceHandshake(at: now)
    switch self.keys {
    case .handshaking(let handshake, let deadline):
      if deadline <= now {
        self.keys = .failed
        self.fail(
          VoiceFailure(.callMediaInsecure, message: "The other side did not finish the handshake in time."))
      } else {
        // What is not answered may be lost with the way, which ICE would ask for after some seconds only.
        if handshake.timeout == .zero { self.ice.checkNow(at: now) }
        handshake.handleTimeout()
        self.drainHandshake(at: now)
      }
    case .secured:
      self.sendReports(at: now)
    case .waiting, .ready, .paused, .failed, .closed: break
    }
    if let deadline = self.connectDeadline, deadline <= now {
      self.connectDeadline = nil
      if !self.isConnected {
        self.fail(VoiceFailure(.callMediaUnreachable, message: "No way to the other side was found in time."))
      }
    }
    self.drain()
  }

  private var isConnected: Bool { self.state == .connected }

  // MARK: End

  /// Says goodbye and ends; what ``poll()`` still gives is to be sent.
  public func close(at now: VoiceInstant) {
    guard !self.isClosed else { return }
    self.sendGoodbye(at: now)
    switch self.keys {
    case .handshaking(let handshake, _), .paused(let handshake), .secured(let handshake, _):
      handshake.close()
      while let output = handshake.poll() {
        if case .send(let datagram) = output { self.ice.send(datagram, at: now) }
      }
    case .waiting, .ready, .failed, .closed: break
    }
    self.ice.close(at: now)
    self.keys = .closed
    // Before what is left is taken, so that nobody hears of a way that was lost.
    self.isClosed = true
    self.drain()
  }
}
