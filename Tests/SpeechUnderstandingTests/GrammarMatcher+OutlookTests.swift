import Testing
import VoiceTesting

@testable import SpeechUnderstanding

struct GrammarMatcherOutlookTests {
  private static let home = Result {
    let device = SAL.list(SAL.words("lights"), SAL.words("coffee"), SAL.words("coffee machine"))
    let place = SAL.optional(SAL.words("in the") + SAL.entity("room", SAL.variable("room")))
    return try SAL.grammar(
      [
        SAL.intent("turn_on") + SAL.words("turn on the") + SAL.entity("device", SAL.variable("device"))
          + place,
        SAL.intent("turn_off") + SAL.words("turn off the") + SAL.entity("device", SAL.variable("device"))
          + place,
        SAL.intent("volume") + SAL.words("volume")
          + SAL.entity("level", SALExpression([SAL.item(.numbers(1...40))])),
      ],
      ["device": device, "room": SAL.list(SAL.words("kitchen"), SAL.words("living room"))])
  }

  private func outlook(_ text: String) throws -> GrammarMatcher.Outlook {
    var matcher = GrammarMatcher(grammar: try Self.home.get(), fillers: ["please", "uh"])
    for word in SpokenText.words(of: text) { matcher.append(word) }
    return matcher.outlook
  }

  @Test func nothingIsKnownOfNothing() throws {
    #expect(try self.outlook("") == GrammarMatcher.Outlook())
  }

  @Test(arguments: ["hello", "hello world what is this", "kitchen kitchen kitchen"])
  func nothingIsKnownOfOtherWords(text: String) throws {
    let outlook = try self.outlook(text)
    #expect(!outlook.isComplete)
    #expect(outlook.certain.allSatisfy { $0.intent == nil && $0.entities.isEmpty })
    #expect(outlook.likely?.segments.contains { !$0.intent.isEmpty } != true)
  }

  @Test func anIntentIsCertainOnceNoOtherFits() throws {
    let turn = try self.outlook("turn")
    #expect(turn.certain.map(\.intent) == [nil])
    #expect(turn.likely?.segments.map(\.intent) == [""])
    let on = try self.outlook("turn on")
    #expect(on.certain == [.init(start: 0, intent: "turn_on")])
    #expect(on.likely?.segments.map(\.intent) == ["turn_on"])
    #expect(!on.isComplete)
  }

  @Test func anEntityIsCertainOnceItCannotGrow() throws {
    let lights = try self.outlook("turn on the lights")
    let entity = Interpretation.Entity(name: "device", words: 3..<4, value: ["lights"])
    #expect(lights.certain == [.init(start: 0, intent: "turn_on", entities: [entity])])
    #expect(lights.isComplete)
    // It may be a coffee machine yet.
    let coffee = try self.outlook("turn on the coffee")
    #expect(coffee.certain == [.init(start: 0, intent: "turn_on")])
    #expect(coffee.likely?.segments.first?.entities.map(\.value) == [["coffee"]])
    #expect(coffee.isComplete)
    let behind = try self.outlook("turn on the coffee in")
    #expect(behind.certain.first?.entities.map(\.value) == [["coffee"]])
    #expect(!behind.isComplete)
  }

  @Test func numbersMayGrow() throws {
    #expect(try self.outlook("volume d3").certain.first?.entities == [])
    #expect(try self.outlook("volume d3 d7").certain.first?.entities.map(\.value) == [["d3", "d7"]])
  }

  @Test func aFillerDoesNotEndAValue() throws {
    let outlook = try self.outlook("turn on the coffee uh")
    #expect(outlook.likely?.segments.first?.entities.map(\.value) == [["coffee"]])
    #expect(outlook.certain.first?.entities.isEmpty != false)
  }

  @Test func fillersLeaveTheRestCertain() throws {
    let outlook = try self.outlook("please turn on the lights")
    #expect(outlook.certain.first?.intent == "turn_on")
    #expect(outlook.certain.first?.entities.map(\.words) == [4..<5])
    #expect(outlook.isComplete)
  }

  @Test(arguments: ["turn on the", "please turn on the", "please turn on the lights in", "uh turn on"])
  func halfASentenceIsNotComplete(text: String) throws {
    #expect(try !self.outlook(text).isComplete)
  }

  @Test(arguments: ["turn on the light", "please turn off the lights uh", "turn on lights"])
  func aSentenceWithSmallErrorsIsComplete(text: String) throws {
    #expect(try self.outlook(text).isComplete)
  }

  @Test func aNewIntentEndsTheSentenceBefore() throws {
    let turn = try self.outlook("turn on the coffee turn")
    #expect(turn.certain.map(\.end) == [4, nil])
    #expect(turn.certain.map(\.intent) == ["turn_on", nil])
    #expect(turn.certain.first?.entities.map(\.value) == [["coffee"]])
    let off = try self.outlook("turn on the coffee turn off the lights")
    #expect(off.certain.map(\.intent) == ["turn_on", "turn_off"])
    #expect(off.certain.map(\.start) == [0, 4])
  }

  /// What is certain stays, whatever the grammar lets come after it.
  @Test func certaintiesHoldInEveryContinuation() throws {
    let grammar = try Self.home.get()
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<300 {
      let sample = try grammar.sample(using: &generator)
      var matcher = GrammarMatcher(grammar: grammar)
      for word in sample.words {
        matcher.append(word)
        let outlook = matcher.outlook
        for (sentence, segment) in zip(outlook.certain, sample.segments) {
          #expect(sentence.intent == nil || sentence.intent == segment.intent)
          #expect(sentence.entities.allSatisfy(segment.entities.contains))
          #expect(sentence.end == nil || sentence.end == segment.words.upperBound)
        }
      }
      #expect(matcher.outlook.isComplete)
      #expect(matcher.outlook.likely?.segments == sample.segments)
    }
  }
}
