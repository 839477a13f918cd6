import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceCore

@testable import SpeechStreaming

/// A session with an engine of its own, beside a server or without one.
@Suite struct SessionEngineTests {
  static func world(hasServer: Bool = true) -> SessionWorld {
    var configuration = SessionMachine.Configuration.forTests
    configuration.hasEngine = true
    configuration.hasServer = hasServer
    return SessionWorld(configuration: configuration)
  }

  @Test func aServerThatIsLostHandsTheUtteranceOver() throws {
    var world = Self.world()
    world.connect("one")
    world.audio(1)
    world.audio(2)
    world.acceptAll()
    world.tentative(["turn"], "one")
    world.cut()
    #expect(
      world.degradations == [
        SpeechDegradation(
          contextId: "one", failure: VoiceFailure(.connectionLost), replayed: .milliseconds(200))
      ])
    // It is repaired: there is nothing that an app would have to do.
    #expect(world.failures == [])
    world.acceptAll()
    world.audio(3)
    world.acceptAll()
    #expect(world.engineStreams == [2])
    #expect(world.kinds.filter { $0 != "audio" } == ["config", "start"])
    #expect(world.sentAudio == "1x1600 2x1600 3x1600")
    world.started("engine")
    #expect(world.machine.state == .started(contextId: "one"))
    #expect(world.startedContexts == ["one"])
    world.word("turn", 0, end: 100, "engine")
    world.segmentEnd(nextSample: 4800, intent: "turn_on", "engine")
    world.stopAndDrain()
    world.acceptAll()
    #expect(world.kinds.last == "stop")
    world.finished("engine")
    let context = try #require(world.finishedContexts.first ?? nil)
    #expect(context.id == "one")
    #expect(context.segments.map(\.text) == ["turn"])
    #expect(context.segments.map(\.isFinal) == [true])
    #expect(world.failures == [])
  }

  @Test func theNextUtteranceIsTheServersAgain() {
    var world = Self.world()
    world.connect("one")
    world.audio(1)
    world.acceptAll()
    world.cut()
    world.acceptAll()
    world.started("engine")
    world.stopAndDrain()
    world.acceptAll()
    world.finished("engine")
    #expect(world.stream == nil)
    world.connect("two")
    #expect(world.machine.state == .started(contextId: "two"))
    #expect(world.degradations.count == 1)
    #expect(world.engineStreams.count == 1)
  }

  @Test func anUtteranceThatWaitsBehindADegradedOneTriesTheServer() {
    var world = Self.world()
    world.connect("one")
    world.audio(1)
    world.acceptAll()
    world.cut()
    world.acceptAll()
    world.started("engine")
    world.start()
    world.audio(2)
    world.acceptAll()
    let logins = world.tokenRequests.count
    world.finished("engine")
    #expect(world.tokenRequests.count == logins + 1)
    world.token()
    world.acceptAll()
    #expect(world.sentAudio == "2x1600")
  }

  @Test func aServerThatIsNotThereDoesNotHoldUpTheUtterance() {
    var world = Self.world()
    world.start()
    world.captureStarted()
    world.audio(1)
    world.feed(.tokenFailed(VoiceFailure(.serverUnreachable), pushBack: nil))
    #expect(world.degradations.map(\.failure.code) == [.serverUnreachable])
    #expect(world.degradations.first?.contextId == nil)
    world.acceptAll()
    #expect(world.sentAudio == "1x1600")
    world.started("engine")
    #expect(world.startedContexts == ["engine"])
  }

  @Test(arguments: [false, true])
  func aServerThatDoesNotAnswerHasTwoSeconds(hasToken: Bool) {
    var world = Self.world()
    world.start()
    world.captureStarted()
    world.audio(1)
    if hasToken {
      world.token()
      world.acceptAll()
    }
    let start = world.now
    world.fire(.patience)
    #expect(start.duration(to: world.now) == .seconds(2))
    #expect(world.degradations.map(\.failure.code) == [.serverTimedOut])
    #expect(world.engineStreams.count == 1)
    // The token that comes after all is not wanted any more.
    world.token()
    #expect(world.machine.connection.isEngine)
  }

  @Test func anAcknowledgementEndsTheWait() {
    var world = Self.world()
    world.connect("one")
    #expect(world.timers[.patience] == nil)
    world.feed(.timerFired(.patience))
    #expect(world.degradations == [])
  }

  @Test func aStreamThatWasOpenAndIsDeadIsNoticedByTheNextUtterance() {
    var world = Self.world()
    world.connect("one")
    world.audio(1)
    world.stopAndDrain()
    world.acceptAll()
    world.finished("one")
    #expect(world.stream != nil)
    world.start()
    world.captureStarted()
    world.audio(2)
    world.acceptAll()
    world.fire(.patience)
    world.acceptAll()
    #expect(world.degradations.count == 1)
    #expect(world.sentAudio == "2x1600")
  }

  /// What a server learned of the channel, and how it cut an utterance, means nothing to the engine.
  @Test func theEngineBeginsBehindTheLastWordThatIsDone() {
    var world = Self.world()
    world.connect("one")
    for value in 1...4 { world.audio(Int16(value)) }
    world.acceptAll()
    world.word("on", 0, end: 200, "one")
    world.segmentEnd(token: "T1", repeated: 1, intent: "turn_on", "one")
    world.word("off", 0, segment: 1, end: 300, "one")
    world.cut()
    world.acceptAll()
    #expect(world.sentAudio == "3x1600 4x1600")
    #expect(world.lastStartOptions["resume_token"] == nil)
    world.started("engine")
    world.word("off", 0, end: 100, "engine")
    world.segmentEnd(intent: "turn_off", "engine")
    #expect(world.segments.last?.id == "one-1")
    #expect(world.segments.last?.transcripts.map(\.endOffset) == [0.3])
    #expect(!world.codes.contains(.protocolViolated))
  }

  /// The engine may hear one segment where the server guessed two.
  @Test func whatTheServerGuessedIsTakenBack() throws {
    var world = Self.world()
    world.connect("one")
    world.audio(1)
    world.acceptAll()
    world.word("turn", 0, end: 50, "one")
    world.tentative(["on"], from: 1, "one")
    world.tentative(["off"], segment: 1, "one")
    world.cut()
    #expect(world.segments.suffix(2).map(\.text) == ["turn", ""])
    world.acceptAll()
    world.started("engine")
    world.word("turn", 0, end: 50, "engine")
    world.word("round", 1, end: 100, "engine")
    world.segmentEnd("engine")
    world.stopAndDrain()
    world.acceptAll()
    world.finished("engine")
    #expect(world.finishedContexts.first??.segments.map(\.text) == ["turn round"])
    #expect(world.failures == [])
  }

  @Test func anEngineThatFailsOnceHearsTheSameAudioAgain() {
    var world = Self.world(hasServer: false)
    world.start()
    world.captureStarted()
    world.audio(1)
    world.acceptAll()
    world.started("engine")
    world.cut(VoiceFailure(.engineFailed))
    world.acceptAll()
    #expect(world.codes == [.engineFailed])
    #expect(world.engineStreams.count == 2)
    #expect(world.sentAudio == "1x1600")
    #expect(world.finishedContexts.isEmpty)
  }

  @Test func withoutAServerAnEngineThatCannotWorkEndsTheUtterance() {
    var world = Self.world(hasServer: false)
    world.start()
    world.captureStarted()
    world.audio(1)
    world.cut(VoiceFailure(.modelMissing))
    #expect(world.codes == [.modelMissing])
    #expect(world.finishedContexts.count == 1)
    #expect(world.tokenRequests.isEmpty)
  }

  @Test func anEngineThatCannotWorkGivesTheUtteranceBackToTheServer() {
    var world = Self.world()
    world.connect("one")
    world.audio(1)
    world.acceptAll()
    world.cut()
    world.cut(VoiceFailure(.modelMissing))
    #expect(world.codes == [.modelMissing])
    world.token()
    world.acceptAll()
    #expect(world.sentAudio == "1x1600")
    world.cut()
    #expect(world.machine.state.isReconnecting)
    #expect(world.degradations.count == 1)
  }

  @Test func withoutAServerNobodyLogsInAndUtterancesAreNotSplit() {
    var configuration = SessionMachine.Configuration.forTests
    configuration.hasEngine = true
    configuration.hasServer = false
    configuration.legLimit = .seconds(1)
    var world = SessionWorld(configuration: configuration)
    world.start()
    world.captureStarted()
    for _ in 0..<40 {
      world.audio(1)
      world.acceptAll()
    }
    world.started("engine")
    #expect(!world.kinds.contains("stop"))
    #expect(world.tokenRequests.isEmpty)
    world.stopAndDrain()
    world.acceptAll()
    world.finished("engine")
    #expect(world.stream == nil)
    #expect(world.failures == [])
  }

  @Test func credentialsThatAreRejectedAreTriedOnceMoreBeforeTheEngineTakesOver() {
    var world = Self.world()
    world.start()
    world.captureStarted()
    world.audio(1)
    world.feed(.tokenFailed(VoiceFailure(.credentialsRejected), pushBack: nil))
    #expect(world.tokenRequests == [false, true])
    #expect(world.degradations == [])
    world.feed(.tokenFailed(VoiceFailure(.credentialsRejected), pushBack: nil))
    #expect(world.degradations.map(\.failure.recovery) == [.signIn])
  }

  @Test func closingEndsTheEnginesStream() {
    var world = Self.world()
    world.connect("one")
    world.audio(1)
    world.cut()
    world.feed(.closeRequested(isAbrupt: true))
    #expect(world.isTerminated)
    #expect(world.stream == nil)
  }
}
