import Foundation
import Testing
import VoiceCore

@testable import PocketSphinxRecognition

struct PronunciationDictionaryTests {
  private func look(up words: Set<String>, in text: String) throws -> [String: [String]] {
    let path = NSTemporaryDirectory() + "words-\(UUID().uuidString).dict"
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8)))
    return try PronunciationDictionary(path: path).pronunciations(of: words).mapValues {
      $0.map(\.description)
    }
  }

  @Test func aMissingFileIsNamed() {
    let failure = #expect(throws: VoiceFailure.self) {
      try PronunciationDictionary(path: "/none-such.dict").pronunciations(of: ["a"])
    }
    #expect(failure?.code == .modelMissing)
    #expect(failure?.message.contains("/none-such.dict") == true)
  }

  @Test(arguments: [
    "", "\n\n\n", "word", "word ", "word\t\n", "(2) A\n", " word A\n", "\u{FEFF}word A", "##word A\n",
  ])
  func linesWithoutAWordOrPhonesAreSkipped(text: String) throws {
    #expect(try self.look(up: ["word", ""], in: text).isEmpty)
  }

  @Test func readsAllPronunciationsOfAWord() throws {
    let text = "re R IY\nread R EH D\nread(2) R IY D\r\nread's R IY D Z\nreads\tR  IY D Z"
    #expect(
      try self.look(up: ["read", "reads", "write"], in: text)
        == ["read": ["R EH D", "R IY D"], "reads": ["R IY D Z"]])
  }

  @Test func bytesThatAreNoTextAreNoWords() throws {
    let path = NSTemporaryDirectory() + "words-\(UUID().uuidString).dict"
    defer { try? FileManager.default.removeItem(atPath: path) }
    var bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7919 >> 3) }
    bytes += Array("\nword W ER D\n".utf8)
    #expect(FileManager.default.createFile(atPath: path, contents: Data(bytes)))
    let found = try PronunciationDictionary(path: path).pronunciations(of: ["word"])
    #expect(found["word"]?.map(\.description) == ["W ER D"])
  }

  @Test func theInstalledDictionaryHasItsFirstAndLastWord() throws {
    let model = try PocketSphinxModel.find(language: "en-US")
    let found = try PronunciationDictionary(path: model.dictionary).pronunciations(of: [
      "'bout", "read", "zywicki", "kotlin",
    ])
    #expect(found["'bout"]?.map(\.description) == ["B AW T"])
    #expect(found["read"]?.count == 2)
    #expect(found["kotlin"] == nil)
  }
}
