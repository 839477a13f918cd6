import SpeechUnderstanding
import Testing

@testable import VoiceCommands

struct EvaluationScoreTests {
  private func score(_ label: String, words: String, meaning: String?) throws -> EvaluationScore {
    let labels = EvaluationLabel.parse(label).labels
    return EvaluationScore(
      label: try #require(labels.first), condition: .clean,
      hearing: EvaluationHearing(
        words: words.split(separator: " ").map(String.init),
        meaning: meaning.flatMap { AnnotatedUtterance.parse($0).utterance }))
  }

  @Test func aWrongValueIsNotAccepted() throws {
    let score = try self.score(
      "a.wav *set the [red](color) lamp to [five|5](level)", words: "set the bed lamp to nine",
      meaning: "*set the [bed](color) lamp to [nine|9](level)")
    #expect(score.isIntentRight)
    #expect(!score.isAccepted)
    #expect(
      score.confusedEntities == [
        .init(name: "color", expected: "red", understood: "bed"),
        .init(name: "level", expected: "five", understood: "nine"),
      ])
  }

  @Test func missingAndAdditionalValuesAreNotAccepted() throws {
    let missing = try self.score("a.wav *go [left](side)", words: "go", meaning: "*go go")
    #expect(missing.confusedEntities == [.init(name: "side", expected: "left", understood: nil)])
    let additional = try self.score("a.wav *go there", words: "go left", meaning: "*go go [left](side)")
    #expect(additional.confusedEntities == [.init(name: "side", expected: nil, understood: "left")])
    #expect(!missing.isAccepted && !additional.isAccepted)
    let twice = try self.score("a.wav *go [left](side)", words: "", meaning: "*go [left](side) [left](side)")
    #expect(!twice.isAccepted)
  }

  @Test func aWrongIntentIsOneMistakeAndNotOneForEachValue() throws {
    let score = try self.score(
      "a.wav *on the [radio](device)", words: "", meaning: "*off the [lights](device)")
    #expect(!score.isIntentRight)
    #expect(score.confusedEntities.isEmpty)
    let half = try self.score("a.wav *on it *off it", words: "", meaning: "*on it")
    #expect(!half.isIntentRight)
  }

  @Test func spokenWordsOrTheNormalFormAreRightInAnyOrder() throws {
    let label = #"{"file": "a.wav", "intent": "set", "entities": {"level": "5", "color": "Light  Blue"}}"#
    let score = try self.score(
      label, words: "x", meaning: "*set [light blue](color) [five|5](level)")
    #expect(score.isAccepted)
    #expect(score.wordErrors == nil)
    let reordered = try self.score(label, words: "x", meaning: "*set [FIVE|5](level) [light blue](color)")
    #expect(reordered.isAccepted)
  }

  @Test func speechOutsideTheGrammarIsRightWhenItIsRejected() throws {
    let label = #"{"file": "a.wav", "text": "good morning", "in_grammar": false}"#
    #expect(try self.score(label, words: "", meaning: nil).isAccepted)
    #expect(try self.score(label, words: "good", meaning: nil).isRejected)
    #expect(try self.score(label, words: "on", meaning: "*_ on").isRejected)
    let taken = try self.score(label, words: "on", meaning: "*on on")
    #expect(!taken.isAccepted)
    #expect(!taken.isRejected)
  }

  @Test func wordsAreComparedWithoutCaseAndPunctuation() throws {
    let score = try self.score("a.wav *on Turn on, please", words: "turn of please", meaning: nil)
    #expect(score.wordErrors == 1)
    #expect(score.isSentenceRight == false)
    #expect(!score.isIntentRight)
  }

  @Test func theConditionOfTheRecordingComesFirst() throws {
    var label = EvaluationLabel(file: "a.wav")
    label.condition = "street"
    let hearing = EvaluationHearing(words: [], meaning: nil)
    #expect(EvaluationScore(label: label, condition: .clean, hearing: hearing).condition == "street")
    #expect(
      EvaluationScore(label: label, condition: .telephone, hearing: hearing).condition == "street + telephone"
    )
  }
}
