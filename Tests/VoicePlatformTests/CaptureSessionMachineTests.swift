import Testing
import VoiceCore

@testable import VoicePlatform

struct CaptureSessionMachineTests {
  private typealias Machine = CaptureSessionMachine
  private let builtIn = Machine.Input(name: "built-in", sampleRate: 48_000, channels: 1)
  private let headset = Machine.Input(name: "headset", sampleRate: 16_000, channels: 1)

  private func at(_ milliseconds: Int) -> VoiceInstant { VoiceInstant(offset: .milliseconds(milliseconds)) }

  /// A machine that has recorded one second.
  private func recording() -> Machine {
    var machine = Machine(at: self.at(0))
    _ = machine.started(self.builtIn, at: self.at(0))
    _ = machine.heard(.milliseconds(100), at: self.at(1000))
    return machine
  }

  private func failure(_ actions: [Machine.Action]) -> VoiceFailure? {
    for case .end(let failure?) in actions { return failure }
    return nil
  }

  @Test func aHeadsetThatIsPulledOutWithNothingLeftEndsTheCapture() {
    for change in [
      Machine.RouteChange.oldDeviceUnavailable, .newDeviceAvailable, .categoryChanged, .noSuitableRoute,
    ] {
      var machine = recording()
      #expect(failure(machine.routeChanged(change, input: nil))?.code == .inputDeviceLost)
      #expect(machine.isEnded)
    }
  }

  @Test func anEngineWhoseHardwareIsGoneEndsTheCapture() {
    var machine = recording()
    #expect(failure(machine.engineConfigurationChanged(input: nil))?.code == .inputDeviceLost)
  }

  @Test func anotherDeviceIsRecordedFromInItsPlace() {
    var machine = recording()
    #expect(machine.routeChanged(.oldDeviceUnavailable, input: headset) == [.rebuild])
    _ = machine.started(headset, at: at(1300))
    #expect(machine.heard(.milliseconds(100), at: at(1500)) == .milliseconds(400))
    #expect(machine.heard(.milliseconds(100), at: at(1600)) == .zero)
  }

  @Test func aRouteThatRecordsFromTheSameDeviceChangesNothing() {
    var machine = recording()
    #expect(machine.routeChanged(.newDeviceAvailable, input: builtIn) == [])
    #expect(machine.routeChanged(.categoryChanged, input: builtIn) == [])
    #expect(machine.routeChanged(.other, input: nil) == [])
    #expect(machine.heard(.milliseconds(100), at: at(1100)) == .zero)
  }

  @Test func anInterruptionLeavesAGapOfItsLength() {
    var machine = recording()
    #expect(machine.interruptionBegan(at: at(1050)).first == .pause)
    #expect(machine.interruptionEnded(shouldResume: true) == [.restart])
    _ = machine.started(builtIn, at: at(9000))
    #expect(machine.heard(.milliseconds(200), at: at(9300)) == .milliseconds(8100))
  }

  @Test func whatWasRecordedBeforeAnInterruptionAndComesLateIsDelivered() {
    var machine = recording()
    _ = machine.interruptionBegan(at: at(1050))
    #expect(machine.heard(.milliseconds(100), at: at(1100)) == .zero)
    _ = machine.interruptionEnded(shouldResume: true)
    _ = machine.started(builtIn, at: at(2000))
    #expect(machine.heard(.milliseconds(100), at: at(2200)) == .milliseconds(1000))
  }

  @Test func audioThatComesBeforeTheEngineSaysThatItRunsHasItsGapToo() {
    var machine = recording()
    _ = machine.interruptionBegan(at: at(1050))
    _ = machine.interruptionEnded(shouldResume: true)
    #expect(machine.heard(.milliseconds(100), at: at(3100)) == .seconds(2))
    _ = machine.started(builtIn, at: at(3150))
    #expect(machine.heard(.milliseconds(100), at: at(3200)) == .zero)
    #expect(machine.heard(.milliseconds(100), at: at(3400)) == .zero)
  }

  @Test func anInterruptionAfterWhichTheAppShallNotGoOnEndsTheCapture() {
    var machine = recording()
    _ = machine.interruptionBegan(at: at(1050))
    let failure = failure(machine.interruptionEnded(shouldResume: false))
    #expect(failure?.code == .inputInterrupted)
    #expect(failure?.recovery == .retry)
  }

  @Test func anInterruptionWithoutAnEndEndsTheCaptureAtItsLimit() {
    var machine = Machine(Machine.Settings(interruptionLimit: .seconds(60)), at: at(0))
    _ = machine.started(builtIn, at: at(0))
    #expect(machine.interruptionBegan(at: at(1000)) == [.pause, .startTimer(at(61_000))])
    #expect(machine.timerFired(at: at(5000)) == [.startTimer(at(61_000))])
    #expect(failure(machine.timerFired(at: at(61_000)))?.code == .inputInterrupted)
  }

  @Test func aSecondInterruptionDoesNotStartTheLimitAgain() {
    var machine = recording()
    _ = machine.interruptionBegan(at: at(1000))
    #expect(machine.interruptionBegan(at: at(500_000)) == [])
    #expect(failure(machine.timerFired(at: at(601_000)))?.code == .inputInterrupted)
  }

  @Test func anEndWithoutABeginIsIgnored() {
    var machine = recording()
    #expect(machine.interruptionEnded(shouldResume: true) == [])
    #expect(machine.interruptionEnded(shouldResume: false) == [])
    #expect(!machine.isEnded)
  }

  @Test func lostServicesNeedANewEngine() {
    var machine = recording()
    #expect(machine.mediaServicesLost(at: at(1000)).first == .pause)
    #expect(machine.interruptionEnded(shouldResume: true) == [])
    #expect(machine.mediaServicesReset() == [.rebuild])
    _ = machine.started(builtIn, at: at(3000))
    #expect(machine.heard(.milliseconds(100), at: at(3200)) == .milliseconds(2100))
  }

  @Test func servicesThatWereResetWithoutALossNeedANewEngineToo() {
    var machine = recording()
    #expect(machine.mediaServicesReset() == [.rebuild])
  }

  @Test func aDeviceThatChangedDuringAnInterruptionNeedsANewEngineAfterIt() {
    for change in 0..<2 {
      var machine = recording()
      _ = machine.interruptionBegan(at: at(1050))
      let actions =
        change == 0
        ? machine.routeChanged(.oldDeviceUnavailable, input: nil)
        : machine.engineConfigurationChanged(input: nil)
      #expect(actions == [])
      #expect(machine.interruptionEnded(shouldResume: true) == [.rebuild])
    }
  }

  @Test func anEngineThatDoesNotStartIsTriedAgainWithGrowingWaits() {
    var machine = recording()
    _ = machine.interruptionBegan(at: at(1050))
    _ = machine.interruptionEnded(shouldResume: true)
    let broken = VoiceFailure(.inputDeviceFailed)
    var now = 2000
    for wait in [200, 400, 800, 1600] {
      #expect(machine.startFailed(broken, at: at(now)) == [.startTimer(at(now + wait))])
      #expect(machine.timerFired(at: at(now + wait - 1)) == [.startTimer(at(now + wait))])
      now += wait
      #expect(machine.timerFired(at: at(now)) == [.rebuild])
    }
    #expect(machine.startFailed(broken, at: at(now)) == [.end(broken)])
  }

  @Test func aMicrophoneThatIsNoLongerAllowedIsNotTriedAgain() {
    var machine = recording()
    _ = machine.engineConfigurationChanged(input: builtIn)
    #expect(
      failure(machine.startFailed(VoiceFailure(.microphoneDenied), at: at(1100)))?.code == .microphoneDenied)
  }

  @Test func anEngineThatDeliversNothingIsReplacedAndThenGivenUp() {
    var machine = Machine(Machine.Settings(startLimit: 2), at: at(0))
    #expect(machine.started(builtIn, at: at(0)) == [.startTimer(at(5000))])
    _ = machine.heard(.milliseconds(100), at: at(1000))
    #expect(machine.timerFired(at: at(5000)) == [.startTimer(at(6000))])
    #expect(machine.timerFired(at: at(6000)) == [.rebuild])
    _ = machine.started(builtIn, at: at(6100))
    #expect(failure(machine.timerFired(at: at(11_100)))?.code == .inputDeviceFailed)
  }

  @Test func anInterruptionWhileTheEngineStartsPausesIt() {
    var machine = Machine(at: at(0))
    _ = machine.interruptionBegan(at: at(10))
    #expect(machine.started(builtIn, at: at(20)) == [.pause])
    #expect(machine.interruptionEnded(shouldResume: true) == [.restart])
  }

  @Test func nothingHappensAfterTheEnd() {
    var machine = recording()
    #expect(machine.stopRequested() == [.end(nil)])
    #expect(machine.stopRequested() == [])
    #expect(machine.interruptionBegan(at: at(2000)) == [])
    #expect(machine.interruptionEnded(shouldResume: true) == [])
    #expect(machine.mediaServicesLost(at: at(2000)) == [])
    #expect(machine.mediaServicesReset() == [])
    #expect(machine.routeChanged(.oldDeviceUnavailable, input: nil) == [])
    #expect(machine.engineConfigurationChanged(input: nil) == [])
    #expect(machine.timerFired(at: at(90_000)) == [])
    #expect(machine.heard(.milliseconds(100), at: at(2000)) == nil)
    // An engine that was being started when the reader stopped must not stay on.
    #expect(machine.started(builtIn, at: at(2000)) == [.end(nil)])
  }

  @Test func aClockThatDoesNotMoveLeavesNoNegativeGap() {
    var machine = recording()
    _ = machine.mediaServicesReset()
    _ = machine.started(builtIn, at: at(1000))
    #expect(machine.heard(.milliseconds(100), at: at(1000)) == .zero)
  }
}
