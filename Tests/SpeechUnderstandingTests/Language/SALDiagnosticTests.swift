import Foundation
import SpeechUnderstanding
import Testing

struct SALDiagnosticTests {
  private func diagnostic(line: Int, column: Int, endLine: Int? = nil, endColumn: Int) -> SALDiagnostic {
    SALDiagnostic(
      .error, "sal.test", "It is wrong.", suggestion: "do better",
      at: SALRange(file: "a.sal", line: line, column: column, endLine: endLine ?? line, endColumn: endColumn))
  }

  private func rendered(_ text: String, _ diagnostic: SALDiagnostic, firstLine: Int = 1, indentation: Int = 0)
    -> [String]
  {
    let source = SALSource(name: "a.sal", text: text, firstLine: firstLine, indentation: indentation)
    return SALDiagnosticRenderer(sources: [source]).render(diagnostic).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
  }

  @Test func severitiesAreOrdered() {
    #expect(SALDiagnostic.Severity.note < .warning)
    #expect(SALDiagnostic.Severity.warning < .error)
    #expect(SALDiagnostic.Severity.allCases.max() == .error)
  }

  @Test func marksThePlaceInItsLine() {
    #expect(
      rendered("x = [a]\n*i $rom $x", diagnostic(line: 2, column: 4, endColumn: 8)) == [
        "a.sal:2:4: error: It is wrong. [sal.test]", "  2 | *i $rom $x", "    |    ^~~~", "help: do better",
      ])
  }

  @Test func keepsTheMarkInPlaceAfterTabsAndWideCharacters() {
    #expect(
      rendered("\t*i $rom", diagnostic(line: 1, column: 5, endColumn: 9))[1...2] == [
        "  1 |     *i $rom", "    |        ^~~~",
      ])
    #expect(
      rendered("*i 日本 $x", diagnostic(line: 1, column: 7, endColumn: 9))[1...2] == [
        "  1 | *i 日本 $x", "    |         ^~",
      ])
    #expect(rendered("*i 日本", diagnostic(line: 1, column: 4, endColumn: 6))[2] == "    |    ^~~~")
    #expect(rendered("*i e\u{301} 👩‍👩‍👧 x", diagnostic(line: 1, column: 8, endColumn: 9))[2] == "    |         ^")
  }

  @Test func findsLinesOfTextsInsideFiles() {
    let lines = rendered(
      "*i $x", diagnostic(line: 12, column: 8, endColumn: 10), firstLine: 12, indentation: 4)
    #expect(lines[1...2] == ["  12 | *i $x", "     |    ^~"])
  }

  @Test func marksTheFirstLineOfALongerRange() {
    #expect(
      rendered("*i [a\nb]", diagnostic(line: 1, column: 4, endLine: 2, endColumn: 3))[1...2] == [
        "  1 | *i [a", "    |    ^~",
      ])
  }

  @Test func showsOnlyThePartOfALongLineAroundThePlace() {
    let text = String(repeating: "[a | ", count: 100_000)
    let lines = rendered(text, diagnostic(line: 1, column: 250_001, endColumn: 250_002))
    #expect(lines[1].count < 200)
    #expect(lines[1].hasPrefix("  1 | …[a | "))
    let caret = lines[2].distance(
      from: lines[2].startIndex, to: lines[2].firstIndex(of: "^") ?? lines[2].startIndex)
    #expect(Array(lines[1])[caret] == "[")
  }

  @Test func showsNoLineThatItDoesNotHave() {
    #expect(rendered("*i", diagnostic(line: 7, column: 1, endColumn: 2)).count == 2)
    #expect(
      rendered("*i", diagnostic(line: Int.min, column: Int.max, endColumn: Int.min), firstLine: Int.max).count
        == 2)
    #expect(
      rendered("*i", diagnostic(line: 1, column: Int.max, endColumn: Int.min))[1...2] == [
        "  1 | *i", "    |   ^",
      ])
    #expect(
      SALDiagnosticRenderer().render([SALDiagnostic(.note, "sal.x", "Look.")]) == "note: Look. [sal.x]\n")
  }

  @Test func doesNotLetASourceSteerTheTerminal() {
    let lines = rendered("*i \u{1b}[31m\u{202e}", diagnostic(line: 1, column: 4, endColumn: 5))
    #expect(lines[1] == "  1 | *i \u{fffd}[31m\u{fffd}")
  }

  @Test func paintsOnlyIfAsked() {
    let renderer = SALDiagnosticRenderer(sources: [SALSource(name: "a.sal", text: "*i")])
    let problem = diagnostic(line: 1, column: 1, endColumn: 3)
    #expect(!renderer.render(problem).contains("\u{1b}"))
    let painted = renderer.render(problem, colors: true)
    #expect(painted.contains("\u{1b}[1;31merror: \u{1b}[0m"))
    #expect(painted.contains("\u{1b}[1;31m^~\u{1b}[0m"))
    #expect(painted.contains("\u{1b}[1;36mhelp: \u{1b}[0m"))
  }

  @Test func isOneFlatObjectForMachines() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    #expect(
      String(decoding: try encoder.encode(diagnostic(line: 3, column: 4, endColumn: 8)), as: UTF8.self)
        == #"{"code":"sal.test","column":4,"endColumn":8,"endLine":3,"file":"a.sal","line":3,"message":"It is wrong.","severity":"error","suggestion":"do better"}"#
    )
    #expect(
      String(decoding: try encoder.encode(SALDiagnostic(.note, "sal.x", "Look.")), as: UTF8.self)
        == #"{"code":"sal.x","message":"Look.","severity":"note"}"#)
  }
}
