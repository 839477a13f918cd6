import SpeechUnderstanding
import Testing

@testable import VoiceCommands

struct JSGFGrammarTests {
  private func grammar(_ text: String) throws -> String {
    let (document, _) = SALParser.parse(SALSource(name: "test.sal", text: text))
    let (program, _) = SALChecker.check(documents: [document], pack: EnglishPack())
    return JSGFGrammar(try #require(program), language: EnglishPack()).text
  }

  @Test func everyConstructHasItsForm() throws {
    #expect(
      try self.grammar(
        """
        room = [kitchen | living room](room)
        *on {please} Turn [1..3](count) on {in the $room}
        *go ![up | {0.2: far} left]
        """) == """
          #JSGF V1.0;
          grammar app;
          public <app> = [ please ] turn ( one | two | three ) on [ in the <v0> ] | \
          ( ( up ) ( [ far ] left ) | ( [ far ] left ) ( up ) );
          <v0> = ( kitchen | living room );

          """)
  }

  @Test func standardVariablesAreRulesOfTheirOwn() throws {
    let text = try self.grammar("*wake wake me at $SPEECHLY.TIME(time)")
    let rules = text.split(separator: "\n").dropFirst(3)
    #expect(rules.count > 3)
    // Every rule that is used is defined.
    let used = Set(text.matches(of: #/<(v[0-9]+)>/#).map { String($0.1) })
    let defined = Set(rules.compactMap { $0.firstMatch(of: #/^<(v[0-9]+)> = /#).map { String($0.1) } })
    #expect(used == defined)
    #expect(!text.contains("SPEECHLY"))
  }
}
