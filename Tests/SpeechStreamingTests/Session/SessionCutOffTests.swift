import SpeechProtocol
import Testing
import VoiceCore

@testable import SpeechStreaming

/// What happens when the server ends a context that nobody stopped.
@Suite struct SessionCutOffTests {
  @Test func aContextThatTheServerEndsByItselfGoesOn() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.acceptAll()
    world.finished("one")
    let finished = world.now
    world.fire(.reason)
    #expect(finished.duration(to: world.now) == .seconds(1))
    #expect(world.codes == [.protocolViolated, .connectionLost])
    #expect(world.stream == nil)
    #expect(world.machine.state.isReconnecting)
    #expect(world.finishedContexts.isEmpty)
  }

  @Test func aStreamThatEndsWithoutAReasonAfterItsContextBreaksTheProtocol() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.acceptAll()
    world.finished("one")
    world.cut(nil)
    #expect(world.codes == [.protocolViolated, .connectionLost])
    #expect(world.timers[.reason] == nil)
    #expect(world.machine.state.isReconnecting)
  }

  /// Our server finishes a context that is too long or silent, and then ends the stream with the reason.
  @Test(arguments: [VoiceFailure.Code.contextTooLong, .streamIdle])
  func aServerThatEndsAContextMaySayWhy(code: VoiceFailure.Code) {
    var world = SessionWorld()
    world.connect("one")
    for _ in 0..<100 {
      world.audio(1000)
      world.acceptAll()
    }
    world.finished("one")
    let kinds = world.kinds
    world.audio(7)
    world.stopAndDrain()
    world.acceptAll()
    // The context is over: nothing more is sent to it.
    #expect(world.kinds == kinds)
    world.cut(VoiceFailure(code))
    #expect(world.codes == [code])
    #expect(world.timers[.reason] == nil)
    #expect(world.machine.configuration.legLimit == (code == .contextTooLong ? .seconds(8) : .seconds(290)))
    world.reconnect()
    world.started("two")
    #expect(world.startedContexts == ["one"])
    #expect(world.recoveries.map(\.replayed) == [.milliseconds(10_100)])
  }

  @Test func aStopThatCrossesTheServersEndOfTheContextDoesNotHideWhyItEnded() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.stopAndDrain()
    world.acceptAll()
    world.finished("one")
    world.cut(VoiceFailure(.contextTooLong))
    #expect(world.codes == [.contextTooLong])
    #expect(world.finishedContexts.count == 1)
    #expect(world.machine.state == .stopped)
  }

  @Test func whatComesForAContextThatTheServerHasEndedIsReportedAndIgnored() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.acceptAll()
    world.finished("one")
    world.word("late", 0, "one")
    world.finished("one")
    #expect(world.codes == [.protocolViolated, .protocolViolated])
    #expect(world.segments.isEmpty)
    world.cut(VoiceFailure(.streamIdle))
    #expect(world.codes.last == .streamIdle)
  }
}
