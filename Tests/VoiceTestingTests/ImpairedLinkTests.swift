import NIOCore
import NIOPosix
import Testing
import VoiceCore
import VoiceTesting

@Suite(.timeLimit(.minutes(4))) struct ImpairedLinkTests {
  static func pattern(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }

  /// A client and the target's end of one connection through a link.
  struct Pair {
    let client: TestSocket
    let target: TestSocket

    init(_ link: ImpairedLink, _ listener: TestListener) async throws {
      self.client = try await TestSocket.connect(port: link.port)
      self.target = try await listener.accept()
    }

    func sender(_ direction: LinkPlan.Direction) -> TestSocket {
      direction == .toTarget ? self.client : self.target
    }
    func receiver(_ direction: LinkPlan.Direction) -> TestSocket {
      direction == .toTarget ? self.target : self.client
    }
  }

  static func withLink(
    plan: LinkPlan = LinkPlan(), clock: any VoiceClock = MonotonicClock(),
    _ body: (ImpairedLink, TestListener) async throws -> Void
  ) async throws {
    let listener = try await TestListener.start()
    try await withImpairedLink(port: listener.port, plan: plan, clock: clock) { link in
      try await body(link, listener)
    }
    await listener.close()
  }

  @Test func forwardsEverythingUnchangedInBothDirections() async throws {
    try await Self.withLink { link, listener in
      let pair = try await Pair(link, listener)
      let (up, down) = (Self.pattern(600_000, seed: 1), Self.pattern(400_000, seed: 2))
      pair.client.sendLater(up)
      pair.target.sendLater(down)
      await expectEqual(pair.target.receive(up.count), up)
      await expectEqual(pair.client.receive(down.count), down)
      await link.waitUntil { $0[0].bytesToTarget == 600_000 && $0[0].bytesToClient == 400_000 }
      #expect(link.connections.count == 1)
    }
  }

  @Test func oneByteSlicesArriveUnchanged() async throws {
    let slices = LinkPlan.Shape(sliceSize: 1)
    let plan = LinkPlan(everyConnection: .init(toTarget: slices, toClient: slices))
    try await Self.withLink(plan: plan) { link, listener in
      let pair = try await Pair(link, listener)
      let bytes = Self.pattern(5000)
      try await pair.client.send(bytes)
      await expectEqual(pair.target.receive(bytes.count), bytes)
      try await pair.target.send(bytes)
      await expectEqual(pair.client.receive(bytes.count), bytes)
    }
  }

  /// The sender writes all at once, so the cut lies inside what the link reads.
  @Test(arguments: LinkPlan.Direction.allCases, [1, 2, 999, 16_385, 200_001])
  func resetsAfterExactlyTheGivenByte(direction: LinkPlan.Direction, place: Int) async throws {
    let plan = LinkPlan(everyConnection: .init(cut: .init(direction, afterBytes: place, .reset)))
    try await Self.withLink(plan: plan) { link, listener in
      let pair = try await Pair(link, listener)
      let bytes = Self.pattern(place + 1000)
      pair.sender(direction).sendLater(bytes)
      #expect(await pair.receiver(direction).end() == .reset)
      expectEqual(pair.receiver(direction).received, Array(bytes.prefix(place)))
      #expect(await pair.sender(direction).end() == .reset)
      await link.waitUntil { $0[0].isClosed }
      #expect(link.connections.first?.bytes(direction) == place)
      #expect(link.connections.first?.ending == .reset)
    }
  }

  @Test(arguments: LinkPlan.Direction.allCases, [1, 999, 200_001])
  func finishesAfterExactlyTheGivenByte(direction: LinkPlan.Direction, place: Int) async throws {
    let plan = LinkPlan(everyConnection: .init(cut: .init(direction, afterBytes: place, .finish)))
    try await Self.withLink(plan: plan) { link, listener in
      let pair = try await Pair(link, listener)
      let bytes = Self.pattern(place + 100_000)
      pair.sender(direction).sendLater(bytes)
      #expect(await pair.receiver(direction).end() == .finish)
      expectEqual(pair.receiver(direction).received, Array(bytes.prefix(place)))
      #expect(await pair.sender(direction).end() == .finish)
      // What is sent after the end is taken and thrown away, so neither side sees a reset.
      try await pair.sender(direction).send([1, 2, 3])
      await pair.client.close()
      await pair.target.close()
      await link.waitUntil { $0[0].isClosed }
      #expect(link.connections.first?.bytes(direction) == place)
    }
  }

  @Test(arguments: LinkPlan.Direction.allCases)
  func fallsSilentAfterExactlyTheGivenByte(direction: LinkPlan.Direction) async throws {
    let plan = LinkPlan(connections: [0: .init(cut: .init(direction, afterBytes: 777, .silence))])
    try await Self.withLink(plan: plan) { link, listener in
      let silent = try await Pair(link, listener)
      let bytes = Self.pattern(1000)
      silent.sender(direction).sendLater(bytes)
      #expect(await silent.receiver(direction).receive(777) == Array(bytes.prefix(777)))
      await link.waitUntil { $0[0].ending == .silence }
      // Neither data of the other direction nor the end of a side gets through.
      silent.receiver(direction).sendLater(bytes)
      await silent.sender(direction).close()
      // A whole exchange over another connection takes place after all that.
      let other = try await Pair(link, listener)
      try await other.client.send(bytes)
      await expectEqual(other.target.receive(1000), bytes)
      #expect(silent.receiver(direction).received.count == 777)
      #expect(silent.sender(direction).received.isEmpty)
      #expect(silent.receiver(direction).channel.isActive)
      #expect(link.connections[0].isClosed == false)
    }
  }

  @Test func aCutAtByteZeroHappensBeforeAnyData() async throws {
    let plan = LinkPlan(connections: [0: .init(cut: .init(.toTarget, afterBytes: 0, .reset))])
    try await Self.withLink(plan: plan) { link, listener in
      // The reset may come before the connect is noticed, which then fails.
      let client = try? await TestSocket.connect(port: link.port)
      if let client { #expect(await client.end() == .reset) }
      await link.waitUntil { $0.count == 1 && $0[0].isClosed }
      #expect(link.connections[0].ending == .reset)
      #expect(link.connections[0].bytesToTarget == 0)
    }
  }

  @Test func aDelayIsThatOfTheClock() async throws {
    let clock = TestClock()
    let plan = LinkPlan(everyConnection: .init(toTarget: .init(delay: .milliseconds(80))))
    try await Self.withLink(plan: plan, clock: clock) { link, listener in
      let pair = try await Pair(link, listener)
      try await pair.client.send([1, 2, 3])
      #expect(await clock.nextTimer() == VoiceInstant(offset: .milliseconds(80)))
      // The other direction has no delay: an answer overtakes.
      try await pair.target.send([9])
      #expect(await pair.client.receive(1) == [9])
      #expect(pair.target.received.isEmpty)
      clock.advance(by: .milliseconds(80))
      #expect(await pair.target.receive(3) == [1, 2, 3])
    }
  }

  @Test func bandwidthLetsOneSlicePassAtATime() async throws {
    let clock = TestClock()
    let plan = LinkPlan(everyConnection: .init(toClient: .init(bytesPerSecond: 2, sliceSize: 1)))
    try await Self.withLink(plan: plan, clock: clock) { link, listener in
      let pair = try await Pair(link, listener)
      try await pair.target.send([10, 20, 30])
      for count in 1...3 {
        let deadline = await clock.nextTimer()
        #expect(deadline == VoiceInstant(offset: .milliseconds(500 * count)))
        clock.advance(to: deadline)
        #expect(await pair.client.receive(count) == Array([10, 20, 30].prefix(count)))
      }
    }
  }

  @Test func theEndOfOneSideLeavesTheOtherOpen() async throws {
    try await Self.withLink { link, listener in
      let pair = try await Pair(link, listener)
      let bytes = Self.pattern(100_000)
      pair.client.sendLater(bytes)
      try await pair.client.endOutput()
      #expect(await pair.target.end() == .finish)
      expectEqual(pair.target.received, bytes)
      try await pair.target.send(bytes)
      try await pair.target.endOutput()
      #expect(await pair.client.end() == .finish)
      expectEqual(pair.client.received, bytes)
      await link.waitUntil { $0[0].isClosed }
      #expect(link.connections.first?.ending == nil)
    }
  }

  /// What a client sends before there is a connection to the target is not lost, even if it ends at once.
  @Test func aHastyClientLosesNothing() async throws {
    try await Self.withLink { link, listener in
      for number in 0..<50 {
        let bytes = Self.pattern(2000, seed: UInt64(number))
        let client = try await TestSocket.connect(port: link.port)
        client.sendLater(bytes)
        try await client.endOutput()
        let target = try await listener.accept()
        #expect(await target.end() == .finish)
        expectEqual(target.received, bytes)
        await target.close()
      }
    }
  }

  @Test func refusedConnectionsFailAndOpenOnesGoOn() async throws {
    try await Self.withLink { link, listener in
      let pair = try await Pair(link, listener)
      let port = link.port
      for _ in 0..<5 {
        await link.refuseConnections()
        await link.refuseConnections()
        await #expect(throws: NIOConnectionError.self) { _ = try await TestSocket.connect(port: port) }
        try await pair.client.send([1])
        try await link.acceptConnections()
        try await link.acceptConnections()
        #expect(link.port == port)
        let second = try await Pair(link, listener)
        try await second.client.send([5])
        #expect(await second.target.receive(1) == [5])
      }
      #expect(await pair.target.receive(5) == [1, 1, 1, 1, 1])
    }
  }

  @Test func aRejectedConnectionIsResetWithoutReachingTheTarget() async throws {
    let plan = LinkPlan(connections: [0: .init(isRejected: true)])
    try await Self.withLink(plan: plan) { link, listener in
      let rejected = try? await TestSocket.connect(port: link.port)
      if let rejected { #expect(await rejected.end() == .reset) }
      await link.waitUntil { $0.count == 1 && $0[0].isClosed }
      // The first connection that the target sees is the second.
      let pair = try await Pair(link, listener)
      try await pair.client.send([2])
      #expect(await pair.target.receive(1) == [2])
    }
  }

  @Test func aTargetThatIsNotThereResetsTheClient() async throws {
    // A port below those that the system hands out: nobody gets it meanwhile.
    try await withImpairedLink(port: 1) { link in
      let client = try? await TestSocket.connect(port: link.port)
      if let client { #expect(await client.end() == .reset) }
      await link.waitUntil { $0.count == 1 && $0[0].isClosed }
      #expect(link.connections[0].ending == .reset)
    }
  }

  @Test(arguments: [LinkPlan.Ending.reset, .finish]) func cutsAllConnectionsNow(ending: LinkPlan.Ending)
    async throws
  {
    try await Self.withLink { link, listener in
      let pairs = [
        try await Pair(link, listener), try await Pair(link, listener), try await Pair(link, listener),
      ]
      for pair in pairs {
        try await pair.client.send([1, 2, 3])
        await pair.target.receive(3)
      }
      await link.cutAll(ending)
      for pair in pairs {
        #expect(await pair.client.end() == (ending == .reset ? .reset : .finish))
        #expect(await pair.target.end() == (ending == .reset ? .reset : .finish))
      }
      #expect(link.connections.allSatisfy { $0.ending == ending })
      let next = try await Pair(link, listener)
      try await next.client.send([4])
      #expect(await next.target.receive(1) == [4])
    }
  }

  @Test func cutsOneConnectionAmongOthers() async throws {
    try await Self.withLink { link, listener in
      let first = try await Pair(link, listener)
      let second = try await Pair(link, listener)
      await link.cut(0, .reset)
      await link.cut(7, .reset)
      #expect(await first.client.end() == .reset)
      try await second.client.send([1])
      #expect(await second.target.receive(1) == [1])
    }
  }

  @Test func aNewPlanHoldsForOpenConnections() async throws {
    try await Self.withLink { link, listener in
      let pair = try await Pair(link, listener)
      try await pair.client.send(Self.pattern(100))
      await pair.target.receive(100)
      await link.waitUntil { $0[0].bytesToTarget == 100 }
      await link.setPlan(LinkPlan(everyConnection: .init(cut: .init(.toTarget, afterBytes: 150, .reset))))
      pair.client.sendLater(Self.pattern(100, seed: 2))
      #expect(await pair.target.end() == .reset)
      expectEqual(pair.target.received, Self.pattern(100) + Self.pattern(100, seed: 2).prefix(50))
    }
  }

  @Test func manyConnectionsDoNotDisturbEachOther() async throws {
    let plan = LinkPlan.randomCuts(seed: 11, connections: 20, afterBytes: 0...40_000, endings: [.reset])
    try await Self.withLink(plan: plan) { link, listener in
      for number in 0..<40 {
        let pair = try await Pair(link, listener)
        let bytes = Self.pattern(40_001, seed: UInt64(number))
        if let cut = plan.connection(number).cut {
          pair.sender(cut.direction).sendLater(bytes)
          #expect(await pair.receiver(cut.direction).end() == .reset)
          expectEqual(pair.receiver(cut.direction).received, Array(bytes.prefix(cut.afterBytes)))
        } else {
          pair.client.sendLater(bytes)
          pair.target.sendLater(bytes)
          await expectEqual(pair.target.receive(bytes.count), bytes)
          await expectEqual(pair.client.receive(bytes.count), bytes)
        }
      }
    }
  }

  @Test func anErrorOfTheBodyEndsTheLinkAndItsConnections() async throws {
    struct Stop: Error {}
    let listener = try await TestListener.start()
    let client = Recorder<TestSocket>()
    // Held, so that the port stays the link's and is given to nobody else.
    let links = Recorder<ImpairedLink>()
    await #expect(throws: Stop.self) {
      try await withImpairedLink(port: listener.port) { link in
        client.append(try await TestSocket.connect(port: link.port))
        _ = try await listener.accept()
        links.append(link)
        throw Stop()
      }
    }
    #expect(await client.values.first?.end() == .reset)
    let port = try #require(links.values.first?.port)
    await #expect(throws: NIOConnectionError.self) { _ = try await TestSocket.connect(port: port) }
    await listener.close()
  }

  @Test func waitingEndsWhenTheTaskIsCancelledOrTheLinkStops() async throws {
    try await Self.withLink { link, _ in
      let waiting = Task { await link.waitUntil { _ in false } }
      waiting.cancel()
      #expect(await waiting.value == false)
    }
    let left = Recorder<Task<Bool, Never>>()
    try await Self.withLink { link, _ in
      left.append(Task { await link.waitUntil { _ in false } })
    }
    for waiting in left.values { #expect(await waiting.value == false) }
  }
}

/// Compares without the difference of long arrays, which takes minutes to find.
private func expectEqual(
  _ received: [UInt8], _ sent: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
) {
  let place = zip(received, sent).enumerated().first { $0.element.0 != $0.element.1 }?.offset
  #expect(received.count == sent.count, sourceLocation: sourceLocation)
  #expect(place == nil, "the first difference", sourceLocation: sourceLocation)
}
