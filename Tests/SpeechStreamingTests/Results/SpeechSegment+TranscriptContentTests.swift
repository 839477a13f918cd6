import SpeechStreaming
import Testing
import VoiceCore

struct SpeechSegmentTranscriptContentTests {
  private func segment(words: [(Int, String, Bool)], entities: [(Int, Int)]) -> SpeechSegment {
    SpeechSegment(
      segmentId: 0, contextId: "c", isFinal: false, intent: .Empty,
      entities: entities.map {
        SpeechEntity(value: "v", type: "t", startIndex: $0.0, endIndex: $0.1, isFinal: true)
      },
      transcripts: words.map {
        SpeechTranscript(index: $0.0, value: $0.1, startOffset: 0, endOffset: 0, isFinal: $0.2)
      })
  }

  @Test func entitiesThatAreBackwardsOrBeyondTheWordsDoNoHarm() {
    let segment = segment(words: [(0, "a", true)], entities: [(5, 2), (-3, .max)])
    #expect(segment.transcriptEntities.map(\.words) == [0..<1, 1..<1])
  }

  @Test func wordsAreThoseOfTheSegment() {
    let segment = segment(words: [(1, "on", false), (0, "turn", true)], entities: [])
    #expect(
      segment.transcriptWords == [
        TranscriptWord(text: "turn", isFinal: true), TranscriptWord(text: "on", isFinal: false),
      ])
  }

  @Test func entitiesCoverTheirWordsWhileOthersAreMissing() {
    let segment = segment(
      words: [(2, "the", true), (4, "kitchen", true), (5, "lights", true)], entities: [(4, 6)])
    #expect(segment.transcriptEntities.map(\.words) == [1..<3])
  }
}
