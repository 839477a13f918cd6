import Foundation
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

@Suite struct DemoKeyTests {
  private let folder: Fixture.Folder

  init() throws {
    self.folder = try Fixture.Folder()
  }

  private func keys(_ configuration: ServerConfiguration, seed: UInt64) throws -> [String] {
    var generator = SeededGenerator(seed: seed)
    return try configuration.withDemoKey(using: &generator).projects.flatMap(\.apiKeys)
  }

  @Test(arguments: ["", "short", "with spaces between its words", "tööö-lööö-ng-eeenough"])
  func refusesAKeptKeyThatIsNone(content: String) throws {
    let file = URL(fileURLWithPath: self.folder.path + "/" + ServerConfiguration.demoKeyName)
    try Data(content.utf8).write(to: file)
    let failure = #expect(throws: VoiceFailure.self) {
      try self.keys(ServerConfiguration(dataFolder: self.folder.path), seed: 1)
    }
    #expect(failure?.code == .keptStateInvalid)
    #expect(try String(contentsOf: file, encoding: .utf8) == content)
  }

  @Test func makesOneKeyForTheDemoProjectAndKeepsIt() throws {
    let configuration = ServerConfiguration(dataFolder: self.folder.path)
    let first = try self.keys(configuration, seed: 1)
    #expect(first.count == 1)
    #expect(first.allSatisfy { $0.utf8.count >= 32 })
    #expect(try self.keys(configuration, seed: 2) == first)
    let attributes = try FileManager.default.attributesOfItem(
      atPath: self.folder.path + "/" + ServerConfiguration.demoKeyName)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test func makesNoKeyWhereProjectsAreConfigured() throws {
    #expect(try self.keys(Fixture.configuration(dataFolder: self.folder.path), seed: 1) == [Fixture.apiKey])
    #expect(try FileManager.default.contentsOfDirectory(atPath: self.folder.path).isEmpty)
  }
}
