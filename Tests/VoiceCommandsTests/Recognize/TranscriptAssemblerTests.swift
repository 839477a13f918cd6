import SpeechPipeline
import Testing

@testable import VoiceCommands

struct TranscriptAssemblerTests {
  private func word(_ text: String, _ start: Int, confidence: Double? = nil) -> RecognizedWord {
    RecognizedWord(
      text: text, start: .milliseconds(start), end: .milliseconds(start + 90), confidence: confidence)
  }

  private let end = SegmentSummary(resumePoint: ResumePoint(sample: 0, adaptation: nil))

  @Test func finalWordsStandBeforeTentativeOnes() {
    var assembler = TranscriptAssembler(contextId: "c")
    let first = assembler.take([
      .hypothesis(segment: 0, firstIndex: 0, words: [self.word("go", 0), self.word("four", 100)])
    ])
    #expect(first.map(\.text) == ["go four"])
    #expect(first[0].words.map(\.isFinal) == [false, false])
    let second = assembler.take([
      .word(segment: 0, index: 0, self.word("go", 0)),
      .hypothesis(segment: 0, firstIndex: 1, words: [self.word("forward", 100)]),
    ])
    #expect(second.map(\.text) == ["go forward"])
    #expect(second[0].words.map(\.isFinal) == [true, false])
  }

  @Test func aHypothesisReplacesTheFormerOne() {
    var assembler = TranscriptAssembler(contextId: "c")
    _ = assembler.take([
      .hypothesis(segment: 0, firstIndex: 0, words: [self.word("a", 0), self.word("b", 100)])
    ])
    #expect(
      assembler.take([.hypothesis(segment: 0, firstIndex: 0, words: [self.word("x", 0)])])[0].text == "x")
    #expect(assembler.take([.hypothesis(segment: 0, firstIndex: 0, words: [])])[0].text == "")
  }

  @Test func endsWithTheFinalWordsOnly() {
    var assembler = TranscriptAssembler(contextId: "c")
    _ = assembler.take([
      .hypothesis(segment: 0, firstIndex: 0, words: [self.word("a", 0), self.word("b", 100)])
    ])
    let ended = assembler.take([
      .word(segment: 0, index: 0, self.word("c", 10, confidence: 0.5)),
      .intent(segment: 0, "greet", isFinal: true),
      .segmentEnded(segment: 0, self.end),
    ])
    #expect(ended.count == 1)
    #expect(ended[0].isFinal)
    #expect(ended[0].text == "c")
    #expect(ended[0].intent == "greet")
    #expect(ended[0].words[0].confidence == 0.5)
    #expect(ended[0].words[0].start == 0.01)
    #expect(ended[0].words[0].end == 0.1)
  }

  @Test func severalSegmentsOfOneStepComeInOrder() {
    var assembler = TranscriptAssembler(contextId: "c")
    let changed = assembler.take([
      .word(segment: 0, index: 0, self.word("a", 0)), .segmentEnded(segment: 0, self.end),
      .hypothesis(segment: 1, firstIndex: 0, words: [self.word("b", 100)]),
    ])
    #expect(changed.map(\.segmentId) == [0, 1])
    #expect(changed.map(\.isFinal) == [true, false])
  }

  @Test func tentativeEntitiesReplaceEachOtherAndFinalsStay() {
    func entity(_ value: String, _ words: Range<Int>) -> RecognizedEntity {
      RecognizedEntity(type: "device", value: value, words: words)
    }
    var assembler = TranscriptAssembler(contextId: "c")
    let first = assembler.take([
      .tentativeEntities(segment: 0, [entity("coffee", 0..<1), entity("tv", 4..<5)]),
      .intent(segment: 0, "turn_on", isFinal: false),
    ])
    #expect(first.map(\.intent) == ["turn_on"])
    #expect(first[0].entities.map(\.value) == ["coffee", "tv"])
    let second = assembler.take([.entity(segment: 0, entity("coffee machine", 0..<2))])
    #expect(second[0].entities.map(\.value) == ["coffee machine", "tv"])
    #expect(second[0].entities[0] == .init(type: "device", value: "coffee machine", start: 0, end: 2))
    let third = assembler.take([.tentativeEntities(segment: 0, [])])
    #expect(third[0].entities.map(\.value) == ["coffee machine"])
    _ = assembler.take([.tentativeEntities(segment: 0, [entity("radio", 4..<5)])])
    let rejected = SegmentSummary(resumePoint: self.end.resumePoint, isRejected: true)
    let last = assembler.take([
      .word(segment: 0, index: 0, self.word("a", 0)), .segmentEnded(segment: 0, rejected),
    ])
    #expect(last[0].entities.map(\.value) == ["coffee machine"])
    #expect(last[0].isRejected)
  }

  @Test func aWordOutOfOrderIsDropped() {
    var assembler = TranscriptAssembler(contextId: "c")
    #expect(assembler.take([.word(segment: 0, index: 5, self.word("x", 0))])[0].words.isEmpty)
  }
}
