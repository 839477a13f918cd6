import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

/// What strangers, and peers that are confused, can do.
@Suite struct ICESecurityTests {
  static func check(
    _ user: String, password: String, _ role: STUNAttribute, _ more: [STUNAttribute] = [],
    fingerprint: Bool = true, random: inout SeededGenerator
  ) -> [UInt8] {
    let message = STUNMessage(
      .request, .binding, transaction: .init(using: &random),
      attributes: [.username(user), .priority(1_845_501_695), role] + more)
    return message.encoded(
      integrity: .sha1(STUNMessage.shortTermKey(password: password)), fingerprint: fingerprint)
  }

  /// Both believe to control, or both to be controlled.
  @Test(arguments: [ICEAgent.Role.controlling, .controlled], 0..<10)
  func aConflictOfRolesIsSettled(_ role: ICEAgent.Role, _ seed: Int) {
    let world = ICEWorld(seed: UInt64(seed), roles: (role, role))
    world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(world.run(.seconds(5)) { world.areCompleted })
    #expect(world.one.agent.role != world.other.agent.role)
    #expect(world.crosses())
  }

  @Test func aConflictIsAnsweredWith487() throws {
    var random = SeededGenerator(seed: 1)
    let world = ICEWorld(seed: 1)
    let socket = world.addSocket(world.one, "198.51.100.1")
    let mine = world.one.agent.localCredentials
    let bytes = Self.check(
      "\(mine.userFragment):they", password: mine.password, .iceControlling(0), random: &random)
    while world.one.agent.poll() != nil {}
    let source = TransportAddress(.v4(0x0a00_0001), port: 5)
    world.one.agent.received(bytes[...], on: socket, from: source, at: world.now)
    guard case .send(let answer, socket, source) = world.one.agent.poll() else {
      Issue.record("There is no answer")
      return
    }
    let received = try ReceivedSTUNMessage(parsing: answer)
    #expect(received.message.attributes == [.errorCode(487, reason: "Role Conflict")])
    #expect(received.isAuthentic(.sha1(STUNMessage.shortTermKey(password: mine.password))))
    #expect(world.one.agent.role == .controlling)
  }

  /// Spoofed, or by way of a relay: what could be said to it could not be sent.
  @Test func aCheckFromPort0GetsNoAnswer() {
    var random = SeededGenerator(seed: 3)
    let world = ICEWorld(seed: 3)
    let socket = world.addSocket(world.one, "198.51.100.1")
    let mine = world.one.agent.localCredentials
    while world.one.agent.poll() != nil {}
    for role in [STUNAttribute.iceControlled(.max), .iceControlling(0)] {
      let bytes = Self.check("\(mine.userFragment):they", password: mine.password, role, random: &random)
      world.one.agent.received(
        bytes[...], on: socket, from: TransportAddress(.v4(0x0a00_0001), port: 0), at: world.now)
      #expect(world.one.agent.poll() == nil)
    }
    #expect(world.one.agent.counts.rejected == 2 && world.one.agent.counts.checksReceived == 0)
  }

  @Test func unauthenticatedChecksCostNothingAndGetNoAnswer() {
    let world = ICEWorld(seed: 2)
    let socket = world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    world.start()
    #expect(world.run(.seconds(5)) { world.areCompleted })
    var random = SeededGenerator(seed: 2)
    let mine = world.one.agent.localCredentials
    let counts = world.one.agent.counts
    let wake = world.one.agent.nextWake
    for index in 0..<10_000 {
      let bytes: [UInt8]
      switch index % 5 {
      case 0: bytes = Self.check("x:y", password: "p", .iceControlled(.max), random: &random)
      case 1:
        bytes = Self.check("\(mine.userFragment):y", password: "guess", .iceControlled(.max), random: &random)
      case 2:
        bytes = STUNMessage(.request, .binding, transaction: .init(using: &random)).encoded(fingerprint: true)
      case 3:
        // Right, but without a fingerprint.
        bytes = Self.check(
          "\(mine.userFragment):y", password: mine.password, .iceControlled(.max), fingerprint: false,
          random: &random)
      default: bytes = STUNMessage(.request, .allocate, transaction: .init(using: &random)).encoded()
      }
      let source = TransportAddress(.v4(random.next()), port: UInt16(truncatingIfNeeded: index))
      world.one.agent.received(bytes[...], on: socket, from: source, at: world.now)
      #expect(world.one.agent.poll() == nil)
    }
    #expect(world.one.agent.counts.rejected == counts.rejected + 10_000)
    #expect(world.one.agent.nextWake == wake)
    #expect(world.one.state == .completed)
  }

  /// Who knows the credentials may still not make the agent remember, or send, without bounds.
  @Test func checksFromManyAddressesAreBounded() {
    let world = ICEWorld(seed: 3)
    let socket = world.addSocket(world.one, "198.51.100.1")
    let mine = world.one.agent.localCredentials
    world.one.agent.setRemote(userFragment: "they", password: "theirs", at: world.now)
    world.perform(world.one)
    var random = SeededGenerator(seed: 3)
    for index in 0..<5000 {
      let bytes = Self.check(
        "\(mine.userFragment):they", password: mine.password, .iceControlled(1), random: &random)
      let source = TransportAddress(.v4(0x0a00_0000 + UInt32(index)), port: 9)
      world.one.agent.received(bytes[...], on: socket, from: source, at: world.now)
      var answers = 0
      while world.one.agent.poll() != nil { answers += 1 }
      // One answer, and at most one check in this slot.
      #expect(answers <= 3)
    }
    let before = world.one.agent.counts.checksSent
    world.run(.seconds(10))
    #expect(world.one.agent.counts.checksSent - before <= 201)
    #expect(world.one.agent.counts.checksSent <= 24 * 10 + 1)
  }

  @Test func spoofedAnswersChangeNothing() {
    let world = ICEWorld(seed: 4)
    let socket = world.addSocket(world.one, "198.51.100.1")
    world.addSocket(world.other, "198.51.100.2")
    let theirs = world.other.agent.localCredentials
    let right = STUNMessage.Integrity.sha1(STUNMessage.shortTermKey(password: theirs.password))
    let wrong = STUNMessage.Integrity.sha1([1])
    let peer = world.other.sockets.values.first?.address ?? TransportAddress(.v4(1), port: 1)
    let stranger = TransportAddress(VirtualNetwork.ip("203.0.113.9"), port: peer.port)
    var forged = 0
    world.drops = { [unowned world] from, bytes, _ in
      // Every check of one is lost, and answered in ways that must not count.
      guard from == 0, let check = try? ReceivedSTUNMessage(parsing: bytes), check.message.kind == .request
      else { return from == 1 }
      forged += 1
      var random = SeededGenerator(seed: UInt64(forged))
      let mapped = STUNAttribute.xorMappedAddress(stranger)
      let other = STUNMessage(.success, .binding, transaction: .init(using: &random), attributes: [mapped])
      let good = check.message.answer(.success, attributes: [mapped])
      let refusal = check.message.answer(.error, attributes: [.errorCode(487, reason: "")])
      for (bytes, source) in [
        (other.encoded(integrity: right, fingerprint: true), peer),
        (good.encoded(integrity: right, fingerprint: true), stranger),
        (good.encoded(integrity: wrong, fingerprint: true), peer), (good.encoded(fingerprint: true), peer),
        (good.encoded(integrity: right), peer), (refusal.encoded(fingerprint: true), peer),
        (check.message.answer(.success).encoded(integrity: right, fingerprint: true), stranger),
      ] {
        world.one.agent.received(bytes[...], on: socket, from: source, at: world.now)
        world.one.agent.received(bytes[...], on: .init(rawValue: 77), from: source, at: world.now)
      }
      return true
    }
    world.start()
    world.run(.seconds(14))
    #expect(forged > 3)
    #expect(world.one.state == .checking)
    #expect(world.one.agent.role == .controlling)
    #expect(world.one.selections.isEmpty)
    world.run(.seconds(2))
    #expect(world.one.state == .failed)
  }

  @Test func whatIsNotUnderstoodIsRefusedWith420() throws {
    var random = SeededGenerator(seed: 5)
    let world = ICEWorld(seed: 5)
    let socket = world.addSocket(world.one, "198.51.100.1")
    let mine = world.one.agent.localCredentials
    let bytes = Self.check(
      "\(mine.userFragment):they", password: mine.password, .iceControlled(0),
      [.unknown(type: 0x7f00, value: [1])], random: &random)
    while world.one.agent.poll() != nil {}
    world.one.agent.received(bytes[...], on: socket, from: .init(.v4(1), port: 5), at: world.now)
    guard case .send(let answer, _, _) = world.one.agent.poll() else {
      Issue.record("There is no answer")
      return
    }
    #expect(
      try ReceivedSTUNMessage(parsing: answer).message.attributes.contains(.unknownAttributes([0x7f00])))
  }

  @Test func credentialsAreLongEnoughAndNeverTheSame() {
    var seen: Set<ICEAgent.Credentials> = []
    var agent = ICEAgent(configuration: .init(), role: .controlling, random: SystemRandomNumberGenerator())
    for _ in 0..<100 {
      let credentials = agent.localCredentials
      // RFC 8839 section 5.4: ice-char, 4 and 22 at least.
      #expect(credentials.userFragment.utf8.count >= 4 && credentials.password.utf8.count >= 22)
      let text = credentials.userFragment + credentials.password
      #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "/") })
      #expect(seen.insert(credentials).inserted)
      agent.restart(at: VoiceInstant())
    }
  }
}
