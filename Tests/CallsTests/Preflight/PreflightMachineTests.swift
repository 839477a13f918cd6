import CallSignaling
import RealtimeMedia
import Testing
import VoiceCore

@testable import Calls

@Suite struct PreflightMachineTests {
  static let settings = PreflightSettings(duration: .seconds(3), setupTimeout: .seconds(10))

  var machine = PreflightMachine(
    settings: Self.settings, began: VoiceInstant(), invited: VoiceInstant(offset: .milliseconds(50)),
    wasRegistered: false)

  func at(_ milliseconds: Int) -> VoiceInstant { VoiceInstant(offset: .milliseconds(milliseconds)) }

  @Test mutating func audioWithoutMeasurementsIsNotAReport() throws {
    _ = machine.handle(.heard(isSignal: true), at: at(200))
    #expect(machine.handle(.timePassed, at: at(3200)) == .fail(VoiceFailure(.callMetricsMissing)))
    #expect(throws: VoiceFailure.self) { try machine.report(nil) }
  }

  @Test(arguments: [VoiceFailure.Code.callRelayFailed, .callMediaOverloaded])
  mutating func whatACallGoesOnWithIsNoReasonForMissingAudio(_ code: VoiceFailure.Code) {
    _ = machine.handle(.failed(VoiceFailure(code)), at: at(200))
    #expect(machine.handle(.timePassed, at: at(10_050)) == .fail(VoiceFailure(.callMetricsMissing)))
  }

  @Test mutating func theMediaFailureIsToldRatherThanTheEndThatFollows() {
    _ = machine.handle(.failed(VoiceFailure(.callMediaInsecure)), at: at(200))
    let ended = machine.handle(.ended(CallTerminationReason(.normalClearing, origin: .remote)), at: at(300))
    #expect(ended == .fail(VoiceFailure(.callMediaInsecure)))
  }

  @Test mutating func nothingHappensAfterTheEnd() {
    _ = machine.handle(.timePassed, at: at(20_000))
    #expect(machine.deadline == nil)
    #expect(
      machine.handle(.ended(CallTerminationReason(.userBusy, origin: .remote)), at: at(20_001)) == .wait)
    #expect(machine.handle(.timePassed, at: at(40_000)) == .wait)
  }

  @Test func noFiniteNumberHasNoRange() {
    #expect(PreflightReport.Range([]) == nil)
    #expect(PreflightReport.Range([.nan, .infinity]) == nil)
  }

  @Test mutating func measuresForItsTimeFromTheFirstAudioOn() throws {
    #expect(machine.deadline == at(10_050))
    #expect(machine.handle(.stateUpdated(.RINGING), at: at(70)) == .wait)
    #expect(machine.handle(.stateUpdated(.ACTIVE), at: at(90)) == .wait)
    #expect(machine.handle(.heard(isSignal: false), at: at(150)) == .wait)
    #expect(machine.deadline == at(3150))
    #expect(machine.handle(.heard(isSignal: true), at: at(250)) == .wait)
    for (mos, rtt) in [(Double.nan, Double.infinity), (4.4, 0.020), (4.0, 0.060)] {
      _ = machine.handle(.measured(CallQualityMetrics(jitter: 0.005, rtt: rtt, mos: mos)), at: at(1000))
    }
    #expect(machine.handle(.timePassed, at: at(3149)) == .wait)
    #expect(machine.handle(.timePassed, at: at(3150)) == .conclude)
    var statistics = MediaStatistics()
    statistics.reports.packetsReceived = 99
    statistics.reports.packetsLost = 1
    let report = try machine.report(statistics)
    #expect(report.registeredAfter == .milliseconds(50))
    #expect(report.ringingAfter == .milliseconds(20))
    #expect(report.answeredAfter == .milliseconds(40))
    #expect(report.connectedAfter == .milliseconds(100))
    #expect(report.firstAudioAfter == .milliseconds(200))
    #expect(report.loss == 0.01)
    #expect(report.mos.minimum == 4.0 && report.mos.maximum == 4.4)
    #expect(abs(report.mos.average - 4.2) < 1e-9)
    #expect(abs(report.roundTrip.average - 0.04) < 1e-9)
    #expect(report.quality == MOSCalculator.getQuality(mos: report.mos.average))
  }
}
