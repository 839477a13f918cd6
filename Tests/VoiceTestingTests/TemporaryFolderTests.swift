import Foundation
import Testing
import VoiceTesting

@Suite struct TemporaryFolderTests {
  @Test func theFolderIsEmptyPrivateAndGoneAfterwards() async throws {
    let folder = try await withTemporaryFolder { folder in
      let manager = FileManager.default
      #expect(try manager.contentsOfDirectory(atPath: folder.path).isEmpty)
      let attributes = try manager.attributesOfItem(atPath: folder.path)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
      try Data("x".utf8).write(to: folder.appending(path: "file"))
      return folder
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  @Test func theFolderIsGoneAfterAnError() async {
    struct Stop: Error {}
    let folders = Recorder<URL>()
    await #expect(throws: Stop.self) {
      try await withTemporaryFolder { folder in
        folders.append(folder)
        throw Stop()
      }
    }
    #expect(folders.values.count == 1)
    #expect(folders.values.allSatisfy { !FileManager.default.fileExists(atPath: $0.path) })
  }

  @Test func aFolderWithoutRightsIsRemovedToo() async throws {
    let folder = try await withTemporaryFolder { folder in
      let inner = folder.appending(path: "inner", directoryHint: .isDirectory)
      try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
      try Data("x".utf8).write(to: inner.appending(path: "file"))
      try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: inner.path)
      return folder
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  @Test func everyFolderIsItsOwn() async throws {
    let paths = try await withTemporaryFolder { first in
      try await withTemporaryFolder { second in [first.path, second.path] }
    }
    #expect(Set(paths).count == 2)
  }
}
