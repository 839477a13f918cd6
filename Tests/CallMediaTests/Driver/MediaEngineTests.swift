import NIOCore
import RealtimeMedia
import Testing
import VoiceCore

@testable import CallMedia

/// Sessions on several threads.
@Suite(.timeLimit(.minutes(4)))
struct MediaEngineTests {
  private static func sessions(_ engine: MediaEngine) -> [Int] { engine.threads.map(\.sessions) }

  @Test func hasOneThreadAtLeast() {
    #expect(MediaEngine(threads: 0, paths: nil).threads.count == 1)
    #expect(MediaEngine(threads: -3, paths: nil).threads.count == 1)
    #expect(MediaEngine(threads: 3, paths: nil).threads.count == 3)
  }

  @Test func givesASessionToTheThreadWithTheFewest() async {
    let engine = MediaEngine(threads: 2, paths: nil)
    let first = engine.makeSession(.init()) { _ in }
    let second = engine.makeSession(.init()) { _ in }
    let third = engine.makeSession(.init()) { _ in }
    #expect(Self.sessions(engine) == [2, 1])
    await first.close()
    // A second time, it has nothing to give back.
    await first.close()
    await third.close()
    #expect(Self.sessions(engine) == [0, 1])
    let fourth = engine.makeSession(.init()) { _ in }
    #expect(Self.sessions(engine) == [1, 1])
    await fourth.close()
    await second.close()
    #expect(Self.sessions(engine) == [0, 0])
  }

  @Test func givesASessionToAnOverloadedThreadOnlyIfAllAre() async {
    let engine = MediaEngine(threads: 2, paths: nil)
    let first = engine.makeSession(.init()) { _ in }
    engine.threads[1].overload.isPresent = true
    let second = engine.makeSession(.init()) { _ in }
    #expect(Self.sessions(engine) == [2, 0])
    engine.threads[0].overload.isPresent = true
    let third = engine.makeSession(.init()) { _ in }
    #expect(Self.sessions(engine) == [2, 1])
    for session in [first, second, third] { await session.close() }
  }

  @Test func isOverloadedWhenAllOfItsThreadsAre() {
    let engine = MediaEngine(threads: 2, paths: nil)
    engine.threads[0].overload.isPresent = true
    #expect(!engine.isOverloaded)
    engine.threads[1].overload.isPresent = true
    #expect(engine.isOverloaded)
  }

  /// A thread that is kept from its calls leaves out steps, and tells both sides.
  @Test func aBusyThreadIsToldToItsCalls() async throws {
    let engine = MediaEngine(paths: nil)
    let (caller, callee) = (ToldSession(engine: engine), ToldSession(engine: engine))
    let offer = try await caller.session.makeOffer()
    try await caller.session.receivedAnswer(try await callee.session.receivedOffer(offer))
    // Both: with the work there is always a task that is due, and the thread may never look at its sockets again.
    _ = await caller.connected()
    _ = await callee.connected()
    let work = engine.threads[0].loop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(1)) {
      _ in
      let end = NIODeadline.now() + .milliseconds(60)
      while NIODeadline.now() < end {}
    }
    for told in [caller, callee] {
      let warning = await told.next { event -> VoiceFailure? in
        if case .warned(let failure) = event, failure.code == .callMediaOverloaded { failure } else { nil }
      }
      #expect(warning != nil)
    }
    #expect(engine.isOverloaded)
    work.cancel()
    #expect(try #require(await caller.session.statistics()).stepsSkipped >= PaceMachine.overloadedFrom)
    await caller.session.close()
    await callee.session.close()
    // Nobody is left who could suffer.
    #expect(!engine.isOverloaded)
  }

  /// A second of a buzz of 600 Hz.
  private static let buzz = (0..<48_000).map { Int16($0 / 40 % 2 == 0 ? 8_000 : -8_000) }

  @Test func sessionsOfDifferentThreadsHearEachOther() async throws {
    let engine = MediaEngine(threads: 2, paths: nil)
    let (caller, callee) = (ToldSession(engine: engine), ToldSession(engine: engine))
    #expect(Self.sessions(engine) == [1, 1])
    let offer = try await caller.session.makeOffer()
    try await caller.session.receivedAnswer(try await callee.session.receivedOffer(offer))
    for (speaker, listener) in [(caller, callee), (callee, caller)] {
      let frames = listener.session.audio.frames
      try await speaker.session.audio.send(Self.buzz)
      let heard = await frames.first { frame in
        frame.samples.contains { $0 > 4_000 }
      }
      #expect(heard != nil)
    }
    await caller.session.close()
    await callee.session.close()
  }
}
