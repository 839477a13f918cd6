public import VoiceCore

extension ICEAgent {
  /// Takes a datagram whose first byte says that it is STUN (0 to 3) or channel data of TURN (0x40 to 0x4f).
  public mutating func received(
    _ datagram: ArraySlice<UInt8>, on socket: SocketID, from source: TransportAddress, at now: VoiceInstant
  ) {
    guard self.state != .closed else { return }
    // A server may have sent several of ours to the same other one.
    let relays = self.relays.filter {
      $0.value.carrier == .socket(socket) && $0.value.server.address == source
    }
    for id in relays.keys.sorted() {
      let isTaken = self.relays[id]?.client.received(datagram, at: now) ?? false
      self.drain(id, at: now)
      if isTaken { return self.settle(at: now) }
    }
    guard let first = datagram.first, first < 4 else { return }
    self.receivedSTUN(Array(datagram), .socket(socket), from: source, at: now)
    self.settle(at: now)
  }

  mutating func receivedSTUN(
    _ bytes: [UInt8], _ base: Base, from source: TransportAddress, at now: VoiceInstant
  ) {
    // Nobody can be answered at port 0.
    guard source.port != 0, let received = try? ReceivedSTUNMessage(parsing: bytes),
      received.message.method == .binding
    else {
      self.counts.rejected &+= 1
      return
    }
    switch received.message.kind {
    case .indication: return
    case .success, .error:
      if case .socket(let socket) = base,
        self.answeredQuery(received.message, on: socket, from: source, at: now)
      {
        return
      }
      self.receivedAnswer(received, base, from: source, at: now)
    case .request: self.receivedRequest(received, base, from: source, at: now)
    }
  }

  // MARK: Requests

  /// RFC 8445 section 7.3. What does not prove that it knows our password gets no answer at all, so that nobody can
  /// make us send to others; it is only counted.
  private mutating func receivedRequest(
    _ received: ReceivedSTUNMessage, _ base: Base, from source: TransportAddress, at now: VoiceInstant
  ) {
    let message = received.message
    guard let known = self.bases[base] else { return }
    let fragments = (message.username ?? "").split(separator: ":", omittingEmptySubsequences: false)
    guard received.hasFingerprint, fragments.count == 2, let mine = fragments.first,
      let generation = self.generations.last(where: { $0.local.userFragment == mine }),
      received.isAuthentic(.sha1(STUNMessage.shortTermKey(password: generation.local.password)))
    else {
      self.counts.rejected &+= 1
      return
    }
    // Consent is over, unless it is given anew.
    guard self.failure == nil || generation.remote == nil else { return }
    self.counts.checksReceived &+= 1
    self.noteSource(source, base)
    let key = STUNMessage.shortTermKey(password: generation.local.password)
    guard received.unknownRequired.isEmpty else {
      let answer = message.answer(
        .error,
        attributes: [
          .errorCode(420, reason: "Unknown Attribute"), .unknownAttributes(received.unknownRequired),
        ])
      return self.transmit(
        answer.encoded(integrity: .sha1(key), fingerprint: true), base, to: source, at: now)
    }
    // With a restart under way the peer may have changed its role on the pairs of before already.
    if generation.number == self.newest.number, self.hasRoleConflict(message, generation) {
      let answer = message.answer(.error, attributes: [.errorCode(487, reason: "Role Conflict")])
      return self.transmit(
        answer.encoded(integrity: .sha1(key), fingerprint: true), base, to: source, at: now)
    }
    let answer = message.answer(.success, attributes: [.xorMappedAddress(source)])
    self.transmit(answer.encoded(integrity: .sha1(key), fingerprint: true), base, to: source, at: now)
    let theirs = fragments.last.map(String.init)
    // Several generations of the peer may have our fragment in common.
    let number =
      self.generations.last {
        $0.local.userFragment == mine && ($0.remote == nil || $0.remote?.userFragment == theirs)
      }?.number ?? generation.number
    let fallback = ICECandidate.priority(.peerReflexive, localPreference: known.localPreference)
    let check = IncomingCheck(
      base: base, source: source, priority: message.priority ?? fallback, nominates: message.nominates,
      remoteFragment: theirs, generation: number)
    self.checked(check, at: now)
  }

  /// RFC 8445 section 7.3.1.1: who has the larger tiebreaker controls.
  ///
  /// - Returns: Whether the peer has to change its role; if this side has to, it has done so.
  private mutating func hasRoleConflict(_ message: STUNMessage, _ generation: Generation) -> Bool {
    switch generation.role {
    case .controlling:
      guard let theirs = message.controlling else { return false }
      if self.tiebreaker >= theirs { return true }
      self.setRole(.controlled, of: generation.number)
      return false
    case .controlled:
      guard let theirs = message.controlled else { return false }
      guard self.tiebreaker >= theirs else { return true }
      self.setRole(.controlling, of: generation.number)
      return false
    }
  }

  /// An authentic check came.
  mutating func checked(_ check: IncomingCheck, at now: VoiceInstant) {
    guard let last = self.generations.indices.last else { return }
    if let index = self.generations.firstIndex(where: { $0.number == check.generation }),
      let remote = self.generations[index].remote, remote.userFragment == check.remoteFragment
    {
      self.generations[index].isConfirmed = true
    }
    if check.generation == self.newest.number, self.newest.remote == nil {
      guard self.generations[last].earlyChecks.count < Generation.earlyCheckLimit,
        !self.generations[last].earlyChecks.contains(where: {
          $0.source == check.source && $0.base == check.base && $0.nominates == check.nominates
        })
      else { return }
      self.generations[last].earlyChecks.append(check)
      return
    }
    let isActive = check.generation == self.active.number
    if isActive, let remote = self.active.remote, check.remoteFragment != remote.userFragment { return }
    var found = self.pairs.firstIndex {
      $0.generation == check.generation && $0.base == check.base && $0.remote == check.source
    }
    if found == nil, isActive, let candidate = self.learnRemote(check.source, priority: check.priority) {
      found = self.formPair(check.base, with: check.source, candidate)
    }
    guard let index = found else { return }
    if check.nominates, self.role == .controlled, !self.pairs[index].isNominatedByRemote {
      for other in self.pairs.indices where self.pairs[other].generation == check.generation {
        self.pairs[other].isNominatedByRemote = false
      }
      self.pairs[index].isNominatedByRemote = true
      if self.pairs[index].isUsable { self.markNominated(index) }
    }
    self.trigger(index)
    // The peer is checking elsewhere: perhaps the selected pair is gone, which the peer sees first.
    if self.pairs[index].id != self.selected { self.suspect(at: now, leastPause: .milliseconds(250)) }
  }

  mutating func markNominated(_ index: Int) {
    self.pairs[index].isNominated = true
    self.pairs[index].rank = self.nextRank
    self.nextRank += 1
  }

  // MARK: Answers

  /// RFC 8445 section 7.2.5. Only an answer to a check of ours, from where the check went and with the peer's
  /// password, counts.
  private mutating func receivedAnswer(
    _ received: ReceivedSTUNMessage, _ base: Base, from source: TransportAddress, at now: VoiceInstant
  ) {
    let message = received.message
    guard let id = self.transactions[message.transaction], let index = self.index(ofPair: id),
      self.pairs[index].base == base, self.pairs[index].remote == source,
      let place = self.pairs[index].checks.firstIndex(where: { $0.transaction == message.transaction }),
      let generation = self.generations.first(where: { $0.number == self.pairs[index].generation }),
      let remote = generation.remote, received.hasFingerprint, received.unknownRequired.isEmpty,
      received.isAuthentic(.sha1(STUNMessage.shortTermKey(password: remote.password)))
    else {
      self.counts.rejected &+= 1
      return
    }
    let check = self.pairs[index].checks.remove(at: place)
    self.transactions[message.transaction] = nil
    self.counts.answersReceived &+= 1
    self.noteSource(source, base)
    switch message.kind {
    case .request, .indication: return
    case .error:
      self.receivedRefusal(message.errorCode, index, check, at: now)
    case .success:
      guard let mapped = message.mappedAddress else { return }
      self.succeeded(index, check, mapped: mapped, at: now)
    }
  }

  private mutating func receivedRefusal(_ code: Int?, _ index: Int, _ check: Check, at now: VoiceInstant) {
    if code == 487 {
      let number = self.pairs[index].generation
      guard number == self.newest.number else {
        // The peer's role there is what it was before the restart, or already is what it will be after it.
        if self.pairs[index].roleOfChecks == nil { self.pairs[index].nextCheck = now }
        self.pairs[index].roleOfChecks = check.role.opposite
        return
      }
      if check.role == self.role {
        // A new tiebreaker, since with equal ones both would change for ever.
        self.tiebreaker = self.random.next()
        self.setRole(check.role.opposite, of: number)
      }
      self.trigger(index)
    } else if self.pairs[index].isUnfinished {
      self.pairs[index].fail()
    }
  }

  private mutating func succeeded(
    _ index: Int, _ check: Check, mapped: TransportAddress, at now: VoiceInstant
  ) {
    let sample = max(.zero, check.sent.duration(to: now))
    self.pairs[index].roundTrip = self.pairs[index].roundTrip.map { ($0 * 7 + sample) / 8 } ?? sample
    self.pairs[index].mapped = mapped
    self.pairs[index].lastAnswered = now
    self.pairs[index].unansweredSince = nil
    self.pairs[index].unanswered = 0
    self.lastConnectivity = now
    let isNew = !self.pairs[index].isUsable
    self.pairs[index].state = .succeeded
    self.pairs[index].trigger = nil
    switch self.role {
    case .controlling:
      if check.nominates, self.pairs[index].wantsNomination, !self.pairs[index].isNominated {
        self.markNominated(index)
      }
    case .controlled:
      if self.pairs[index].isNominatedByRemote, !self.pairs[index].isNominated { self.markNominated(index) }
    }
    if isNew, self.pairs[index].generation == self.active.number, self.nominationDue == nil {
      self.nominationDue = now.advanced(by: self.configuration.nominationDelay)
    }
    self.scheduleConsent(index, at: now)
  }
}
