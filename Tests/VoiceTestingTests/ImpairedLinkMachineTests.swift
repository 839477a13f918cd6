import Testing
import VoiceCore

@testable import VoiceTesting

@Suite struct ImpairedLinkMachineTests {
  typealias Action = LinkConnectionMachine.Action

  static func instant(_ milliseconds: Int) -> VoiceInstant {
    VoiceInstant(offset: .milliseconds(milliseconds))
  }

  static func machine(_ plan: LinkPlan.Connection = LinkPlan.Connection()) -> LinkConnectionMachine {
    LinkConnectionMachine(plan: plan, generator: SeededGenerator(seed: 1))
  }

  static func openMachine(_ plan: LinkPlan.Connection = LinkPlan.Connection()) -> LinkConnectionMachine {
    var machine = Self.machine(plan)
    _ = machine.opened(at: Self.instant(0))
    return machine
  }

  @Test func readsBothSidesWhenOpened() {
    var machine = Self.machine()
    #expect(machine.opened(at: Self.instant(0)) == [.read(.toTarget), .read(.toClient)])
  }

  @Test func forwardsAtOnceAndReadsOn() {
    var machine = Self.openMachine()
    #expect(
      machine.received(10, .toTarget, at: Self.instant(1))
        == [.keep(.toTarget, 10), .write(.toTarget, 10), .read(.toTarget)])
    #expect(machine.forwardedBytes(.toTarget) == 0)
    #expect(machine.wrote(10, .toTarget, at: Self.instant(1)) == [])
    #expect(machine.forwardedBytes(.toTarget) == 10)
    #expect(machine.forwardedBytes(.toClient) == 0)
  }

  @Test(arguments: LinkPlan.Direction.allCases, LinkPlan.Ending.allCases)
  func cutsInsideARead(direction: LinkPlan.Direction, ending: LinkPlan.Ending) {
    var machine = Self.openMachine(.init(cut: .init(direction, afterBytes: 7, ending)))
    #expect(
      machine.received(5, direction, at: Self.instant(0))
        == [.keep(direction, 5), .write(direction, 5), .read(direction)])
    #expect(machine.wrote(5, direction, at: Self.instant(0)) == [])
    #expect(
      machine.received(100, direction, at: Self.instant(0)).prefix(2) == [
        .keep(direction, 2), .write(direction, 2),
      ])
    let actions = machine.wrote(2, direction, at: Self.instant(0))
    switch ending {
    case .reset:
      #expect(actions == [.confirmDelivery(direction)])
      #expect(machine.delivered(direction.opposite) == [])
      #expect(machine.delivered(direction) == [.reset])
      #expect(machine.delivered(direction) == [])
    case .finish: #expect(actions.first == .finish)
    case .silence: #expect(actions == [.fallSilent])
    }
    #expect(machine.forwardedBytes(direction) == 7)
  }

  @Test func theCutWaitsForTheBytesBeforeIt() {
    var machine = Self.openMachine(
      .init(toTarget: .init(delay: .milliseconds(50)), cut: .init(.toTarget, afterBytes: 4, .reset)))
    #expect(
      machine.received(9, .toTarget, at: Self.instant(0))
        == [.keep(.toTarget, 4), .wake(at: Self.instant(50)), .read(.toTarget)])
    // More of that direction is thrown away, the other direction still passes.
    #expect(machine.received(3, .toTarget, at: Self.instant(10)) == [.keep(.toTarget, 0), .read(.toTarget)])
    #expect(machine.received(3, .toClient, at: Self.instant(10)).contains(.write(.toClient, 3)))
    #expect(machine.timeReached(Self.instant(50)) == [.write(.toTarget, 4)])
    #expect(machine.wrote(4, .toTarget, at: Self.instant(50)) == [.confirmDelivery(.toTarget)])
    #expect(machine.delivered(.toTarget) == [.reset])
    #expect(machine.timeReached(Self.instant(60)) == [])
  }

  @Test(arguments: [0, -5]) func aCutAtTheStartHappensOnOpening(place: Int) {
    var machine = Self.machine(.init(cut: .init(.toClient, afterBytes: place, .reset)))
    #expect(machine.opened(at: Self.instant(0)) == [.reset])
  }

  @Test func aConnectionCutAtTheStartByAnEndReadsOnlyToThrowAway() {
    var machine = Self.machine(.init(cut: .init(.toClient, afterBytes: 0, .finish)))
    #expect(machine.opened(at: Self.instant(0)) == [.finish, .read(.toTarget), .read(.toClient)])
    #expect(machine.received(8, .toTarget, at: Self.instant(0)) == [.keep(.toTarget, 0), .read(.toTarget)])
    #expect(machine.senderEnded(.toTarget, at: Self.instant(0)) == [])
    #expect(machine.senderEnded(.toClient, at: Self.instant(0)) == [.close])
  }

  @Test func aSilentConnectionReadsAndTellsNothing() {
    var machine = Self.openMachine()
    #expect(machine.cut(.silence) == [.fallSilent])
    #expect(machine.received(8, .toTarget, at: Self.instant(0)) == [.keep(.toTarget, 0)])
    #expect(machine.senderEnded(.toTarget, at: Self.instant(0)) == [])
    #expect(machine.failed(.toTarget) == [])
    #expect(machine.timeReached(Self.instant(99)) == [])
    #expect(machine.cut(.reset) == [.reset])
    #expect(machine.cut(.reset) == [])
  }

  @Test func aDelayKeepsBytesAndTheirEndInOrder() {
    var machine = Self.openMachine(.init(toClient: .init(delay: .milliseconds(80))))
    _ = machine.received(5, .toClient, at: Self.instant(0))
    _ = machine.received(6, .toClient, at: Self.instant(30))
    #expect(machine.senderEnded(.toClient, at: Self.instant(40)) == [.wake(at: Self.instant(80))])
    #expect(machine.timeReached(Self.instant(79)) == [.wake(at: Self.instant(80))])
    #expect(machine.timeReached(Self.instant(80)) == [.write(.toClient, 5), .wake(at: Self.instant(110))])
    #expect(machine.timeReached(Self.instant(120)) == [.write(.toClient, 6)])
    _ = machine.wrote(5, .toClient, at: Self.instant(120))
    #expect(machine.wrote(6, .toClient, at: Self.instant(120)) == [.endOutput(.toClient)])
  }

  @Test func bandwidthSpacesTheSlices() {
    var machine = Self.openMachine(.init(toTarget: .init(bytesPerSecond: 1000, sliceSize: 10)))
    let actions = machine.received(25, .toTarget, at: Self.instant(0))
    #expect(actions == [.keep(.toTarget, 25), .wake(at: Self.instant(10)), .read(.toTarget)])
    #expect(machine.timeReached(Self.instant(10)) == [.write(.toTarget, 10), .wake(at: Self.instant(20))])
    #expect(machine.timeReached(Self.instant(20)) == [.write(.toTarget, 10), .wake(at: Self.instant(25))])
    #expect(machine.timeReached(Self.instant(25)) == [.write(.toTarget, 5)])
  }

  @Test func bandwidthCountsFromTheEndOfWhatIsUnderWay() {
    var machine = Self.openMachine(.init(toTarget: .init(bytesPerSecond: 1000)))
    #expect(machine.received(100, .toTarget, at: Self.instant(0)).contains(.wake(at: Self.instant(100))))
    #expect(machine.received(100, .toTarget, at: Self.instant(50)).contains(.wake(at: Self.instant(100))))
    #expect(machine.timeReached(Self.instant(100)) == [.write(.toTarget, 100), .wake(at: Self.instant(200))])
    #expect(machine.timeReached(Self.instant(200)) == [.write(.toTarget, 100)])
    // After a pause the line is idle: the next bytes take their own time only.
    #expect(machine.received(10, .toTarget, at: Self.instant(900)).contains(.wake(at: Self.instant(910))))
  }

  @Test(arguments: [0, -3, Int.min]) func sillyShapesDoNotTrap(value: Int) {
    var machine = Self.openMachine(
      .init(
        toTarget: .init(
          delay: .seconds(-1), jitter: .seconds(-1), bytesPerSecond: value, sliceSize: value)))
    let actions = machine.received(3, .toTarget, at: Self.instant(0))
    // A slice has at least one byte, and at least one byte passes each second.
    #expect(actions.contains(.wake(at: Self.instant(1000))))
    #expect(machine.timeReached(Self.instant(3000)) == Array(repeating: .write(.toTarget, 1), count: 3))
  }

  @Test func oneByteSlicesAreWrittenOneByOne() {
    var machine = Self.openMachine(.init(toTarget: .init(sliceSize: 1)))
    let writes = machine.received(5, .toTarget, at: Self.instant(0)).filter { $0 == .write(.toTarget, 1) }
    #expect(writes.count == 5)
  }

  @Test func jitterKeepsTheOrder() {
    var machine = Self.openMachine(.init(toTarget: .init(jitter: .milliseconds(100), sliceSize: 1)))
    _ = machine.received(200, .toTarget, at: Self.instant(0))
    var written = 0
    for time in 0...100 {
      for case .write(_, let count) in machine.timeReached(Self.instant(time)) { written += count }
    }
    #expect(written == 200)
  }

  @Test func aSlowReceiverStopsTheReading() {
    var machine = Self.openMachine()
    let high = LinkConnectionMachine.highWaterMark
    #expect(
      machine.received(high, .toTarget, at: Self.instant(0)) == [
        .keep(.toTarget, high), .write(.toTarget, high),
      ])
    #expect(machine.wrote(1, .toTarget, at: Self.instant(0)) == [.read(.toTarget)])
    #expect(machine.wrote(1, .toTarget, at: Self.instant(0)) == [], "it is reading already")
  }

  @Test func closesWhenBothSidesHaveEnded() {
    var machine = Self.openMachine()
    #expect(machine.senderEnded(.toTarget, at: Self.instant(0)) == [.endOutput(.toTarget)])
    #expect(machine.senderEnded(.toTarget, at: Self.instant(0)) == [])
    #expect(machine.received(4, .toClient, at: Self.instant(0)).contains(.write(.toClient, 4)))
    #expect(machine.senderEnded(.toClient, at: Self.instant(0)) == [])
    #expect(machine.wrote(4, .toClient, at: Self.instant(0)) == [.endOutput(.toClient), .close])
    #expect(machine.failed(.toClient) == [])
  }

  /// A socket that has ended both ways is closed by the system; bytes for the other side may still be under way.
  @Test func aSocketThatEndedBothWaysDoesNotResetTheOther() {
    var machine = Self.openMachine()
    _ = machine.senderEnded(.toTarget, at: Self.instant(0))
    _ = machine.received(4, .toClient, at: Self.instant(0))
    #expect(machine.closed(.toTarget, at: Self.instant(0)) == [])
    #expect(machine.failed(.toTarget) == [])
    #expect(machine.wrote(4, .toClient, at: Self.instant(0)) == [.endOutput(.toClient), .close])
  }

  @Test func aSocketThatIsClosedBeforeItsEndResetsTheOther() {
    var machine = Self.openMachine()
    #expect(machine.closed(.toClient, at: Self.instant(0)) == [.reset])
  }

  @Test func aResetOfOneSideResetsTheOther() {
    var machine = Self.openMachine()
    #expect(machine.failed(.toTarget) == [.reset])
    #expect(machine.failed(.toClient) == [])
    #expect(machine.received(4, .toTarget, at: Self.instant(0)) == [.keep(.toTarget, 0)])
  }

  @Test func aNewPlanCutsWhatIsAlreadyPastIt() {
    var machine = Self.openMachine()
    _ = machine.received(100, .toTarget, at: Self.instant(0))
    _ = machine.wrote(100, .toTarget, at: Self.instant(0))
    #expect(machine.replan(.init(cut: .init(.toTarget, afterBytes: 101, .reset))) == [])
    #expect(
      machine.replan(.init(cut: .init(.toTarget, afterBytes: 100, .reset))) == [.confirmDelivery(.toTarget)])
    #expect(machine.replan(.init(cut: .init(.toTarget, afterBytes: 1, .reset))) == [])
    #expect(machine.delivered(.toTarget) == [.reset])
  }

  /// Any order of events: what is written never exceeds what was kept, never passes the cut, keeps one terminal action.
  @Test(arguments: 0..<300) func anyOrderOfEventsKeepsTheRules(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let place = Int.random(in: 0...400, using: &generator)
    let shape = LinkPlan.Shape(
      delay: .milliseconds(Int.random(in: 0...20, using: &generator)),
      jitter: .milliseconds(Int.random(in: 0...5, using: &generator)),
      bytesPerSecond: Bool.random(using: &generator) ? 10_000 : nil,
      sliceSize: Bool.random(using: &generator) ? Int.random(in: 1...9, using: &generator) : nil)
    let ending = LinkPlan.Ending.allCases.randomElement(using: &generator) ?? .reset
    var machine = Self.machine(
      .init(toTarget: shape, toClient: shape, cut: .init(.toTarget, afterBytes: place, ending)))
    var kept: [LinkPlan.Direction: Int] = [:]
    var written: [LinkPlan.Direction: Int] = [:]
    var unconfirmed: [(LinkPlan.Direction, Int)] = []
    var closings = 0
    var now = 0

    func check(_ actions: [Action]) {
      for action in actions {
        switch action {
        case .keep(let direction, let count):
          kept[direction, default: 0] += count
        case .write(let direction, let count):
          #expect(closings == 0)
          written[direction, default: 0] += count
          unconfirmed.append((direction, count))
        case .confirmDelivery(let direction): check(machine.delivered(direction))
        case .reset, .close: closings += 1
        case .finish, .fallSilent, .read, .endOutput: #expect(closings == 0)
        case .wake(let instant): #expect(instant >= Self.instant(now))
        }
      }
    }

    check(machine.opened(at: Self.instant(0)))
    for _ in 0..<200 {
      now += Int.random(in: 0...3, using: &generator)
      let direction = Bool.random(using: &generator) ? LinkPlan.Direction.toTarget : .toClient
      switch Int.random(in: 0..<20, using: &generator) {
      case 0..<8:
        check(machine.received(Int.random(in: 0...40, using: &generator), direction, at: Self.instant(now)))
      case 8..<14: check(machine.timeReached(Self.instant(now)))
      case 14..<19:
        guard !unconfirmed.isEmpty else { continue }
        let (direction, count) = unconfirmed.removeFirst()
        check(machine.wrote(count, direction, at: Self.instant(now)))
      default:
        if Int.random(in: 0..<10, using: &generator) == 0 {
          check(machine.senderEnded(direction, at: Self.instant(now)))
        }
      }
    }
    for direction in LinkPlan.Direction.allCases {
      #expect(written[direction, default: 0] <= kept[direction, default: 0])
    }
    #expect(written[.toTarget, default: 0] <= place)
    #expect(closings <= 1)
  }

  @Test func randomCutsDependOnTheSeedOnly() {
    let one = LinkPlan.randomCuts(seed: 5, connections: 20, afterBytes: 0...9)
    #expect(one == LinkPlan.randomCuts(seed: 5, connections: 20, afterBytes: 0...9))
    #expect(one != LinkPlan.randomCuts(seed: 6, connections: 20, afterBytes: 0...9))
    #expect(one.connections.count == 20)
    #expect(one.connection(20) == LinkPlan.Connection())
    #expect(LinkPlan.randomCuts(seed: 5, connections: -1, afterBytes: 0...9).connections.isEmpty)
    #expect(LinkPlan.randomCuts(seed: 5, connections: 3, afterBytes: 0...9, endings: []).connections.isEmpty)
  }
}
