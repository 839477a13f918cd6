public import VoiceCore

extension ICEAgent {
  /// Lets time pass: sends what is due, gives up what is overdue.
  public mutating func timePassed(at now: VoiceInstant) {
    guard self.state != .closed else { return }
    self.runQueries(at: now)
    self.runRelays(at: now)
    if self.state != .failed {
      self.expire(at: now)
      self.runConsent(at: now)
      self.runChecks(at: now)
    }
    self.settle(at: now)
  }

  /// Checks the selected pair and the others that work at once, because something is wrong: no media came for a
  /// while, or the machine's addresses changed.
  ///
  /// If the selected pair does not answer and another does, that one takes over within `takeoverDelay`.
  public mutating func checkNow(at now: VoiceInstant) {
    guard self.state != .closed, self.state != .failed else { return }
    self.suspect(at: now, leastPause: .milliseconds(100))
    self.settle(at: now)
  }

  /// Sends a check on the selected pair, unless one is missing already or was sent just now.
  mutating func suspect(at now: VoiceInstant, leastPause: Duration) {
    guard let selected = self.selected, let index = self.index(ofPair: selected),
      self.pairs[index].unansweredSince == nil
    else { return }
    if let sent = self.pairs[index].lastSent, now < sent.advanced(by: leastPause) {
      let due = sent.advanced(by: leastPause)
      self.pairs[index].nextCheck = min(self.pairs[index].nextCheck ?? due, due)
      return
    }
    self.sendConsent(index, at: now)
    for spare in self.spares { self.sendConsent(spare, at: now) }
  }

  // MARK: Connectivity

  /// One check per slot (RFC 8445 section 6.1.4.2): triggered ones first, then those that were never checked, then
  /// those that were not answered.
  private mutating func runChecks(at now: VoiceInstant) {
    guard self.active.remote != nil else { return }
    for index in self.pairs.indices
    where self.pairs[index].state == .inProgress && self.pairs[index].trigger == nil
      && self.pairs[index].attempts >= self.configuration.checkAttempts
    {
      if let due = self.pairs[index].nextCheck, due <= now { self.pairs[index].state = .failed }
    }
    if let slot = self.nextCheckSlot, now < slot { return }
    guard let index = self.nextToCheck(at: now) else { return }
    self.nextCheckSlot = now.advanced(by: self.configuration.checkInterval)
    self.pairs[index].trigger = nil
    self.pairs[index].state = .inProgress
    self.pairs[index].attempts += 1
    // RFC 8445 section 14.3: the more pairs there are, the longer each has to wait for its turn.
    let active = self.pairs.count { $0.isUnfinished }
    let least = max(self.configuration.firstTimeout, self.configuration.checkInterval * active)
    let pause = retransmissionPause(least, after: self.pairs[index].attempts)
    self.pairs[index].nextCheck = now.advanced(by: pause)
    self.counts.checksSent += 1
    self.sendCheck(index, at: now)
  }

  private func nextToCheck(at now: VoiceInstant) -> Int? {
    let triggered = self.pairs.indices.filter { self.pairs[$0].trigger != nil && self.pairs[$0].isUnfinished }
    if let first = triggered.min(by: { self.pairs[$0].trigger ?? 0 < self.pairs[$1].trigger ?? 0 }) {
      return first
    }
    let waiting = self.pairs.indices.filter { self.pairs[$0].state == .waiting }
    if !waiting.isEmpty {
      // Frozen pairs of RFC 8445 section 6.1.2.6 are those whose foundation is being checked: they come later.
      let busy = Set(self.pairs.filter { $0.state == .inProgress }.map(\.foundation))
      let fresh = waiting.filter { !busy.contains(self.pairs[$0].foundation) }
      return (fresh.isEmpty ? waiting : fresh).max { self.pairs[$0].priority < self.pairs[$1].priority }
    }
    let due = self.pairs.indices.filter {
      guard self.pairs[$0].state == .inProgress, let due = self.pairs[$0].nextCheck else { return false }
      return due <= now
    }
    return due.min { self.pairs[$0].nextCheck ?? now < self.pairs[$1].nextCheck ?? now }
  }

  /// The peer reached us on this pair, so it is checked next (RFC 8445 section 7.3.1.4).
  mutating func trigger(_ index: Int) {
    switch self.pairs[index].state {
    case .succeeded: return
    case .failed:
      self.pairs[index].attempts = 0
      self.pairs[index].state = .waiting
    case .inProgress, .waiting: break
    }
    guard self.pairs[index].trigger == nil else { return }
    self.pairs[index].trigger = self.nextTrigger
    self.nextTrigger += 1
  }

  /// Gives pairs that failed another chance, every few seconds at most.
  mutating func reviveFailed(at now: VoiceInstant) {
    if let last = self.lastRevival, now < last.advanced(by: .seconds(3)) { return }
    self.lastRevival = now
    for index in self.pairs.indices where self.pairs[index].state == .failed {
      self.pairs[index].state = .waiting
      self.pairs[index].attempts = 0
      self.pairs[index].nextCheck = nil
    }
  }

  // MARK: Consent

  /// Pairs that work and are not sent on, the best ones.
  var spares: [Int] {
    let spares = self.pairs.indices.filter { self.pairs[$0].isUsable && self.pairs[$0].id != self.selected }
    return Array(spares.sorted { self.pairs[$0].priority > self.pairs[$1].priority }.prefix(10))
  }

  private mutating func runConsent(at now: VoiceInstant) {
    for index in self.pairs.indices where self.pairs[index].isUsable {
      guard let due = self.pairs[index].nextCheck, due <= now else { continue }
      let isSelected = self.pairs[index].id == self.selected
      let isMissing = isSelected && self.pairs[index].unansweredSince != nil
      self.sendConsent(index, at: now)
      // With the selected pair in doubt, the others have to say whether they could take over.
      if isMissing { for spare in self.spares { self.sendConsent(spare, at: now) } }
    }
  }

  /// Sends a check on a pair that has succeeded, and says when the next one is due if no answer comes.
  mutating func sendConsent(_ index: Int, at now: VoiceInstant) {
    // A pair may be due and be asked because of another one.
    guard self.pairs[index].lastSent != now else { return }
    self.counts.consentChecksSent += 1
    if self.pairs[index].unansweredSince == nil { self.pairs[index].unansweredSince = now }
    self.pairs[index].unanswered += 1
    let pause: Duration
    if self.pairs[index].id == self.selected, self.pairs[index].unanswered < 4 {
      let roundTrip = self.pairs[index].roundTrip ?? .milliseconds(100)
      pause = min(self.configuration.missingInterval, max(.milliseconds(100), roundTrip * 3 / 2))
    } else {
      pause = self.configuration.missingInterval
    }
    self.pairs[index].nextCheck = now.advanced(by: pause)
    self.sendCheck(index, at: now)
  }

  /// After an answer.
  mutating func scheduleConsent(_ index: Int, at now: VoiceInstant) {
    let isSelected = self.pairs[index].id == self.selected
    let base = isSelected ? self.configuration.consentInterval : self.configuration.keepaliveInterval
    // RFC 7675 section 5.1: between 0.8 and 1.2 times, so that checks of many do not fall together.
    let thousandths = Int64.random(in: 800...1200, using: &self.random)
    self.pairs[index].nextCheck = now.advanced(by: base * thousandths / 1000)
  }

  private mutating func expire(at now: VoiceInstant) {
    for index in self.pairs.indices where self.pairs[index].isUsable {
      let pair = self.pairs[index]
      let hasExpired =
        pair.lastAnswered.map { $0.advanced(by: self.configuration.failedAfter) <= now } ?? true
      // A spare pair is no use if it cannot take over at once.
      let isDeadSpare = pair.id != self.selected && pair.unanswered >= 6
      guard hasExpired || isDeadSpare else { continue }
      self.pairs[index].fail()
    }
    let number = self.active.number
    self.removePairs { $0.generation != number && !$0.isUsable }
    if let selected = self.selectedPairState, !selected.isUsable { self.selected = nil }
  }

  // MARK: Sending

  /// Each check is a transaction of its own, as consent demands (RFC 7675 section 5.1): so an answer tells the round
  /// trip, and one that comes late still counts.
  private mutating func sendCheck(_ index: Int, at now: VoiceInstant) {
    let pair = self.pairs[index]
    guard let generation = self.generations.first(where: { $0.number == pair.generation }),
      let remote = generation.remote
    else { return }
    // As a candidate that the peer has to see first, also of a relay (RFC 8445 section 7.1.1).
    let priority = ICECandidate.priority(.peerReflexive, localPreference: pair.local.localPreference)
    var attributes: [STUNAttribute] = [
      .username("\(remote.userFragment):\(generation.local.userFragment)"),
      .priority(priority),
    ]
    let role = pair.roleOfChecks ?? self.role
    switch role {
    case .controlling:
      attributes.append(.iceControlling(self.tiebreaker))
      if pair.wantsNomination { attributes.append(.useCandidate) }
    case .controlled: attributes.append(.iceControlled(self.tiebreaker))
    }
    let message = STUNMessage(
      .request, .binding, transaction: .init(using: &self.random), attributes: attributes)
    let check = Check(
      transaction: message.transaction, sent: now, nominates: pair.wantsNomination, role: role)
    self.transactions[message.transaction] = pair.id
    self.pairs[index].checks.append(check)
    self.pairs[index].lastSent = now
    if self.pairs[index].checks.count > Pair.checkLimit {
      let oldest = self.pairs[index].checks.removeFirst()
      self.transactions[oldest.transaction] = nil
    }
    let key = STUNMessage.shortTermKey(password: remote.password)
    let bytes = message.encoded(integrity: .sha1(key), fingerprint: true)
    self.transmit(bytes, pair.base, to: pair.remote, at: now)
  }
}

extension ICEAgent.Pair {
  mutating func fail() {
    self.state = .failed
    self.isNominated = false
    self.isNominatedByRemote = false
    self.wantsNomination = false
    self.rank = 0
    self.unansweredSince = nil
    self.unanswered = 0
    self.nextCheck = nil
    self.attempts = 0
  }
}
