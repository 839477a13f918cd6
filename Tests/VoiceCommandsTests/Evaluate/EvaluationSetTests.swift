import Foundation
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceCommands

struct EvaluationSetTests {
  private func withFolder(_ files: [String: String], _ body: (String) throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      for (name, text) in files {
        let file = folder.appending(path: name)
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
      }
      try body(folder.standardizedFileURL.path)
    }
  }

  private func failure(_ folder: String) -> VoiceFailure? {
    do throws(VoiceFailure) {
      _ = try EvaluationSet.load(folder: folder, configuration: nil)
      return nil
    } catch {
      return error
    }
  }

  @Test func aFolderThatIsMissingOrHasNoLabelsIsNamed() async throws {
    #expect(self.failure("/none-such")?.code == .labelsNotFound)
    #expect(self.failure("/none-such")?.message.contains("/none-such") == true)
    try await self.withFolder(["notes.txt": "", "inner/notes.txt": ""]) { folder in
      #expect(self.failure(folder)?.code == .labelsNotFound)
    }
  }

  @Test func labelsThatNameNothingAreRefused() async throws {
    try await self.withFolder(["labels.jsonl": "\n# none\n"]) { folder in
      #expect(self.failure(folder)?.code == .labelsEmpty)
    }
    try await self.withFolder(["labels.jsonl": "\n{"]) { folder in
      #expect(self.failure(folder)?.code == .labelsInvalid)
      #expect(self.failure(folder)?.message.contains("labels.jsonl:2: ") == true)
    }
  }

  @Test func theConfigurationIsBesideTheLabels() async throws {
    try await self.withFolder(["labels.txt": "a.wav *go there", "app.yaml": ""]) { folder in
      let sets = try EvaluationSet.load(folder: folder, configuration: nil)
      #expect(sets.map(\.configuration) == ["\(folder)/app.yaml"])
      #expect(sets.first?.labels.first?.domain == nil)
      let other = try EvaluationSet.load(folder: folder, configuration: "other.sal")
      #expect(other.map(\.configuration) == ["other.sal"])
    }
  }

  @Test func foldersInAFolderAreDomains() async throws {
    try await self.withFolder([
      "kitchen/labels.txt": "a.wav *go there",
      "home/labels.jsonl": #"{"file": "b.wav", "intent": "on", "domain": "own"}"#,
      "notes/readme.txt": "",
    ]) { folder in
      let sets = try EvaluationSet.load(folder: folder, configuration: nil)
      #expect(sets.map(\.folder) == [folder, folder])
      #expect(sets.map { $0.labels.map(\.file) } == [["home/b.wav"], ["kitchen/a.wav"]])
      #expect(sets.map { $0.labels.map(\.domain) } == [["own"], ["kitchen"]])
      #expect(sets.last?.configuration == "\(folder)/kitchen")
    }
  }

  @Test func aLimitIsSpreadOverTheSet() {
    var set = EvaluationSet(
      folder: "", configuration: "", labels: (0..<10).map { EvaluationLabel(file: "\($0)") })
    set.limit(to: 4)
    #expect(set.labels.map(\.file) == ["0", "2", "5", "7"])
    set.limit(to: 100)
    #expect(set.labels.count == 4)
  }
}
