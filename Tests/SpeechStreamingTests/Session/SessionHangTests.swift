import SpeechProtocol
import Testing
import VoiceCore

@testable import SpeechStreaming

/// A server that takes what it is sent and does not answer.
@Suite struct SessionHangTests {
  /// Waits until the server is given up, or for a minute.
  private func wait(in world: inout SessionWorld, speaking: Bool = false) -> Duration {
    let start = world.now
    while world.stream != nil, start.duration(to: world.now) < .seconds(60) {
      if speaking { world.audio(1) }
      world.acceptAll()
      world.pass(.milliseconds(100))
      if let deadline = world.timers[.progress], deadline <= world.now { world.fire(.progress) }
    }
    return start.duration(to: world.now)
  }

  @Test func aServerThatTakesAudioAndNeverBeginsIsLostWithin15Seconds() {
    var world = SessionWorld()
    world.start()
    world.captureStarted()
    world.token()
    #expect(self.wait(in: &world, speaking: true) == .seconds(15))
    #expect(world.codes == [.serverTimedOut])
    #expect(world.machine.state.isReconnecting)
    world.reconnect()
    world.started()
    #expect(world.sentAudio == "1x240000")
  }

  @Test func aServerThatHangsOnOneUtteranceIsGivenUpAfterTheTimeForTries() {
    var world = SessionWorld()
    world.connect()
    world.audio(1)
    world.word("half", 0)
    world.stopAndDrain()
    let start = world.now
    for _ in 0..<10 where world.finishedContexts.isEmpty {
      #expect(self.wait(in: &world) >= .seconds(15))
      world.reconnect()
      world.started()
      // The same again is no progress.
      world.word("half", 0)
    }
    #expect(start.duration(to: world.now) < .seconds(90))
    #expect(world.finishedContexts.count == 1)
    #expect(world.codes.suffix(2).first == .retriesExhausted)
    #expect(world.codes.last == .segmentUnfinished)
    #expect(world.codes.contains(.audioDropped))
    // The next utterance has all the time for tries again.
    world.connect("next")
    world.cut()
    #expect(world.machine.state.isReconnecting)
  }

  @Test func aServerThatGetsFurtherEachTimeIsNotGivenUp() {
    var world = SessionWorld()
    world.connect()
    world.audio(1, samples: 160_000)
    world.stopAndDrain()
    for segment in 0..<10 {
      world.acceptAll()
      world.word("word", 0, segment: 0, end: 100)
      world.segmentEnd(segment: 0, nextSample: 8000)
      #expect(self.wait(in: &world) >= .seconds(15))
      #expect(world.codes.last == .serverTimedOut, "at segment \(segment)")
      world.reconnect()
      world.started()
    }
    world.finished()
    #expect(world.finishedContexts.first??.segments.count == 10)
    #expect(!world.codes.contains(.retriesExhausted))
  }
}
