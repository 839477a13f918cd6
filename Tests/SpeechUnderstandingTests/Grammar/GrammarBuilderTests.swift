import Foundation
import Synchronization
import Testing
import VoiceCore
import VoiceTesting

@testable import SpeechUnderstanding

struct GrammarBuilderTests {
  // MARK: Bad input

  private func failure(_ templates: [SALExpression], _ variables: [String: SALExpression]) -> GrammarFailure?
  {
    do {
      _ = try SAL.grammar(templates, variables)
      return nil
    } catch {
      return error as? GrammarFailure
    }
  }

  @Test func undefinedVariablesAreNamed() {
    let template = SAL.intent("go") + SAL.variable("there")
    #expect(self.failure([template], [:]) == .undefined("there", SAL.place))
    #expect(self.failure([template], ["there": SAL.variable("nowhere")]) == .undefined("nowhere", SAL.place))
  }

  @Test func variablesThatNeedThemselvesAreNamed() {
    let template = SAL.intent("go") + SAL.variable("a")
    #expect(self.failure([template], ["a": SAL.words("x") + SAL.variable("a")]) == .cyclic("a", SAL.place))
    let ring = [
      "a": SAL.optional(SAL.variable("b")), "b": SAL.list(SAL.words("x"), SAL.variable("c")),
      "c": SAL.variable("a"),
    ]
    #expect(self.failure([template], ring) == .cyclic("a", SAL.place))
    // What no template needs does no harm.
    #expect(self.failure([SAL.intent("go") + SAL.words("x")], ring) == nil)
  }

  @Test func aProblemOfTheProgramIsAFailureOfTheConfiguration() {
    for variables in [[:], ["a": SAL.variable("a")]] {
      let program = SALProgram(
        templates: [SALTemplate(SAL.intent("go") + SAL.variable("a"), at: SAL.place)], variables: variables)
      let failure = #expect(throws: VoiceFailure.self) {
        try Understanding(VoiceInterface(program: program), language: EnglishPack())
      }
      #expect(failure?.code == .configurationInvalid)
      #expect(failure?.message.contains("$a") == true)
    }
  }

  @Test func permutationsAreLimited() {
    let items = (0...SALParser.permutationLimit).map { SAL.words("w\($0)") }
    let long = SALExpression([SAL.item(.permutation(items))])
    #expect(self.failure([SAL.intent("go") + long], [:]) == .permutationTooLong(items.count, SAL.place))
  }

  @Test func whatSaysNothingMatchesNothing() throws {
    for grammar in [
      try SAL.grammar([]), try SAL.grammar([SALExpression()]), try SAL.grammar([SAL.intent("go")]),
      try SAL.grammar([SAL.intent("go") + SAL.entity("e", SALExpression())]),
      try SAL.grammar([SAL.intent("go") + SAL.optional(SAL.words("now"), 0)]),
    ] {
      #expect(GrammarMatcher.interpretations(of: "go now", in: grammar).isEmpty)
      var generator = SeededGenerator(seed: 1)
      #expect(try grammar.sample(using: &generator).words.isEmpty)
    }
  }

  @Test func anEntityWithoutAValueIsNone() throws {
    let grammar = try SAL.grammar([
      SAL.intent("go") + SAL.words("go") + SAL.entity("e", SAL.optional(SAL.words("now")))
    ])
    #expect(GrammarMatcher.interpretations(of: "go", in: grammar).first?.segments.first?.entities == [])
    #expect(GrammarMatcher.interpretations(of: "go now", in: grammar).first?.annotated == "*go go [now](e)")
  }

  // MARK: Stack

  /// Runs a body on a thread with the stack of a worker thread.
  private func onSmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
    final class Outcome: Sendable { let error = Mutex<(any Error)?>(nil) }
    let outcome = Outcome()
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      do { try body() } catch { outcome.error.withLock { $0 = error } }
      done.signal()
    }
    thread.stackSize = 512 * 1024
    thread.start()
    done.wait()
    if let error = outcome.error.withLock({ $0 }) { throw error }
  }

  private static func compile(_ source: String) throws -> Grammar {
    let (document, diagnostics) = SALParser.parse(SALSource(name: "deep.sal", text: source))
    let (program, all) = SALChecker.check(
      documents: [document], problems: diagnostics, imports: [], pack: EnglishPack(), intents: [],
      entities: [])
    var builder = GrammarBuilder(
      program: try #require(program, "\(all.map(\.message))"), language: EnglishPack())
    return try builder.build()
  }

  @Test(arguments: [
    ("{a ", "}"), ("[a b | ", "]"), ("[a | a ", "]"), ("![x | y | ", "]"), ("{![a | ", "]}"),
    ("[a a a a | a a a a ", "]"),
  ])
  func deepNestingFitsOnTheStackOfAWorker(open: String, close: String) throws {
    let brackets = open.count { "{[".contains($0) }
    let depth = SALParser.nestingLimit / brackets - 1
    let opening = String(repeating: open, count: depth)
    let closing = String(repeating: close, count: depth)
    try self.onSmallStack {
      let grammar = try Self.compile("*go go \(opening)end\(closing)\n")
      #expect(grammar.stateCount > 3)
    }
  }

  @Test(arguments: ["$v", "{$v}", "[a | $v]", "![a | $v]", "{a {$v}}", "[a $v | a b]"])
  func longChainsOfVariablesFitOnTheStackOfAWorker(link: String) throws {
    try self.onSmallStack {
      var lines = ["v0 = [end | stop]"]
      for index in 1...2000 { lines.append("v\(index) = \(link.replacing("$v", with: "$v\(index - 1)"))") }
      let grammar = try Self.compile((lines + ["*go go $v2000"]).joined(separator: "\n") + "\n")
      var generator = SeededGenerator(seed: 3)
      do throws(VoiceFailure) {
        #expect(try grammar.sample(using: &generator).segments.first?.intent == "go")
      } catch {
        // All of the words of a permutation are said: these are too many for an utterance.
        #expect(link == "![a | $v]" && error.code == .interfaceTooLarge)
      }
    }
  }

  @Test func longCommonBeginningsFitOnTheStackOfAWorker() throws {
    let words = (0..<300).map { "w\($0)" }.joined(separator: " ")
    try self.onSmallStack {
      let grammar = try Self.compile(
        "*go go [\(words) a | \(words) b | \(words) [\(words) c | \(words) d]]\n")
      #expect(grammar.utteranceCount == 4)
    }
  }

  // MARK: Size

  @Test func aListOfTenThousandValuesTakesStatesInProportion() throws {
    func states(_ count: Int) throws -> Int {
      let values = (0..<count).map {
        SALAlternative(SAL.words("first\($0 % 100) middle\($0 / 100) last\($0 % 7)"))
      }
      let list = SALExpression([SAL.item(.list(values))])
      return try SAL.grammar([SAL.intent("go") + SAL.entity("e", list) + SAL.words("now")]).stateCount
    }
    let thousand = try states(1000)
    let tenThousand = try states(10_000)
    #expect(tenThousand <= 11 * thousand)
    #expect(tenThousand <= 2 * 10_000 + 200)
  }

  @Test func equalEndingsAreShared() throws {
    let values = (0..<1000).map { SALAlternative(SAL.words("name\($0) street in the old town")) }
    let grammar = try SAL.grammar([SAL.intent("go") + SALExpression([SAL.item(.list(values))])])
    #expect(grammar.stateCount < 12)
    #expect(grammar.utteranceCount == 1000)
  }

  @Test func permutationsOfSevenLargeItemsShareTheItems() throws {
    let items = (0..<7).map { item in
      SAL.words("item\(item)")
        + SALExpression([
          SAL.item(.list((0..<300).map { SALAlternative(SAL.words("value\(item)x\($0) end\(item)")) }))
        ])
    }
    let grammar = try SAL.grammar([SAL.intent("go") + SALExpression([SAL.item(.permutation(items))])])
    #expect(grammar.stateCount < 7 * 320 + 1000)
    #expect(grammar.utteranceCount > 1e20)
    let text = [3, 0, 6, 1, 2, 5, 4].map { "item\($0) value\($0)x\($0 * 40) end\($0)" }.joined(separator: " ")
    let found = try #require(GrammarMatcher.interpretations(of: text, in: grammar).first)
    #expect(found.edits.isEmpty)
  }
}
