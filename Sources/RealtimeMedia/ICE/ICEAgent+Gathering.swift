public import VoiceCore

extension ICEAgent {
  /// Gathers on a socket: its own address, the one that STUN servers see, and relays.
  ///
  /// It may come at any time: a socket that comes later is a new path, which is checked at once.
  ///
  /// - Parameters:
  ///   - preference: The larger, the better; sockets of the same preference rank in the order in which they came.
  public mutating func addSocket(
    _ id: SocketID, local: TransportAddress, preference: UInt16 = 65535, at now: VoiceInstant
  ) {
    let base = Base.socket(id)
    guard self.state != .closed, !self.queries.contains(where: { $0.socket == id }), self.bases[base] == nil,
      !self.relays.values.contains(where: { $0.carrier == .socket(id) })
    else { return }
    let preference = max(1, preference - min(preference, UInt16(clamping: self.socketsAdded)))
    self.socketsAdded += 1
    if !self.configuration.relayOnly {
      let candidate = ICECandidate(
        foundation: self.foundation(.host, local.ip, server: nil),
        priority: ICECandidate.priority(.host, localPreference: preference), address: .ip(local.ip),
        port: local.port, kind: .host)
      let known = BaseCandidate(address: local, candidate: candidate, localPreference: preference)
      self.addBase(base, known, at: now)
    }
    for (index, server) in self.configuration.servers.enumerated() {
      guard let address = server.datagramAddress(isV6: local.ip.isV6),
        !local.ip.isLoopback || address.ip.isLoopback
      else { continue }
      self.serversInReach.insert(index)
      // The same server twice would be two allocations of one pair of addresses, of which it refuses the second.
      let before = self.configuration.servers[..<index]
      if before.contains(where: {
        $0.kind == server.kind && $0.datagramAddress(isV6: local.ip.isV6) == address
      }) {
        continue
      }
      switch server.kind {
      case .stun where self.configuration.relayOnly: break
      case .stun: self.addQuery(id, index, address, at: now)
      case .turn:
        var server = server
        server.address = address
        self.addRelay(index, server, .socket(id), at: now)
      }
    }
    self.startStreams(at: now)
    self.settle(at: now)
  }

  /// The interface of a socket went away, so its pairs and relays are gone at once.
  public mutating func removeSocket(_ id: SocketID, at now: VoiceInstant) {
    guard self.state != .closed else { return }
    self.removeBase(.socket(id))
    self.queries.removeAll { $0.socket == id }
    for (relay, state) in self.relays where state.carrier == .socket(id) { self.removeRelay(relay, at: now) }
    self.settle(at: now)
  }

  /// All sockets of the beginning were added; when the servers have answered, gathering ends.
  public mutating func noMoreSockets(at now: VoiceInstant) {
    guard self.state != .closed else { return }
    self.allSocketsAdded = true
    self.startStreams(at: now)
    self.settle(at: now)
  }

  /// Servers that did not answer are asked again, and relays whether they still have the allocation.
  mutating func gatherAgain(at now: VoiceInstant) {
    self.warnedServers = []
    for index in self.queries.indices where self.queries[index].state == .unanswered {
      self.queries[index].state = .asking
      self.queries[index].sendings = 0
      self.queries[index].nextSending = now
      self.queries[index].deadline = now.advanced(by: self.configuration.serverTimeout)
    }
    for (id, relay) in self.relays where relay.retryAt != nil {
      self.relays[id]?.retryAt = now
      self.relays[id]?.isPending = true
    }
    let confirmedBy = now.advanced(by: self.configuration.confirmationTimeout)
    for id in self.relays.keys.sorted() {
      let isAsked = self.relays[id]?.client.confirm(at: now) ?? false
      guard isAsked else { continue }
      self.relays[id]?.isPending = true
      self.relays[id]?.confirmedBy = confirmedBy
      self.drain(id, at: now)
    }
  }

  private mutating func addQuery(
    _ socket: SocketID, _ server: Int, _ address: TransportAddress, at now: VoiceInstant
  ) {
    // Questions are spread like checks are (RFC 8445 section 14.2).
    let slot = max(now, self.nextQuerySlot ?? now)
    self.nextQuerySlot = slot.advanced(by: self.configuration.checkInterval)
    self.queries.append(
      Query(
        socket: socket, server: server, address: address, transaction: .init(using: &self.random),
        nextSending: slot,
        deadline: slot.advanced(by: self.configuration.serverTimeout)))
    self.runQueries(at: now)
  }

  mutating func runQueries(at now: VoiceInstant) {
    for index in self.queries.indices where self.queries[index].nextSending <= now {
      var query = self.queries[index]
      switch query.state {
      case .asking where query.deadline <= now:
        query.state = .unanswered
        query.nextSending = now.advanced(by: self.configuration.serverTimeout)
      case .asking:
        query.sendings += 1
        let pause = retransmissionPause(self.configuration.firstTimeout, after: query.sendings)
        query.nextSending = min(query.deadline, now.advanced(by: pause))
      case .unanswered:
        // The server may have been out of reach for a moment.
        query.transaction = .init(using: &self.random)
        query.nextSending = now.advanced(by: self.configuration.serverTimeout)
      case .answered:
        // A new question keeps the mapping open, and shows whether it is still the same.
        query.transaction = .init(using: &self.random)
        query.nextSending = now.advanced(by: self.configuration.keepaliveInterval)
      }
      let isGivenUp = query.state == .unanswered && self.queries[index].state == .asking
      self.queries[index] = query
      guard !isGivenUp else {
        self.warnIfUnreachable(query.server)
        continue
      }
      let message = STUNMessage(.request, .binding, transaction: query.transaction)
      self.outputs.append(.send(message.encoded(fingerprint: true), on: query.socket, to: query.address))
    }
  }

  /// Servers that no socket can ask, because it has no address of their IP version.
  private mutating func warnOfServersOutOfReach() {
    guard self.socketsAdded > 0 else { return }
    for (index, server) in self.configuration.servers.enumerated()
    where server.transport == .udp && !self.serversInReach.contains(index)
      && !(server.kind == .stun && self.configuration.relayOnly)
    {
      self.warn(index) { .serverUnreachable($0) }
    }
  }

  private mutating func warnIfUnreachable(_ server: Int) {
    guard self.queries.allSatisfy({ $0.server != server || $0.state == .unanswered }) else { return }
    self.warn(server) { .serverUnreachable($0) }
  }

  /// Warns once of each server.
  mutating func warn(_ server: Int, _ warning: (Server) -> ICEWarning) {
    guard self.configuration.servers.indices.contains(server), self.warnedServers.insert(server).inserted
    else { return }
    self.outputs.append(.warned(warning(self.configuration.servers[server])))
  }

  /// An answer of a STUN server.
  ///
  /// - Returns: Whether it answers a question from this socket to this address.
  mutating func answeredQuery(
    _ message: STUNMessage, on socket: SocketID, from source: TransportAddress, at now: VoiceInstant
  ) -> Bool {
    let found = self.queries.firstIndex {
      $0.transaction == message.transaction && $0.socket == socket && $0.address == source
    }
    guard let found else { return false }
    let server = self.queries[found].server
    self.queries[found].nextSending = now.advanced(by: self.configuration.keepaliveInterval)
    guard message.kind == .success, let mapped = message.mappedAddress else {
      if self.queries[found].state == .asking { self.queries[found].state = .unanswered }
      self.warnIfUnreachable(server)
      return true
    }
    self.queries[found].state = .answered
    self.addReflexive(mapped, .socket(socket), server: source.ip)
    return true
  }

  mutating func addReflexive(_ mapped: TransportAddress, _ base: Base, server: IPAddress) {
    guard let local = self.bases[base], mapped.port != 0, mapped.ip.isV6 == local.address.ip.isV6 else {
      return
    }
    let candidate = ICECandidate(
      foundation: self.foundation(.serverReflexive, local.address.ip, server: server),
      priority: ICECandidate.priority(.serverReflexive, localPreference: local.localPreference),
      address: .ip(mapped.ip), port: mapped.port, kind: .serverReflexive,
      relatedAddress: .ip(local.address.ip), relatedPort: local.address.port)
    self.addLocal(candidate, mapped, base)
  }

  /// Whether nothing is left to wait for; says so once for each generation.
  mutating func endGatheringIfDone() {
    guard self.allSocketsAdded, !self.gatheringHasEnded,
      self.queries.allSatisfy({ $0.state != .asking }), self.relays.values.allSatisfy({ !$0.isPending })
    else { return }
    self.gatheringHasEnded = true
    self.warnOfServersOutOfReach()
    if self.localCandidates.isEmpty {
      self.outputs.append(.warned(.noCandidates))
    } else if self.localCandidates.allSatisfy({ $0.candidate.kind == .host }) {
      self.outputs.append(.warned(.onlyHostCandidates))
    }
    self.outputs.append(.gatheringEnded)
  }
}
