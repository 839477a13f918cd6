import SpeechPipeline
import Testing

@testable import PocketSphinxRecognition

struct VocabularyPreferenceTests {
  @Test func withoutAVocabularyOrABiasNothingElseIsLookedAt() {
    #expect(VocabularyPreference(vocabulary: [], bias: 1).alternativeCount == 0)
    #expect(VocabularyPreference(vocabulary: [" ", ""], bias: 1).alternativeCount == 0)
    #expect(VocabularyPreference(vocabulary: ["a"], bias: 0).alternativeCount == 0)
    #expect(VocabularyPreference(vocabulary: ["a"], bias: .nan).alternativeCount == 0)
    #expect(VocabularyPreference(vocabulary: ["a"], bias: 7).alternativeCount == 20)
  }

  @Test func theTranscriptionWithMostWordsOfTheVocabularyIsPreferred() {
    let preference = VocabularyPreference(vocabulary: ["Wi Fi", "turn on", "gadget"], bias: 1)
    #expect(
      preference.preferred(among: [
        ["turn", "on", "the", "why", "fry"], ["turn", "on", "the", "wi", "fi"], ["turn", "the", "wi", "fi"],
      ]) == 1)
  }

  @Test func theLikeliestIsPreferredAmongEquals() {
    let preference = VocabularyPreference(vocabulary: ["lights"], bias: 1)
    #expect(preference.preferred(among: [["on"], ["off"]]) == 0)
    #expect(preference.preferred(among: [["on"], ["lights"], ["lights", "on"]]) == 1)
    #expect(preference.preferred(among: [[]]) == 0)
  }

  @Test func aWordOfTheVocabularyIsHeardInsteadOfALikelierOne() throws {
    let recognizer = try PocketSphinxEngine().makeRecognizer()
    func hear(_ task: RecognitionTask, alternatives: Int = 0) throws -> RecognitionResult {
      try recognizer.begin(task)
      try Recording.librivox[0].samples.withUnsafeBufferPointer { _ = try recognizer.process($0) }
      return try recognizer.finish(alternatives: alternatives)
    }
    let usual = try hear(RecognitionTask(), alternatives: 5)
    let usualWords = Set(usual.words.map(\.text))
    let other = try #require(
      usual.alternatives.joined().map(\.text).first { !usualWords.contains($0) }, "all alternatives are alike"
    )
    let biased = try hear(RecognitionTask(vocabulary: [other], vocabularyBias: 1))
    #expect(biased.words.map(\.text).contains(other))
    let unbiased = try hear(RecognitionTask(vocabulary: [other], vocabularyBias: 0))
    #expect(unbiased.words.map(\.text) == usual.words.map(\.text))
  }
}
