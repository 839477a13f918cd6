import Testing
import VoiceTesting

@testable import SpeechUnderstanding

/// Time cannot be measured in a test; the places that are looked at can be counted.
struct GrammarMatcherEffortTests {
  private static let mostForEachWord = 60_000

  /// 200 templates with optionals, lists and permutations, over a list of 5,000 values.
  private static let huge = Result {
    let values = (0..<5000).map { SALAlternative(SAL.words("name\($0 % 70) part\($0 / 70)")) }
    let templates = (0..<200).map { number in
      let optionals = (0..<8).reduce(SALExpression()) {
        $0 + SAL.optional(SAL.words("opt\($1 * number % 31)"))
      }
      return SAL.intent("i\(number % 20)") + optionals + SAL.words("verb\(number % 40)")
        + SAL.entity("value", SAL.variable("values"))
        + SAL.permutation(
          SAL.words("from") + SAL.entity("from", SAL.variable("values")),
          SAL.words("to") + SAL.entity("to", SAL.variable("values")), SAL.optional(SAL.words("at noon")),
          optionals)
    }
    return GrammarMatcher.Shared(
      grammar: try SAL.grammar(templates, ["values": SALExpression([SAL.item(.list(values))])]),
      settings: MatchSettings(), fillers: ["uh"], language: EnglishPack())
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func junkCostsABoundedEffortForEachWord(seed: UInt64) throws {
    let shared = try Self.huge.get()
    var generator = SeededGenerator(seed: seed)
    let words = [
      "uh", "junk", "verb1", "verb2", "name3", "part3", "from", "to", "at", "noon", "opt3", "opt7", "nome5",
      "frum",
    ]
    var matcher = GrammarMatcher(shared: shared)
    for count in 1...20 {
      matcher.append(words.randomElement(using: &generator) ?? "")
      // The words before the first that did not fit are looked at twice.
      #expect(matcher.effort <= 2 * count * Self.mostForEachWord)
      #expect(matcher.hypotheses.count <= shared.settings.maximumHypotheses)
    }
    let before = matcher.effort
    #expect(before > 0)
    _ = matcher.interpretations(atMost: 3)
  }

  @Test func anExactUtteranceCostsLittle() throws {
    var matcher = GrammarMatcher(shared: try Self.huge.get())
    for word in ["verb3", "name3", "part3", "to", "name5", "part5", "from", "name7", "part7"] {
      matcher.append(word)
    }
    #expect(matcher.isExact)
    #expect(matcher.effort < 9 * 3000)
  }
}
