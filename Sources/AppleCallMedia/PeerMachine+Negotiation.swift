import CallSignaling
import Calls
import RealtimeMedia
import VoiceCore

/// Descriptions and the candidates that belong to them.
extension PeerMachine {
  /// What is to be done with an answer of the other side.
  enum AnswerPlan: Hashable, Sendable {
    case set(DescriptionKind)
    case ignore
    case refuse(VoiceFailure)
  }

  /// What is to be done with a candidate of the other side.
  enum CandidatePlan: Hashable, Sendable {
    case add(MediaCandidate)
    /// It waits, or there is nothing to add.
    case none
    case warn(VoiceFailure)
  }

  /// Candidates beyond this come from nobody who means well.
  private static var longestQueue: Int { 64 }

  // MARK: This side's descriptions

  /// A description of this side is about to be set.
  ///
  /// The framework looks for candidates for the first one of a connection, and for one with new credentials.
  ///
  /// - Returns: Whether ``Output/gathered`` is to be awaited before the description is sent.
  mutating func localDescriptionBegins(isRestart: Bool, at now: VoiceInstant) -> Bool {
    let findsCandidates = isRestart || !self.hasLocalDescription
    self.hasLocalDescription = true
    guard findsCandidates, !self.tricklesCandidates, !self.isStopped else { return false }
    self.gatheringUntil = now.advanced(by: self.limits.gathering)
    return true
  }

  mutating func offerSet(isRestart: Bool) {
    self.negotiation = .offered(isRestart: isRestart)
  }

  mutating func answerSet(at now: VoiceInstant) -> [Output] {
    self.negotiation = .stable
    return self.described(isRestart: false, at: now)
  }

  // MARK: The other side's descriptions

  /// Whether this side's offer has to be taken back before an offer of the other side can be taken.
  var mustRollBack: Bool {
    switch self.negotiation {
    case .stable: false
    case .offered, .answeredEarly: true
    }
  }

  mutating func rolledBack() {
    self.negotiation = .stable
  }

  /// - Returns: Candidates to add, and whether the offer has new credentials.
  mutating func remoteOfferSet(_ text: String) -> (candidates: [MediaCandidate], isRestart: Bool) {
    let fragment = Self.fragment(of: text)
    let isRestart = self.remoteFragment != fragment
    self.remoteFragment = fragment
    return (self.remoteSet(), isRestart)
  }

  /// An answer comes early, then again as the final one, and at times once more.
  func plan(forAnswer text: String, isFinal: Bool) -> AnswerPlan {
    switch self.negotiation {
    case .offered, .answeredEarly: return .set(isFinal ? .answer : .provisionalAnswer)
    case .stable:
      guard isFinal, text != self.lastAnswer else { return .ignore }
      return .refuse(
        VoiceFailure(.callMediaUnacceptable, message: "An answer came without an offer before it."))
    }
  }

  /// - Returns: Candidates to add, and what to do else.
  mutating func remoteAnswerSet(
    _ text: String, isFinal: Bool, at now: VoiceInstant
  ) -> (candidates: [MediaCandidate], outputs: [Output]) {
    self.remoteFragment = Self.fragment(of: text)
    let candidates = self.remoteSet()
    switch self.negotiation {
    case .stable: return (candidates, [])
    case .offered(let isRestart), .answeredEarly(let isRestart):
      guard isFinal else {
        self.negotiation = .answeredEarly(isRestart: isRestart)
        return (candidates, [])
      }
      self.negotiation = .stable
      self.lastAnswer = text
      return (candidates, self.described(isRestart: isRestart, at: now))
    }
  }

  private mutating func remoteSet() -> [MediaCandidate] {
    self.hasRemoteDescription = true
    defer { self.waiting = [] }
    return self.waiting
  }

  /// Both descriptions are there.
  private mutating func described(isRestart: Bool, at now: VoiceInstant) -> [Output] {
    switch self.media {
    case .idle, .failed: self.media = .connecting(until: now.advanced(by: self.limits.connecting))
    case .interrupted: self.media = .interrupted(until: now.advanced(by: self.limits.interruption))
    case .connecting: break
    // Who asked for new candidates is told, also if the old way is good: the framework says nothing then.
    case .connected: return isRestart ? [.report(.connected)] : []
    }
    return []
  }

  // MARK: Candidates

  mutating func remoteCandidate(_ candidate: MediaCandidate?) -> CandidatePlan {
    // The framework has no word for the end of candidates, and needs none.
    guard let candidate, !self.isStopped, self.generation > 0 else { return .none }
    do {
      _ = try ICECandidate(parsing: candidate.line)
    } catch {
      return .warn(
        VoiceFailure(
          .callMediaUnacceptable, message: "A candidate of the other side cannot be read.", cause: error))
    }
    guard let index = Int32(exactly: candidate.sdpMLineIndex ?? 0), index >= 0 else {
      return .warn(
        VoiceFailure(
          .callMediaUnacceptable, message: "A candidate of the other side belongs to no part of the call."))
    }
    switch self.negotiation {
    // Behind an offer with new credentials, candidates belong to the answer that is to come.
    case .offered: return self.wait(candidate)
    case .stable, .answeredEarly: return self.hasRemoteDescription ? .add(candidate) : self.wait(candidate)
    }
  }

  private mutating func wait(_ candidate: MediaCandidate) -> CandidatePlan {
    guard self.waiting.count < Self.longestQueue else {
      defer { self.hasToldOfOverflow = true }
      return self.hasToldOfOverflow
        ? .none
        : .warn(
          VoiceFailure(
            .callMediaUnacceptable,
            message: "Candidates of the other side are left out: too many came ahead of its description."))
    }
    self.waiting.append(candidate)
    return .none
  }

  /// The name under which ICE of a description goes: another one is a restart (RFC 8839 section 4.4.3.1.1).
  private static func fragment(of text: String) -> String? {
    text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("a=ice-ufrag:") }.map {
      String($0.dropFirst("a=ice-ufrag:".count))
    }
  }
}
