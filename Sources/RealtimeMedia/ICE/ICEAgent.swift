public import VoiceCore

/// Finds a path to a peer and keeps it (RFC 8445, 8838, 8839 and 7675), for one component: a machine without I/O.
///
/// ```swift
/// agent.addSocket(.init(rawValue: 0), local: address, at: now)
/// agent.noMoreSockets(at: now)
/// agent.setRemote(userFragment: fragment, password: password, at: now)
/// while let output = agent.poll() { … }
/// ```
///
/// States, of which ``state`` is computed:
///
/// | state | what holds |
/// |---|---|
/// | `new` | the peer's credentials are not known |
/// | `checking` | they are, and no pair has answered yet |
/// | `connected` | a pair answers; ``sendingPath`` may be used |
/// | `completed` | and it is nominated, and nothing is left to gather or to check |
/// | `disconnected` | it did not answer for a while, or its socket went away; all pairs are checked again |
/// | `failed` | a deadline passed, see ``failure``; only `restart` and new credentials of the peer lead out |
/// | `closed` | nothing is sent any more |
///
/// A pair waits, is in progress, and succeeds by an authentic answer or fails after some attempts; a check that
/// comes from the peer triggers one in return, also on a pair that has failed. The first pair that succeeds is sent
/// on at once; the controlling side nominates the best when nothing better is left to check, or after a short while.
/// Pairs that succeeded and are not sent on stay checked, slowly, so that they can take over.
///
/// The pair that is sent on is checked every 4 to 6 seconds. When an answer is missing, checks follow quickly on
/// it and on the others; if one of the others answers and it does not, that one takes over.
///
/// Each pair of credentials makes a *generation* with a role and pairs of its own. A restart *proposes* one; until the peer's
/// credentials are there the one before stays *active*: its pairs are checked, also on new sockets, and fail in their time, as if
/// nothing was proposed, and ``rollBack()`` is all that undoes it. Then the new one is active, and pairs of the one before stay
/// in use until one of the new ones is selected; from then on they are *old*: checks of the peer are answered, and no more.
///
/// Events are the methods that take an instant; outputs come from `poll()`; ``nextWake`` says when time has to pass.
/// What comes in the wrong state, or cannot prove that it comes from the peer, changes nothing.
public struct ICEAgent: Sendable {
  let configuration: Configuration
  var random: any RandomNumberGenerator & Sendable

  /// Who nominates; may change when both sides believe to be the same (RFC 8445 section 7.3.1.1).
  public var role: Role { self.active.role }
  /// Where the agent stands.
  public internal(set) var state = State.new
  /// Why the state is `failed`.
  public internal(set) var failure: ICEFailure?
  /// Counts of what was sent and received.
  public internal(set) var counts = Counts()

  var tiebreaker: UInt64
  var generations: [Generation]
  var bases: [Base: BaseCandidate] = [:]
  /// Of the current generation and of earlier ones; removed only with their socket.
  var localCandidates: [LocalCandidate] = []
  var foundations: [String] = []
  var socketsAdded = 0
  /// Where the peer was seen, the last one at the end; kept longer than pairs, since the peer may change later than this side.
  var sources: [Source] = []
  var queries: [Query] = []
  var relays: [Int: Relay] = [:]
  var nextRelay = 0
  var nextStream = 0
  var hasStartedStreams = false
  var allSocketsAdded = false
  var gatheringHasEnded = false
  var nextQuerySlot: VoiceInstant?
  /// Servers of which was said that they do not answer or refuse.
  var warnedServers: Set<Int> = []
  /// Those that a socket can ask by UDP.
  var serversInReach: Set<Int> = []

  var pairs: [Pair] = []
  var nextPair = 0
  var transactions: [STUNMessage.TransactionID: Int] = [:]
  /// Checks are triggered in the order of these numbers.
  var nextTrigger = 1
  /// When the next check may be sent (Ta of RFC 8445 section 14).
  var nextCheckSlot: VoiceInstant?
  var nominationDue: VoiceInstant?
  /// When checking is given up if nothing has answered.
  var checkingDeadline: VoiceInstant?
  /// The last answer on any pair.
  var lastConnectivity: VoiceInstant?
  /// The pair that is sent on.
  var selected: Int?
  /// The generation of the last pair that was selected.
  var lastSelection: Int?
  /// The larger the rank of a pair, the later it was chosen.
  var nextRank = 1
  var lastRevival: VoiceInstant?
  var hasWarnedOfRestart = false
  var outputs = OutputQueue<Output>()

  /// Creates an agent with random credentials.
  ///
  /// - Parameters:
  ///   - configuration: Servers and times.
  ///   - role: Who offers is controlling.
  ///   - random: Has to be fit for secrets outside of tests.
  public init(configuration: Configuration, role: Role, random: any RandomNumberGenerator & Sendable) {
    self.configuration = configuration
    self.random = random
    self.tiebreaker = self.random.next()
    self.generations = []
    self.generations.append(Generation(number: 0, local: self.makeCredentials(), role: role))
  }

  /// What the peer has to know in order to check.
  public var localCredentials: Credentials { self.newest.local }

  /// Whether something authentic came to this socket from this address: a check, or the answer to one.
  ///
  /// Media prove by themselves where they come from, and may come from anywhere (RFC 8445 section 12.2). A handshake begins with
  /// messages that prove nothing, so those of other addresses have to be left out.
  public func knows(_ address: TransportAddress, on socket: SocketID) -> Bool {
    self.knows(Source(base: .socket(socket), address: address))
  }

  func knows(_ source: Source) -> Bool { self.sources.contains(source) }

  /// Something came that only the peer can have made.
  mutating func noteSource(_ address: TransportAddress, _ base: Base) {
    let source = Source(base: base, address: address)
    guard self.sources.last != source else { return }
    self.sources.removeAll { $0 == source }
    self.sources.append(source)
    self.sources.removeFirst(max(0, self.sources.count - Source.limit))
  }

  /// What was gathered so far, as it is to be signalled.
  public var signalledCandidates: [ICECandidate] { self.localCandidates.map(\.candidate) }

  /// Takes the next output; to be called until it is `nil`, after each event.
  public mutating func poll() -> Output? { self.outputs.next() }

  /// Where application data go now; on a direct path the driver may send without the agent.
  public internal(set) var sendingPath: SendingPath?

  /// The pair that is sent on.
  public var selectedPair: CandidatePair? { self.selectedPairState.map(self.described) }

  var selectedPairState: Pair? { self.selected.flatMap { id in self.pairs.first { $0.id == id } } }

  /// What is signalled: proposed, or active.
  var newest: Generation { self.generations.last ?? .none }

  var activeIndex: Int? {
    self.generations.lastIndex { $0.remote != nil } ?? self.generations.indices.last
  }

  /// What is checked.
  var active: Generation { self.activeIndex.map { self.generations[$0] } ?? .none }

  /// Changes the role of what is signalled, as a first offer of the peer does.
  public mutating func setRole(_ role: Role) { self.setRole(role, of: self.newest.number) }

  mutating func setRole(_ role: Role, of number: Int) {
    guard let index = self.generations.firstIndex(where: { $0.number == number }),
      self.generations[index].role != role
    else { return }
    self.generations[index].role = role
    for pair in self.pairs.indices where self.pairs[pair].generation == number {
      self.pairs[pair].updatePriority(role)
      self.pairs[pair].wantsNomination = false
    }
  }

  /// Whether the peer was never seen to use the present credentials of both sides together.
  ///
  /// It may not have heard of them yet then, so where descriptions cross, new credentials of the peer need no newer ones here.
  public var hasFreshCredentials: Bool { self.newest.remote != nil && !self.newest.isConfirmed }

  /// Says what the peer signalled; a new user fragment means that the peer restarted.
  ///
  /// - Parameter keepsOwn: Whether this side stays with its credentials, so that no restart of its own follows.
  public mutating func setRemote(
    userFragment: String, password: String, isLite: Bool = false, keepsOwn: Bool = false, at now: VoiceInstant
  ) {
    guard self.state != .closed else { return }
    let remote = Credentials(userFragment: userFragment, password: password)
    let newest = self.newest
    guard newest.remote != remote else { return }
    if newest.remote != nil {
      self.append(Generation(number: newest.number + 1, local: newest.local, role: newest.role))
    }
    guard let last = self.generations.indices.last else { return }
    self.generations[last].remote = remote
    self.generations[last].awaitsRestart = newest.remote != nil && !keepsOwn
    // A lite peer never controls (RFC 8445 section 6.1.1), and never checks.
    if isLite { self.setRole(.controlling) }
    self.generations[last].isConfirmed = isLite
    self.activate(at: now)
    let early = self.newest.earlyChecks
    for index in self.generations.indices { self.generations[index].earlyChecks = [] }
    for check in early where check.remoteFragment == nil || check.remoteFragment == userFragment {
      self.checked(check, at: now)
    }
    self.settle(at: now)
  }

  /// Makes new credentials and gathers again; the candidates are put out once more.
  ///
  /// What is sent goes on over the old pair until a new one is selected. An own restart without an answer is taken back.
  ///
  /// - Parameter role: `nil` leaves it as it is; the offerer of a restart becomes controlling.
  public mutating func restart(as role: Role? = nil, at now: VoiceInstant) {
    guard self.state != .closed else { return }
    self.rollBack()
    let before = self.newest
    var generation = Generation(
      number: before.number + 1, local: self.makeCredentials(), role: role ?? before.role)
    // An answer to a restart of the peer, whose credentials and candidates are here already.
    if before.awaitsRestart {
      generation.remote = before.remote
      generation.remotes = before.remotes
      generation.remoteEnded = before.remoteEnded
    }
    self.append(generation)
    if before.awaitsRestart { self.activate(at: now) }
    self.gatheringHasEnded = false
    for candidate in self.localCandidates { self.outputs.append(.candidate(candidate.candidate)) }
    self.gatherAgain(at: now)
    self.settle(at: now)
  }

  /// Takes back a restart to which the peer has not answered: the credentials are those of before.
  public mutating func rollBack() {
    guard self.newest.remote == nil, self.generations.contains(where: { $0.remote != nil }) else { return }
    self.generations.removeLast()
  }

  /// Gives the relays back and ends.
  public mutating func close(at now: VoiceInstant) {
    guard self.state != .closed else { return }
    for id in self.relays.keys.sorted() { self.removeRelay(id, at: now) }
    self.pairs = []
    self.transactions = [:]
    self.queries = []
    self.bases = [:]
    self.sources = []
    self.selected = nil
    self.sendingPath = nil
    self.state = .closed
    self.outputs.append(.stateChanged(.closed))
  }

  private mutating func append(_ generation: Generation) {
    self.generations.append(generation)
    self.generations.removeFirst(max(0, self.generations.count - Generation.limit))
    let kept = self.generations.map(\.number)
    self.removePairs { !kept.contains($0.generation) }
  }

  /// The newest generation has the peer's credentials, so it is checked from now on.
  private mutating func activate(at now: VoiceInstant) {
    let newest = self.newest
    if self.failure != nil {
      // A failed agent begins as if it was new.
      self.failure = nil
      self.lastConnectivity = nil
      self.lastSelection = nil
      self.generations = [newest]
    }
    // Pairs that cannot be sent on have no use in the next generation.
    self.removePairs { $0.generation != newest.number && !$0.isUsable }
    self.nominationDue = nil
    self.hasWarnedOfRestart = false
    self.extendDeadline(at: now)
    for base in self.sortedBases {
      for (address, candidate) in newest.remotes { self.formPair(base, with: address, candidate) }
    }
  }

  private mutating func makeCredentials() -> Credentials {
    // 48 and 144 bits, where RFC 8445 section 5.3 wants at least 24 and 128.
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for _ in 0..<4 {
      let bits = self.random.next()
      for position in 0..<8 { text.append(alphabet[Int(bits >> (8 * UInt64(position)) & 63)]) }
    }
    return Credentials(
      userFragment: String(decoding: text.prefix(8), as: UTF8.self),
      password: String(decoding: text.dropFirst(8), as: UTF8.self))
  }

  mutating func extendDeadline(at now: VoiceInstant) {
    guard self.active.remote != nil else { return }
    self.checkingDeadline = now.advanced(by: self.configuration.checkingTimeout)
  }
}
