import Dispatch
import NIOCore
import NIOPosix
import Testing

@testable import VoiceServer

@Suite struct EventLoopExecutorsTests {
  private let group = MultiThreadedEventLoopGroup.singleton

  @Test func aTaskStaysOnTheLoopThatWokeIt() async throws {
    await withTaskExecutorPreference(EventLoopGroupExecutor(self.group)) {
      for loop in self.group.makeIterator() {
        await Self.suspend(until: loop)
        #expect(loop.inEventLoop)
      }
    }
  }

  @Test func aTaskThatWasWokenElsewhereComesBackToItsLoop() async throws {
    try await withTaskExecutorPreference(EventLoopGroupExecutor(self.group)) {
      for loop in self.group.makeIterator() {
        await Self.suspend(until: loop)
        let own = try #require(EventLoopExecutor.current)
        await withTaskExecutorPreference(own) {
          await withCheckedContinuation { woken in DispatchQueue.global().async { woken.resume() } }
          #expect(loop.inEventLoop)
        }
      }
    }
  }

  /// Suspends the task for certain, and wakes it on the loop: a result that is there already would wake nobody.
  private static func suspend(until loop: any EventLoop) async {
    await withCheckedContinuation { woken in
      loop.scheduleTask(in: .milliseconds(20)) { woken.resume() }
    }
  }

  @Test func outsideOfLoopsThereIsNone() {
    #expect(EventLoopExecutor.current == nil)
  }
}
