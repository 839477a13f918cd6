import SpeechUnderstanding
import Testing

/// What the parser makes of good texts: as printed, since the printer has one form for each meaning.
struct SALParserTests {
  @Test(arguments: [
    ("*greet hello there", "*greet hello there\n"),
    ("*book fly to [New York](city)", "*book fly to [New York](city)\n"),
    ("*a [one|two | three]", "*a [one | two | three]\n"),
    ("*a {please} {0.3: now} {1.0:x}", "*a {please} {0.3: now} {1: x}\n"),
    ("*a [3: hello | 0.5: hi | hey]", "*a [3: hello | 0.5: hi | hey]\n"),
    ("*a ![from $x | to $y]", "*a ![from $x | to $y]\n"),
    ("n = [1..99]", "n = [1..99]\n"),
    ("*a [ -5 .. 5 ](level)", "*a [-5..5](level)\n"),
    ("x=[a|b]", "x = [a | b]\n"),
    ("*on turn on *off turn off", "*on turn on *off turn off\n"),
    ("*remove bread *_ and *add milk", "*remove bread *_ and *add milk\n"),
    ("*a $SPEECHLY.DATE(day) $n.", "*a $SPEECHLY.DATE(day) $n .\n"),
    ("*a [[a | b] c | {d}]( e )", "*a [[a | b] c | {d}](e)\n"),
    ("*intent-1_b it's 100% o'clock,", "*intent-1_b it's 100% o'clock,\n"),
    ("määrä = [yksi | kaksi]", "määrä = [yksi | kaksi]\n"),
    ("*a [10:30 | 11:00]", "*a [10\\:30 | 11\\:00]\n"),
    ("*a [2: hello | 1:]", "*a [2: hello | 1:]\n"),
    ("*a x{y}$z[w]", "*a x {y} $z [w]\n"),
    ("a = [x](e) b = $a c = $b(c) d", "a = [x](e)\nb = $a\nc = $b(c) d\n"),
  ])
  func readsEachConstruct(text: String, printed: String) {
    let (document, problems) = parsed(text)
    #expect(SALPrinter.text(of: document) == printed)
    #expect(problems.filter { $0.contains(" error ") } == [])
  }

  @Test func separatesItemsOfListsByLines() {
    let (document, problems) = parsed(
      "rooms = [\n  kitchen\n  living room |\n  3: hall # weighted\n\n]\n*a $rooms")
    #expect(SALPrinter.text(of: document) == "rooms = [kitchen | living room | 3: hall]\n*a $rooms\n")
    #expect(problems == [])
  }

  @Test func readsListsThatStartBesideTheBracket() {
    let (document, problems) = parsed("start = [turn\n         switch\n         activate]")
    #expect(SALPrinter.text(of: document) == "start = [turn | switch | activate]\n")
    #expect(problems == [])
  }

  @Test func takesLinesInBracesForBlanks() {
    let (document, problems) = parsed("*a go {\n 0.2: right\n now\n}")
    #expect(SALPrinter.text(of: document) == "*a go {0.2: right now}\n")
    #expect(problems == [])
  }

  @Test func ignoresASeparatorAtTheEndOfAList() {
    let (document, problems) = parsed("*a [give me | show me| ]\n*b [one |\n]")
    #expect(SALPrinter.text(of: document) == "*a [give me | show me]\n*b [one]\n")
    #expect(problems == [])
  }

  @Test func endsCommentsWithTheLineAndKeepsNumberSignsInWords() {
    let (document, problems) = parsed(
      "# a comment\n*a play c# now # another\n*b [x # of x\n y]#end\n*c \\#one $key#")
    #expect(SALPrinter.text(of: document) == "*a play c# now\n*b [x | y]\n*c \\#one $key \\#\n")
    #expect(problems == [])
  }

  @Test func takesTheMeaningFromEscapedCharacters() {
    let (document, problems) = parsed(#"*a f\*ck \[x\] a\|b \$5 yes\! 1\..9 [3\: x]"#)
    let words = [
      SALItem.Kind.intent("a"), .word("f*ck"), .word("[x]"), .word("a|b"), .word("$5"), .word("yes!"),
      .word("1..9"),
    ]
    guard case .template(let template)? = document.statements.first else {
      Issue.record("no template"); return
    }
    #expect(Array(template.expression.items.map(\.kind).prefix(7)) == words)
    #expect(problems == [])
  }

  @Test(arguments: ["\n", "\r\n", "\r"])
  func knowsAllLineEnds(end: String) {
    let (document, problems) = parsed("x = [a\(end)b]\(end)\(end)*i $x")
    #expect(SALPrinter.text(of: document) == "x = [a | b]\n*i $x\n")
    #expect(problems == [])
    guard case .template(let template)? = document.statements.last else {
      Issue.record("no template"); return
    }
    #expect(template.range.line == 4)
  }

  @Test func skipsAByteOrderMarkAndKnowsAllBlanks() {
    let (document, problems) = parsed("\u{feff}*a\thello\u{a0}there\u{3000}you")
    #expect(SALPrinter.text(of: document) == "*a hello there you\n")
    #expect(problems == [])
  }

  @Test func countsColumnsInCharacters() {
    let (document, _) = parsed("*a e\u{301}té 👩‍👩‍👧 $x")
    guard case .template(let template)? = document.statements.first else {
      Issue.record("no template"); return
    }
    #expect(template.expression.items.map(\.range.column) == [1, 4, 8, 10])
    #expect(template.expression.items.map(\.range.endColumn) == [3, 7, 9, 12])
  }

  @Test func placesTextInItsFile() {
    let source = SALSource(name: "app.yaml", text: "x = [a]\n*i $x", firstLine: 12, indentation: 4)
    let (document, _) = SALParser.parse(source)
    guard case .definition(let definition)? = document.statements.first,
      case .template(let template)? = document.statements.last
    else { Issue.record("wrong statements"); return }
    #expect(
      definition.nameRange == SALRange(file: "app.yaml", line: 12, column: 5, endLine: 12, endColumn: 6))
    #expect(template.range == SALRange(file: "app.yaml", line: 13, column: 5, endLine: 13, endColumn: 10))
  }

  @Test func rangesReachOverLines() {
    let (document, _) = parsed("*i [a\n  b](c)")
    guard case .template(let template)? = document.statements.first else {
      Issue.record("no template"); return
    }
    #expect(template.range == SALRange(file: "test.sal", line: 1, column: 1, endLine: 2, endColumn: 8))
    #expect(
      template.expression.items.last?.range
        == SALRange(file: "test.sal", line: 1, column: 4, endLine: 2, endColumn: 8))
  }

  @Test func readsNothingFromNothing() {
    for text in ["", "\n", " \t\n\r\n", "# only a comment", "\u{feff}"] {
      let (document, problems) = parsed(text)
      #expect(document == SALDocument())
      #expect(problems == [])
    }
  }
}
