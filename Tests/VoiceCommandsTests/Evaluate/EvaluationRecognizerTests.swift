import SpeechPipeline
import SpeechUnderstanding
import Testing

@testable import VoiceCommands

struct EvaluationRecognizerTests {
  private func word(_ segment: Int, _ index: Int, _ text: String) -> RecognitionEvent {
    .word(segment: segment, index: index, RecognizedWord(text: text, start: .zero, end: .zero))
  }

  @Test func onlyWhatIsFinalCounts() {
    let hearing = EvaluationHearing([
      .hypothesis(segment: 0, firstIndex: 0, words: [RecognizedWord(text: "torn", start: .zero, end: .zero)]),
      .intent(segment: 0, "off", isFinal: false), .tentativeEntities(segment: 0, []),
      .intent(segment: 0, "on", isFinal: true), self.word(0, 0, "turn"), self.word(0, 1, "on"),
      self.word(0, 2, "six"),
      .entity(segment: 0, RecognizedEntity(type: "number", value: "6", words: 2..<3)),
      self.word(1, 0, "go"), .intent(segment: 1, "go", isFinal: true),
    ])
    #expect(hearing.words == ["turn", "on", "six", "go"])
    #expect(hearing.meaning?.text == "*on turn on [six|6](number) *go go")
  }

  @Test func rejectedSpeechHasNoMeaning() {
    let hearing = EvaluationHearing([self.word(0, 0, "hello"), .intent(segment: 0, "", isFinal: true)])
    #expect(hearing.words == ["hello"])
    #expect(hearing.meaning == nil)
    #expect(EvaluationHearing([]).meaning == nil)
  }

  @Test func placesOutsideTheWordsDoNoHarm() {
    let hearing = EvaluationHearing([
      self.word(0, 0, "on"), .intent(segment: 0, "on", isFinal: true),
      .entity(segment: 0, RecognizedEntity(type: "number", value: "6", words: 3..<5)),
    ])
    #expect(hearing.meaning?.segments.first?.entities.first?.value == "")
  }

  @Test func audioOfATelephoneComesToTheRateOfRecognisers() throws {
    let audio = EvaluationAudio(samples: [Int16](repeating: 500, count: 800), sampleRate: 8_000)
    #expect(try audio.resampled().count == 1_600)
    #expect(EvaluationAudio(file: "../a/./b.wav", samples: []).path == "clean/a/b.wav")
  }
}
