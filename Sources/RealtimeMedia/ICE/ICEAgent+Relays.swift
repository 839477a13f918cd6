public import VoiceCore

extension ICEAgent {
  /// The connection of a stream is open.
  public mutating func streamOpened(_ id: StreamID, at now: VoiceInstant) {
    guard let relay = self.relay(of: id), self.relays[relay]?.isStreamOpen == false else { return }
    self.relays[relay]?.isStreamOpen = true
    self.relays[relay]?.streamDeadline = nil
    self.relays[relay]?.client.start(at: now)
    self.drain(relay, at: now)
    self.settle(at: now)
  }

  /// Bytes came on a stream, cut anywhere.
  public mutating func streamReceived(_ bytes: some Collection<UInt8>, _ id: StreamID, at now: VoiceInstant) {
    guard let relay = self.relay(of: id) else { return }
    self.relays[relay]?.client.streamReceived(bytes, at: now)
    self.drain(relay, at: now)
  }

  /// A stream could not be opened, or is closed.
  public mutating func streamClosed(_ id: StreamID, at now: VoiceInstant) {
    guard let relay = self.relay(of: id) else { return }
    self.relays[relay]?.isStreamOpen = false
    self.relays[relay]?.client.streamClosed(at: now)
    self.drain(relay, at: now)
    self.settle(at: now)
  }

  private func relay(of stream: StreamID) -> Int? {
    self.relays.first { $0.value.carrier == .stream(stream) }?.key
  }

  /// Streams belong to no socket, so there is one for each server; a new socket lets a broken one try at once.
  mutating func startStreams(at now: VoiceInstant) {
    if self.hasStartedStreams {
      for id in self.relays.keys where self.relays[id]?.retryAt != nil { self.relays[id]?.retryAt = now }
      return
    }
    self.hasStartedStreams = true
    self.warnOfUnusedServers()
    for (index, server) in self.configuration.servers.enumerated()
    where server.kind == .turn && server.transport != .udp {
      self.addRelay(index, server, .stream(self.makeStream()), at: now)
    }
  }

  /// What STUN shows over TCP or TLS is of no use for datagrams.
  private mutating func warnOfUnusedServers() {
    for (index, server) in self.configuration.servers.enumerated()
    where server.kind == .stun && server.transport != .udp {
      self.warn(index) { .serverNotUsed($0) }
    }
  }

  private mutating func makeStream() -> StreamID {
    self.nextStream += 1
    return StreamID(rawValue: self.nextStream)
  }

  mutating func addRelay(_ index: Int, _ server: Server, _ carrier: Relay.Carrier, at now: VoiceInstant) {
    let id = self.nextRelay
    self.nextRelay += 1
    let client = self.makeClient(server)
    self.relays[id] = Relay(index: index, server: server, carrier: carrier, client: client)
    self.startRelay(id, at: now)
  }

  private mutating func makeClient(_ server: Server) -> TURNClient {
    TURNClient(
      configuration: .init(
        username: server.username, password: server.password, isStream: server.transport != .udp,
        relayIsV6: server.relayIsV6, firstTimeout: self.configuration.firstTimeout,
        requestTimeout: self.configuration.serverTimeout,
        keepaliveInterval: self.configuration.keepaliveInterval),
      random: SaltedGenerator(base: self.random, salt: self.random.next()))
  }

  private mutating func startRelay(_ id: Int, at now: VoiceInstant) {
    guard let relay = self.relays[id] else { return }
    switch relay.carrier {
    case .socket: self.relays[id]?.client.start(at: now)
    case .stream(let stream):
      // The first description does not wait for a server's time, so there is little for the first of two addresses.
      let isFirstOfTwo = relay.server.alternative != nil && !relay.isAtAlternative && relay.retries == 0
      let timeout = self.configuration.serverTimeout
      self.relays[id]?.streamDeadline = now.advanced(
        by: isFirstOfTwo ? min(timeout, Relay.firstAddressTimeout) : timeout)
      self.outputs.append(.openStream(stream, relay.server))
    }
    self.drain(id, at: now)
  }

  mutating func removeRelay(_ id: Int, at now: VoiceInstant) {
    guard var relay = self.relays[id] else { return }
    relay.client.close(at: now)
    while let output = relay.client.poll() {
      if case .send(let bytes) = output { self.sendToServer(bytes, relay) }
    }
    if case .stream(let stream) = relay.carrier { self.outputs.append(.closeStream(stream)) }
    self.relays[id] = nil
    self.removeBase(.relay(id))
  }

  private mutating func sendToServer(_ bytes: [UInt8], _ relay: Relay) {
    switch relay.carrier {
    case .socket(let socket): self.outputs.append(.send(bytes, on: socket, to: relay.server.address))
    case .stream(let stream):
      if relay.isStreamOpen { self.outputs.append(.sendStream(bytes, stream)) }
    }
  }

  /// Takes what the client of a relay has to say.
  mutating func drain(_ id: Int, at now: VoiceInstant) {
    while let output = self.relays[id]?.client.poll() {
      guard let relay = self.relays[id] else { return }
      switch output {
      case .send(let bytes): self.sendToServer(bytes, relay)
      case .received(let data, let peer): self.receivedRelayed(data, relay: id, from: peer, at: now)
      case .allocated(let relayed, let mapped): self.allocated(id, relay, relayed, mapped, at: now)
      case .refreshed: self.confirmed(id, at: now)
      case .redirected(let server): self.redirected(id, relay, to: server, at: now)
      case .failed(let error): self.relayFailed(id, relay, error, at: now)
      }
    }
  }

  private mutating func receivedRelayed(
    _ data: [UInt8], relay: Int, from peer: TransportAddress, at now: VoiceInstant
  ) {
    guard let first = data.first else { return }
    if first < 4 {
      self.receivedSTUN(data, .relay(relay), from: peer, at: now)
      self.settle(at: now)
    } else {
      let isKnown = self.knows(Source(base: .relay(relay), address: peer))
      self.outputs.append(.received(data, fromKnownAddress: isKnown))
    }
  }

  private mutating func allocated(
    _ id: Int, _ relay: Relay, _ relayed: TransportAddress, _ mapped: TransportAddress?,
    at now: VoiceInstant
  ) {
    self.relays[id]?.isPending = false
    self.relays[id]?.retries = 0
    self.relays[id]?.isAtAlternative = false
    self.relays[id]?.allocatedAt = now
    // Of relays, those are better that add less between us and the server.
    let best: UInt16
    switch relay.server.transport {
    case .udp: best = 60000
    case .tcp: best = 40000
    case .tls: best = 20000
    }
    let preference = best - UInt16(clamping: id % 1000)
    let related = self.configuration.relayOnly ? nil : mapped
    let candidate = ICECandidate(
      foundation: self.foundation(
        .relayed, relayed.ip, server: relay.server.address.ip, transport: relay.server.transport),
      priority: ICECandidate.priority(.relayed, localPreference: preference),
      address: .ip(relayed.ip), port: relayed.port, kind: .relayed,
      relatedAddress: .ip(related?.ip ?? (relayed.ip.isV6 ? .v6(high: 0, low: 0) : .v4(0))),
      relatedPort: related?.port ?? 0)
    if case .socket(let socket) = relay.carrier, let mapped, !self.configuration.relayOnly {
      self.addReflexive(mapped, .socket(socket), server: relay.server.address.ip)
    }
    self.addBase(
      .relay(id), .init(address: relayed, candidate: candidate, localPreference: preference), at: now)
    self.settle(at: now)
  }

  /// The allocation is still there, or nobody waits any more to hear so.
  private mutating func confirmed(_ id: Int, at now: VoiceInstant) {
    guard self.relays[id]?.confirmedBy != nil else { return }
    self.relays[id]?.confirmedBy = nil
    self.relays[id]?.isPending = false
    self.settle(at: now)
  }

  private mutating func redirected(
    _ id: Int, _ relay: Relay, to address: TransportAddress, at now: VoiceInstant
  ) {
    guard relay.redirections < Relay.redirectionLimit else {
      return self.relayFailed(id, relay, .tooManyRedirections, at: now)
    }
    self.relays[id]?.redirections += 1
    self.relays[id]?.server.address = address
    self.relays[id]?.server.alternative = nil
    self.reopen(id, at: now)
  }

  private mutating func relayFailed(_ id: Int, _ relay: Relay, _ error: TURNError, at now: VoiceInstant) {
    let wasStable = relay.allocatedAt.map { $0.advanced(by: Relay.stableAfter) <= now } ?? false
    self.relays[id]?.allocatedAt = nil
    self.relays[id]?.isPending = false
    self.relays[id]?.streamDeadline = nil
    self.relays[id]?.confirmedBy = nil
    self.removeBase(.relay(id))
    // The server was started anew, or a NAT gave us another address: nothing is wrong with another allocation at once.
    if wasStable, error == .allocationMismatch {
      self.relays[id]?.isPending = true
      return self.reopen(id, at: now)
    }
    if self.triesAlternative(id, relay, error) {
      self.relays[id]?.isPending = true
      return self.reopen(id, at: now)
    }
    // One allocation of a server is enough, and the last that fails says so.
    let isServed = self.relays.contains {
      $0.key != id && $0.value.index == relay.index
        && (self.bases[.relay($0.key)] != nil || $0.value.isPending)
    }
    switch error {
    case .unreachable where isServed, .connectionClosed where isServed, .quotaReached where isServed: break
    case .unreachable, .connectionClosed: self.warn(relay.index) { .serverUnreachable($0) }
    default: self.warn(relay.index) { .serverRefused($0, error) }
    }
    if error.isTransient {
      // 1 s, 2 s, 4 s and so on up to 64 s; a new socket does not wait.
      let wait = Duration.seconds(1 << min(6, relay.retries))
      self.relays[id]?.retries += 1
      self.relays[id]?.retryAt = now.advanced(by: wait)
    }
    self.settle(at: now)
  }

  /// Whether a stream that led to no allocation is worth a try at the other address of its server; both are tried each time.
  private mutating func triesAlternative(_ id: Int, _ relay: Relay, _ error: TURNError) -> Bool {
    guard case .stream = relay.carrier, let alternative = relay.server.alternative, relay.allocatedAt == nil,
      error == .unreachable || error == .connectionClosed
    else { return false }
    self.relays[id]?.server.address = alternative
    self.relays[id]?.server.alternative = relay.server.address
    self.relays[id]?.isAtAlternative = !relay.isAtAlternative
    return !relay.isAtAlternative
  }

  /// Begins again with a new client, and with a new stream if it is one.
  private mutating func reopen(_ id: Int, at now: VoiceInstant) {
    guard let relay = self.relays[id] else { return }
    self.relays[id]?.retryAt = nil
    let client = self.makeClient(relay.server)
    self.relays[id]?.client = client
    if case .stream(let old) = relay.carrier {
      self.outputs.append(.closeStream(old))
      self.relays[id]?.isStreamOpen = false
      let stream = self.makeStream()
      self.relays[id]?.carrier = .stream(stream)
    }
    self.startRelay(id, at: now)
  }

  mutating func runRelays(at now: VoiceInstant) {
    for id in self.relays.keys.sorted() {
      guard let relay = self.relays[id] else { continue }
      if let retry = relay.retryAt, retry <= now { self.reopen(id, at: now) }
      if let deadline = relay.confirmedBy, deadline <= now { self.confirmed(id, at: now) }
      if let deadline = relay.streamDeadline, deadline <= now {
        self.relays[id]?.streamDeadline = nil
        self.relays[id]?.client.fail(.unreachable)
      }
      if let wake = self.relays[id]?.client.nextWake, wake <= now {
        self.relays[id]?.client.timePassed(at: now)
      }
      self.drain(id, at: now)
    }
  }

  /// Sends application data on the selected pair; nothing happens if there is none.
  public mutating func send(_ datagram: [UInt8], at now: VoiceInstant) {
    guard let pair = self.selectedPairState else { return }
    self.transmit(datagram, pair.base, to: pair.remote, at: now)
  }

  mutating func transmit(_ bytes: [UInt8], _ base: Base, to address: TransportAddress, at now: VoiceInstant) {
    switch base {
    case .socket(let socket): self.outputs.append(.send(bytes, on: socket, to: address))
    case .relay(let id):
      self.relays[id]?.client.send(bytes[...], to: address, at: now)
      self.drain(id, at: now)
    }
  }
}

/// Shares a generator without sharing its numbers, which would give two machines the same transactions.
struct SaltedGenerator: RandomNumberGenerator, Sendable {
  var base: any RandomNumberGenerator & Sendable
  let salt: UInt64

  mutating func next() -> UInt64 { self.base.next() ^ self.salt }
}
