import Testing
import VoiceCore

@testable import PocketSphinxRecognition

struct PocketSphinxVocabularyTests {
  private func engine() throws -> PocketSphinxEngine { try PocketSphinxEngine() }

  @Test func knownWordsAreNoProblem() throws {
    #expect(try self.engine().problems(ofVocabulary: ["kitchen", "Turn ON the lights"]) == [])
    #expect(try self.engine().problems(ofVocabulary: []) == [])
  }

  @Test func wordsThatTheDictionaryLacksAreNamed() throws {
    let problems = try self.engine().problems(ofVocabulary: ["zyxxyz lights", "qwrtz"])
    #expect(problems.map(\.code) == [.vocabularyUnknown])
    #expect(problems.first?.message.contains("“qwrtz”, “zyxxyz”:") == true)
  }

  /// In the dictionary, so that it could be pronounced, but not in the language model, so that it is never heard.
  @Test func wordsThatTheLanguageModelLacksAreNamed() throws {
    let problems = try self.engine().problems(ofVocabulary: ["aaberg"])
    #expect(problems.map(\.code) == [.vocabularyUnknown])
  }

  @Test func manyWordsAreCounted() throws {
    let words = (0..<25).map { "zyxxyz\($0)" }
    let message = try #require(try self.engine().problems(ofVocabulary: words).first).message
    #expect(message.contains("and 15 more"))
  }

  @Test func aModelThatIsGoneIsAProblem() throws {
    var configuration = try self.engine().configuration
    configuration.model.dictionary = "/none-such"
    let problems = PocketSphinxEngine(configuration: configuration).problems(ofVocabulary: ["kitchen"])
    #expect(problems.map(\.code) == [.modelMissing])
    configuration = try self.engine().configuration
    configuration.model.languageModel = "/none-such"
    let others = PocketSphinxEngine(configuration: configuration).problems(ofVocabulary: ["kitchen"])
    #expect(others.map(\.code) == [.modelInvalid])
  }
}
