import SpeechUnderstanding
import Testing
import VoiceCore
import VoiceServer

@testable import VoiceCommands

struct SpokenCommandTests {
  private func hearing(_ annotated: String?) -> EvaluationHearing {
    let meaning = annotated.flatMap { AnnotatedUtterance.parse($0).utterance }
    return EvaluationHearing(words: meaning?.segments.flatMap(\.words) ?? [], meaning: meaning)
  }

  @Test(arguments: ["", "no intent at all", "*turn_on the [lights(device)"])
  func textThatCannotBeReadIsNoCommand(_ text: String) {
    #expect(SpokenCommand(text, "") == nil)
  }

  @Test func otherIntentsAndOtherValuesAreWrong() throws {
    let command = try #require(SpokenCommand("*dim dim the [lights](device) to [forty|40](level)", ""))
    #expect(command.text == "dim the lights to forty")
    #expect(command.isUnderstood(by: self.hearing("*dim dim the [lights](device) to [forty|40](level)")))
    for wrong in [
      "*dim dim the [lights](device) to [fourteen|14](level)", "*dim dim the [lights](device)",
      "*dim dim the [lights](device) to [forty|40](level) in the [kitchen](room)",
      "*turn_on dim the [lights](device) to [forty|40](level)",
      "*dim dim the [lights](device) to [forty|40](level) *turn_on please",
    ] {
      #expect(!command.isUnderstood(by: self.hearing(wrong)), "\(wrong)")
    }
    #expect(!command.isUnderstood(by: self.hearing(nil)))
  }

  @Test func wordsWithoutMeaningMustNotBeUnderstood() throws {
    let command = try #require(SpokenCommand("*_ we had dinner", ""))
    #expect(!command.isCovered)
    #expect(command.text == "we had dinner")
    #expect(command.isUnderstood(by: self.hearing(nil)))
    #expect(!command.isUnderstood(by: self.hearing("*turn_on we had dinner")))
  }

  @Test func takesSegmentsAsTheyCome() {
    var segment = TranscriptSegment.of(
      "dim to forty", isFinal: true, intent: "dim",
      entities: [.init(type: "level", value: "40", start: 2, end: 3)])
    #expect(EvaluationHearing(segments: [segment]).meaning?.text == "*dim dim to [forty|40](level)")
    #expect(EvaluationHearing(segments: [segment]).words == ["dim", "to", "forty"])
    // A server may name words that it has not told.
    segment.entities = [.init(type: "level", value: "40", start: 7, end: 2)]
    #expect(
      EvaluationHearing(segments: [segment]).meaning?.segments.first?.entities.first?.normalizedValue == "40")
    #expect(EvaluationHearing(segments: [.of("we had", isFinal: true)]).meaning == nil)
  }

  /// If every word is heard rightly, everything is understood: what goes wrong in the demonstration was misheard.
  @Test func theDemoAppUnderstandsTheTextsAsTheyAreMeant() throws {
    #expect(SpokenCommand.all.count == 7)
    let loaded = VoiceInterface.load(files: DemoInterface.files, packs: InterfaceFile.packs)
    let understanding = try Understanding(try #require(loaded.interface), language: EnglishPack())
    for command in SpokenCommand.all where command.isCovered {
      let understood = understanding.understand(command.text, in: .current)
      #expect(understood?.annotated.text == command.meaning.text)
    }
    #expect(SpokenCommand.all.contains { !$0.isCovered })
    #expect(SpokenCommand.all.contains { $0.meaning.segments.count == 2 })
  }
}

struct VoiceRotationTests {
  private let first = SynthesizedVoice(program: .flite, name: "first")
  private let second = SynthesizedVoice(program: .festival, name: "second")

  @Test func nobodySpeaksIfNobodyIsThere() {
    var rotation = VoiceRotation([])
    #expect(rotation.next() == nil)
  }

  @Test func whoFailedSpeaksNoMore() {
    var rotation = VoiceRotation([self.first, self.second])
    rotation.failed(self.first)
    #expect(rotation.next() == self.second)
    #expect(rotation.next() == self.second)
    rotation.failed(self.second)
    #expect(rotation.next() == nil)
  }

  @Test func voicesTakeTurns() {
    var rotation = VoiceRotation([self.first, self.second])
    #expect([rotation.next(), rotation.next(), rotation.next()] == [self.first, self.second, self.first])
  }
}
