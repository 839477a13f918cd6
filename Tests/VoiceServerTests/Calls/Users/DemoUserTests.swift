import CallSignaling
import Foundation
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

@Suite struct DemoUserTests {
  @Test func keepsThePasswordsThatItMade() throws {
    let folder = try Fixture.Folder()
    var generator = SeededGenerator(seed: 1)
    let first = try DemoUser.load(dataFolder: folder.path, using: &generator)
    #expect(first.map(\.name) == ["alice", "bob"])
    #expect(Set(first.map(\.password)).count == 2)
    #expect(first.allSatisfy { $0.password.count == 16 })
    #expect(try DemoUser.load(dataFolder: folder.path, using: &generator) == first)
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/demo-users")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test(arguments: ["", "alice", "alice short\n", "echo a-long-password\n", "alice a-long-password\nbob\n"])
  func complainsAboutAFileThatIsNone(_ text: String) throws {
    let folder = try Fixture.Folder()
    try Data(text.utf8).write(to: URL(filePath: folder.path + "/demo-users"))
    var generator = SeededGenerator(seed: 1)
    do throws(VoiceFailure) {
      _ = try DemoUser.load(dataFolder: folder.path, using: &generator)
      Issue.record("it was taken for users")
    } catch {
      #expect(error.code == .keptStateInvalid)
    }
    withExtendedLifetime(folder) {}
  }

  @Test func areThereOnlyWithoutOtherUsers() async throws {
    let folder = try Fixture.Folder()
    let store = try CallStore(dataFolder: folder.path)
    var generator = SeededGenerator(seed: 1)
    try store.setUser(
      "carol", try PasswordHash(of: "a password", cost: .init(logRounds: 4), using: &generator))
    let path = folder.path
    try await withServer(dataFolder: path) { _ in
      #expect(!FileManager.default.fileExists(atPath: path + "/demo-users"))
    }
    #expect(try store.removeUser("carol") && !store.removeUser("carol"))
    try await withServer(dataFolder: path) { _ in
      #expect(FileManager.default.fileExists(atPath: path + "/demo-users"))
    }
    withExtendedLifetime(folder) {}
  }
}
