import SpeechProtocol
import Testing
import VoiceCore

@testable import SpeechStreaming

@Suite struct SessionMachineTests {
  // MARK: Start and stop

  @Test func recordsBeforeLoginAndConnection() {
    var world = SessionWorld()
    world.start()
    #expect(world.isCapturing)
    #expect(world.machine.state == .starting)
    world.captureStarted()
    world.audio(7)
    world.audio(8)
    #expect(world.sent.isEmpty)
    world.token()
    world.acceptAll()
    #expect(world.kinds == ["config", "start", "audio", "audio"])
    #expect(world.sentAudio == "7x1600 8x1600")
  }

  @Test func startIsAcknowledgedOnceWithTheServersContext() {
    var world = SessionWorld()
    world.connect("abc")
    #expect(world.startedContexts == ["abc"])
    #expect(world.machine.state == .started(contextId: "abc"))
    world.started("abc")
    #expect(world.startedContexts == ["abc"])
    #expect(world.codes == [.protocolViolated])
  }

  @Test func stopIsAcknowledgedWhenTheContextIsFinishedAndTheStreamStaysOpen() {
    var world = SessionWorld()
    world.connect()
    world.audio()
    world.stopAndDrain()
    world.acceptAll()
    #expect(world.machine.state == .stopping)
    #expect(world.finishedContexts.isEmpty)
    world.finished()
    #expect(world.finishedContexts.count == 1)
    #expect(world.machine.state == .stopped)
    #expect(world.stream != nil)
  }

  @Test func stopWithoutStartDoesNothingAndDoesNotHarmTheNextStart() {
    var world = SessionWorld()
    #expect(world.feed(.stopRequested).isEmpty)
    world.connect()
    #expect(world.machine.state == .started(contextId: "ctx"))
    #expect(world.stopsRequested == 0)
    #expect(world.timers[.postRoll] == nil)
  }

  @Test func stopTwiceIsOneStop() {
    var world = SessionWorld()
    world.connect()
    world.audio()
    world.feed(.stopRequested)
    let deadline = world.timers[.postRoll]
    world.pass(.milliseconds(200))
    world.feed(.stopRequested)
    #expect(world.timers[.postRoll] == deadline)
    world.fire(.postRoll)
    world.captureEnded()
    world.acceptAll()
    #expect(world.kinds.filter { $0 == "stop" }.count == 1)
  }

  @Test func recordsThePostRollAfterStop() {
    var world = SessionWorld()
    world.connect()
    world.audio(1)
    world.feed(.stopRequested)
    world.audio(2)
    #expect(world.timers[.postRoll] == world.now.advanced(by: .milliseconds(500)))
    world.fire(.postRoll)
    #expect(world.stopsRequested == 1)
    // What the device still holds comes after it was told to stop.
    world.audio(3)
    world.captureEnded()
    world.acceptAll()
    #expect(world.sentAudio == "1x1600 2x1600 3x1600")
    #expect(world.kinds.last == "stop")
  }

  @Test func startDuringRecordingStopsTheFormerContextAndKeepsItsResults() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.start()
    world.audio(2)
    world.acceptAll()
    // The first context is stopped on the wire; the second waits for it.
    #expect(world.kinds == ["config", "start", "audio", "stop"])
    world.word("first", 0, end: 50, "one")
    world.segmentEnd("one")
    world.finished("one")
    world.acceptAll()
    world.started("two")
    #expect(world.finishedContexts.map { $0?.text } == ["first"])
    #expect(world.startedContexts == ["one", "two"])
    #expect(world.sentAudio == "1x1600 2x1600")
    #expect(world.machine.state == .started(contextId: "two"))
  }

  @Test func startDuringStopQueuesBehindTheContextThatIsEnding() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.feed(.stopRequested)
    world.fire(.postRoll)
    world.start()
    // The device is still closing: it is opened again once it is closed.
    #expect(world.actions.filter { if case .startCapture = $0 { true } else { false } }.count == 1)
    world.captureEnded()
    #expect(world.actions.filter { if case .startCapture = $0 { true } else { false } }.count == 2)
    world.captureStarted()
    world.audio(2)
    world.acceptAll()
    world.finished("one")
    world.acceptAll()
    world.started("two")
    #expect(world.machine.state == .started(contextId: "two"))
    #expect(world.finishedContexts.count == 1)
  }

  @Test func audioThatTheDeviceStillHoldsBelongsToTheContextThatIsEnding() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.feed(.stopRequested)
    world.fire(.postRoll)
    world.start()
    world.audio(2)
    world.captureEnded()
    world.acceptAll()
    #expect(world.sentAudio == "1x1600 2x1600")
  }

  @Test func aFailureWhileTheDeviceIsClosingLeavesItClosed() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.feed(.stopRequested)
    world.fire(.postRoll)
    world.start()
    world.cut(VoiceFailure(.unknownApp))
    #expect(world.finishedContexts.count == 2)
    world.captureEnded()
    #expect(world.capturesStarted == 1)
    #expect(world.machine.capture == .idle)
    #expect(world.machine.state == .stopped)
    // The next utterance opens it as ever.
    world.start()
    #expect(world.capturesStarted == 2)
  }

  @Test func audioThatTheDeviceStillHoldsIsKeptWhenTheNextContextIsStoppedAtOnce() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.feed(.stopRequested)
    world.fire(.postRoll)
    world.start()
    world.feed(.stopRequested)
    world.audio(2)
    world.captureEnded()
    world.acceptAll()
    #expect(world.sentAudio == "1x1600 2x1600")
    world.finished("one")
    #expect(world.finishedContexts.map { $0?.id } == ["one", nil])
    #expect(!world.isCapturing)
  }

  @Test func aContextWithoutAudioEndsWithoutTheServer() {
    var world = SessionWorld()
    world.start()
    world.feed(.captureFailed(VoiceFailure(.noInputDevice)))
    #expect(world.codes == [.noInputDevice])
    #expect(world.finishedContexts == [nil])
    #expect(world.machine.state == .stopped)
  }

  @Test func anUnpluggedMicrophoneEndsTheContextWithWhatWasSaid() {
    var world = SessionWorld()
    world.connect()
    world.audio()
    world.feed(.captureFailed(VoiceFailure(.inputDeviceLost)))
    world.acceptAll()
    #expect(world.kinds.last == "stop")
    world.word("hello", 0, end: 50)
    world.segmentEnd()
    world.finished()
    #expect(world.finishedContexts.first??.text == "hello")
  }

  @Test func aDeviceThatDoesNotStopIsAbandoned() {
    var world = SessionWorld()
    world.connect()
    world.audio()
    world.feed(.stopRequested)
    world.fire(.postRoll)
    world.fire(.captureDrain)
    world.acceptAll()
    #expect(!world.isCapturing)
    #expect(world.codes == [.inputDeviceFailed])
    #expect(world.kinds.last == "stop")
  }

  // MARK: Suspend, resume, close

  @Test func suspendFinishesTheContextThenClosesTheStream() {
    var world = SessionWorld()
    world.connect()
    world.audio()
    world.feed(.suspendRequested)
    #expect(world.stopsRequested == 1)
    world.captureEnded()
    world.acceptAll()
    #expect(world.machine.state == .stopping)
    world.finished()
    #expect(world.machine.state == .suspended)
    #expect(world.stream == nil)
  }

  @Test func suspendAndResumeAreIdempotentAndLeaveNoTimerThatEndsALaterContext() {
    var world = SessionWorld()
    world.connect("one")
    world.audio()
    world.stopAndDrain()
    world.acceptAll()
    world.finished("one")
    #expect(world.timers[.idle] != nil)
    world.feed(.suspendRequested)
    world.feed(.suspendRequested)
    world.feed(.resumeRequested)
    world.feed(.resumeRequested)
    #expect(world.timers[.idle] == nil)
    world.connect("two")
    world.pass(.seconds(40))
    world.feed(.timerFired(.idle))
    #expect(world.machine.state == .started(contextId: "two"))
    #expect(world.stream != nil)
  }

  @Test func startWhileSuspendedSaysWhatToDo() {
    var world = SessionWorld()
    world.feed(.suspendRequested)
    world.start()
    #expect(world.codes == [.usage])
    #expect(!world.isCapturing)
  }

  @Test func closeWaitsForTheResultsAndAbruptCloseDoesNot() {
    var world = SessionWorld()
    world.connect()
    world.audio()
    world.feed(.closeRequested(isAbrupt: false))
    world.captureEnded()
    world.acceptAll()
    #expect(!world.isTerminated)
    world.finished()
    #expect(world.isTerminated)

    var abrupt = SessionWorld()
    abrupt.connect()
    abrupt.audio()
    abrupt.feed(.closeRequested(isAbrupt: true))
    #expect(abrupt.isTerminated)
    #expect(abrupt.finishedContexts.count == 1)
    #expect(abrupt.feed(.startRequested(appId: nil, options: [:])).isEmpty)
  }

  @Test func anIdleStreamIsClosedAfterTheIdleTime() {
    var world = SessionWorld()
    world.connect()
    world.audio()
    world.stopAndDrain()
    world.acceptAll()
    world.finished()
    world.fire(.idle)
    #expect(world.stream == nil)
    #expect(world.failures.isEmpty)
  }

  @Test func aStreamThatTheServerEndsWhileNothingIsOpenIsNoFailure() {
    var world = SessionWorld()
    world.connect()
    world.audio()
    world.stopAndDrain()
    world.acceptAll()
    world.finished()
    world.cut(nil)
    #expect(world.failures.isEmpty)
    world.connect("two")
    #expect(world.machine.state == .started(contextId: "two"))
  }

  // MARK: Protocol

  @Test func roundTripMeasurementsAreAnswered() {
    var world = SessionWorld()
    world.connect()
    world.respond { $0.rttRequest.id = 42 }
    #expect(world.sent.last?.rttResponse.id == 42)
  }

  @Test func messagesForUnknownContextsAreReportedAndIgnored() {
    var world = SessionWorld()
    world.connect()
    world.word("ghost", 0, "other")
    #expect(world.codes == [.protocolViolated])
    #expect(world.segments.isEmpty)
  }

  @Test func aFloodOfBrokenMessagesDoesNotFloodTheApp() {
    var world = SessionWorld()
    world.connect()
    for _ in 0..<1000 { world.word("ghost", 0, "other") }
    #expect(world.failures.count <= 20)
  }

  @Test func aKindOfMessageThatIsNotKnownIsSkipped() {
    var world = SessionWorld()
    world.connect()
    world.respond { _ in }
    #expect(world.failures.isEmpty)
  }

  @Test func aSilentServerCountsAsLost() {
    var world = SessionWorld()
    world.start()
    world.token()
    world.acceptAll()
    world.fire(.progress)
    world.fire(.progress)
    #expect(world.codes == [.serverTimedOut])
    #expect(world.machine.state.isReconnecting)
  }

  @Test func aServerThatIsQuietWhileSomebodyPausesIsNotLost() {
    var world = SessionWorld()
    world.connect()
    for _ in 0..<600 {
      world.audio(0)
      world.acceptAll()
      world.pass(.milliseconds(100))
      if let deadline = world.timers[.progress], deadline <= world.now { world.fire(.progress) }
    }
    #expect(world.failures.isEmpty)
  }

  @Test func unfinishedSegmentsAreReportedAtTheEnd() {
    var world = SessionWorld()
    world.connect()
    world.audio()
    world.tentative(["half", "a"])
    world.stopAndDrain()
    world.acceptAll()
    world.finished()
    #expect(world.codes == [.segmentUnfinished])
    let segment = world.finishedContexts.first??.segments.first
    #expect(segment?.isFinal == false)
    #expect(segment?.text == "half a")
  }
}
