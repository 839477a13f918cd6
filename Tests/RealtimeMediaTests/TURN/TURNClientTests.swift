import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

/// RFC 8656 from the client's side; bad input first.
@Suite struct TURNClientTests {
  /// One client of a server in a network.
  final class World {
    let network: VirtualNetwork
    let server: VirtualTURNServer
    let endpoint: VirtualNetwork.Endpoint
    let peer: VirtualNetwork.Endpoint
    var client: TURNClient
    let isStream: Bool
    var relayed: TransportAddress?
    var mapped: TransportAddress?
    var failures: [TURNError] = []
    var redirections: [TransportAddress] = []
    /// What the peer sent and came by the relay, and what came to the peer.
    var received: [[UInt8]] = []
    var atPeer: [(bytes: [UInt8], from: TransportAddress)] = []

    init(
      seed: UInt64 = 1, isStream: Bool = false, password: String = "secret",
      relayIsV6: Bool = false, link: VirtualNetwork.Link = .init()
    ) {
      let address = TransportAddress(VirtualNetwork.ip("192.0.2.254"), port: 3478)
      self.network = VirtualNetwork(seed: seed)
      self.network.link = link
      self.server = self.network.addServer(address, users: ["ann": "secret"])
      self.endpoint = self.network.open("198.51.100.1")
      self.peer = self.network.open("198.51.100.2")
      self.isStream = isStream
      self.client = TURNClient(
        configuration: .init(
          username: "ann", password: password, isStream: isStream, relayIsV6: relayIsV6),
        random: SeededGenerator(seed: seed))
    }

    func start() {
      if self.isStream {
        self.network.connect(1, from: self.endpoint, to: self.server.address)
      } else {
        self.client.start(at: self.network.now)
        self.perform()
      }
    }

    func perform() {
      while let output = self.client.poll() {
        switch output {
        case .send(let bytes) where self.isStream: self.network.sendOnStream(bytes, 1)
        case .send(let bytes): self.network.send(bytes, from: self.endpoint, to: self.server.address)
        case .allocated(let relayed, let mapped): (self.relayed, self.mapped) = (relayed, mapped)
        case .refreshed: break
        case .received(let bytes, let peer):
          #expect(peer == self.peer.address)
          self.received.append(bytes)
        case .redirected(let server): self.redirections.append(server)
        case .failed(let error): self.failures.append(error)
        }
      }
    }

    @discardableResult
    func run(_ duration: Duration, until condition: () -> Bool = { false }) -> Bool {
      let end = self.network.now.advanced(by: duration)
      while !condition() {
        var next = end
        if let wake = self.client.nextWake { next = min(next, wake) }
        if let event = self.network.nextEvent { next = min(next, event) }
        for arrival in self.network.advance(to: max(next, self.network.now)) {
          switch arrival {
          case .datagram(let bytes, self.peer, let source): self.atPeer.append((bytes, source))
          case .datagram(let bytes, _, _): self.client.received(bytes[...], at: self.network.now)
          case .streamOpened: self.client.start(at: self.network.now)
          case .streamReceived(_, let bytes): self.client.streamReceived(bytes, at: self.network.now)
          case .streamClosed: self.client.streamClosed(at: self.network.now)
          }
          self.perform()
        }
        if self.client.nextWake.map({ $0 <= self.network.now }) ?? false {
          self.client.timePassed(at: self.network.now)
          self.perform()
        }
        if self.network.now >= end { return condition() }
      }
      return true
    }

    func allocate() {
      self.start()
      #expect(self.run(.seconds(5)) { self.relayed != nil })
    }

    func send(_ bytes: [UInt8]) {
      self.client.send(bytes[...], to: self.peer.address, at: self.network.now)
      self.perform()
    }
  }

  @Test(arguments: [false, true])
  func aWrongPasswordFails(_ isStream: Bool) {
    let world = World(isStream: isStream, password: "guess")
    world.start()
    #expect(world.run(.seconds(2)) { !world.failures.isEmpty })
    #expect(world.failures == [.wrongCredentials])
    #expect(world.client.state == .failed(.wrongCredentials))
    #expect(world.client.nextWake == nil)
  }

  @Test(arguments: [
    (486, TURNError.quotaReached), (437, .allocationMismatch), (403, .forbidden),
    (508, .insufficientCapacity),
    (442, .unsupported), (500, .refused(code: 500)),
  ])
  func aRefusalHasAType(_ code: Int, _ error: TURNError) {
    let world = World()
    world.server.refusal = code
    world.start()
    #expect(world.run(.seconds(2)) { world.failures == [error] })
    #expect(!error.description.isEmpty)
  }

  @Test func anotherFamilyThanTheServerHasIsUnsupported() {
    let world = World(relayIsV6: true)
    world.start()
    #expect(world.run(.seconds(2)) { world.failures == [.unsupported] })
  }

  @Test func anotherServerIsNamed() {
    let world = World()
    let other = TransportAddress(VirtualNetwork.ip("192.0.2.250"), port: 3479)
    world.server.alternate = other
    world.start()
    #expect(world.run(.seconds(2)) { world.redirections == [other] })
    #expect(world.failures.isEmpty)
  }

  @Test func aServerThatSaysNothingIsUnreachable() {
    let world = World()
    world.server.isDead = true
    let start = world.network.now
    world.start()
    #expect(world.run(.seconds(10)) { world.failures == [.unreachable] })
    #expect(start.duration(to: world.network.now) == .seconds(5))
    // At 0, 250, 500, 1000, 1500, 2500 and 3500 ms.
    #expect(world.network.datagramsSent == 7)
  }

  @Test func aStreamThatCarriesSomethingElseFails() {
    let world = World(isStream: true)
    world.allocate()
    world.client.streamReceived([0x16, 3, 1, 0], at: world.network.now)
    world.perform()
    #expect(world.failures == [.malformedStream])
  }

  @Test func aClosedStreamFails() {
    let world = World(isStream: true)
    world.allocate()
    world.network.closeFromServer(1)
    #expect(world.run(.seconds(1)) { world.failures == [.connectionClosed] })
  }

  @Test func forgedAnswersDoNotCount() throws {
    var client = TURNClient(
      configuration: .init(username: "ann", password: "secret"), random: SeededGenerator(seed: 1))
    let now = VoiceInstant()
    client.start(at: now)
    guard case .send(let first) = client.poll() else {
      Issue.record("Nothing was sent")
      return
    }
    let challenge = try ReceivedSTUNMessage(parsing: first).message.answer(
      .error, attributes: [.errorCode(401, reason: ""), .realm("r"), .nonce("n")])
    client.received(challenge.encoded()[...], at: now)
    guard case .send(let second) = client.poll() else {
      Issue.record("Nothing was sent")
      return
    }
    let relayed = STUNAttribute.xorRelayedAddress(.init(.v4(1), port: 1))
    let request = try ReceivedSTUNMessage(parsing: second).message
    let answer = request.answer(.success, attributes: [relayed])
    client.received(answer.encoded()[...], at: now)
    client.received(answer.encoded(integrity: .sha1([1]))[...], at: now)
    #expect(client.poll() == nil)
    #expect(client.state == .allocating)
    let key = STUNMessage.longTermKey(username: "ann", realm: "r", password: "secret")
    client.received(answer.encoded(integrity: .sha1(key))[...], at: now)
    #expect(client.state == .allocated(relayed: .init(.v4(1), port: 1)))
  }

  @Test(arguments: [false, true])
  func relaysInBothDirections(_ isStream: Bool) {
    let world = World(isStream: isStream)
    world.allocate()
    #expect(world.mapped?.ip == world.endpoint.address.ip)
    // Lengths that need each padding on a stream.
    for length in 1...5 { world.send(Array(repeating: UInt8(length), count: length)) }
    #expect(world.run(.seconds(1)) { world.atPeer.count == 5 })
    #expect(world.atPeer.allSatisfy { $0.from == world.relayed })
    #expect(Set(world.atPeer.map(\.bytes.count)) == [1, 2, 3, 4, 5])
    for length in 1...5 {
      world.network.send(
        Array(repeating: 9, count: length), from: world.peer, to: world.relayed ?? world.peer.address)
    }
    #expect(world.run(.seconds(1)) { world.received.count == 5 })
    world.client.bindChannel(to: world.peer.address, at: world.network.now)
    world.perform()
    world.run(.seconds(1))
    for length in 1...5 { world.send(Array(repeating: UInt8(length), count: length)) }
    for length in 1...5 {
      world.network.send(
        Array(repeating: 9, count: length), from: world.peer, to: world.relayed ?? world.peer.address)
    }
    #expect(world.run(.seconds(1)) { world.atPeer.count == 10 && world.received.count == 10 })
    #expect(world.server.channelData == 5)
    #expect(Set(world.received.suffix(5).map(\.count)) == [1, 2, 3, 4, 5])
  }

  @Test func fewDatagramsWaitForAPermission() {
    let world = World()
    world.allocate()
    for _ in 0..<100 { world.send([1]) }
    world.run(.seconds(1))
    #expect(world.atPeer.count == 8)
    // Nobody else is let in.
    let stranger = world.network.open("198.51.100.66")
    world.network.send([1], from: stranger, to: world.relayed ?? world.peer.address)
    world.run(.seconds(1))
    #expect(world.received.isEmpty)
  }

  @Test(arguments: [false, true])
  func livesForHours(_ isStream: Bool) {
    let world = World(isStream: isStream, link: .init(loss: 0.02))
    world.server.nonceUses = 3
    world.allocate()
    for minute in 0..<180 {
      // Data go on a channel in one half of the time, and without one in the other.
      if minute == 90 { world.client.bindChannel(to: world.peer.address, at: world.network.now) }
      for second in 0..<60 {
        world.send([UInt8(second)])
        world.run(.seconds(1))
      }
    }
    #expect(world.failures.isEmpty)
    #expect(world.server.allocationCount == 1)
    #expect(world.server.refreshes >= 15)
    #expect(world.server.staleAnswers > 10)
    // A datagram crosses four links, each of which loses one of fifty.
    let share = Double(world.atPeer.count) / (180 * 60)
    #expect(share > 0.9)
    world.client.close(at: world.network.now)
    world.perform()
    world.run(.seconds(1))
    #expect(world.client.state == .closed)
  }

  @Test func unusedPermissionsEnd() {
    let world = World()
    world.allocate()
    world.send([1])
    world.run(.seconds(600))
    world.network.send([9], from: world.peer, to: world.relayed ?? world.peer.address)
    world.run(.seconds(1))
    #expect(world.received.isEmpty)
    world.send([2])
    #expect(world.run(.seconds(1)) { world.atPeer.count == 2 })
  }

  /// Refreshes begin a minute before the end, so that the server may be missing for most of it.
  @Test(arguments: [false, true]) func survivesAnOutageWhileARefreshIsDue(_ isStream: Bool) {
    let world = World(isStream: isStream)
    world.allocate()
    world.run(.seconds(530))
    world.server.isDead = true
    world.run(.seconds(50))
    #expect(world.failures.isEmpty)
    world.server.isDead = false
    world.run(.seconds(600))
    #expect(world.failures.isEmpty)
    #expect(world.server.allocationCount == 1)
    world.send([7])
    #expect(world.run(.seconds(1)) { world.atPeer.count == 1 })
  }

  @Test func failsWhenTheLifetimeEndsWithoutARefresh() {
    let world = World()
    world.allocate()
    let began = world.network.now
    world.server.isDead = true
    #expect(world.run(.seconds(700)) { !world.failures.isEmpty })
    #expect(world.failures == [.unreachable])
    let took = began.duration(to: world.network.now)
    #expect(took > .seconds(595) && took < .seconds(606))
  }

  /// As after a restart of the server; nothing else would say so before the next refresh, ten minutes later.
  @Test(arguments: [false, true]) func anAllocationThatTheServerForgotFailsSoon(_ isStream: Bool) {
    let world = World(isStream: isStream)
    world.allocate()
    world.server.forget()
    #expect(world.run(.seconds(16)) { world.failures == [.allocationMismatch] })
  }

  @Test func anAllocationThatTheServerForgotFailsAtOnceIfANewPeerIsSentTo() {
    let world = World()
    world.allocate()
    world.server.forget()
    world.send([1])
    #expect(world.run(.seconds(1)) { world.failures == [.allocationMismatch] })
  }

  @Test func aServerThatIsHeardIsNotAskedWhetherItIsThere() {
    let world = World()
    world.allocate()
    world.send([1])
    for _ in 0..<60 {
      world.run(.seconds(1))
      world.network.send([2], from: world.peer, to: world.relayed ?? world.peer.address)
    }
    #expect(world.server.refreshes == 0)
    world.run(.seconds(31))
    #expect(world.server.refreshes == 2)
  }

  @Test func closingGivesTheAllocationBack() {
    let world = World()
    world.allocate()
    world.client.close(at: world.network.now)
    world.perform()
    world.run(.seconds(1))
    #expect(world.server.allocationCount == 0)
    #expect(world.client.nextWake == nil)
  }

  @Test func randomBytesNeverTrap() {
    for seed in 0..<300 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      let world = World(seed: seed, isStream: seed % 2 == 0)
      world.start()
      for _ in 0..<60 {
        world.run(.milliseconds(Int.random(in: 0...60, using: &random)))
        var bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
        if Bool.random(using: &random), !bytes.isEmpty { bytes[0] = [0, 1, 0x40, 0x4f][Int(seed % 4)] }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: world.client.streamReceived(bytes, at: world.network.now)
        case 1: world.client.send(bytes[...], to: world.peer.address, at: world.network.now)
        case 2: world.client.bindChannel(to: world.peer.address, at: world.network.now)
        case 3: world.client.timePassed(at: world.network.now.advanced(by: .seconds(-3)))
        default: world.client.received(bytes[...], at: world.network.now)
        }
        world.perform()
      }
      #expect(world.failures.count <= 1)
    }
  }
}
