import Foundation
import Testing
import VoiceCore

@testable import VoicePlatform

struct StateDirectoryTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory

  init() throws {
    self.folder = try TemporaryFolder()
    self.directory = StateDirectory(path: self.folder.path + "/a/b", codes: .server)
  }

  @Test(arguments: [
    (EACCES, VoiceFailure.Code.dataFolderNotWritable), (EPERM, .dataFolderNotWritable),
    (EROFS, .dataFolderNotWritable), (ENOENT, .dataFolderNotWritable), (ENOTDIR, .dataFolderNotWritable),
    (EIO, .dataFolderNotWritable), (ENOSPC, .dataFolderFull), (EDQUOT, .dataFolderFull),
  ])
  func namesWhatTheDiskReported(number: Int32, code: VoiceFailure.Code) {
    #expect(self.directory.failure(number).code == code)
  }

  @Test(arguments: ["", ".", "..", "a/b", "../a", "a\0b", String(repeating: "x", count: 256)])
  func refusesNamesThatLeadOutOfTheFolder(name: String) {
    #expect(failure { try self.directory.write([1], to: name) } == .usage)
    #expect(failure { _ = try self.directory.read(name) } == .usage)
    #expect(failure { try self.directory.remove(name) } == .usage)
  }

  @Test(arguments: ["/proc/voice", "/dev/null/voice", "relative", "", "/a\0b"])
  func namesAFolderThatCannotBeMade(path: String) {
    let directory = StateDirectory(path: path, codes: .server)
    #expect(failure { try directory.prepare() } == .dataFolderNotWritable)
    #expect(failure { try directory.write([1], to: "x") } == .dataFolderNotWritable)
  }

  @Test func namesAFileInPlaceOfTheFolder() throws {
    _ = FileManager.default.createFile(atPath: self.folder.path + "/a", contents: nil)
    #expect(failure { try self.directory.prepare() } == .dataFolderNotWritable)
    #expect(failure { try self.directory.write([1], to: "x") } == .dataFolderNotWritable)
    #expect(try self.directory.read("x") == nil)
    try self.directory.remove("x")
  }

  @Test(.enabled(if: geteuid() != 0, "the administrator may write everywhere"))
  func namesAFolderThatMayNotBeWritten() throws {
    chmod(self.folder.path, 0o500)
    #expect(failure { try self.directory.prepare() } == .dataFolderNotWritable)
    chmod(self.folder.path, 0o700)
  }

  @Test(.enabled(if: SmallDisk.isPossible, "needs the right to mount a small file system"))
  func aFullDiskLeavesTheOldFile() async throws {
    let disk = try await SmallDisk(at: self.folder)
    let directory = StateDirectory(path: disk.path + "/state", codes: .server)
    let old = [UInt8](repeating: 1, count: 10_000)
    try directory.write(old, to: "x")
    #expect(
      failure { try directory.write([UInt8](repeating: 2, count: 10_000_000), to: "x") } == .dataFolderFull)
    #expect(try directory.read("x") == old)
    #expect(self.folder.names(in: "disk/state") == ["x"])
    try await disk.makeReadOnly()
    #expect(failure { try directory.write([3], to: "x") } == .dataFolderNotWritable)
    #expect(failure { try directory.prepare() } == .dataFolderNotWritable)
    #expect(failure { try directory.remove("x") } == .dataFolderNotWritable)
    #expect(try directory.read("x") == old)
    try await disk.unmount()
  }

  @Test func doesNotReadWithoutALimit() throws {
    try self.directory.write([UInt8](repeating: 1, count: 1_000), to: "x")
    #expect(failure { _ = try self.directory.read("x", limit: 999) } == .dataFolderNotWritable)
    #expect(try self.directory.read("x", limit: 1_000)?.count == 1_000)
  }

  @Test func doesNotWaitForTheWriterOfAFIFO() throws {
    try self.directory.prepare()
    mkfifo(self.directory.path + "/x", 0o600)
    #expect(try self.directory.read("x") == [])
  }

  @Test func keepsFilesForTheUserAlone() throws {
    try self.directory.write([1, 2, 3], to: "x")
    #expect(try self.directory.read("x") == [1, 2, 3])
    #expect(mode(self.directory.path) == 0o700)
    #expect(mode(self.directory.path + "/x") == 0o600)
    #expect(self.folder.names(in: "a/b") == ["x"])
    try self.directory.remove("x")
    try self.directory.remove("x")
    #expect(try self.directory.read("x") == nil)
  }

  @Test func aCheckLeavesNothingBehind() throws {
    try self.directory.prepare()
    #expect(self.folder.names(in: "a") == ["b"])
    #expect(self.folder.names(in: "a/b").isEmpty)
  }

  @Test func findsTheFolderByTheRulesOfXDG() {
    #expect(StateDirectory.standardPath(environment: ["XDG_STATE_HOME": "/s"]) == "/s/swift-voice")
    #expect(
      StateDirectory.standardPath(environment: ["XDG_STATE_HOME": "relative", "HOME": "/h"])
        == "/h/.local/state/swift-voice")
    #expect(StateDirectory.standardPath(environment: ["HOME": "/h"]) == "/h/.local/state/swift-voice")
    #expect(StateDirectory.standardPath(environment: [:]).hasSuffix("/.local/state/swift-voice"))
  }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  private func failure(_ body: () throws -> Void) -> VoiceFailure.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? VoiceFailure)?.code
    }
  }
}

/// A file system of 64 KB in memory.
final class SmallDisk: Sendable {
  let path: String

  static let isPossible: Bool = {
    guard geteuid() == 0, let folder = try? TemporaryFolder() else { return false }
    let mount = try? Program.run("/bin/mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder.path])
    guard mount?.status == 0 else { return false }
    return (try? Program.run("/bin/umount", [folder.path]))?.status == 0
  }()

  init(at folder: TemporaryFolder) async throws {
    let path = folder.path + "/disk"
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try await Self.run("/bin/mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", path])
  }

  func makeReadOnly() async throws {
    try await Self.run("/bin/mount", ["-o", "remount,ro", self.path])
  }

  func unmount() async throws {
    try await Self.run("/bin/umount", [self.path])
  }

  private static func run(_ program: String, _ arguments: [String]) async throws {
    let status = try await Program.onThread { try Program.run(program, arguments).status }
    #expect(status == 0)
  }
}
