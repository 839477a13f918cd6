import Testing

@testable import SpeechUnderstanding

struct GrammarMatcherCrossingTests {
  private static let home = Result {
    let degrees = SAL.entity("degrees", SALExpression([SAL.item(.numbers(10...99))]))
    let room = SAL.entity("room", SAL.variable("room"))
    return try SAL.grammar(
      [
        SAL.intent("set") + SAL.words("set the temperature to") + degrees + SAL.words("in the") + room,
        SAL.intent("heat") + SAL.words("make it") + degrees + SAL.words("degrees warm")
          + SAL.optional(SAL.words("in the") + room),
        SAL.intent("play") + SAL.words("play") + SAL.entity("song", SAL.variable("song")) + SAL.words("by")
          + SAL.entity("artist", SAL.variable("song")) + SAL.words("at") + degrees,
      ],
      [
        "room": SAL.list(SAL.words("kitchen"), SAL.words("living room"), SAL.words("bed room")),
        "song": SALExpression([
          SAL.item(.list((0..<200).map { SALAlternative(SAL.words("tune\($0) of fate\($0)")) }))
        ]),
      ])
  }

  private func best(_ text: String) throws -> Interpretation? {
    GrammarMatcher.interpretations(of: text, in: try Self.home.get()).first
  }

  @Test(arguments: [
    (
      "set the temperature to mumble in the kitchen",
      "*set set the temperature to mumble in the [kitchen](room)"
    ),
    ("set the temperature to in the kitchen", "*set set the temperature to in the [kitchen](room)"),
    (
      "set the temperature to d2 d1 in the gnarf", "*set set the temperature to [d2 d1](degrees) in the gnarf"
    ),
    ("set the temperature to d2 d1 in the", "*set set the temperature to [d2 d1](degrees) in the"),
    ("make it mumble degrees warm", "*heat make it mumble degrees warm"),
    (
      "set the temperature to mumble grumble in the living room",
      "*set set the temperature to mumble grumble in the [living room](room)"
    ),
    (
      "play mumble by tune7 of fate7 at d1 d1",
      "*play play mumble by [tune7 of fate7](artist) at [d1 d1](degrees)"
    ),
    (
      "play tune7 of fate7 by mumble at d1 d1",
      "*play play [tune7 of fate7](song) by mumble at [d1 d1](degrees)"
    ),
  ])
  func findsWhatSurroundsAValueThatWasNotUnderstood(text: String, annotation: String) throws {
    let found = try #require(try self.best(text))
    #expect(found.annotated == annotation)
    #expect(found.edits.contains { if case .missingValue = $0 { true } else { false } })
    #expect(found.confidence < 0.9)
  }

  @Test func saysWhichValueIsMissing() throws {
    let found = try #require(try self.best("set the temperature to mumble in the kitchen"))
    #expect(found.edits == [.skipped("mumble", at: 4), .missingValue(entity: "degrees", at: 5)])
    let exact = try #require(try self.best("set the temperature to d2 d1 in the kitchen"))
    #expect(exact.edits.isEmpty)
    #expect(found.confidence < exact.confidence)
  }

  @Test(arguments: ["set the", "make it", "play", "kitchen", "mumble in the grumble", "play mumble grumble"])
  func tooLittleIsNothing(text: String) throws {
    #expect(try self.best(text) == nil)
  }

  @Test func aSimilarValueIsPreferredToNone() throws {
    let found = try #require(try self.best("set the temperature to d2 d1 in the kichen"))
    #expect(found.segments[0].entities.map(\.value) == [["d2", "d1"], ["kitchen"]])
  }
}
