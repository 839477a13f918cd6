import FuzzSupport
import RealtimeMedia
import VoiceCore
import VoiceTesting

/// An agent whose peer and whose servers do what the script says.
struct ICEFuzzing {
  struct Request {
    enum Way {
      case socket(ICEAgent.SocketID, TransportAddress)
      case stream(ICEAgent.StreamID)
    }

    let bytes: [UInt8]
    let way: Way
  }

  var script: Script
  let time = ScriptTime()
  var agent: ICEAgent
  let servers: [ICEAgent.Server]
  var sockets: [Int: TransportAddress] = [:]
  /// Streams that were asked for, and whether they are open.
  var streams: [Int: Bool] = [:]
  var lastStream = 0
  var requests: [Request] = []
  var credentials: [ICEAgent.Credentials] = []
  var state = ICEAgent.State.new
  var hasClosed = false

  init(_ script: Script) {
    var script = script
    let server = TransportAddress(Script.serverIP, port: Script.serverPort)
    func relay(_ transport: ICEAgent.Server.Transport) -> ICEAgent.Server {
      .init(
        .turn, server, transport: transport, username: STUNAnswers.username, password: STUNAnswers.password)
    }
    self.servers =
      switch script.choice(6) {
      case 0: []
      case 1: [.init(.stun, server)]
      case 2: [.init(.stun, server), relay(.udp)]
      case 3: [relay(.tcp)]
      case 4: [relay(.udp), relay(.tcp), relay(.tls)]
      default: [relay(.tls), .init(.stun, server, transport: .tcp)]
      }
    var configuration = ICEAgent.Configuration(servers: self.servers, relayOnly: script.choice(4) == 1)
    if script.choice(4) == 1 { configuration.pairLimit = 4 }
    self.agent = ICEAgent(
      configuration: configuration, role: script.flag() ? .controlling : .controlled,
      random: SeededGenerator(seed: 2))
    self.credentials = [self.agent.localCredentials]
    self.script = script
  }

  mutating func run() {
    var orders = 0
    while !self.script.isAtEnd, !self.time.isOver, orders < 400 {
      orders += 1
      self.obey()
      self.takeOutputs()
    }
    self.close()
  }

  private mutating func obey() {
    let now = self.time.now
    switch self.script.byte() {
    case UInt8(ascii: "s"): self.addSocket()
    case UInt8(ascii: "S"):
      let id = self.script.choice(4)
      self.agent.removeSocket(.init(rawValue: id), at: now)
      // What is said about it may still be among the outputs, to be ignored.
      self.takeOutputs()
      self.sockets[id] = nil
    case UInt8(ascii: "m"): self.agent.noMoreSockets(at: now)
    case UInt8(ascii: "r"):
      let fragment = "peer\(self.script.choice(4))"
      let password = self.script.choice(8) == 7 ? "" : STUNAnswers.password(of: fragment)
      self.agent.setRemote(
        userFragment: fragment, password: password, isLite: self.script.choice(4) == 1, at: now)
    case UInt8(ascii: "c"): self.addCandidate()
    case UInt8(ascii: "e"): self.agent.remoteCandidatesEnded(at: now)
    case UInt8(ascii: "k"): self.deliverCheck()
    case UInt8(ascii: "a"): self.answer(self.requests.count - 1 - self.script.choice(10))
    case UInt8(ascii: "A"):
      // Everything since the last time, rightly or all in the same wrong way.
      let script = self.script
      for place in self.requests.indices {
        self.script = script
        self.answer(place)
      }
      self.requests = []
    case UInt8(ascii: "g"): self.deliverGarbage()
    case UInt8(ascii: "o"): self.agent.streamOpened(self.stream(), at: now)
    case UInt8(ascii: "z"):
      let id = self.stream()
      self.agent.streamClosed(id, at: now)
      if self.streams[id.rawValue] != nil { self.streams[id.rawValue] = false }
    case UInt8(ascii: "t"):
      let id = self.stream()
      self.agent.streamReceived(self.script.bytes(), id, at: now)
    case UInt8(ascii: "p"): self.pause()
    case UInt8(ascii: "R"):
      let roles: [ICEAgent.Role?] = [nil, .controlling, .controlled]
      self.agent.restart(as: roles[self.script.choice(3)], at: now)
      self.credentials.append(self.agent.localCredentials)
    case UInt8(ascii: "B"): self.agent.rollBack()
    case UInt8(ascii: "l"): self.agent.setRole(self.script.flag() ? .controlling : .controlled)
    case UInt8(ascii: "n"): self.agent.checkNow(at: now)
    case UInt8(ascii: "d"): self.agent.send([0x80] + self.script.bytes(), at: now)
    case UInt8(ascii: "x") where self.script.choice(8) == 7: self.close()
    default: break
    }
  }

  private mutating func addSocket() {
    let id = self.script.choice(4)
    let address = self.script.address()
    self.agent.addSocket(
      .init(rawValue: id), local: address, preference: self.script.flag() ? 65_535 : self.script.uint16(),
      at: self.time.now)
    if self.sockets[id] == nil, !self.hasClosed { self.sockets[id] = address }
  }

  private mutating func stream() -> ICEAgent.StreamID {
    let id = max(0, self.lastStream - self.script.choice(4))
    return .init(rawValue: id)
  }

  private mutating func addCandidate() {
    let address = self.script.address()
    var candidate = ICECandidate(
      foundation: "\(self.script.choice(5))", priority: self.script.uint32(), address: .ip(address.ip),
      port: address.port, kind: ICECandidate.Kind.allCases[self.script.choice(4)])
    switch self.script.choice(16) {
    case 1: candidate.component = 2
    case 2: candidate.transport = "tcp"
    case 3: candidate.address = .name("name.local")
    default: break
    }
    self.agent.addRemote(candidate, at: self.time.now)
  }

  /// A check of the peer, signed with a password that the agent has or had.
  private mutating func deliverCheck() {
    guard let credentials = self.credentials.dropLast(self.script.choice(3)).last else { return }
    var attributes: [STUNAttribute] = [
      .username("\(credentials.userFragment):peer\(self.script.choice(4))"), .priority(self.script.uint32()),
    ]
    let tiebreaker = UInt64(self.script.choice(3)) &* (UInt64.max / 2)
    attributes.append(self.script.flag() ? .iceControlling(tiebreaker) : .iceControlled(tiebreaker))
    if self.script.flag() { attributes.append(.useCandidate) }
    attributes = self.script.attributes() + attributes
    let message = STUNMessage(
      .request, .binding, transaction: .init(high: self.script.uint32(), low: 7), attributes: attributes)
    let key = STUNMessage.shortTermKey(password: credentials.password)
    let bytes = message.encoded(integrity: .sha1(key), fingerprint: true)
    let source = self.script.address()
    switch self.script.choice(4) {
    case 3: self.deliverRelayed(bytes, from: source)
    case let id: self.agent.received(bytes[...], on: .init(rawValue: id), from: source, at: self.time.now)
    }
  }

  /// A datagram of the peer by way of each relay, in an indication or on the first channel.
  private mutating func deliverRelayed(_ bytes: [UInt8], from source: TransportAddress) {
    var wrapped: [UInt8] = []
    if self.script.flag() {
      _ = ChannelData.append(channel: 0x4000, bytes[...], isStream: true, to: &wrapped)
    } else {
      let indication = STUNMessage(
        .indication, .data, transaction: .init(high: 1, low: 2),
        attributes: [.xorPeerAddress(source), .data(bytes)])
      wrapped = indication.encoded()
    }
    for id in self.sockets.keys.sorted() {
      let server = TransportAddress(Script.serverIP, port: Script.serverPort)
      self.agent.received(wrapped[...], on: .init(rawValue: id), from: server, at: self.time.now)
    }
    for id in self.streams.keys.sorted() {
      self.agent.streamReceived(wrapped, .init(rawValue: id), at: self.time.now)
    }
  }

  private mutating func answer(_ place: Int) {
    guard self.requests.indices.contains(place) else { return }
    let request = self.requests[place]
    switch request.way {
    case .socket(let id, let address):
      let asker = self.sockets[id.rawValue] ?? TransportAddress(.v4(1), port: 1)
      guard let answer = STUNAnswers.answer(to: request.bytes, from: asker, &self.script) else { return }
      self.agent.received(answer[...], on: id, from: address, at: self.time.now)
    case .stream(let id):
      let asker = TransportAddress(.v4(0x0a00_0001), port: 5000)
      guard let answer = STUNAnswers.answer(to: request.bytes, from: asker, &self.script) else { return }
      self.agent.streamReceived(answer, id, at: self.time.now)
    }
    self.takeOutputs()
  }

  /// What proves nothing, from where no server is, makes the agent send nothing.
  private mutating func deliverGarbage() {
    let source = self.script.address()
    let id = ICEAgent.SocketID(rawValue: self.script.choice(4))
    let bytes = self.script.bytes()
    self.takeOutputs()
    self.time.run(
      until: self.time.now, { _ in self.agent.nextWake },
      { now in
        self.agent.timePassed(at: now)
        self.takeOutputs()
      })
    self.agent.received(bytes[...], on: id, from: source, at: self.time.now)
    let count = self.takeOutputs()
    require(count == 0 || source.ip == Script.serverIP, "who proves nothing gets nothing")
  }

  private mutating func pause() {
    let end = self.time.advance(by: self.script.pause())
    self.time.run(
      until: end, { _ in self.agent.nextWake },
      { now in
        self.agent.timePassed(at: now)
        self.takeOutputs()
      })
  }

  private mutating func close() {
    self.agent.close(at: self.time.now)
    self.takeOutputs()
    self.hasClosed = true
    self.sockets = [:]
    let now = self.time.now
    self.agent.received(
      [0, 1, 0, 0], on: .init(rawValue: 0), from: TransportAddress(.v4(1), port: 1), at: now)
    self.agent.timePassed(at: now)
    self.agent.checkNow(at: now)
    self.agent.restart(at: now)
    self.agent.send([0x80], at: now)
    require(self.agent.nextWake == nil, "an agent that is closed waits for nothing")
    self.takeOutputs()
  }
}
