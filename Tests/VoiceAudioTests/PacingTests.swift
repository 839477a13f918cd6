import Testing
import VoiceAudio
import VoiceCore

struct PacingTests {
  @Test func deliversEachChunkWhenItWouldHaveBeenRecorded() async throws {
    let clock = LeapingClock()
    let source = SamplesSource(samples: [Int16](repeating: 1, count: 4_000)).paced(.realTime, on: clock)
    let heard = await Heard(try await source.capture())
    #expect(heard.samples.count == 4_000)
    #expect(clock.deadlines.map(\.offset) == [.milliseconds(100), .milliseconds(200), .milliseconds(250)])
  }

  @Test func doesNotDriftWhenTheReaderIsLate() async throws {
    let clock = LeapingClock()
    let source = SamplesSource(samples: [Int16](repeating: 1, count: 8_000)).paced(.realTime, on: clock)
    var iterator = try await source.capture().makeAsyncIterator()
    _ = try await iterator.next()
    clock.advance(by: .milliseconds(250))
    // It is 350 ms: the second and third chunk are overdue and come at once, the fourth at its time.
    _ = try await iterator.next()
    _ = try await iterator.next()
    #expect(clock.now.offset == .milliseconds(350))
    _ = try await iterator.next()
    #expect(clock.now.offset == .milliseconds(400))
  }

  @Test func stopDeliversThePartThatWasRecorded() async throws {
    let clock = StandingClock()
    let capture = try await SilenceSource().paced(.realTime, on: clock).capture()
    async let heard = Heard(capture)
    await clock.untilSomebodySleeps()
    clock.advance(by: .milliseconds(30))
    capture.stop()
    #expect(await heard.samples.count == 480)
  }

  @Test func cancellationEndsTheWait() async throws {
    let clock = StandingClock()
    let capture = try await SilenceSource().paced(.realTime, on: clock).capture()
    let reader = Task { await Heard(capture) }
    await clock.untilSomebodySleeps()
    reader.cancel()
    let heard = await reader.value
    #expect(heard.chunks.isEmpty)
    #expect(heard.failure == nil)
  }

  @Test func unpacedSourcesDoNotLookAtTheClock() async throws {
    let clock = LeapingClock()
    let source = SamplesSource(samples: [Int16](repeating: 1, count: 100_000)).paced(.unpaced, on: clock)
    #expect(await Heard(try await source.capture()).samples.count == 100_000)
    #expect(clock.deadlines.isEmpty)
  }
}
