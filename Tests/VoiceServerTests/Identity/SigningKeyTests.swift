import Foundation
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

@Suite struct SigningKeyTests {
  static func load(
    _ folder: String, seed: UInt64 = 1, write: WriteCall = { Foundation.write($0, $1, $2) }
  ) throws(VoiceFailure) -> SigningKey {
    var generator = SeededGenerator(seed: seed)
    return try SigningKey.load(folder: folder, using: &generator, write: write).key
  }

  @Test(arguments: [
    "", "\n", "abc", String(repeating: "0", count: 64), String(repeating: "x", count: 64),
    String(repeating: "a1", count: 31), String(repeating: "a1", count: 33),
    String(repeating: "a1", count: 32) + "\n\n", String(repeating: "a1", count: 400),
  ])
  func aDamagedKeyIsReportedAndNotReplaced(_ content: String) throws {
    let folder = try Fixture.Folder()
    let path = folder.path + "/signing-key"
    try Data(content.utf8).write(to: URL(fileURLWithPath: path))
    let failure = #expect(throws: VoiceFailure.self) { _ = try Self.load(folder.path) }
    #expect(failure?.code == .signingKeyInvalid)
    #expect(failure?.message.contains(path) == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(content.utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["signing-key"])
  }

  @Test func aFullDiskLeavesNothingBehind() throws {
    let folder = try Fixture.Folder()
    let failure = #expect(throws: VoiceFailure.self) {
      _ = try Self.load(folder.path) { _, _, _ in
        errno = ENOSPC
        return -1
      }
    }
    #expect(failure?.code == .dataFolderFull)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test func aDiskThatFillsUpHalfWayLeavesNothingBehind() throws {
    let folder = try Fixture.Folder()
    let failure = #expect(throws: VoiceFailure.self) {
      _ = try Self.load(folder.path) { descriptor, bytes, count in
        if count > 40 { return Foundation.write(descriptor, bytes, count / 2) }
        errno = EDQUOT
        return -1
      }
    }
    #expect(failure?.code == .dataFolderFull)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test(arguments: ["/proc/voice", "/dev/null/voice"])
  func aFolderThatCannotBeMadeIsReported(_ folder: String) {
    let failure = #expect(throws: VoiceFailure.self) { _ = try Self.load(folder) }
    #expect(failure?.code == .dataFolderNotWritable)
    #expect(failure?.message.contains(folder) == true)
    #expect(failure?.recovery == .grantPermission(.storage))
  }

  @Test func aFolderInPlaceOfTheKeyIsReported() throws {
    let folder = try Fixture.Folder()
    try FileManager.default.createDirectory(
      atPath: folder.path + "/signing-key", withIntermediateDirectories: false)
    let failure = #expect(throws: VoiceFailure.self) { _ = try Self.load(folder.path) }
    #expect(failure?.code == .signingKeyInvalid)
  }

  @Test func isMadeOnceWithTheRightMode() throws {
    let folder = try Fixture.Folder()
    let state = folder.path + "/a/b"
    let key = try Self.load(state, seed: 1)
    #expect(key.bytes.count == 32)
    #expect(try Self.load(state, seed: 2) == key)
    let path = state + "/signing-key"
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    let content = try String(contentsOfFile: path, encoding: .utf8)
    #expect(content.utf8.count == 65 && content.hasSuffix("\n"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: state) == ["signing-key"])
  }

  @Test func writesThatTakeOnePieceAtATimeAreGoneOnWith() throws {
    let folder = try Fixture.Folder()
    let key = try Self.load(folder.path) { descriptor, bytes, _ in Foundation.write(descriptor, bytes, 1) }
    #expect(try Self.load(folder.path, seed: 9) == key)
  }

  /// Two servers started at once: the loser of the race must take the winner's key.
  @Test func aKeyMadeByAnotherServerMeanwhileWins() throws {
    let folder = try Fixture.Folder()
    let other = Fixture.key(seed: 77)
    let path = folder.path + "/signing-key"
    let key = try Self.load(folder.path) { descriptor, bytes, count in
      try? Data(other.fileContent).write(to: URL(fileURLWithPath: path))
      return Foundation.write(descriptor, bytes, count)
    }
    #expect(key == other)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["signing-key"])
  }

  @Test func tellsWhenOthersMayReadIt() throws {
    let folder = try Fixture.Folder()
    var generator = SeededGenerator(seed: 1)
    #expect(try SigningKey.load(folder: folder.path, using: &generator).isExposed == false)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o644], ofItemAtPath: folder.path + "/signing-key")
    #expect(try SigningKey.load(folder: folder.path, using: &generator).isExposed)
  }

  @Test func isNotPrinted() {
    let key = Fixture.key()
    #expect("\(key)" == "a signing key")
    #expect(String(reflecting: key) == "a signing key")
  }
}
