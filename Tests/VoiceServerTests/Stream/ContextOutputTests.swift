import Foundation
import SpeechPipeline
import SpeechProtocol
import Testing
import VoiceTesting

@testable import VoiceServer

@Suite struct ContextOutputTests {
  static let id = "11111111-2222-4333-8444-555555555555"

  static func output(rate: Int = 16_000, tokens: ResumeTokens? = nil) -> ContextOutput {
    ContextOutput(
      contextID: self.id, sampleRate: rate, measuresRoundTrips: false, resumeTokens: tokens)
  }

  static func word(_ text: String, _ start: Int = 0, _ end: Int = 100) -> RecognizedWord {
    RecognizedWord(text: text, start: .milliseconds(start), end: .milliseconds(end))
  }

  static func summary(sample: Int64 = 0, adaptation: RecognizerAdaptation? = nil) -> SegmentSummary {
    SegmentSummary(resumePoint: ResumePoint(sample: sample, adaptation: adaptation))
  }

  @Test func theTentativeTextIsCumulativeButTheWordsAreNot() {
    var output = Self.output()
    _ = output.responses(to: .word(segment: 0, index: 0, Self.word("turn")))
    let responses = output.responses(
      to: .hypothesis(segment: 0, firstIndex: 1, words: [Self.word("on", 300, 420)]))
    #expect(responses.count == 1)
    #expect(responses.first?.tentativeTranscript.tentativeTranscript == "turn on")
    #expect(responses.first?.tentativeTranscript.tentativeWords.map(\.index) == [1])
    #expect(responses.first?.tentativeTranscript.tentativeWords.map(\.startTime) == [300])
    #expect(responses.first?.tentativeTranscript.tentativeWords.map(\.endTime) == [420])
  }

  @Test func silenceOpensNoSegment() {
    var output = Self.output()
    #expect(output.responses(to: .hypothesis(segment: 0, firstIndex: 0, words: [])) == [])
    _ = output.responses(to: .hypothesis(segment: 0, firstIndex: 0, words: [Self.word("a")]))
    // A guess that was taken back is replaced by nothing.
    #expect(output.responses(to: .hypothesis(segment: 0, firstIndex: 0, words: [])).count == 1)
  }

  @Test func anIntentComesBeforeEverySegmentEnd() {
    var output = Self.output()
    _ = output.responses(to: .word(segment: 0, index: 0, Self.word("a")))
    let bare = output.responses(to: .segmentEnded(segment: 0, Self.summary()))
    #expect(bare.map(\.streamingResponse) == [.intent(.init()), .segmentEnd(.init())])
    _ = output.responses(to: .word(segment: 1, index: 0, Self.word("a")))
    _ = output.responses(to: .intent(segment: 1, "greet", isFinal: true))
    let given = output.responses(to: .segmentEnded(segment: 1, Self.summary()))
    #expect(given.map(\.streamingResponse) == [.segmentEnd(.init())])
  }

  @Test func aTentativeIntentIsSaidAsSuch() {
    var output = Self.output()
    let responses = output.responses(to: .intent(segment: 0, "greet", isFinal: false))
    #expect(responses.map(\.tentativeIntent.intent) == ["greet"])
  }

  @Test func resumePointsAreOnlySaidWhenAskedFor() async throws {
    let adaptation = RecognizerAdaptation(bytes: [1, 2, 3])
    var plain = Self.output()
    let without = plain.responses(
      to: .segmentEnded(segment: 0, Self.summary(sample: 9, adaptation: adaptation)))
    #expect(without.last?.segmentEnd == .init())
    let tokens = try await ResumeTokens(key: Fixture.key())
    var asking = Self.output(rate: 8_000, tokens: tokens)
    let with = asking.responses(
      to: .segmentEnded(segment: 0, Self.summary(sample: 16_001, adaptation: adaptation)))
    // At the client's own rate: half as many samples as the recogniser heard.
    #expect(with.last?.segmentEnd.nextSample == 8_000)
    #expect(tokens.open(Array(with.last?.segmentEnd.resumeToken ?? .init())) == adaptation)
  }

  @Test(arguments: [
    (Duration.zero, Int32(0)), (.milliseconds(1234), 1234), (.microseconds(1999), 1), (.seconds(-1), -1000),
    (.seconds(2_147_483), 2_147_483_000), (.seconds(2_147_484), .max), (.seconds(Int64.max), .max),
    (.seconds(Int64.min), .min),
  ])
  func timesNeverOverflow(_ time: Duration, _ milliseconds: Int32) {
    #expect(ContextOutput.milliseconds(time) == milliseconds)
  }

  @Test func hugeNumbersAreLimited() {
    var output = Self.output()
    let response = output.responses(
      to: .word(
        segment: .max, index: .max,
        RecognizedWord(text: "x", start: .seconds(Int64.max), end: .seconds(Int64.max)))
    ).first
    #expect(response?.segmentID == .max)
    #expect(response?.transcript.index == .max)
    #expect(response?.transcript.endTime == .max)
  }

  @Test func everyMessageNamesItsContext() {
    var output = Self.output()
    let events: [RecognitionEvent] = [
      .hypothesis(segment: 0, firstIndex: 0, words: [Self.word("a")]),
      .word(segment: 0, index: 0, Self.word("a")), .intent(segment: 0, "", isFinal: true),
      .segmentEnded(segment: 0, Self.summary()),
    ]
    var rules = ResponseRules(allowsRoundTrips: true)
    rules.check(output.started())
    rules.check(output.roundTripRequest(1))
    for event in events { for response in output.responses(to: event) { rules.check(response) } }
    rules.check(output.finished())
    rules.finish()
    #expect(rules.violations.isEmpty)
  }
}
