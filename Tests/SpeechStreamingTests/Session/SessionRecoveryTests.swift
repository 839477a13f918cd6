import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceCore

@testable import SpeechStreaming

/// What happens when the connection breaks.
@Suite struct SessionRecoveryTests {
  @Test func replaysFromTheStartWhenNoSegmentIsFinished() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.audio(2)
    world.acceptAll()
    world.tentative(["turn"], "one")
    world.cut()
    #expect(world.machine.state.isReconnecting)
    world.audio(3)
    world.reconnect()
    #expect(world.sentAudio == "1x1600 2x1600 3x1600")
    world.started("two")
    #expect(world.startedContexts == ["one"])
    #expect(world.machine.state == .started(contextId: "one"))
    #expect(world.recoveries.map(\.contextId) == ["one"])
    #expect(world.recoveries.first?.replayed == .milliseconds(300))
  }

  @Test func replaysFromTheEndOfTheLastFinishedSegmentWithLinearTime() throws {
    var world = SessionWorld()
    world.connect("one")
    for value in 1...5 { world.audio(Int16(value)) }
    world.acceptAll()
    world.word("on", 0, end: 180, "one")
    world.segmentEnd(nextSample: 3200, token: "T1", "one")
    world.tentative(["li"], segment: 1, "one")
    world.cut()
    world.reconnect()
    #expect(world.sentAudio == "3x1600 4x1600 5x1600")
    #expect(world.lastStartOptions["resume_token"] == ["VDE="])
    world.started("two")
    world.word("light", 0, segment: 0, end: 250, "two")
    let segment = try #require(world.segments.last)
    #expect(segment.id == "one-1")
    #expect(segment.transcripts.first?.endOffset == 0.45)
  }

  /// Two commands in one breath: the first has ended, but the server can only go on before it.
  @Test func segmentsThatComeAgainKeepTheirNumbersAndAreNotToldAgain() throws {
    var world = SessionWorld()
    world.connect("one")
    for value in 1...3 { world.audio(Int16(value)) }
    world.acceptAll()
    world.word("on", 0, end: 100, "one")
    world.segmentEnd(token: "T1", repeated: 1, intent: "turn_on", "one")
    world.word("off", 0, segment: 1, end: 200, "one")
    world.tentative(["ra"], segment: 1, from: 1, "one")
    world.cut()
    world.reconnect()
    #expect(world.sentAudio == "1x1600 2x1600 3x1600")
    #expect(world.lastStartOptions["resume_token"] == ["VDE="])
    world.started("two")
    let before = world.segments.count
    world.word("on", 0, end: 100, "two")
    world.segmentEnd(token: "T1", repeated: 1, intent: "turn_on", "two")
    #expect(world.segments.count == before)
    world.word("off", 0, segment: 1, end: 200, "two")
    world.word("radio", 1, segment: 1, end: 300, "two")
    world.segmentEnd(segment: 1, nextSample: 4800, token: "T2", intent: "turn_off", "two")
    let last = try #require(world.segments.last)
    #expect(last.id == "one-1")
    #expect(last.text == "off radio")
    #expect(last.intent == SpeechIntent(value: "turn_off", isFinal: true))
    #expect(!world.codes.contains(.protocolViolated) && !world.codes.contains(.replayDiverged))
  }

  @Test func aNumberOfRepeatedSegmentsThatCannotBeIsHarmless() {
    for repeated in [Int32.min, -1, 7, .max] {
      var world = SessionWorld()
      world.connect("one")
      world.audio(1)
      world.acceptAll()
      world.word("on", 0, end: 100, "one")
      world.segmentEnd(token: "T1", repeated: repeated, "one")
      world.cut()
      world.reconnect()
      world.started("two")
      world.word("off", 0, end: 100, "two")
      #expect(world.machine.contexts.first?.assembler.segments.keys.min() == 0)
    }
  }

  @Test func aGuessThatWasTakenBackIsNoSegment() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.acceptAll()
    world.word("on", 0, end: 100, "one")
    world.tentative(["off"], segment: 1, "one")
    world.tentative([], segment: 1, "one")
    world.segmentEnd(nextSample: 1600, token: "T1", intent: "turn_on", "one")
    world.stopAndDrain()
    world.finished("one")
    #expect(world.finishedContexts.first??.segments.map(\.segmentId) == [0])
    #expect(!world.codes.contains(.segmentUnfinished))
  }

  @Test func withoutAResumePointOfTheServerTheLastFinalWordIsWhereReplayBegins() {
    var world = SessionWorld()
    world.connect("one")
    for value in 1...5 { world.audio(Int16(value)) }
    world.acceptAll()
    world.word("on", 0, end: 200, "one")
    world.segmentEnd("one")
    world.cut()
    world.reconnect()
    #expect(world.sentAudio == "3x1600 4x1600 5x1600")
  }

  @Test func finalWordsAreNeitherRepeatedNorChangedAfterAReplay() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.word("turn", 0, end: 50, "one")
    world.word("on", 1, end: 80, "one")
    world.cut()
    world.reconnect()
    world.started("two")
    let before = world.events.count
    world.word("turn", 0, end: 50, "two")
    #expect(world.events.count == before)
    world.word("off", 1, end: 80, "two")
    #expect(world.codes.last == .replayDiverged)
    world.word("lights", 2, end: 95, "two")
    #expect(world.segments.last?.text == "turn on lights")
    let words = world.events.compactMap {
      if case .transcript(_, _, let w) = $0, w.isFinal { w.value } else { nil }
    }
    #expect(words == ["turn", "on", "lights"])
  }

  @Test func aSegmentThatEndedOutOfOrderIsNotToldAgain() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.tentative(["a"], segment: 0, "one")
    world.word("b", 0, segment: 1, end: 90, "one")
    world.segmentEnd(segment: 1, nextSample: 1500, "one")
    world.cut()
    world.reconnect()
    // Segment 0 is still open, so its audio is needed again.
    #expect(world.sentAudio == "1x1600")
    world.started("two")
    let before = world.segments.count
    world.word("b", 0, segment: 1, end: 90, "two")
    world.segmentEnd(segment: 1, "two")
    #expect(world.segments.count == before)
    #expect(!world.codes.contains(.protocolViolated))
  }

  @Test func anUtteranceThatWasStoppedIsReplayedAndStoppedAgain() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.stopAndDrain()
    world.acceptAll()
    world.cut()
    #expect(world.machine.state.isReconnecting)
    world.reconnect()
    #expect(world.kinds == ["config", "start", "audio", "stop"])
    world.started("two")
    world.word("hello", 0, end: 80, "two")
    world.segmentEnd("two")
    world.finished("two")
    #expect(world.finishedContexts.first??.text == "hello")
    #expect(world.finishedContexts.first??.id == "one")
  }

  @Test func waitsGrowAreReportedAndEndWithTheBudget() {
    var configuration = SessionMachine.Configuration.forTests
    configuration.retry = RetryPolicy(base: .seconds(1), cap: .seconds(8), attempts: 3, budget: nil)
    var world = SessionWorld(configuration: configuration)
    world.start()
    world.audio()
    for _ in 0..<3 {
      world.feed(.tokenFailed(VoiceFailure(.serverUnreachable), pushBack: nil))
      world.fire(.retry)
    }
    let delays = world.failures.compactMap { failure -> Duration? in
      if case .automatic(let state) = failure.recovery { state.delay } else { nil }
    }
    #expect(delays == [.seconds(1), .seconds(2), .seconds(4)])
    world.feed(.tokenFailed(VoiceFailure(.serverUnreachable), pushBack: nil))
    // What was said is lost with the utterance, and how much that is comes first.
    #expect(world.codes.suffix(2) == [.audioDropped, .retriesExhausted])
    #expect(world.failures.dropLast().last?.message.contains("0.10 s") == true)
    #expect(world.finishedContexts == [nil])
    #expect(world.stopsRequested == 1)
    world.captureEnded()
    #expect(world.machine.state == .stopped)
  }

  @Test func aServerThatNeverComesBackEndsTheUtteranceWithWhatWasHeard() {
    var configuration = SessionMachine.Configuration.forTests
    configuration.retry = RetryPolicy(base: .seconds(1), cap: .seconds(8), budget: .seconds(60))
    var world = SessionWorld(configuration: configuration)
    world.connect("one")
    world.audio(1)
    world.acceptAll()
    world.word("turn", 0, end: 50, "one")
    world.segmentEnd("one")
    world.tentative(["lights"], segment: 1, "one")
    let lost = world.now
    world.cut()
    // More tries than a budget of a minute allows.
    for _ in 0..<60 where world.machine.state.isReconnecting {
      world.fire(.retry)
      world.feed(.tokenFailed(VoiceFailure(.serverUnreachable), pushBack: nil))
    }
    #expect(lost.duration(to: world.now) > .seconds(50))
    #expect(lost.duration(to: world.now) <= .seconds(60))
    #expect(world.codes.suffix(3) == [.audioDropped, .retriesExhausted, .segmentUnfinished])
    // The finished segment ends after 0.05 s of 0.10 s.
    #expect(world.failures.dropLast(2).last?.message.contains("0.05 s") == true)
    #expect(world.finishedContexts.map { $0?.segments.map(\.text) } == [["turn", "lights"]])
    #expect(world.finishedContexts.map { $0?.segments.map(\.isFinal) } == [[true, false]])
    #expect(world.timers[.retry] == nil)
    world.captureEnded()
    #expect(world.machine.state == .stopped)
    // The budget is whole again for the next utterance.
    world.start()
    world.feed(.tokenFailed(VoiceFailure(.serverUnreachable), pushBack: nil))
    #expect(world.machine.state.isReconnecting)
  }

  @Test func theClientIsReconnectingUntilTheServerHasTheContextAgain() {
    var world = SessionWorld()
    world.connect("one")
    world.audio(1)
    world.cut()
    #expect(world.machine.state.isReconnecting)
    world.fire(.retry)
    #expect(world.machine.state.isReconnecting)
    world.token()
    world.acceptAll()
    #expect(world.machine.state.isReconnecting)
    world.started("two")
    #expect(world.machine.state == .started(contextId: "one"))
    let states = world.events.compactMap { if case .stateChanged(let state) = $0 { state } else { nil } }
    #expect(states.filter(\.isReconnecting).count == 1)
    // A context that gives up before the server is back leaves nothing to the next one.
    world.cut()
    world.fire(.retry)
    world.feed(.tokenFailed(VoiceFailure(.unknownApp), pushBack: nil))
    world.captureEnded()
    #expect(world.machine.state == .stopped)
    world.start()
    #expect(world.machine.state == .starting)
  }

  @Test func theServersWishToBeLeftAloneIsHonoured() {
    var world = SessionWorld()
    world.connect()
    world.cut(VoiceFailure(.serverOverloaded), pushBack: .seconds(3))
    #expect(world.timers[.retry] == world.now.advanced(by: .seconds(3)))
  }

  @Test func aNewNetworkPathEndsTheWaitAtOnce() {
    var world = SessionWorld()
    world.connect()
    world.cut()
    let requests = world.tokenRequests.count
    world.feed(.pathChanged)
    #expect(world.tokenRequests.count == requests + 1)
  }

  @Test func aNewPathDoesNotHurryAServerThatIsOverloaded() {
    var world = SessionWorld()
    world.connect()
    world.cut(VoiceFailure(.serverOverloaded), pushBack: .seconds(3))
    let requests = world.tokenRequests.count
    world.feed(.pathChanged)
    #expect(world.tokenRequests.count == requests)
    #expect(world.timers[.retry] == world.now.advanced(by: .seconds(3)))
    world.fire(.retry)
    #expect(world.tokenRequests.count == requests + 1)
  }

  @Test(arguments: [
    VoiceFailure.Code.unknownApp, .languageNotOffered, .tlsFailed, .addressInvalid, .requestInvalid,
  ])
  func configurationFailuresAreNeverRetried(code: VoiceFailure.Code) {
    var world = SessionWorld()
    world.start()
    world.audio()
    world.feed(.tokenFailed(VoiceFailure(code), pushBack: nil))
    #expect(world.codes == [code])
    #expect(world.timers[.retry] == nil)
    #expect(world.finishedContexts.count == 1)
  }

  @Test func aRejectedTokenIsRefreshedOnceThenReported() {
    var world = SessionWorld()
    world.start()
    world.audio()
    world.token()
    world.cut(VoiceFailure(.credentialsRejected))
    #expect(world.tokenRequests == [false, true])
    #expect(world.failures.isEmpty)
    world.token()
    world.cut(VoiceFailure(.credentialsRejected))
    #expect(world.tokenRequests == [false, true])
    #expect(world.codes == [.credentialsRejected])
  }

  @Test func aTokenThatExpiresDuringALongSessionIsReplacedEachTime() {
    var world = SessionWorld()
    world.connect("one")
    world.cut(VoiceFailure(.tokenExpired))
    world.token()
    world.acceptAll()
    world.started("two")
    world.cut(VoiceFailure(.tokenExpired))
    #expect(world.tokenRequests == [false, true, true])
    #expect(world.failures.isEmpty)
  }

  @Test func lateMessagesOfALostStreamAreIgnored() {
    var world = SessionWorld()
    world.connect("one")
    let old = world.stream ?? 0
    world.cut()
    world.fire(.retry)
    world.token()
    let before = world.events.count
    world.feed(
      .responseReceived(
        stream: old,
        .with {
          $0.audioContext = "one"
          $0.finished = .init()
        }))
    world.feed(.streamEnded(stream: old, SpeechStreamEnd()))
    world.feed(.requestAccepted(stream: old))
    #expect(world.events.count == before)
    #expect(world.stream != nil)
  }

  // MARK: Bounds

  @Test func audioThatOutgrowsTheWindowIsReportedWithItsLength() {
    var configuration = SessionMachine.Configuration.forTests
    configuration.window = .seconds(1)
    var world = SessionWorld(configuration: configuration)
    world.connect()
    world.acceptAll()
    // The server stops reading: four requests are on their way, the rest waits.
    for _ in 0..<30 { world.audio(5) }
    #expect(world.machine.contexts.first?.window.count == 16_000)
    #expect(world.codes == [.audioDropped])
    world.acceptAll()
    #expect(world.codes == [.audioDropped, .audioDropped])
    #expect(world.failures.last?.message.contains("1.60 s") == true)
    // Time stays linear over the gap: 0.4 s were sent, then 1.6 s are missing.
    world.word("late", 0, end: 500)
    #expect(world.segments.last?.transcripts.first?.endOffset == 2.1)
  }

  @Test func replayOfAudioThatIsGoneIsReported() {
    var configuration = SessionMachine.Configuration.forTests
    configuration.window = .seconds(1)
    var world = SessionWorld(configuration: configuration)
    world.connect()
    for _ in 0..<20 {
      world.audio(5)
      world.acceptAll()
    }
    #expect(world.failures.isEmpty)
    world.cut()
    world.fire(.retry)
    world.token()
    #expect(world.codes.last == .audioDropped)
    #expect(world.failures.last?.message.contains("1.00 s") == true)
    // It is told once, however often the connection breaks.
    world.cut()
    world.reconnect()
    #expect(world.codes.filter { $0 == .audioDropped }.count == 1)
    world.cut(VoiceFailure(.unknownApp))
    #expect(world.failures.dropLast().last?.message.contains("1.00 s") == true)
    #expect(world.codes.suffix(2) == [.audioDropped, .unknownApp])
  }

  /// A server can claim to have heard more than it was sent.
  @Test func aResumePointBehindEverythingIsTheEndOfWhatWasSent() {
    var configuration = SessionMachine.Configuration.forTests
    configuration.window = .seconds(1)
    var world = SessionWorld(configuration: configuration)
    world.connect("one")
    // The server stops reading for a while, so that its time is behind.
    for _ in 0..<30 { world.audio(5) }
    world.acceptAll()
    world.word("late", 0, end: 500, "one")
    world.segmentEnd(nextSample: .max, token: "T1", "one")
    #expect(world.machine.contexts.first?.resumeSample == 48_000)
    world.audio(6)
    world.cut()
    world.reconnect()
    #expect(world.sentAudio == "6x1600")
  }

  @Test func aSourceThatCanWaitIsHeldWhileTheServerIsSlow() {
    var world = SessionWorld()
    world.connect()
    for _ in 0..<60 { world.audio() }
    #expect(world.isHeld)
    world.acceptAll()
    #expect(!world.isHeld)
    #expect(world.failures.isEmpty)
  }

  @Test func aGapInTheCaptureKeepsTimeLinear() {
    var world = SessionWorld()
    world.connect()
    world.audio(1)
    world.skipAudio(samples: 800)
    world.audio(2)
    world.acceptAll()
    #expect(world.sentAudio == "1x1600 0x800 2x1600")
  }

  @Test func aLongUtteranceIsSplitAtAPauseAndGoesOnInTheSameContext() throws {
    var configuration = SessionMachine.Configuration.forTests
    configuration.legLimit = .seconds(20)
    var world = SessionWorld(configuration: configuration)
    world.connect("one")
    world.audio(10)
    for _ in 0..<160 {
      world.audio(1000)
      world.acceptAll()
    }
    world.audio(10)
    world.acceptAll()
    // The pause was found: the leg ends before it.
    #expect(world.kinds.last == "stop")
    world.word("long", 0, end: 16_000, "one")
    world.segmentEnd(nextSample: 257_600, "one")
    world.finished("one")
    world.acceptAll()
    #expect(world.codes == [.contextSplit])
    #expect(world.finishedContexts.isEmpty)
    world.started("two")
    world.word("more", 0, end: 1000, "two")
    let segment = try #require(world.segments.last)
    #expect(segment.contextId == "one")
    #expect(segment.segmentId == 1)
    #expect(abs((segment.transcripts.first?.endOffset ?? 0) - 17.1) < 0.001)
  }

  @Test func aServerThatAllowsLessMakesLegsShorter() {
    var world = SessionWorld()
    world.connect("one")
    for _ in 0..<100 {
      world.audio(1000)
      world.acceptAll()
    }
    world.cut(VoiceFailure(.contextTooLong))
    #expect(world.machine.configuration.legLimit == .seconds(8))
    #expect(world.machine.state.isReconnecting)
  }

}
