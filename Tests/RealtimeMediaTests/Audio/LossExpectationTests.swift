import Testing
import VoiceCore

@testable import RealtimeMedia

struct LossExpectationTests {
  @Test func risesAtOnceAndStaysThroughAReportWithoutLoss() {
    var expectation = LossExpectation()
    var now = VoiceInstant()
    #expect(expectation.reported(0, at: now) == 0)
    now = now.advanced(by: .seconds(1))
    #expect(expectation.reported(0.08, at: now) == 0.08)
    now = now.advanced(by: .seconds(2))
    #expect(abs(expectation.reported(0, at: now) - 0.06) < 1e-9)
  }

  @Test func isOverWhenNothingWasLostForLong() {
    var expectation = LossExpectation()
    _ = expectation.reported(0.1, at: VoiceInstant())
    #expect(expectation.reported(0, at: VoiceInstant(offset: .seconds(11))) == 0)
  }

  @Test func theSameReportAgainChangesNothing() {
    var expectation = LossExpectation()
    let now = VoiceInstant()
    #expect(expectation.reported(0.05, at: now) == expectation.reported(0.05, at: now))
    #expect(expectation.reported(0.05, at: now.advanced(by: .seconds(3))) == 0.05)
  }
}
