import Foundation
import Testing
import VoiceTesting

@testable import VoiceCommands

struct FolderWatchTests {
  private func write(_ text: String, _ name: String, in folder: URL) throws {
    try Data(text.utf8).write(to: folder.appending(path: name))
  }

  @Test func onlyFilesOfTheConfigurationCount() async throws {
    try await withTemporaryFolder { folder in
      let watch = FolderWatch(folder: ConfigurationFolder(path: folder.path), clock: TestClock())
      let empty = watch.stamp()
      try self.write("x", "notes.txt", in: folder)
      #expect(watch.stamp() == empty)
      try self.write("x", "app.yaml", in: folder)
      let one = watch.stamp()
      #expect(one != empty)
      try self.write("xy", "app.yaml", in: folder)
      #expect(watch.stamp() != one)
      let missing = ConfigurationFolder(path: folder.path + "/none")
      #expect(FolderWatch(folder: missing, clock: TestClock()).stamp() == empty)
    }
  }

  @Test func aFileThatIsStillBeingWrittenIsWaitedFor() async throws {
    try await withTemporaryFolder { folder in
      try self.write("1", "app.sal", in: folder)
      let clock = TestClock()
      let watch = FolderWatch(folder: ConfigurationFolder(path: folder.path), clock: clock)
      let old = watch.stamp()
      async let change = watch.change(from: old)
      for text in ["1", "12", "123"] {
        let timer = await clock.nextTimer()
        try self.write(text, "app.sal", in: folder)
        clock.advance(to: timer)
      }
      clock.advance(to: await clock.nextTimer())
      #expect(try await change == watch.stamp())
      #expect(watch.stamp() != old)
    }
  }

  @Test func waitingEndsWithTheTask() async throws {
    let watch = FolderWatch(folder: ConfigurationFolder(path: "/none"), clock: TestClock())
    let task = Task { try await watch.change(from: watch.stamp()) }
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
  }
}
