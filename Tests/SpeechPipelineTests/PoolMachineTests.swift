import Testing
import VoiceCore

@testable import SpeechPipeline

struct PoolMachineTests {
  private let failure = VoiceFailure(.modelInvalid)

  private func loaded(_ size: Int) -> PoolMachine {
    var machine = PoolMachine(size: size)
    _ = machine.loadAll()
    for slot in 0..<size { _ = machine.loaded(slot) }
    return machine
  }

  @Test func hasAtLeastOneSlot() {
    #expect(PoolMachine(size: 0).status.total == 1)
    #expect(PoolMachine(size: -4).status.total == 1)
  }

  @Test func servesInTheOrderOfTheRequests() {
    var machine = loaded(1)
    expectEqual(machine.requested(1), [.grant(request: 1, slot: 0)])
    expectEqual(machine.requested(2).isEmpty, true)
    expectEqual(machine.requested(3).isEmpty, true)
    #expect(machine.status == .init(total: 1, loaded: 1, busy: 1, waiting: 2))
    expectEqual(machine.released(0, isBroken: false), [.grant(request: 2, slot: 0)])
    expectEqual(machine.released(0, isBroken: false), [.grant(request: 3, slot: 0)])
    expectEqual(machine.released(0, isBroken: false).isEmpty, true)
    expectEqual(machine.acquiredIdle(), 0)
    expectEqual(machine.acquiredIdle(), nil)
  }

  @Test func aWithdrawnRequestIsSkipped() {
    var machine = loaded(1)
    _ = machine.requested(1)
    _ = machine.requested(2)
    _ = machine.requested(3)
    expectEqual(machine.withdrawn(2), true)
    expectEqual(machine.withdrawn(2), false)
    expectEqual(machine.withdrawn(1), false)
    expectEqual(machine.released(0, isBroken: false), [.grant(request: 3, slot: 0)])
  }

  @Test func replacesABrokenRecogniser() {
    var machine = loaded(1)
    _ = machine.requested(1)
    _ = machine.requested(2)
    expectEqual(machine.released(0, isBroken: true), [.load(slot: 0)])
    #expect(machine.status.loaded == 0)
    expectEqual(machine.loaded(0), [.grant(request: 2, slot: 0)])
  }

  @Test func whoWaitsLearnsOfAFailedLoadOnlyWhenNobodyElseCanServe() {
    var machine = PoolMachine(size: 2)
    expectEqual(machine.loadAll(), [.load(slot: 0), .load(slot: 1)])
    _ = machine.requested(1)
    expectEqual(machine.loadFailed(0, self.failure).isEmpty, true)
    expectEqual(machine.loadFailed(1, self.failure), [.fail(request: 1, .init(failure: self.failure))])
  }

  @Test func triesAnEmptySlotAgainWhenSomebodyNeedsIt() {
    var machine = PoolMachine(size: 1)
    _ = machine.loadAll()
    _ = machine.loadFailed(0, self.failure)
    expectEqual(machine.requested(1), [.load(slot: 0)])
    expectEqual(machine.loaded(0), [.grant(request: 1, slot: 0)])
  }

  @Test func afterStoppingNothingIsGranted() {
    var machine = loaded(2)
    _ = machine.requested(1)
    _ = machine.requested(2)
    _ = machine.requested(3)
    expectEqual(machine.stopped().count, 1)
    expectEqual(machine.released(0, isBroken: false).isEmpty, true)
    expectEqual(machine.released(1, isBroken: true).isEmpty, true)
    expectEqual(machine.acquiredIdle(), nil)
    guard case .fail(4, let box)? = machine.requested(4).first else {
      Issue.record("was granted")
      return
    }
    #expect(box.failure.code == .serverStopping)
  }

  @Test func eventsOfUnknownSlotsAreIgnored() {
    var machine = loaded(1)
    expectEqual(machine.loaded(7).isEmpty, true)
    expectEqual(machine.loadFailed(-1, self.failure).isEmpty, true)
    expectEqual(machine.released(7, isBroken: true).isEmpty, true)
    expectEqual(machine.released(0, isBroken: false).isEmpty, true)
  }
}
