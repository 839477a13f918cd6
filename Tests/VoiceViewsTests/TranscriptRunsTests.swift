import Testing
import VoiceCore

@testable import VoiceViews

struct TranscriptRunsTests {
  private func words(_ text: String, final count: Int = .max) -> [TranscriptWord] {
    text.split(separator: " ").enumerated().map { TranscriptWord(text: String($1), isFinal: $0 < count) }
  }

  private func entity(_ type: String, _ words: Range<Int>, _ value: String = "v") -> TranscriptEntity {
    TranscriptEntity(type: type, value: value, words: words, isFinal: true)
  }

  @Test func entitiesOutsideTheWordsAreCutOffOrLeftOut() {
    let runs = TranscriptRuns(
      words: words("turn on the"),
      entities: [entity("device", 2..<5), entity("room", 7..<9), entity("x", -4 ..< -1), entity("y", 1..<1)])
    #expect(runs.runs.map(\.text) == ["turn on", "the"])
    #expect(runs.runs.map { $0.entity?.type } == [nil, "device"])
  }

  @Test func ofEntitiesThatShareWordsTheLongerOneStays() {
    let runs = TranscriptRuns(
      words: words("a b c d"),
      entities: [entity("short", 1..<2), entity("long", 1..<3), entity("other", 1..<3)])
    #expect(runs.runs.map { $0.entity?.type } == [nil, "long", nil])
  }

  @Test func nothingGivesNoRuns() {
    let runs = TranscriptRuns(words: [], entities: [entity("a", 0..<1)])
    #expect(runs.runs.isEmpty)
    #expect(runs.accessibilityText == "")
  }

  @Test func wordsAreDividedByEntityAndByWhetherTheyMayChange() {
    let runs = TranscriptRuns(
      words: words("turn on the kitchen lights now please", final: 4),
      entities: [entity("device", 3..<5), entity("time", 5..<6)])
    #expect(runs.runs.map(\.text) == ["turn on the", "kitchen", "lights", "now", "please"])
    #expect(runs.runs.map(\.style) == [.settled, .settled, .tentative, .tentative, .tentative])
    #expect(runs.runs.map { $0.entity?.type } == [nil, "device", "device", "time", nil])
    #expect(runs.runs.map(\.id) == [0, 3, 4, 5, 6])
    #expect(runs.text == "turn on the kitchen lights now please")
  }

  @Test func entitiesOfOneTypeHaveOneColour() {
    let runs = TranscriptRuns(
      words: words("a b c"), entities: [entity("x", 0..<1), entity("y", 1..<2), entity("x", 2..<3)])
    #expect(runs.runs.map(\.colour) == [0, 1, 0])
  }

  @Test func aScreenReaderIsToldWordsValuesAndThatMoreMayCome() {
    let runs = TranscriptRuns(
      words: words("at three thirty in the kitchen", final: 2),
      entities: [entity("start_time", 1..<3, "15:30"), entity("room", 5..<6, "Kitchen")])
    #expect(
      runs.accessibilityText
        == "at three thirty in the kitchen; start time: three thirty, 15:30; room: kitchen; not final")
  }
}
