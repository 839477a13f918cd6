import Dispatch
import NIOCore
import NIOPosix
import Testing

@testable import VoiceServer

@Suite struct EventLoopExecutorsTests {
  private let group = MultiThreadedEventLoopGroup.singleton

  @Test func aTaskStaysOnTheLoopThatWokeIt() async throws {
    try await withTaskExecutorPreference(EventLoopGroupExecutor(self.group)) {
      for loop in self.group.makeIterator() {
        try await Self.suspend(until: loop)
        #expect(loop.inEventLoop)
      }
    }
  }

  @Test func aTaskThatWasWokenElsewhereComesBackToItsLoop() async throws {
    try await withTaskExecutorPreference(EventLoopGroupExecutor(self.group)) {
      for loop in self.group.makeIterator() {
        try await Self.suspend(until: loop)
        let own = try #require(EventLoopExecutor.current)
        await withTaskExecutorPreference(own) {
          await withCheckedContinuation { woken in DispatchQueue.global().async { woken.resume() } }
          #expect(loop.inEventLoop)
        }
      }
    }
  }

  /// Suspends the task for certain, and wakes it on the loop: a result that is there already would wake nobody.
  private static func suspend(until loop: any EventLoop) async throws {
    let current = try #require(MultiThreadedEventLoopGroup.currentEventLoop)
    await withCheckedContinuation { woken in
      // The task's loop runs this only when the task has left it.
      current.execute { loop.execute { woken.resume() } }
    }
  }

  @Test func outsideOfLoopsThereIsNone() {
    #expect(EventLoopExecutor.current == nil)
  }
}
