import Dispatch
import Foundation
import Testing
import VoiceCore
import VoiceTesting

@Suite(.timeLimit(.minutes(4))) struct LeakCheckTests {
  final class Resource: Sendable {
    let token: LeakCheck.Token?

    init(token: LeakCheck.Token? = nil) { self.token = token }
  }

  static func task(holding resource: consuming Resource, until stops: AsyncStream<Void>) -> Task<Void, Never>
  {
    Task { [resource] in
      for await _ in stops {}
      withExtendedLifetime(resource) {}
    }
  }

  @Test func namesWhatIsStillThere() async {
    let leaks = LeakCheck()
    let kept = Resource()
    leaks.track(kept, as: "kept")
    do {
      let released = Resource()
      leaks.track(released, as: "released")
      #expect(leaks.leaks.map(\.name) == ["kept", "released"])
    }
    #expect(leaks.leaks.map(\.name) == ["kept"])
    #expect(leaks.leaks.first?.description == "kept was not released")
    withExtendedLifetime(kept) {}
  }

  @Test func anUnnamedObjectHasTheNameOfItsType() {
    let leaks = LeakCheck()
    let kept = Resource()
    leaks.track(kept)
    #expect(leaks.leaks.map(\.name) == ["Resource"])
    withExtendedLifetime(kept) {}
  }

  /// The clock never moves: only the release can end the waiting.
  @Test func waitingEndsWithTheReleaseOfATaskThatHoldsAToken() async {
    let leaks = LeakCheck()
    let (stops, stop) = AsyncStream.makeStream(of: Void.self)
    let task = Self.task(holding: Resource(token: leaks.token(for: "task")), until: stops)
    let clock = TestClock()
    async let left = leaks.waitForRelease(clock: clock)
    await clock.nextTimer()
    stop.finish()
    await task.value
    #expect(await left == [])
  }

  @Test func waitingReportsALeakAtTheDeadline() async {
    let leaks = LeakCheck()
    let clock = TestClock()
    let token = leaks.token(for: "leaked")
    async let left = leaks.waitForRelease(within: .seconds(5), clock: clock)
    let deadline = await clock.nextTimer()
    #expect(deadline == VoiceInstant(offset: .seconds(5)))
    clock.advance(to: deadline)
    #expect(await left.map(\.name) == ["leaked"])
    withExtendedLifetime(token) {}
  }

  @Test func waitingForNothingReturnsAtOnce() async {
    #expect(await LeakCheck().waitForRelease(clock: TestClock()) == [])
  }

  @Test func anObjectWithoutATokenIsSeenWhenATokenIsReleased() async {
    let leaks = LeakCheck()
    let clock = TestClock()
    var object: Resource? = Resource()
    object.map { leaks.track($0, as: "object") }
    var holder: Resource? = Resource(token: leaks.token(for: "holder"))
    async let left = leaks.waitForRelease(clock: clock)
    await clock.nextTimer()
    object = nil
    holder = nil
    #expect(await left == [])
    #expect(object == nil && holder == nil)
  }

  /// Looking may make the check the last owner of an object that holds a token of the same check.
  @Test func lookingWhileObjectsAreReleasedDoesNotDeadlock() async {
    for _ in 0..<200 {
      let leaks = LeakCheck()
      let resource = Resource(token: leaks.token(for: "token"))
      leaks.track(resource, as: "object")
      await withTaskGroup(of: Void.self) { group in
        group.addTask { [resource] in withExtendedLifetime(resource) {} }
        group.addTask { while leaks.leaks.count > 2 {} }
        group.addTask { _ = leaks.leaks }
      }
    }
  }

  @Test func aCancelledWaitReturns() async {
    let leaks = LeakCheck()
    let token = leaks.token(for: "kept")
    let waiting = Task { await leaks.waitForRelease(clock: TestClock()) }
    waiting.cancel()
    #expect(await waiting.value.map(\.name) == ["kept"])
    withExtendedLifetime(token) {}
  }

  /// Other suites open sockets meanwhile, so only this file's own descriptor is looked for.
  @Test func openDescriptorsAreSeenWithWhatTheyAre() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.appending(path: "open").path
      try Data().write(to: URL(filePath: path))
      let before = ProcessResources.current()
      let handle = try #require(FileHandle(forReadingAtPath: path))
      let opened = ProcessResources.current().descriptorsOpened(since: before)
      #expect(opened[Int(handle.fileDescriptor)]?.hasSuffix("/open") == true)
      try handle.close()
      let left = ProcessResources.current().descriptorsOpened(since: before)
      #expect(!left.values.contains { $0.hasSuffix("/open") })
    }
  }

  @Test func aThreadThatWasStartedIsSeenByItsName() async throws {
    let before = ProcessResources.current()
    let (running, run) = AsyncStream.makeStream(of: Void.self)
    let stop = DispatchSemaphore(value: 0)
    Thread {
      Thread.current.name = "leaked"
      run.finish()
      stop.wait()
    }.start()
    for await _ in running {}
    let started = ProcessResources.current().threadsStarted(since: before)
    stop.signal()
    #expect(before.threads == nil || started.values.contains("leaked"))
  }
}
