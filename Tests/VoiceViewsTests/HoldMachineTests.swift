import Testing

@testable import VoiceViews

struct HoldMachineTests {
  @Test func aTouchBesideTheButtonDoesNothing() {
    var machine = HoldMachine()
    #expect(machine.touched(isInside: false) == nil)
    #expect(machine.released() == nil)
  }

  @Test func aFingerThatMovesBeginsOnce() {
    var machine = HoldMachine()
    #expect(machine.touched(isInside: true) == .begin)
    #expect(machine.touched(isInside: true) == nil)
    #expect(machine.released() == .end)
    #expect(machine.released() == nil)
  }

  @Test func lettingGoBesideTheButtonDropsWhatWasSaid() {
    var machine = HoldMachine()
    _ = machine.touched(isInside: true)
    #expect(machine.touched(isInside: false) == nil)
    #expect(machine.state == .outside)
    #expect(machine.released() == .cancel)
  }

  @Test func slidingBackKeepsIt() {
    var machine = HoldMachine()
    _ = machine.touched(isInside: true)
    _ = machine.touched(isInside: false)
    _ = machine.touched(isInside: true)
    #expect(machine.released() == .end)
  }

  @Test func aTouchThatIsTakenAwayEndsInsteadOfListeningForEver() {
    var machine = HoldMachine()
    _ = machine.touched(isInside: true)
    #expect(machine.interrupted() == .end)
    #expect(machine.interrupted() == nil)
  }

  @Test func withoutTouchesTheButtonToggles() {
    var machine = HoldMachine()
    #expect(machine.activated() == .begin)
    #expect(machine.activated() == .end)
    #expect(machine.activated() == .begin)
  }

  @Test func aFingerThatTremblesIsStillOnTheButton() {
    #expect(HoldMachine.isInside(x: 40, y: 40, diameter: 80))
    #expect(HoldMachine.isInside(x: -19, y: 40, diameter: 80))
    #expect(!HoldMachine.isInside(x: -21, y: 40, diameter: 80))
    #expect(!HoldMachine.isInside(x: .nan, y: 40, diameter: 80))
  }
}
