import Testing

@testable import SpeechStreaming

/// Intents and entities of a segment while it is spoken (protocol §2.5).
struct SegmentAssemblerTests {
  private var assembler = SegmentAssembler(contextId: "c")

  private func entity(_ value: String, _ range: Range<Int>, isFinal: Bool = false) -> SpeechEntity {
    SpeechEntity(
      value: value, type: "device", startIndex: range.lowerBound, endIndex: range.upperBound, isFinal: isFinal
    )
  }

  private func intent(_ value: String, isFinal: Bool = false) -> SpeechIntent {
    SpeechIntent(value: value, isFinal: isFinal)
  }

  @Test func tentativeEntitiesReplaceEachOtherAndFinalsStay() {
    var assembler = self.assembler
    let final = self.entity("lights", 3..<4, isFinal: true)
    _ = assembler.receivedTentativeEntities(
      [self.entity("light", 3..<4), self.entity("coffee", 6..<7)], segmentId: 0, isReplay: false)
    _ = assembler.receivedEntity(final, segmentId: 0, isReplay: false)
    #expect(assembler.segments[0]?.entities == [final, self.entity("coffee", 6..<7)])
    let grown = self.entity("coffee machine", 6..<8)
    _ = assembler.receivedTentativeEntities([grown], segmentId: 0, isReplay: false)
    #expect(assembler.segments[0]?.entities == [final, grown])
    _ = assembler.receivedTentativeEntities([], segmentId: 0, isReplay: false)
    #expect(assembler.segments[0]?.entities == [final])
  }

  @Test func aFinalEntityIsNeitherRepeatedNorChanged() {
    var assembler = self.assembler
    let final = self.entity("lights", 3..<4, isFinal: true)
    _ = assembler.receivedEntity(final, segmentId: 0, isReplay: false)
    let again = assembler.receivedEntity(
      self.entity("radio", 3..<4, isFinal: true), segmentId: 0, isReplay: false)
    #expect(again.violation != nil && again.items.isEmpty && again.segment == nil)
    let tentative = assembler.receivedTentativeEntities(
      [self.entity("radio", 3..<4), self.entity("tv", 5..<6)], segmentId: 0, isReplay: false)
    #expect(tentative.violation != nil)
    #expect(assembler.segments[0]?.entities == [final, self.entity("tv", 5..<6)])
  }

  @Test(arguments: [0..<0, -1..<1, -3 ..< -1])
  func entitiesWithoutWordsAreDropped(range: Range<Int>) {
    var assembler = self.assembler
    let update = assembler.receivedEntity(self.entity("x", range), segmentId: 0, isReplay: false)
    #expect(update.violation != nil)
    _ = assembler.receivedTentativeEntities([self.entity("x", range)], segmentId: 0, isReplay: false)
    #expect(assembler.segments[0]?.entities.isEmpty != false)
  }

  @Test func anIntentMayChangeUntilItIsFinal() {
    var assembler = self.assembler
    for value in ["turn_on", "turn_off", ""] {
      _ = assembler.receivedIntent(self.intent(value), segmentId: 0, isReplay: false)
      #expect(assembler.segments[0]?.intent ?? .Empty == self.intent(value))
    }
    _ = assembler.receivedIntent(self.intent("turn_on", isFinal: true), segmentId: 0, isReplay: false)
    let late = assembler.receivedIntent(self.intent("turn_off"), segmentId: 0, isReplay: false)
    #expect(late.violation != nil)
    #expect(assembler.segments[0]?.intent == self.intent("turn_on", isFinal: true))
  }

  @Test func theEndDropsWhatIsTentative() throws {
    var assembler = self.assembler
    let word = SpeechTranscript(index: 0, value: "turn", startOffset: 0, endOffset: 1, isFinal: true)
    _ = assembler.receivedWord(word, segmentId: 0, isReplay: false)
    _ = assembler.receivedTentativeEntities([self.entity("x", 0..<1)], segmentId: 0, isReplay: false)
    _ = assembler.receivedIntent(self.intent("turn_on", isFinal: true), segmentId: 0, isReplay: false)
    _ = assembler.receivedSegmentEnd(segmentId: 0, isReplay: false)
    let segment = try #require(assembler.segments[0])
    #expect(segment.isFinal && segment.entities.isEmpty && segment.intent.value == "turn_on")
  }

  /// After a break the server tells the open segment again.
  @Test func aReplayThatAgreesIsSilent() {
    var assembler = self.assembler
    let final = self.entity("lights", 3..<4, isFinal: true)
    _ = assembler.receivedEntity(final, segmentId: 0, isReplay: false)
    _ = assembler.receivedIntent(self.intent("turn_on", isFinal: true), segmentId: 0, isReplay: false)
    for update in [
      assembler.receivedEntity(final, segmentId: 0, isReplay: true),
      assembler.receivedIntent(self.intent("turn_on"), segmentId: 0, isReplay: true),
      assembler.receivedIntent(self.intent("turn_on", isFinal: true), segmentId: 0, isReplay: true),
    ] {
      #expect(update.violation == nil && update.items.isEmpty && update.segment == nil)
    }
    let other = assembler.receivedIntent(self.intent("turn_off", isFinal: true), segmentId: 0, isReplay: true)
    #expect(other.violation != nil)
    #expect(assembler.segments[0]?.intent.value == "turn_on")
  }
}
