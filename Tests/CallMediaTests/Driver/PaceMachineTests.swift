import NIOCore
import RealtimeMedia
import Testing
import VoiceCore

@testable import CallMedia

struct PaceMachineTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  private static func at(_ milliseconds: Int64) -> NIODeadline { Self.start + .milliseconds(milliseconds) }

  /// A thread whose steps take time: when it begins each round, and what it then does.
  private static func work(
    _ machine: inout PaceMachine, from begin: Int64, until end: Int64, step: (Int64) -> Int64
  ) -> [PaceMachine.Round] {
    var rounds: [PaceMachine.Round] = []
    var now = begin
    while now < end {
      let due = (machine.due - Self.start).nanoseconds / 1_000_000
      now = max(now, due)
      let round = machine.passed(at: Self.at(now))
      rounds.append(round)
      now += step(now) * Int64(round.steps)
    }
    return rounds
  }

  @Test func runsNothingBeforeItsTime() {
    var machine = PaceMachine(at: Self.start)
    #expect(machine.passed(at: Self.at(19)) == .init())
    #expect(machine.due == Self.at(20))
  }

  @Test func staysOnTheGridWhenARoundIsLate() {
    var machine = PaceMachine(at: Self.start)
    #expect(machine.passed(at: Self.at(33)) == .init(steps: 1))
    #expect(machine.due == Self.at(40))
  }

  @Test func makesUpForAStallOfATenthOfASecond() {
    var machine = PaceMachine(at: Self.start)
    #expect(machine.passed(at: Self.at(100)) == .init(steps: 5))
    #expect(machine.due == Self.at(120))
  }

  @Test func leavesOutWhatAStallTakesBeyondThat() {
    var machine = PaceMachine(at: Self.start)
    #expect(machine.passed(at: Self.at(200)) == .init(skipped: 5, steps: 5))
    #expect(machine.due == Self.at(220))
  }

  @Test func makesUpAgainAfterRoundsOnTime() {
    var machine = PaceMachine(at: Self.start)
    #expect(machine.passed(at: Self.at(100)).steps == 5)
    #expect(machine.passed(at: Self.at(140)) == .init(skipped: 1, steps: 1))
    for milliseconds in stride(from: Int64(160), through: 240, by: 20) {
      #expect(machine.passed(at: Self.at(milliseconds)) == .init(steps: 1))
    }
    #expect(machine.passed(at: Self.at(300)) == .init(skipped: 1, steps: 2))
  }

  /// A suspended machine: one round, however long it was.
  @Test func aLongStallIsNoOverload() {
    var machine = PaceMachine(at: Self.start)
    let round = machine.passed(at: Self.at(3_600_000))
    #expect(round.steps == 5)
    #expect(round.skipped == 180_000 - 5)
    #expect(round.overload == nil)
    #expect(!machine.isOverloaded)
  }

  /// Making up for steps that are late because of steps took all the time there was.
  @Test func aThreadWithMoreWorkThanTimeRunsOneStepPerRound() {
    var machine = PaceMachine(at: Self.start)
    let rounds = Self.work(&machine, from: 0, until: 10_000) { _ in 30 }
    #expect(rounds.suffix(100).allSatisfy { $0.steps == 1 })
    let skipped = rounds.reduce(0) { $0 + $1.skipped }
    // Thirty milliseconds of work in each twenty: a third cannot be done.
    #expect((150...180).contains(skipped))
  }

  @Test func tellsTheBeginningAndTheEndOfAnOverloadOnce() {
    var machine = PaceMachine(at: Self.start)
    let rounds = Self.work(&machine, from: 0, until: 40_000) { (10_000..<20_000).contains($0) ? 30 : 5 }
    #expect(rounds.compactMap(\.overload) == [true, false])
    #expect(!machine.isOverloaded)
  }

  @Test func aLittleMoreThanOneCanCarryIsAnOverload() {
    var machine = PaceMachine(at: Self.start)
    let rounds = Self.work(&machine, from: 0, until: 20_000) { _ in 24 }
    #expect(rounds.compactMap(\.overload) == [true])
  }

  @Test func aFullButSufficientThreadIsNoOverload() {
    var machine = PaceMachine(at: Self.start)
    let rounds = Self.work(&machine, from: 0, until: 20_000) { _ in 20 }
    #expect(rounds.allSatisfy { $0 == .init(steps: 1) })
  }

  /// What is sent keeps the time of the wall, whatever is made up for and left out: the other side would otherwise play with a
  /// longer and longer delay.
  @Test(arguments: [60, 150, 240, 1000] as [Int64])
  func aStallIsAsLongForTheOtherSide(milliseconds: Int64) throws {
    var random = SystemRandomNumberGenerator()
    let codec = NegotiatedAudio.Codec(key: AudioCodec.pcmu.key, sends: 0, receives: 0, remoteParameters: [:])
    let sender = try AudioSender(ssrc: 1, codec: codec, random: &random)
    let frame = [Int16](repeating: 100, count: 960)
    var machine = PaceMachine(at: Self.start)
    var sent: [(wall: Int64, units: UInt32)] = []
    var bytes: [UInt8] = []
    let before = stride(from: Int64(20), through: 1_000, by: 20)
    let after = stride(from: 1_000 + milliseconds, through: 3_000, by: 20)
    for now in Array(before) + Array(after) {
      let round = machine.passed(at: Self.at(now))
      if round.skipped > 0 { sender.skip(.milliseconds(20) * round.skipped) }
      for _ in 0..<round.steps
      where sender.send(frame[...], at: VoiceInstant(offset: .milliseconds(now)), into: &bytes) {
        sent.append((now, try RTPPacket(parsing: bytes[...]).timestamp))
      }
    }
    let (first, last) = (try #require(sent.first), try #require(sent.last))
    let lag = (last.wall - first.wall) - Int64(last.units &- first.units) / 8
    #expect((0...10).contains(lag), "\(lag) ms")
  }
}
