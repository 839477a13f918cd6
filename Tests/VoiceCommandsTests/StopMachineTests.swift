import Testing

@testable import VoiceCommands

struct StopMachineTests {
  @Test func theFirstRequestIsGracefulAndTheSecondIsNot() {
    var machine = StopMachine()
    #expect(!machine.wasAsked)
    #expect(machine.signalArrived() == .stopGracefully)
    #expect(machine.wasAsked)
    #expect(!machine.isAborted)
    #expect(machine.signalArrived() == .abort)
    #expect(machine.isAborted)
    #expect(machine.signalArrived() == .ignore)
  }

  @Test func aRequestAfterTheEndIsIgnored() {
    var machine = StopMachine()
    machine.workEnded()
    #expect(machine.signalArrived() == .ignore)
    #expect(!machine.wasAsked)
  }

  @Test func theEndDoesNotForgetThatItWasAskedFor() {
    var machine = StopMachine()
    _ = machine.signalArrived()
    machine.workEnded()
    #expect(machine.wasAsked)
  }
}
