import Foundation
import SpeechPipeline
import SpeechProtocol
import Testing
import VoiceTesting

@testable import SpeechMessages

@Suite struct ContextOutputTests {
  static let id = "11111111-2222-4333-8444-555555555555"

  static func output(rate: Int = 16_000, tokens: OpenResumePoints? = nil) -> ContextOutput {
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

  @Test func resumePointsAreOnlySaidWhenAskedFor() {
    let adaptation = RecognizerAdaptation(bytes: [1, 2, 3])
    var plain = Self.output()
    _ = plain.responses(to: .word(segment: 0, index: 0, Self.word("a")))
    let without = plain.responses(
      to: .segmentEnded(segment: 0, Self.summary(sample: 9, adaptation: adaptation)))
    #expect(without.last?.segmentEnd == .init())
    let tokens = OpenResumePoints()
    var asking = Self.output(rate: 8_000, tokens: tokens)
    _ = asking.responses(to: .word(segment: 0, index: 0, Self.word("a")))
    let with = asking.responses(
      to: .segmentEnded(segment: 0, Self.summary(sample: 16_001, adaptation: adaptation)))
    // At the client's own rate: half as many samples as the recogniser heard.
    #expect(with.last?.segmentEnd.nextSample == 8_000)
    #expect(tokens.open(text: with.last?.segmentEnd.resumeToken.base64EncodedString() ?? "") == adaptation)
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

  // MARK: Intents and entities

  static func entity(_ value: String, _ words: Range<Int>) -> RecognizedEntity {
    RecognizedEntity(type: "device", value: value, words: words)
  }

  @Test func entitiesAreSaidWithTheirWordsAndTheirNormalForm() {
    var output = Self.output()
    for (index, text) in ["at", "three", "thirty"].enumerated() {
      _ = output.responses(to: .word(segment: 0, index: index, Self.word(text)))
    }
    let tentative = output.responses(to: .tentativeEntities(segment: 0, [Self.entity("3", 1..<2)]))
    #expect(tentative.map { $0.tentativeEntities.tentativeEntities.map(\.value) } == [["3"]])
    let final = output.responses(to: .entity(segment: 0, Self.entity("03:30", 1..<3)))
    #expect(final.map(\.entity.entity) == ["device"])
    #expect(final.map(\.entity.value) == ["03:30"])
    #expect(final.map(\.entity.startPosition) == [1])
    #expect(final.map(\.entity.endPosition) == [3])
    // What is final comes neither again nor as tentative.
    #expect(output.responses(to: .entity(segment: 0, Self.entity("x", 1..<3))) == [])
    let list = [Self.entity("x", 1..<3), Self.entity("y", 0..<1), Self.entity("z", 0..<1)]
    let rest = output.responses(to: .tentativeEntities(segment: 0, list))
    #expect(rest.map { $0.tentativeEntities.tentativeEntities.map(\.value) } == [["y"]])
  }

  @Test func nothingFollowsAFinalIntent() {
    var output = Self.output()
    _ = output.responses(to: .word(segment: 0, index: 0, Self.word("a")))
    #expect(
      output.responses(to: .intent(segment: 0, "greet", isFinal: true)).map(\.intent.intent) == ["greet"])
    #expect(output.responses(to: .intent(segment: 0, "other", isFinal: true)) == [])
    #expect(output.responses(to: .intent(segment: 0, "other", isFinal: false)) == [])
  }

  @Test func nothingFollowsASegmentsEnd() {
    var output = Self.output()
    _ = output.responses(to: .word(segment: 0, index: 0, Self.word("a")))
    _ = output.responses(to: .segmentEnded(segment: 0, Self.summary()))
    for event in Self.events(of: 0) { #expect(output.responses(to: event) == []) }
  }

  @Test func aSegmentWithoutAFinalWordDoesNotEnd() {
    var output = Self.output()
    _ = output.responses(to: .hypothesis(segment: 0, firstIndex: 0, words: [Self.word("a")]))
    #expect(output.responses(to: .segmentEnded(segment: 0, Self.summary())) == [])
  }

  @Test func aSegmentThatComesAgainIsSaidToTheClient() {
    var output = Self.output(tokens: OpenResumePoints())
    _ = output.responses(to: .word(segment: 0, index: 0, Self.word("a")))
    let point = ResumePoint(sample: 0, adaptation: nil, repeatedSegments: 1)
    let end = output.responses(to: .segmentEnded(segment: 0, SegmentSummary(resumePoint: point))).last
    #expect(end?.segmentEnd.repeatedSegments == 1)
    #expect(end?.segmentEnd.resumeToken.isEmpty == false)
  }

  static func events(of segment: Int) -> [RecognitionEvent] {
    [
      .hypothesis(segment: segment, firstIndex: 0, words: [Self.word("a")]),
      .word(segment: segment, index: 1, Self.word("a")),
      .tentativeEntities(segment: segment, [Self.entity("a", 0..<1)]),
      .entity(segment: segment, Self.entity("a", 0..<1)), .intent(segment: segment, "a", isFinal: false),
      .intent(segment: segment, "a", isFinal: true), .segmentEnded(segment: segment, Self.summary()),
    ]
  }

  /// Whatever the pipeline says, in whatever order: no rule of the protocol is broken.
  @Test(arguments: 0..<12)
  func noSequenceOfEventsBreaksARule(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    for _ in 0..<25 {
      var output = Self.output()
      var rules = ResponseRules()
      rules.check(output.started())
      for _ in 0..<number(0...120) {
        let segment = number(0...2)
        let words = (0..<number(0...4)).map { _ in
          let start = number(-100...3000)
          return Self.word("w", start, start + number(-50...300))
        }
        func entity() -> RecognizedEntity {
          let start = number(-1...6)
          return Self.entity("v", start..<start + number(0...3))
        }
        let event: RecognitionEvent
        switch number(0...19) {
        case 0...5: event = .hypothesis(segment: segment, firstIndex: number(0...6), words: words)
        case 6...10: event = .word(segment: segment, index: number(0...7), words.first ?? Self.word("a"))
        case 11...13: event = .tentativeEntities(segment: segment, (0..<number(0...3)).map { _ in entity() })
        case 14...16: event = .entity(segment: segment, entity())
        case 17: event = .intent(segment: segment, "i", isFinal: number(0...2) == 0)
        case 18: event = .intent(segment: segment, "", isFinal: false)
        default: event = .segmentEnded(segment: segment, Self.summary())
        }
        for response in output.responses(to: event) { rules.check(response) }
      }
      // Whoever made the events ends what it began.
      for segment in 0...2 {
        for response in output.responses(to: .segmentEnded(segment: segment, Self.summary())) {
          rules.check(response)
        }
      }
      rules.check(output.finished())
      rules.finish()
      #expect(rules.violations == [])
    }
  }
}
