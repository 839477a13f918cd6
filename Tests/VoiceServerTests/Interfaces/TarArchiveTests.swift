import Foundation
import SpeechUnderstanding
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

@Suite struct TarArchiveTests {
  private static let file = ConfigurationFile(name: "app.yaml", text: "templates: \"*greet hello\"\n")
  private static let list = ConfigurationFile(name: "rooms.csv", text: "kitchen\nbedroom\n")

  /// The archive with some bytes changed and the checksum of its first header made right again.
  private static func archive(
    of files: [ConfigurationFile] = [TarArchiveTests.file], changing change: (inout [UInt8]) -> Void
  ) throws -> [UInt8] {
    var bytes = try TarArchive.archive(of: files)
    change(&bytes)
    bytes.replaceSubrange(148..<156, with: [UInt8](repeating: 32, count: 8))
    let sum = bytes[..<512].reduce(0) { $0 + Int($1) }
    let digits = String(sum, radix: 8)
    let text = String(repeating: "0", count: 6 - digits.count) + digits + "\0 "
    bytes.replaceSubrange(148..<156, with: text.utf8)
    return bytes
  }

  private static func put(_ text: String, at offset: Int, in bytes: inout [UInt8]) {
    bytes.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
  }

  private func expectRefusal(_ bytes: [UInt8], _ part: String) {
    let failure = #expect(throws: VoiceFailure.self) { try TarArchive.files(in: bytes) }
    #expect(failure?.code == .archiveInvalid)
    #expect(failure?.message.contains(part) == true, "\(failure?.message ?? "")")
  }

  @Test func refusesAnArchiveThatIsEmpty() {
    self.expectRefusal([], "less than the smallest archive")
  }

  @Test func refusesBytesThatAreNoArchive() {
    self.expectRefusal(
      Array("templates: hello".utf8) + [UInt8](repeating: 65, count: 1024), "not a tar archive")
  }

  @Test(arguments: 1..<5) func refusesAnArchiveThatWasCutOff(blocks: Int) throws {
    let whole = try TarArchive.archive(of: [Self.file, Self.list])
    #expect(whole.count == 6 * 512)
    #expect(throws: VoiceFailure.self) { try TarArchive.files(in: Array(whole.prefix(blocks * 512 - 1))) }
    #expect(throws: VoiceFailure.self) { try TarArchive.files(in: Array(whole.prefix(blocks * 512))) }
  }

  @Test(arguments: ["../app.yaml", "/etc/app.yaml", "a/../../app.yaml", "..\\app.yaml"])
  func refusesNamesThatLeadElsewhere(name: String) throws {
    let bytes = try Self.archive { bytes in
      Self.put("\(name)\0\0\0\0\0\0\0\0", at: 0, in: &bytes)
    }
    self.expectRefusal(bytes, "leads out of the archive")
  }

  @Test func refusesFilesInFolders() throws {
    let bytes = try Self.archive { Self.put("config/app.yaml", at: 0, in: &$0) }
    self.expectRefusal(bytes, "at the top of the archive")
  }

  @Test(arguments: ["1", "2", "3", "4", "6"]) func refusesLinksAndDevices(kind: String) throws {
    let bytes = try Self.archive { Self.put(kind, at: 156, in: &$0) }
    self.expectRefusal(bytes, "a link or a device")
  }

  @Test func refusesSizesBeyondTheEnd() throws {
    let bytes = try Self.archive { Self.put("77777777777", at: 124, in: &$0) }
    self.expectRefusal(bytes, "should have 8589934591 bytes")
  }

  @Test func refusesSizesThatAreNoNumbers() throws {
    let bytes = try Self.archive { Self.put("-0000000001", at: 124, in: &$0) }
    self.expectRefusal(bytes, "not a number")
  }

  @Test func refusesAWrongChecksum() throws {
    var bytes = try TarArchive.archive(of: [Self.file])
    bytes[0] = UInt8(ascii: "b")
    self.expectRefusal(bytes, "checksum")
  }

  @Test func refusesAFileThatIsThereTwice() throws {
    self.expectRefusal(try TarArchive.archive(of: [Self.file, Self.file]), "twice")
  }

  @Test func refusesMoreEntriesThanItsLimit() throws {
    let files = (0...TarArchive.entryLimit).map { ConfigurationFile(name: "\($0).csv", text: "") }
    self.expectRefusal(try TarArchive.archive(of: files), "entries")
  }

  @Test(arguments: ["7 path", "99999999 path=app.yaml\n", "11 size=-1\n", "x"])
  func refusesDamagedExtendedHeaders(content: String) throws {
    let extended = ConfigurationFile(name: "x", text: content)
    var bytes = try Self.archive(of: [extended]) { Self.put("x", at: 156, in: &$0) }
    bytes.removeLast(1024)
    self.expectRefusal(bytes + (try TarArchive.archive(of: [Self.file])), "extended header")
  }

  @Test func neverTrapsOnRandomBytes() throws {
    var generator = SystemRandomNumberGenerator()
    let whole = try TarArchive.archive(of: [Self.file, Self.list])
    for _ in 0..<2000 {
      let bytes = try Self.archive(of: [Self.file, Self.list]) { bytes in
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
          bytes[Int.random(in: 0..<512, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
      }
      _ = try? TarArchive.files(in: Array(bytes.prefix(Int.random(in: 0...whole.count, using: &generator))))
    }
  }

  @Test func readsWhatItWrote() throws {
    let files = [Self.file, Self.list, ConfigurationFile(name: "empty.csv", text: "")]
    #expect(try TarArchive.files(in: TarArchive.archive(of: files)) == files)
  }

  @Test func takesLongNamesFromExtendedHeaders() throws {
    var bytes = try Self.archive(of: [.init(name: "x", text: "18 path=long.yaml\n")]) {
      Self.put("x", at: 156, in: &$0)
    }
    bytes.removeLast(1024)
    let files = try TarArchive.files(in: bytes + TarArchive.archive(of: [Self.file]))
    #expect(files.map(\.name) == ["long.yaml"])
  }

  /// GNU tar and Python are what people have at hand.
  @Test(arguments: ["gnu", "ustar", "posix"]) func readsTheArchivesOfGNUTar(format: String) throws {
    let folder = try Fixture.Folder()
    for file in [Self.file, Self.list, ConfigurationFile(name: "notes.txt", text: "left out")] {
      try Data(file.bytes).write(to: URL(fileURLWithPath: folder.path + "/" + file.name))
    }
    let tar = try RunningProgram(
      "/usr/bin/env",
      ["tar", "-C", folder.path, "--format", format, "-cf", folder.path + "/out", "--sort=name", "."])
    #expect(tar.wait() <= 1)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/out"))
    #expect(try TarArchive.files(in: Array(bytes)).map(\.name) == ["app.yaml", "rooms.csv"])
  }
}
