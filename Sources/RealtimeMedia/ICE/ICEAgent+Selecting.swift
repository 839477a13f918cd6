import VoiceCore

extension ICEAgent {
  /// Brings everything that follows from the pairs up to date; called at the end of each event.
  mutating func settle(at now: VoiceInstant) {
    guard self.state != .closed else { return }
    self.endGatheringIfDone()
    guard self.failure == nil else { return self.settleState(at: now) }
    self.nominate(at: now)
    self.select(at: now)
    self.giveUp(at: now)
    self.settleState(at: now)
  }

  /// The next instant at which something has to be decided without any event.
  var nextDecision: VoiceInstant? {
    var wake: VoiceInstant?
    if self.isNominationPending { wake = self.nominationDue }
    if let pair = self.selectedPairState {
      if let since = pair.unansweredSince {
        if self.state != .disconnected {
          wake = earlier(wake, since.advanced(by: self.configuration.disconnectedAfter))
        }
        let takeover = since.advanced(by: self.takeoverDelay(pair))
        if self.bestSpare(answeringSince: since) != nil { wake = earlier(wake, takeover) }
      }
      if pair.generation != self.active.number, !self.hasWarnedOfRestart {
        wake = earlier(wake, self.checkingDeadline)
      }
    } else if self.failure == nil {
      wake = earlier(wake, self.failureDeadline)
    }
    return wake
  }

  // MARK: Nomination

  private var isNominationPending: Bool {
    guard self.role == .controlling, self.nominationDue != nil else { return false }
    let number = self.active.number
    let isUnderWay = self.pairs.contains { $0.generation == number && $0.wantsNomination }
    return !isUnderWay && self.pairs.contains { $0.generation == number && $0.isUsable }
  }

  /// Controlling: chooses the best pair, at once if no better one is left to check, or when the delay is over. Later
  /// only a direct pair replaces a relayed one.
  private mutating func nominate(at now: VoiceInstant) {
    guard self.role == .controlling else { return }
    let number = self.active.number
    let usable = self.pairs.indices.filter { self.pairs[$0].generation == number && self.pairs[$0].isUsable }
    guard let best = usable.max(by: { self.pairs[$0].priority < self.pairs[$1].priority }) else { return }
    if let chosen = usable.first(where: { self.pairs[$0].wantsNomination }) {
      let isBetter = self.pairs[chosen].isRelayed && !self.pairs[best].isRelayed
      if isBetter { self.beginNomination(best, at: now) }
      return
    }
    let mayBeat = self.pairs.contains {
      $0.generation == number && $0.isUnfinished && $0.priority > self.pairs[best].priority
    }
    guard !mayBeat || (self.nominationDue.map { $0 <= now } ?? true) else { return }
    self.beginNomination(best, at: now)
  }

  private mutating func beginNomination(_ index: Int, at now: VoiceInstant) {
    for other in self.pairs.indices {
      self.pairs[other].wantsNomination = other == index
      if other != index { self.pairs[other].isNominated = false }
    }
    self.sendConsent(index, at: now)
  }

  // MARK: Selection

  func takeoverDelay(_ pair: Pair) -> Duration {
    max(self.configuration.takeoverDelay, (pair.roundTrip ?? .zero) * 3)
  }

  /// The best pair besides the selected one that has answered since then.
  func bestSpare(answeringSince since: VoiceInstant) -> Int? {
    let answering = self.pairs.indices.filter {
      let pair = self.pairs[$0]
      return pair.id != self.selected && pair.isUsable && pair.lastAnswered.map { $0 > since } ?? false
    }
    return answering.max { self.isWorse(self.pairs[$0], self.pairs[$1]) }
  }

  private func isWorse(_ one: Pair, _ other: Pair) -> Bool {
    (one.generation, one.rank, one.priority) < (other.generation, other.rank, other.priority)
  }

  private mutating func select(at now: VoiceInstant) {
    guard let selected = self.selectedPairState, selected.isUsable else {
      let usable = self.pairs.indices.filter { self.pairs[$0].isUsable }
      self.selected = nil
      guard let best = usable.max(by: { self.isWorse(self.pairs[$0], self.pairs[$1]) }) else {
        if self.lastConnectivity != nil { self.reviveFailed(at: now) }
        return
      }
      return self.take(best, at: now)
    }
    // A new generation has to be chosen before it replaces a pair that works; and so has another pair.
    let chosen = self.pairs.indices.filter { index in
      let pair = self.pairs[index]
      guard pair.isUsable, pair.id != selected.id, pair.generation >= selected.generation else {
        return false
      }
      if pair.rank > selected.rank { return true }
      return selected.rank == 0 && pair.generation == selected.generation && pair.priority > selected.priority
    }
    if let best = chosen.max(by: { self.isWorse(self.pairs[$0], self.pairs[$1]) }) {
      return self.take(best, at: now)
    }
    guard let since = selected.unansweredSince, since.advanced(by: self.takeoverDelay(selected)) <= now
    else { return }
    if let spare = self.bestSpare(answeringSince: since) {
      // What was nominated is not gone back to unless it is nominated again.
      self.pairs[spare].rank = self.nextRank
      self.nextRank += 1
      return self.take(spare, at: now)
    }
    self.reviveFailed(at: now)
  }

  private mutating func take(_ index: Int, at now: VoiceInstant) {
    let pair = self.pairs[index]
    let isMove = self.lastSelection == pair.generation
    self.lastSelection = pair.generation
    self.selected = pair.id
    self.counts.selections += 1
    if pair.generation == self.active.number {
      let number = pair.generation
      self.removePairs { $0.generation != number }
    }
    self.outputs.append(.selected(self.described(pair)))
    guard let index = self.index(ofPair: pair.id) else { return }
    if case .relay(let id) = pair.base {
      self.relays[id]?.client.bindChannel(to: pair.remote, at: now)
      self.drain(id, at: now)
    }
    let hadChosen = self.pairs.contains { $0.id != pair.id && $0.wantsNomination }
    if self.role == .controlling, hadChosen, !self.pairs[index].wantsNomination {
      self.beginNomination(index, at: now)
    } else if isMove {
      // The peer learns by this that there may be something wrong with its own pair.
      self.sendConsent(index, at: now)
    } else if self.pairs[index].unansweredSince == nil {
      self.scheduleConsent(index, at: now)
    }
  }

  // MARK: State

  /// When an agent without a pair that works gives up.
  private var failureDeadline: VoiceInstant? {
    guard self.active.remote != nil, let deadline = self.checkingDeadline else { return nil }
    guard let last = self.lastConnectivity else { return deadline }
    return max(deadline, last.advanced(by: self.configuration.failedAfter))
  }

  private mutating func giveUp(at now: VoiceInstant) {
    if let selected = self.selectedPairState {
      guard selected.generation != self.active.number, !self.hasWarnedOfRestart,
        let deadline = self.checkingDeadline, deadline <= now
      else { return }
      self.hasWarnedOfRestart = true
      self.outputs.append(.warned(.restartFailed))
      return
    }
    guard let deadline = self.failureDeadline, deadline <= now else { return }
    if self.lastConnectivity != nil {
      self.failure = .consentExpired
    } else {
      self.failure = self.bases.isEmpty ? .noLocalCandidates : .noPairAnswered
    }
    self.removePairs { _ in true }
  }

  private mutating func settleState(at now: VoiceInstant) {
    self.sendingPath = self.selectedPairState.map { pair in
      switch pair.base {
      case .socket(let socket): .direct(socket, pair.remote)
      case .relay: .relayed
      }
    }
    let next: State
    if self.failure != nil {
      next = .failed
    } else if let pair = self.selectedPairState {
      let isMissing =
        pair.unansweredSince.map { $0.advanced(by: self.configuration.disconnectedAfter) <= now } ?? false
      let isDone =
        pair.isNominated && pair.generation == self.active.number && self.gatheringHasEnded
        && self.active.remoteEnded && !self.pairs.contains { $0.isUnfinished }
      next = isMissing ? .disconnected : isDone ? .completed : .connected
    } else if self.lastConnectivity != nil {
      next = .disconnected
    } else {
      next = self.active.remote == nil ? .new : .checking
    }
    guard next != self.state else { return }
    self.state = next
    self.outputs.append(.stateChanged(next))
  }

  /// Whether the last check on the selected pair was answered.
  var isAnswered: Bool {
    guard let pair = self.selectedPairState else { return false }
    return pair.unansweredSince == nil
  }
}
