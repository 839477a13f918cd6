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
        try await loop.submit {}.get()
        #expect(loop.inEventLoop)
      }
    }
  }

  @Test func aTaskThatWasWokenElsewhereComesBackToItsLoop() async throws {
    try await withTaskExecutorPreference(EventLoopGroupExecutor(self.group)) {
      for loop in self.group.makeIterator() {
        try await loop.submit {}.get()
        let own = try #require(EventLoopExecutor.current)
        await withTaskExecutorPreference(own) {
          await withCheckedContinuation { woken in DispatchQueue.global().async { woken.resume() } }
          #expect(loop.inEventLoop)
        }
      }
    }
  }

  @Test func outsideOfLoopsThereIsNone() {
    #expect(EventLoopExecutor.current == nil)
  }
}
