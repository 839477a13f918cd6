public import VoiceCore

extension ICEAgent {
  /// Takes a candidate that the peer signalled.
  ///
  /// A name (`.local` of mDNS, RFC 8839 section 5.1) is not resolved: the peer's checks show the address. Candidates
  /// of TCP and of other components are ignored, and so are those beyond the hundredth.
  public mutating func addRemote(_ candidate: ICECandidate, at now: VoiceInstant) {
    guard self.state != .closed, candidate.transport == "udp", candidate.component == 1,
      candidate.port != 0, case .ip(let ip) = candidate.address, let last = self.generations.indices.last
    else { return }
    let address = TransportAddress(ip, port: candidate.port)
    // While a restart waits for its answer, a candidate may belong to that answer or to what was before.
    if let active = self.activeIndex, active != last { self.add(candidate, address, to: active, at: now) }
    self.add(candidate, address, to: last, at: now)
    self.settle(at: now)
  }

  private mutating func add(
    _ candidate: ICECandidate, _ address: TransportAddress, to index: Int, at now: VoiceInstant
  ) {
    if let known = self.generations[index].remotes.firstIndex(where: { $0.address == address }) {
      // A peer-reflexive one is replaced by what the peer says of it (RFC 8838 section 11.4).
      guard self.generations[index].remotes[known].candidate.kind == .peerReflexive else { return }
      self.generations[index].remotes[known].candidate = candidate
      let generation = self.generations[index]
      for pair in self.pairs.indices
      where self.pairs[pair].remote == address && self.pairs[pair].generation == generation.number {
        self.pairs[pair].remoteCandidate = candidate
        self.pairs[pair].updatePriority(generation.role)
      }
      return
    }
    guard self.generations[index].remotes.count < Generation.remoteLimit else { return }
    self.generations[index].remotes.append((address, candidate))
    guard index == self.activeIndex else { return }
    self.extendDeadline(at: now)
    for base in self.sortedBases { self.formPair(base, with: address, candidate) }
  }

  /// The peer signals no more candidates; it may still be seen at others.
  public mutating func remoteCandidatesEnded(at now: VoiceInstant) {
    guard let last = self.generations.indices.last else { return }
    self.generations[last].remoteEnded = true
    self.settle(at: now)
  }

  /// The address at which a check came that no candidate has (RFC 8445 section 7.3.1.3).
  mutating func learnRemote(_ address: TransportAddress, priority: UInt32) -> ICECandidate? {
    guard let active = self.activeIndex else { return nil }
    if let known = self.generations[active].remotes.first(where: { $0.address == address }) {
      return known.candidate
    }
    let seen = self.generations[active].remotes.count { $0.candidate.kind == .peerReflexive }
    guard seen < Generation.peerReflexiveLimit else { return nil }
    let candidate = ICECandidate(
      foundation: "prflx\(seen)", priority: max(1, min(0x7fff_ffff, priority)), address: .ip(address.ip),
      port: address.port, kind: .peerReflexive)
    self.generations[active].remotes.append((address, candidate))
    return candidate
  }

  /// Sockets before relays, in the order in which they came.
  var sortedBases: [Base] {
    self.bases.sorted { $0.value.candidate.priority > $1.value.candidate.priority }.map(\.key)
  }

  /// RFC 8445 section 6.1.2.2: one family, and addresses of one link only with each other.
  private static func canPair(_ local: IPAddress, _ remote: IPAddress) -> Bool {
    guard local.isV6 == remote.isV6 else { return false }
    return !local.isV6 || local.isLinkLocal == remote.isLinkLocal
  }

  /// Makes a pair of the active generation, unless there are too many better ones.
  ///
  /// - Returns: The place of the pair, also of one that was there already.
  @discardableResult
  mutating func formPair(_ base: Base, with address: TransportAddress, _ candidate: ICECandidate) -> Int? {
    let number = self.active.number
    let known = self.pairs.firstIndex {
      $0.generation == number && $0.base == base && $0.remote == address
    }
    if let known { return known }
    guard let local = self.bases[base], Self.canPair(local.address.ip, address.ip),
      address.port != 0
    else { return nil }
    var pair = Pair(
      id: self.nextPair, generation: number, base: base, local: local, remote: address,
      remoteCandidate: candidate)
    pair.updatePriority(self.role)
    if self.pairs.count >= self.configuration.pairLimit {
      let worst = self.pairs.indices.filter { !self.pairs[$0].isUsable }.min {
        let (one, other) = (self.pairs[$0], self.pairs[$1])
        if one.state == .failed, other.state != .failed { return true }
        if one.state != .failed, other.state == .failed { return false }
        return one.priority < other.priority
      }
      guard let worst, self.pairs[worst].state == .failed || self.pairs[worst].priority < pair.priority
      else { return nil }
      let id = self.pairs[worst].id
      self.removePairs { $0.id == id }
    }
    self.nextPair += 1
    self.pairs.append(pair)
    return self.pairs.count - 1
  }

  /// A base came: it is signalled, and paired with all that is known of the peer.
  mutating func addBase(_ base: Base, _ candidate: BaseCandidate, at now: VoiceInstant) {
    self.bases[base] = candidate
    self.addLocal(candidate.candidate, candidate.address, base)
    self.extendDeadline(at: now)
    for (address, remote) in self.active.remotes { self.formPair(base, with: address, remote) }
  }

  mutating func removeBase(_ base: Base) {
    self.bases[base] = nil
    self.localCandidates.removeAll { $0.base == base }
    self.sources.removeAll { $0.base == base }
    self.removePairs { $0.base == base }
  }

  /// Puts a candidate out, unless another one has the same address (RFC 8445 section 5.1.3).
  mutating func addLocal(_ candidate: ICECandidate, _ address: TransportAddress, _ base: Base) {
    guard self.localCandidates.count < Generation.remoteLimit,
      !self.localCandidates.contains(where: { $0.address == address && $0.candidate.kind == candidate.kind }),
      !(candidate.kind == .serverReflexive
        && self.localCandidates.contains(where: { $0.address == address }))
    else { return }
    self.localCandidates.append(LocalCandidate(candidate: candidate, address: address, base: base))
    self.outputs.append(.candidate(candidate))
  }

  /// The same text for the same kind, base address, server and transport (RFC 8445 section 5.1.1.3).
  mutating func foundation(
    _ kind: ICECandidate.Kind, _ ip: IPAddress, server: IPAddress?, transport: Server.Transport = .udp
  ) -> String {
    let key = "\(kind.rawValue) \(ip) \(server?.description ?? "-") \(transport)"
    if let known = self.foundations.firstIndex(of: key) { return String(known + 1) }
    self.foundations.append(key)
    return String(self.foundations.count)
  }
}
