import Foundation
import Testing
import VoiceTesting

@testable import SpeechUnderstanding

struct GrammarMatcherTests {
  private static let home = Result {
    let device = SAL.list(SAL.words("lights"), SAL.words("radio"), SAL.words("coffee machine"))
    let room = SAL.list(SAL.words("kitchen"), SAL.words("living room"), SAL.words("bed room"))
    let place = SAL.optional(SAL.words("in the") + SAL.entity("room", SAL.variable("room")))
    return try SAL.grammar(
      [
        SAL.intent("turn_on") + SAL.words("turn on the") + SAL.entity("device", SAL.variable("device"))
          + place,
        SAL.intent("turn_off") + SAL.words("turn off the") + SAL.entity("device", SAL.variable("device"))
          + place,
        SAL.intent("book") + SAL.words("book a ticket")
          + SAL.permutation(
            SAL.words("from") + SAL.entity("from", SAL.variable("city")),
            SAL.words("to") + SAL.entity("to", SAL.variable("city")),
            SAL.optional(SAL.words("for tomorrow"))),
        SAL.intent("volume") + SAL.words("volume")
          + SAL.entity("level", SALExpression([SAL.item(.numbers(1...40))])),
      ],
      [
        "device": device, "room": room,
        "city": SAL.list(SAL.words("new york"), SAL.words("new delhi"), SAL.words("york"), SAL.words("oslo")),
      ])
  }

  private func annotated(_ text: String) throws -> String? {
    GrammarMatcher.interpretations(of: text, in: try Self.home.get()).first?.annotated
  }

  // MARK: Exact

  @Test(arguments: [
    ("turn on the lights", "*turn_on turn on the [lights](device)"),
    (
      "Turn OFF the coffee machine in the living room.",
      "*turn_off turn off the [coffee machine](device) in the [living room](room)"
    ),
    ("book a ticket to new york from oslo", "*book book a ticket to [new york](to) from [oslo](from)"),
    (
      "book a ticket for tomorrow from york to new delhi",
      "*book book a ticket for tomorrow from [york](from) to [new delhi](to)"
    ),
    ("volume d3 d7", "*volume volume [d3 d7](level)"),
    (
      "turn on the radio turn off the lights",
      "*turn_on turn on the [radio](device) *turn_off turn off the [lights](device)"
    ),
  ])
  func findsIntentAndEntities(text: String, annotation: String) throws {
    let best = try #require(GrammarMatcher.interpretations(of: text, in: try Self.home.get()).first)
    #expect(best.annotated == annotation)
    #expect(best.edits.isEmpty)
    #expect(best.confidence > 0.5)
  }

  // MARK: Edits

  @Test(arguments: [
    ("please turn on the uh lights please", "*turn_on please turn on the uh [lights](device) please"),
    ("turn on the light", "*turn_on turn on the [lights](device)"),
    ("turn on lights", "*turn_on turn on [lights](device)"),
    ("turn off the coffe machine", "*turn_off turn off the [coffee machine](device)"),
  ])
  func toleratesSmallErrors(text: String, annotation: String) throws {
    #expect(try self.annotated(text) == annotation)
  }

  @Test(arguments: [
    "", "hello", "the weather is nice today", "turn", "lights kitchen machine ticket", "\u{0}", "😀 😀",
  ])
  func findsNothingInOtherUtterances(text: String) throws {
    #expect(try self.annotated(text) == nil)
  }

  @Test func saysWhatItOverlooked() throws {
    let best = try #require(
      GrammarMatcher.interpretations(of: "please turn on the lihgts", in: try Self.home.get()).first)
    #expect(
      best.edits == [.skipped("please", at: 0), .replaced("lihgts", by: "lights", at: 4)])
    let exact = try #require(
      GrammarMatcher.interpretations(of: "turn on the lights", in: try Self.home.get()).first)
    #expect(best.confidence < exact.confidence)
    #expect(best.segments[0].words == 0..<5)
    #expect(best.segments[0].entities[0].words == 4..<5)
  }

  @Test func refusesEditsIfToldSo() throws {
    var settings = MatchSettings()
    settings.toleratesEdits = false
    let grammar = try Self.home.get()
    #expect(
      GrammarMatcher.interpretations(of: "please turn on the lights", in: grammar, settings: settings).isEmpty
    )
    #expect(
      !GrammarMatcher.interpretations(of: "turn on the lights", in: grammar, settings: settings).isEmpty)
  }

  // MARK: Weights

  @Test func ambiguityIsResolvedByWeight() throws {
    let grammar = try SAL.grammar([
      SALExpression([
        SAL.item(
          .list([
            SALAlternative(SAL.intent("rare") + SAL.words("play it"), weight: 1),
            SALAlternative(SAL.intent("common") + SAL.words("play it"), weight: 3),
          ]))
      ])
    ])
    let found = GrammarMatcher.interpretations(of: "play it", in: grammar)
    #expect(found.map(\.annotated) == ["*common play it", "*rare play it"])
    #expect(abs(exp(-found[0].cost) - 0.75) < 0.001)
    #expect(found.map(\.confidence) == found.map(\.confidence).sorted(by: >))
  }

  // MARK: While speech goes on

  @Test func tellsTheLikelyMeaningAfterEachWord() throws {
    var matcher = GrammarMatcher(grammar: try Self.home.get())
    var seen: [String?] = []
    for word in ["turn", "off", "the", "coffee", "machine", "in"] {
      matcher.append(word)
      seen.append(matcher.best?.annotated)
    }
    #expect(
      Array(seen.dropFirst()) == [
        "*turn_off turn off", "*turn_off turn off the", "*turn_off turn off the [coffee](device)",
        "*turn_off turn off the [coffee machine](device)",
        "*turn_off turn off the [coffee machine](device) in",
      ])
    #expect(matcher.isExact)
    #expect(matcher.interpretations(atMost: 1).first?.edits == [.skipped("in", at: 5)])
    #expect(matcher.isExact)
  }

  @Test func aCopyGoesOnByItself() throws {
    var matcher = GrammarMatcher(grammar: try Self.home.get())
    for word in ["turn", "on", "the"] { matcher.append(word) }
    var other = matcher
    other.append("radio")
    matcher.append("lights")
    #expect(other.best?.annotated == "*turn_on turn on the [radio](device)")
    #expect(matcher.best?.annotated == "*turn_on turn on the [lights](device)")
    matcher.reset()
    #expect(matcher.words.isEmpty)
  }
}
