import Foundation
import Testing
import VoiceTesting

@testable import SpeechUnderstanding

/// Very large configurations, which take seconds without optimisation.
struct GrammarScaleTests {
  @Test func aMillionAlternativesAreCompiledAndUnderstood() throws {
    // As few different expressions as possible: what is tested is the list.
    let values = (0..<1_000_000).map { number in
      SALAlternative(
        SALExpression([SAL.item(.word("a\(number / 1000)")), SAL.item(.word("b\(number % 1000)"))]))
    }
    let list = SALExpression([SAL.item(.list(values))])
    let grammar = try SAL.grammar([SAL.intent("go") + SAL.words("go") + SAL.entity("e", list)])
    #expect(grammar.utteranceCount == 1_000_000)
    #expect(grammar.stateCount < 10)
    let found = GrammarMatcher.interpretations(of: "go a777 b333", in: grammar)
    #expect(found.first?.annotated == "*go go [a777 b333](e)")
  }

  @Test func aListOfFiftyMegabytesIsLoaded() async throws {
    try await withTemporaryFolder { folder in
      let row = "a street name that is quite long for a value, 0123456789, and so on\n"
      let rows = 50 * 1024 * 1024 / row.utf8.count
      let file = folder.appending(path: "streets.csv")
      try Data(String(repeating: row, count: rows).utf8).write(to: file)
      let yaml = """
        templates: |
          *go go to $street(street)
        imports:
          - {name: street, source: streets.csv, field: 1}
        lang: en-US
        """
      try Data(yaml.utf8).write(to: folder.appending(path: "app.yaml"))
      let result = VoiceInterface.load(path: folder.path, packs: [EnglishPack()])
      let interface = try #require(result.interface)
      let understanding = try Understanding(interface, language: EnglishPack())
      let found = understanding.understand("go to a street name that is quite long for a value", in: .current)
      #expect(found?.annotated.segments.first?.entities.first?.name == "street")
    }
  }

  @Test func aListWithTooManyRowsIsRefusedByName() async throws {
    try await withTemporaryFolder { folder in
      let file = folder.appending(path: "values.csv")
      try Data(String(repeating: "v\n", count: CSVColumns.rowLimit + 1).utf8).write(to: file)
      let yaml =
        "templates: |\n  *go go $v(v)\nimports:\n  - {name: v, source: values.csv, field: 1}\nlang: en-US\n"
      try Data(yaml.utf8).write(to: folder.appending(path: "app.yaml"))
      let result = VoiceInterface.load(path: folder.path, packs: [EnglishPack()])
      #expect(result.interface == nil)
      #expect(result.diagnostics.contains { $0.code == "csv.too-long" && $0.message.contains("values.csv") })
    }
  }
}
