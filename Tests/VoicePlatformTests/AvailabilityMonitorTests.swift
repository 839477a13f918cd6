import Foundation
import Testing

@testable import VoicePlatform

@Suite(.timeLimit(.minutes(4)))
struct AvailabilityMonitorTests {
  private func next(_ iterator: inout AsyncStream<Void>.Iterator) async -> Bool {
    await iterator.next() != nil
  }

  @Test func tellsThatAFolderComesAndGoes() async throws {
    let temporary = try TemporaryFolder()
    let folder = temporary.path
    let wanted = folder + "/a/b"
    let monitor = SystemAvailabilityMonitor(devices: false, paths: [wanted])
    var changes = monitor.changes().makeAsyncIterator()
    try FileManager.default.createDirectory(atPath: folder + "/a", withIntermediateDirectories: false)
    #expect(await self.next(&changes))
    try FileManager.default.createDirectory(atPath: wanted, withIntermediateDirectories: false)
    #expect(await self.next(&changes))
    #expect(FileManager.default.createFile(atPath: wanted + "/file", contents: nil))
    #expect(await self.next(&changes))
    try FileManager.default.removeItem(atPath: wanted)
    #expect(await self.next(&changes))
  }

  @Test func tellsThatAFileIsReplaced() async throws {
    let temporary = try TemporaryFolder()
    let file = temporary.path + "/file"
    #expect(FileManager.default.createFile(atPath: file, contents: nil))
    let monitor = SystemAvailabilityMonitor(devices: false, paths: [file])
    var changes = monitor.changes().makeAsyncIterator()
    try FileManager.default.removeItem(atPath: file)
    #expect(await self.next(&changes))
  }

  @Test func aMonitorOfDevicesWatchesWhereTheyAppear() {
    let monitor = SystemAvailabilityMonitor(paths: ["/model"])
    #expect(monitor.paths.last == "/model")
  }

  @Test func aManualMonitorTellsAllReaders() async {
    let monitor = ManualAvailabilityMonitor()
    var first = monitor.changes().makeAsyncIterator()
    var second = monitor.changes().makeAsyncIterator()
    monitor.change()
    #expect(await self.next(&first))
    #expect(await self.next(&second))
  }
}
