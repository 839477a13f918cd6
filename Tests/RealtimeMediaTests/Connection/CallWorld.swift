import Foundation
import RealtimeMedia
import VoiceCore
import VoiceTesting

/// Whole calls between two connections in a ``VirtualNetwork``: descriptions by hand, audio every 20 ms, virtual time.
final class CallWorld {
  final class Party {
    let connection: AudioConnection
    var sockets: [ICEAgent.SocketID: VirtualNetwork.Endpoint] = [:]
    var events: [AudioConnection.Event] = []
    /// What was heard, and how much of it was made up.
    var heard: [Int16] = []
    var concealed = 0
    var frequency = 440.0
    var phase = 0.0
    var isSilent = false
    var packetsSent = 0

    init(_ connection: AudioConnection) { self.connection = connection }

    var states: [AudioConnection.State] {
      self.events.compactMap { if case .stateChanged(let state) = $0 { state } else { nil } }
    }

    var failures: [VoiceFailure.Code] {
      self.events.compactMap { if case .failed(let failure) = $0 { failure.code } else { nil } }
    }

    var keys: String {
      String(self.events.compactMap { if case .keyPressed(let key) = $0 { key.character } else { nil } })
    }
  }

  let network: VirtualNetwork
  let alice: Party
  let bob: Party
  /// Changes datagrams on their way; `nil` drops them.
  var onTheWay: ((Party, [UInt8]) -> [UInt8]?)?
  private var nextSocket = 0
  private var nextFrame: VoiceInstant

  init(
    seed: UInt64, _ alice: AudioConnection.Configuration = .init(),
    _ bob: AudioConnection.Configuration = .init()
  ) throws {
    var random = SeededGenerator(seed: seed)
    let network = VirtualNetwork(seed: random.next())
    self.network = network
    self.nextFrame = network.now
    func party(_ configuration: AudioConnection.Configuration) throws -> Party {
      Party(
        try AudioConnection(
          configuration: configuration, random: random.split(),
          makeHandshake: { certificate, role, expected in
            ModelHandshake(own: certificate.fingerprint, role: role, expected: expected, now: { network.now })
          }))
    }
    self.alice = try party(alice)
    self.bob = try party(bob)
    self.bob.frequency = 1000
  }

  var now: VoiceInstant { self.network.now }
  var parties: [Party] { [self.alice, self.bob] }
  var areConnected: Bool { self.parties.allSatisfy { $0.connection.state == .connected } }

  @discardableResult
  func addSocket(_ party: Party, _ address: String, in realm: Int = 0) -> ICEAgent.SocketID {
    self.nextSocket += 1
    let id = ICEAgent.SocketID(rawValue: self.nextSocket)
    let endpoint = self.network.open(address, in: realm)
    party.sockets[id] = endpoint
    party.connection.addSocket(id, local: endpoint.address, at: self.now)
    self.perform(party)
    return id
  }

  func removeSocket(_ party: Party, _ id: ICEAgent.SocketID) {
    if let endpoint = party.sockets.removeValue(forKey: id) { self.network.close(endpoint) }
    party.connection.removeSocket(id, at: self.now)
    self.perform(party)
  }

  /// One socket each, and all there is to gather.
  func openSockets() {
    self.addSocket(self.alice, "192.0.2.1")
    self.addSocket(self.bob, "192.0.2.2")
    for party in self.parties { party.connection.socketsAdded(at: self.now) }
    self.run(.milliseconds(50))
  }

  /// One socket each, behind a NAT or none, and all there is to gather; NATs have these addresses then, and sockets `10.0.0.1`.
  ///
  /// - Returns: The realms of both.
  func openSockets(behind nats: [VirtualNAT.Kind?]) -> [Int] {
    var realms: [Int] = []
    for ((party, address), kind) in zip([(self.alice, "192.0.2.1"), (self.bob, "192.0.2.2")], nats) {
      let realm = kind.map { self.network.addNAT($0, address) } ?? 0
      realms.append(realm)
      self.addSocket(party, kind == nil ? address : "10.0.0.1", in: realm)
      party.connection.socketsAdded(at: self.now)
    }
    self.run(.seconds(10)) { self.parties.allSatisfy { $0.connection.hasAllCandidates } }
    return realms
  }

  /// Alice offers, Bob answers; what is between them may be changed.
  func negotiate(
    _ direction: MediaDirection? = nil, restartingICE: Bool = false, from caller: Party? = nil,
    changing change: (String) -> String = { $0 }
  ) throws {
    let caller = caller ?? self.alice
    let callee = caller === self.alice ? self.bob : self.alice
    let offer = try caller.connection.makeOffer(direction, restartingICE: restartingICE, at: self.now)
    self.perform(caller)
    let answer = try callee.connection.receivedOffer(change(offer), at: self.now)
    self.perform(callee)
    try caller.connection.receivedAnswer(change(answer), at: self.now)
    self.perform(caller)
  }

  // MARK: Running

  @discardableResult
  func run(_ duration: Duration, until condition: () -> Bool = { false }) -> Bool {
    let end = self.now.advanced(by: duration)
    while !condition() {
      var next = min(end, self.nextFrame)
      for party in self.parties { next = min(next, party.connection.nextWake(at: self.now) ?? end) }
      if let event = self.network.nextEvent { next = min(next, event) }
      for arrival in self.network.advance(to: max(next, self.now)) { self.arrived(arrival) }
      for party in self.parties {
        party.connection.timePassed(at: self.now)
        self.perform(party)
      }
      if self.nextFrame <= self.now {
        self.nextFrame = self.nextFrame.advanced(by: .milliseconds(20))
        for party in self.parties { self.tick(party) }
      }
      if self.now >= end { return condition() }
    }
    return true
  }

  private func arrived(_ arrival: VirtualNetwork.Arrival) {
    guard case .datagram(var bytes, let endpoint, let source) = arrival else { return }
    for party in self.parties {
      guard let id = party.sockets.first(where: { $0.value == endpoint })?.key else { continue }
      party.connection.received(&bytes, on: id, from: source, at: self.now)
      self.perform(party)
    }
  }

  private func tick(_ party: Party) {
    var frame: [Int16] = []
    let step = 2 * Double.pi * party.frequency / 48_000
    for _ in 0..<960 {
      frame.append(Int16(9000 * sin(party.phase)))
      party.phase += step
    }
    party.connection.sendAudio(party.isSilent ? nil : frame[...], at: self.now) { packet, path in
      guard case .direct(let id, let remote) = path else { return }
      party.packetsSent += 1
      self.send(packet, from: party, id, to: remote)
    }
    var samples: [Int16] = []
    party.concealed += party.connection.readAudio(960, into: &samples, at: self.now)
    party.heard += samples
    self.perform(party)
  }

  func perform(_ party: Party) {
    while let output = party.connection.poll() {
      switch output {
      case .send(let bytes, let id, let remote): self.send(bytes, from: party, id, to: remote)
      case .tell(let event): party.events.append(event)
      case .openStream, .sendStream, .closeStream: break
      }
    }
  }

  private func send(_ bytes: [UInt8], from party: Party, _ id: ICEAgent.SocketID, to remote: TransportAddress)
  {
    guard let endpoint = party.sockets[id] else { return }
    guard let bytes = self.onTheWay.map({ $0(party, bytes) }) ?? bytes else { return }
    self.network.send(bytes, from: endpoint, to: remote)
  }

  /// The share of a tone in the last fifth of a second that a party heard.
  func share(of frequency: Double, heardBy party: Party) -> Double {
    let samples = party.heard.suffix(9600)
    guard samples.count == 9600 else { return 0 }
    let coefficient = 2 * cos(2 * Double.pi * frequency / 48_000)
    var (first, second, energy) = (0.0, 0.0, 1.0)
    for sample in samples {
      let value = Double(sample)
      (first, second) = (value + coefficient * first - second, first)
      energy += value * value
    }
    return 2 * (first * first + second * second - coefficient * first * second) / (energy * 9600)
  }

  /// Whether both hear the other one's tone now.
  var areHeard: Bool {
    self.share(of: 1000, heardBy: self.alice) > 0.9 && self.share(of: 440, heardBy: self.bob) > 0.9
  }
}
