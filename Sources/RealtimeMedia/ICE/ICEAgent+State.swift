public import VoiceCore

extension ICEAgent {
  /// What a candidate is a base of, and what sends: a socket, or an allocation on a relay.
  enum Base: Hashable, Sendable {
    case socket(SocketID)
    case relay(Int)
  }

  /// An address that packets are sent from.
  struct BaseCandidate: Sendable {
    let address: TransportAddress
    let candidate: ICECandidate
    let localPreference: UInt16
  }

  struct LocalCandidate: Sendable {
    let candidate: ICECandidate
    let address: TransportAddress
    let base: Base
  }

  /// An address of the peer, as one base sees it.
  struct Source: Hashable, Sendable {
    /// More than there may be pairs.
    static let limit = 128

    let base: Base
    let address: TransportAddress
  }

  /// An authentic check of the peer.
  struct IncomingCheck: Sendable {
    let base: Base
    let source: TransportAddress
    let priority: UInt32
    let nominates: Bool
    let remoteFragment: String?
    let generation: Int
  }

  /// What belongs to one pair of credentials.
  struct Generation: Sendable {
    /// How many are remembered, so that the peer's checks of the one before are answered.
    static let limit = 3
    static let earlyCheckLimit = 16
    /// Candidates that the peer signalled, and those that were seen.
    static let remoteLimit = 100
    static let peerReflexiveLimit = 24

    let number: Int
    let local: Credentials
    /// Who nominates. Pairs of old generations follow the active one, as those of other agents do.
    var role: Role
    /// Without it the generation is proposed, or the peer is not known at all.
    var remote: Credentials?
    var remotes: [(address: TransportAddress, candidate: ICECandidate)] = []
    var remoteEnded = false
    /// The peer restarted and this side has not yet, so the credentials of this side are those of before.
    var awaitsRestart = false
    /// The peer has shown that it knows both pairs of credentials.
    var isConfirmed = false
    /// Checks that came before the peer's credentials (RFC 8445 section 7.3).
    var earlyChecks: [IncomingCheck] = []

    init(number: Int, local: Credentials, role: Role) {
      self.number = number
      self.local = local
      self.role = role
    }

    /// There is always one; this stands for it where the type cannot say so.
    static let none = Generation(
      number: -1, local: Credentials(userFragment: "", password: ""), role: .controlling)
  }

  /// A check under way.
  struct Check: Sendable {
    let transaction: STUNMessage.TransactionID
    let sent: VoiceInstant
    let nominates: Bool
    let role: Role
  }

  struct Pair: Sendable {
    enum State: Hashable, Sendable {
      case waiting
      case inProgress
      case succeeded
      case failed
    }

    static let checkLimit = 8

    let id: Int
    let generation: Int
    let base: Base
    let local: BaseCandidate
    let remote: TransportAddress
    var remoteCandidate: ICECandidate
    var priority: UInt64 = 0
    var state = State.waiting
    /// When it was triggered by a check of the peer, as a number that grows.
    var trigger: Int?
    var attempts = 0
    /// When it is checked again: in progress, or once it has succeeded.
    var nextCheck: VoiceInstant?
    var lastSent: VoiceInstant?
    var checks: [Check] = []
    /// Of an old generation, of which the peer has another idea of the roles.
    var roleOfChecks: Role?
    var lastAnswered: VoiceInstant?
    /// The first check since the last answer.
    var unansweredSince: VoiceInstant?
    var unanswered = 0
    /// Controlling: checks carry USE-CANDIDATE.
    var wantsNomination = false
    /// Controlled: the peer's checks carried it.
    var isNominatedByRemote = false
    var isNominated = false
    /// 0 until it was chosen; the later, the larger.
    var rank = 0
    /// Where the peer sees us.
    var mapped: TransportAddress?
    var roundTrip: Duration?

    var isUsable: Bool { self.state == .succeeded }
    var isUnfinished: Bool { self.state == .waiting || self.state == .inProgress }
    var isRelayed: Bool { self.local.candidate.kind == .relayed || self.remoteCandidate.kind == .relayed }
    /// Pairs of one foundation are likely to succeed or fail together (RFC 8445 section 6.1.2.6).
    var foundation: String { "\(self.local.candidate.foundation):\(self.remoteCandidate.foundation)" }

    /// RFC 8445 section 6.1.2.3.
    mutating func updatePriority(_ role: Role) {
      let (mine, other) = (UInt64(self.local.candidate.priority), UInt64(self.remoteCandidate.priority))
      let (controlling, controlled) = role == .controlling ? (mine, other) : (other, mine)
      self.priority =
        min(controlling, controlled) << 32 &+ 2 &* max(controlling, controlled)
        &+ (controlling > controlled ? 1 : 0)
    }
  }

  /// A question to a STUN server from one socket.
  struct Query: Sendable {
    enum State: Hashable, Sendable {
      case asking
      case answered
      case unanswered
    }

    let socket: SocketID
    let server: Int
    let address: TransportAddress
    var transaction: STUNMessage.TransactionID
    var state = State.asking
    var sendings = 0
    var nextSending: VoiceInstant
    var deadline: VoiceInstant
  }

  /// An allocation, or the try to get one.
  struct Relay: Sendable {
    enum Carrier: Hashable, Sendable {
      case socket(SocketID)
      case stream(StreamID)
    }

    static let redirectionLimit = 3
    /// An allocation that is gone sooner is no accident.
    static let stableAfter = Duration.seconds(10)
    /// How long the first of two addresses may take to open a stream, at first.
    static let firstAddressTimeout = Duration.seconds(1)

    let index: Int
    var server: Server
    var carrier: Carrier
    var client: TURNClient
    var isStreamOpen = false
    var streamDeadline: VoiceInstant?
    /// Whether gathering waits for it.
    var isPending = true
    var allocatedAt: VoiceInstant?
    /// How long gathering waits for the word that the allocation is still there.
    var confirmedBy: VoiceInstant?
    var redirections = 0
    /// Whether a stream tries the other address of its server, having failed at the first.
    var isAtAlternative = false
    var retries = 0
    var retryAt: VoiceInstant?
  }

  func index(ofPair id: Int) -> Int? { self.pairs.firstIndex { $0.id == id } }

  mutating func removePairs(where shouldRemove: (Pair) -> Bool) {
    for pair in self.pairs where shouldRemove(pair) {
      for check in pair.checks { self.transactions[check.transaction] = nil }
    }
    self.pairs.removeAll(where: shouldRemove)
    if let selected = self.selected, self.index(ofPair: selected) == nil { self.selected = nil }
  }

  func described(_ pair: Pair) -> CandidatePair {
    var local = pair.local.candidate
    if let mapped = pair.mapped, mapped != pair.local.address {
      let known = self.localCandidates.first { $0.base == pair.base && $0.address == mapped }?.candidate
      local = known ?? local
      if known == nil {
        local.kind = .peerReflexive
        local.address = .ip(mapped.ip)
        local.port = mapped.port
        local.relatedAddress = .ip(pair.local.address.ip)
        local.relatedPort = pair.local.address.port
      }
    }
    return CandidatePair(
      local: local, remote: pair.remoteCandidate, isNominated: pair.isNominated, roundTrip: pair.roundTrip)
  }

  /// When ``timePassed(at:)`` has to be called.
  public var nextWake: VoiceInstant? {
    guard self.state != .closed else { return nil }
    var wake: VoiceInstant?
    for query in self.queries { wake = earlier(wake, query.nextSending) }
    for relay in self.relays.values {
      wake = earlier(wake, relay.client.nextWake)
      wake = earlier(wake, relay.streamDeadline)
      wake = earlier(wake, relay.retryAt)
      wake = earlier(wake, relay.confirmedBy)
    }
    guard self.state != .failed else { return wake }
    let mayCheck = self.active.remote != nil
    for pair in self.pairs {
      switch pair.state {
      case .waiting where mayCheck: wake = earlier(wake, self.nextCheckSlot ?? .init())
      case .inProgress where mayCheck:
        if pair.trigger != nil {
          wake = earlier(wake, self.nextCheckSlot ?? .init())
        } else if let due = pair.nextCheck {
          wake = earlier(wake, max(due, self.nextCheckSlot ?? due))
        }
      case .succeeded:
        wake = earlier(wake, pair.nextCheck)
        wake = earlier(wake, pair.lastAnswered?.advanced(by: self.configuration.failedAfter))
      case .waiting, .inProgress, .failed: break
      }
    }
    return earlier(wake, self.nextDecision)
  }
}
