import SpeechProtocol
import Testing
import VoiceTesting

@Suite struct ResponseRulesTests {
  static let context = "11111111-2222-4333-8444-555555555555"

  typealias Response = Speechly_Slu_V1_SLUResponse

  static func response(
    _ segment: Int32 = 0, context: String = Self.context, _ fill: (inout Response) -> Void
  ) -> Response {
    var response = Response()
    response.audioContext = context
    response.segmentID = segment
    fill(&response)
    return response
  }

  static func word(_ index: Int32, _ start: Int32 = 0, _ end: Int32 = 10) -> Speechly_Slu_V1_SLUTranscript {
    var word = Speechly_Slu_V1_SLUTranscript()
    word.word = "word"
    word.index = index
    word.startTime = start
    word.endTime = end
    return word
  }

  static let started = response { $0.started = .init() }
  static let finished = response { $0.finished = .init() }
  static func final(_ index: Int32, segment: Int32 = 0) -> Response {
    response(segment) { $0.transcript = word(index) }
  }
  static func tentative(_ indices: Int32...) -> Response {
    response { $0.tentativeTranscript.tentativeWords = indices.map { word($0) } }
  }
  static let intent = response { $0.intent.intent = "" }
  static let end = response { $0.segmentEnd = .init() }

  static func violations(_ responses: [Response]) -> [ResponseRules.Violation] {
    var rules = ResponseRules()
    for response in responses { rules.check(response) }
    return rules.violations
  }

  @Test func acceptsACompleteContext() {
    var rules = ResponseRules()
    for response in [
      Self.started, Self.tentative(0, 1), Self.final(0), Self.tentative(1), Self.final(1), Self.intent,
      Self.end, Self.finished,
    ] {
      rules.check(response)
    }
    rules.finish()
    #expect(rules.violations.isEmpty)
    #expect(rules.contextIDs == [Self.context])
  }

  @Test func acceptsAContextWithoutSegments() {
    #expect(Self.violations([Self.started, Self.finished]).isEmpty)
  }

  @Test(arguments: [
    ([started, started], ResponseRules.Violation.startedTwice(context: context)),
    ([tentative(0)], .notStarted(context: context)),
    ([started, finished, tentative(0)], .afterFinished(context: context)),
    ([started, final(0), final(0)], .finalWordTwice(segment: 0, index: 0)),
    ([started, final(0), tentative(0, 1)], .tentativeRepeatsFinalWord(segment: 0, index: 0)),
    ([started, tentative(1, 0)], .tentativeWordsOutOfOrder(segment: 0)),
    ([started, final(0), end], .segmentEndWithoutIntent(segment: 0)),
    ([started, intent, end], .segmentEndWithoutWord(segment: 0)),
    ([started, final(0), intent, intent], .intentAfterFinalOne(segment: 0)),
    ([started, final(0), intent, end, tentative(1)], .afterSegmentEnd(segment: 0)),
    ([started, final(-1)], .negativeNumber(segment: 0)),
    (
      [started, response { $0.transcript = word(0, 20, 10) }],
      .wordEndsBeforeItStarts(segment: 0, index: 0)
    ),
    ([started, response { $0.rttRequest.id = 1 }], .roundTripNotAskedFor),
    ([started, response { _ in }], .emptyResponse),
    ([response(context: "x") { $0.started = .init() }], .contextIsNotUUID("x")),
    ([response(3) { $0.started = .init() }], .segmentInStartedOrFinished(3)),
    ([started, response { $0.finished.error.code = "x" }], .finishedWithError),
  ])
  func reports(_ responses: [Response], _ violation: ResponseRules.Violation) {
    #expect(Self.violations(responses).contains(violation))
  }

  @Test func reportsAnEntityThatRepeatsAFinalSpan() {
    let final = Self.response { $0.entity.endPosition = 2 }
    let again = Self.response { response in
      var entity = Speechly_Slu_V1_SLUEntity()
      entity.endPosition = 2
      response.tentativeEntities.tentativeEntities = [entity]
    }
    #expect(
      Self.violations([Self.started, final, again])
        == [.entityRepeatsFinalOne(segment: 0, start: 0, end: 2)])
  }

  static func entity(_ start: Int32, _ end: Int32) -> Speechly_Slu_V1_SLUEntity {
    var entity = Speechly_Slu_V1_SLUEntity()
    entity.entity = "device"
    entity.startPosition = start
    entity.endPosition = end
    return entity
  }

  @Test func acceptsEntitiesAndIntentsThatChangeUntilTheyAreFinal() {
    #expect(
      Self.violations([
        Self.started, Self.tentative(0, 1), Self.response { $0.tentativeIntent.intent = "a" },
        Self.response { $0.tentativeEntities.tentativeEntities = [Self.entity(0, 1), Self.entity(1, 2)] },
        Self.response { $0.tentativeIntent.intent = "b" }, Self.final(0), Self.final(1),
        Self.response { $0.entity = Self.entity(0, 2) },
        Self.response { $0.tentativeEntities.tentativeEntities = [] },
        Self.response { $0.intent.intent = "b" },
        Self.end, Self.finished,
      ]).isEmpty)
  }

  @Test func reportsEntitiesThatCannotBe() {
    let empty = Self.response { $0.entity = Self.entity(1, 1) }
    #expect(Self.violations([Self.started, empty]) == [.entityWithoutWords(segment: 0)])
    let twice = Self.response {
      $0.tentativeEntities.tentativeEntities = [Self.entity(0, 1), Self.entity(0, 1)]
    }
    #expect(Self.violations([Self.started, twice]) == [.tentativeEntityTwice(segment: 0, start: 0, end: 1)])
    let long = Self.response { $0.entity = Self.entity(0, 2) }
    #expect(
      Self.violations([Self.started, Self.final(0), long, Self.intent, Self.end])
        == [.entityBeyondWords(segment: 0, start: 0, end: 2)])
  }

  @Test func reportsATentativeIntentAfterTheFinalOne() {
    let late = Self.response { $0.tentativeIntent.intent = "a" }
    #expect(
      Self.violations([Self.started, Self.final(0), Self.intent, late]) == [.intentAfterFinalOne(segment: 0)])
  }

  @Test func reportsWhatIsOpenAtTheEnd() {
    var rules = ResponseRules()
    rules.check(Self.started)
    rules.check(Self.final(0, segment: 2))
    rules.finish()
    #expect(
      rules.violations == [
        .unfinishedContext(Self.context), .unfinishedSegment(context: Self.context, segment: 2),
      ])
  }
}
