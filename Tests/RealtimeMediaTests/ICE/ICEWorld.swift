import RealtimeMedia
import VoiceCore
import VoiceTesting

/// Two agents, their sockets in a ``VirtualNetwork``, and a way to signal between them.
final class ICEWorld {
  final class Peer {
    var agent: ICEAgent
    /// Where streams begin.
    var home: VirtualNetwork.Endpoint?
    var sockets: [ICEAgent.SocketID: VirtualNetwork.Endpoint] = [:]
    var servers: [Int: ICEAgent.Server] = [:]
    var states: [(at: VoiceInstant, state: ICEAgent.State)] = []
    var selections: [ICEAgent.CandidatePair] = []
    var warnings: [ICEWarning] = []
    var candidates: [ICECandidate] = []
    var gatheringEnded = 0
    /// Data of the application, with the time at which they came.
    var data: [(at: VoiceInstant, bytes: [UInt8])] = []
    /// Those of them that came through a relay from where the other one was never seen.
    var strangers: [[UInt8]] = []
    /// Candidates are not signalled.
    var keepsCandidates = false
    /// Bytes that it sent, of all kinds.
    var datagramsSent = 0

    init(_ agent: ICEAgent) { self.agent = agent }

    var state: ICEAgent.State { self.agent.state }
    var isConnected: Bool { self.state == .connected || self.state == .completed }
  }

  enum Signal {
    case credentials(ICEAgent.Credentials, isLite: Bool)
    case candidate(ICECandidate)
    case ended
  }

  let network: VirtualNetwork
  let one: Peer
  let other: Peer
  var signallingDelay = Duration.milliseconds(30)
  /// Media every 20 ms in both directions.
  var hasMedia = false
  /// Without media for this long, agents are told to check, as a driver does.
  var stallHint: Duration?
  private var nextMedia: VoiceInstant?
  private var signals: [(at: VoiceInstant, to: Int, signal: Signal)] = []
  private var nextSocket = 0
  private var streams: [Int: (peer: Int, id: ICEAgent.StreamID)] = [:]
  private var nextStream = 0
  private(set) var steps = 0
  /// Datagrams that a test throws away: true to drop.
  var drops: ((_ from: Int, [UInt8], TransportAddress) -> Bool)?

  init(
    seed: UInt64, _ one: ICEAgent.Configuration = .init(), _ other: ICEAgent.Configuration = .init(),
    roles: (ICEAgent.Role, ICEAgent.Role) = (.controlling, .controlled)
  ) {
    var random = SeededGenerator(seed: seed)
    self.network = VirtualNetwork(seed: random.next())
    self.one = Peer(ICEAgent(configuration: one, role: roles.0, random: random.split()))
    self.other = Peer(ICEAgent(configuration: other, role: roles.1, random: random.split()))
  }

  var now: VoiceInstant { self.network.now }
  var peers: [Peer] { [self.one, self.other] }
  var areConnected: Bool { self.one.isConnected && self.other.isConnected }
  var areCompleted: Bool { self.one.state == .completed && self.other.state == .completed }

  // MARK: Building

  /// Opens a socket of a peer and has it gathered.
  @discardableResult
  func addSocket(
    _ peer: Peer, _ address: String, in realm: Int = 0, preference: UInt16 = 65535
  ) -> ICEAgent.SocketID {
    let id = ICEAgent.SocketID(rawValue: self.nextSocket)
    self.nextSocket += 1
    let endpoint = self.network.open(address, in: realm)
    peer.sockets[id] = endpoint
    peer.home = peer.home ?? endpoint
    peer.agent.addSocket(id, local: endpoint.address, preference: preference, at: self.now)
    self.perform(peer)
    return id
  }

  func removeSocket(_ peer: Peer, _ id: ICEAgent.SocketID) {
    if let endpoint = peer.sockets.removeValue(forKey: id) { self.network.close(endpoint) }
    peer.agent.removeSocket(id, at: self.now)
    self.perform(peer)
  }

  /// Signals the credentials in both directions and ends the adding of sockets.
  func start() {
    for peer in self.peers {
      self.signalCredentials(of: peer)
      peer.agent.noMoreSockets(at: self.now)
      self.perform(peer)
    }
  }

  func signalCredentials(of peer: Peer, isLite: Bool = false) {
    self.signal(.credentials(peer.agent.localCredentials, isLite: isLite), from: peer)
  }

  /// New credentials, signalled to the other side; as an offer, unless it answers one.
  func restart(_ peer: Peer) {
    peer.agent.restart(at: self.now)
    self.signalCredentials(of: peer)
    self.perform(peer)
  }

  private func signal(_ signal: Signal, from peer: Peer) {
    let to = peer === self.one ? 1 : 0
    self.signals.append((self.now.advanced(by: self.signallingDelay), to, signal))
  }

  // MARK: Running

  /// Runs until a time has passed or something holds; says whether it does.
  @discardableResult
  func run(_ duration: Duration, until condition: () -> Bool = { false }) -> Bool {
    let end = self.now.advanced(by: duration)
    while !condition() {
      var next = end
      for peer in self.peers { next = min(next, peer.agent.nextWake ?? end) }
      if let event = self.network.nextEvent { next = min(next, event) }
      if let signal = self.signals.first { next = min(next, signal.at) }
      if self.hasMedia { next = min(next, self.nextMedia ?? self.now) }
      self.steps += 1
      for arrival in self.network.advance(to: max(next, self.now)) { self.arrived(arrival) }
      while let signal = self.signals.first, signal.at <= self.now {
        self.signals.removeFirst()
        self.handle(signal.signal, to: self.peers[signal.to])
      }
      for peer in self.peers where peer.agent.nextWake.map({ $0 <= self.now }) ?? false {
        peer.agent.timePassed(at: self.now)
        self.perform(peer)
      }
      self.sendMedia()
      if self.now >= end { return condition() }
    }
    return true
  }

  private func handle(_ signal: Signal, to peer: Peer) {
    switch signal {
    case .credentials(let credentials, let isLite):
      peer.agent.setRemote(
        userFragment: credentials.userFragment, password: credentials.password, isLite: isLite, at: self.now)
    case .candidate(let candidate): peer.agent.addRemote(candidate, at: self.now)
    case .ended: peer.agent.remoteCandidatesEnded(at: self.now)
    }
    self.perform(peer)
  }

  private func arrived(_ arrival: VirtualNetwork.Arrival) {
    switch arrival {
    case .datagram(let bytes, let endpoint, let source):
      for peer in self.peers {
        guard let socket = peer.sockets.first(where: { $0.value == endpoint })?.key else { continue }
        if let first = bytes.first, first < 4 || (0x40...0x4f).contains(first) {
          peer.agent.received(bytes[...], on: socket, from: source, at: self.now)
          self.perform(peer)
        } else {
          peer.data.append((self.now, bytes))
        }
      }
    case .streamOpened(let number):
      guard let stream = self.streams[number] else { return }
      self.peers[stream.peer].agent.streamOpened(stream.id, at: self.now)
      self.perform(self.peers[stream.peer])
    case .streamReceived(let number, let bytes):
      guard let stream = self.streams[number] else { return }
      self.peers[stream.peer].agent.streamReceived(bytes, stream.id, at: self.now)
      self.perform(self.peers[stream.peer])
    case .streamClosed(let number):
      guard let stream = self.streams[number] else { return }
      self.peers[stream.peer].agent.streamClosed(stream.id, at: self.now)
      self.perform(self.peers[stream.peer])
    }
  }

  /// Does what the agent wants.
  func perform(_ peer: Peer) {
    let index = peer === self.one ? 0 : 1
    while let output = peer.agent.poll() {
      switch output {
      case .send(let bytes, let socket, let address):
        peer.datagramsSent += 1
        guard let endpoint = peer.sockets[socket], self.drops?(index, bytes, address) != true else {
          continue
        }
        self.network.send(bytes, from: endpoint, to: address)
      case .openStream(let id, let server):
        self.nextStream += 1
        self.streams[self.nextStream] = (index, id)
        guard let home = peer.home else { continue }
        self.network.connect(self.nextStream, from: home, to: server.address)
      case .sendStream(let bytes, let id):
        if let number = self.number(of: id, index) { self.network.sendOnStream(bytes, number) }
      case .closeStream(let id):
        if let number = self.number(of: id, index) { self.network.closeStream(number) }
      case .candidate(let candidate):
        peer.candidates.append(candidate)
        if !peer.keepsCandidates { self.signal(.candidate(candidate), from: peer) }
      case .gatheringEnded:
        peer.gatheringEnded += 1
        self.signal(.ended, from: peer)
      case .stateChanged(let state): peer.states.append((self.now, state))
      case .selected(let pair): peer.selections.append(pair)
      case .received(let bytes, let isKnown):
        peer.data.append((self.now, bytes))
        if !isKnown { peer.strangers.append(bytes) }
      case .warned(let warning): peer.warnings.append(warning)
      }
    }
  }

  private func number(of id: ICEAgent.StreamID, _ peer: Int) -> Int? {
    self.streams.first { $0.value.peer == peer && $0.value.id == id }?.key
  }

  // MARK: Data

  /// Sends data of the application as a driver does: by itself on a direct path.
  func sendData(_ bytes: [UInt8], from peer: Peer) {
    switch peer.agent.sendingPath {
    case .direct(let socket, let address):
      guard let endpoint = peer.sockets[socket] else { return }
      self.network.send(bytes, from: endpoint, to: address)
    case .relayed:
      peer.agent.send(bytes, at: self.now)
      self.perform(peer)
    case nil: break
    }
  }

  private func sendMedia() {
    guard self.hasMedia, self.nextMedia.map({ $0 <= self.now }) ?? true else { return }
    self.nextMedia = self.now.advanced(by: .milliseconds(20))
    for peer in self.peers {
      self.sendData([0x80, 1, 2, 3], from: peer)
      if let hint = self.stallHint, let last = peer.data.last?.at, last.advanced(by: hint) <= self.now {
        peer.agent.checkNow(at: self.now)
        self.perform(peer)
      }
    }
  }

  /// The longest time without media since then.
  func longestGap(_ peer: Peer, since: VoiceInstant) -> Duration {
    var last = since
    var longest = Duration.zero
    for (at, _) in peer.data where at > since {
      longest = max(longest, last.duration(to: at))
      last = at
    }
    return max(longest, last.duration(to: self.now))
  }

  /// Whether data cross in both directions.
  func crosses(within duration: Duration = .seconds(1)) -> Bool {
    let before = self.peers.map(\.data.count)
    // Several, since the path may lose some.
    for _ in 0..<10 {
      for peer in self.peers { self.sendData([0x90, 7, 7], from: peer) }
      self.run(.milliseconds(50))
    }
    return self.run(duration) { zip(self.peers, before).allSatisfy { $0.data.count > $1 } }
  }
}
