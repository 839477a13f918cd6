import SpeechUnderstanding
import Testing

struct SALCheckerTests {
  // MARK: Errors

  @Test(arguments: [
    (
      "room = [a]\n*i $rom $room",
      "2:4-8 error sal.variable.undefined There is no variable rom. [did you mean $room?]"
    ),
    (
      "*i $zzz",
      "1:4-8 error sal.variable.undefined There is no variable zzz. [define it above this line: zzz = [first value | second value]]"
    ),
    (
      "*i $date",
      "1:4-9 error sal.variable.undefined There is no variable date. [did you mean $SPEECHLY.DATE?]"
    ),
    (
      "*i $SPEECHLY.DAET",
      "1:4-18 error sal.variable.standard-unknown There is no standard variable SPEECHLY.DAET. [did you mean $SPEECHLY.DATE?]"
    ),
    (
      "*i $SPEECHLY.MOON_PHASE",
      "1:4-24 error sal.variable.standard-unknown There is no standard variable SPEECHLY.MOON_PHASE. [one of BROKEN, DATE, LOST, NUMBER, SMALL_NUMBER]"
    ),
    (
      "*i $SPEECHLY.LOST",
      "1:4-18 error sal.variable.standard-unknown There is no standard variable SPEECHLY.NOWHERE. [one of BROKEN, DATE, LOST, NUMBER, SMALL_NUMBER]"
    ),
    (
      "*i $SPEECHLY.BROKEN",
      "1:4-20 error sal.variable.standard-broken The language's text of SPEECHLY.BROKEN cannot be read: There is no \"]\" for this \"[\"."
    ),
    (
      "SPEECHLY.DATE = [now]\n*i x",
      "1:1-14 error sal.variable.reserved Names that start with SPEECHLY. belong to the language. [date]"
    ),
    (
      "a = $a b\n*i $a",
      "1:1-2 error sal.variable.cycle The variable a needs itself: a -> a. [write a repetition out: all = $one {and $one {and $one}}]"
    ),
    (
      "hello there",
      "1:1-12 error sal.template.no-intent This template has no intent, so nothing would happen when it is said. [*name before the words, or name = … to define a variable]"
    ),
    (
      "{please} *i x",
      "1:1-9 error sal.template.words-first Words can come before the first intent of this template. [move the intent to the beginning; it can also stand in every item of the first list]"
    ),
    (
      "[*i x | y] z",
      "1:1-11 error sal.template.words-first Words can come before the first intent of this template. [move the intent to the beginning; it can also stand in every item of the first list]"
    ),
    (
      "{*i} x",
      "1:6-7 error sal.template.words-first Words can come before the first intent of this template. [move the intent to the beginning; it can also stand in every item of the first list]"
    ),
    (
      "![*i x | y]",
      "1:1-12 error sal.template.words-first Words can come before the first intent of this template. [move the intent to the beginning; it can also stand in every item of the first list]"
    ),
    (
      "*i",
      "1:1-3 error sal.template.empty This template has no words, so it can never be said. [add what people say]"
    ),
    (
      "*i {x} {y}",
      "1:1-11 warning sal.template.can-be-empty All words of this template are optional; silence does not match it. [make one part necessary: [this | that] instead of {this} {that}]"
    ),
    (
      "*i *j x",
      "1:1-3 warning sal.intent.no-words The intent i has no words of its own. [add what people say for it, or remove it]"
    ),
    (
      "*i x *j",
      "1:6-8 warning sal.intent.no-words The intent j has no words of its own. [add what people say for it, or remove it]"
    ),
    (
      "*i x [{y}](e)",
      "1:6-14 error sal.entity.empty The value of the entity e can be empty. [{[value](e)}: an entity that may be left out as a whole]"
    ),
    (
      "*i x [1: | y](e)",
      "1:6-17 error sal.entity.empty The value of the entity e can be empty. [{[value](e)}: an entity that may be left out as a whole]"
    ),
    (
      "*i x [y *j z](e)",
      "1:6-17 error sal.entity.intent The value of the entity e holds an intent. [put the intent before the value]"
    ),
    (
      "n = [1..9](n)\n*i $n(e)",
      "2:4-9 error sal.entity.nested The value of the entity e holds another entity. [name only one of the two]"
    ),
    (
      "v = [x]\n*i y",
      "1:1-2 warning sal.variable.unused The variable v is never used. [$v in a template, or remove the definition]"
    ),
  ])
  func complains(text: String, problem: String) {
    let (program, problems) = checked(text)
    #expect(problems == [problem])
    #expect((program == nil) == problem.contains(" error "))
  }

  @Test func namesBothPlacesOfAVariableUsedTooEarly() {
    #expect(
      checked("*i $x\nx = [a | b]").problems == [
        "1:4-6 error sal.variable.too-early The variable x is used before it is defined. [move the definition above this line]",
        "2:1-2 note sal.variable.defined-here The definition is here.",
      ])
  }

  @Test func namesBothPlacesOfARedefinition() {
    #expect(
      checked("x = [a]\nx = [b]\n*i $x").problems == [
        "2:1-2 error sal.variable.redefined The variable x is defined a second time. [another name, or one list with the values of both]",
        "1:1-2 note sal.variable.defined-here The first definition is here.",
      ])
  }

  @Test func namesBothPlacesOfADuplicate() {
    let (program, problems) = checked("*i turn {on}\n*j x\n*i  turn  { on } # again")
    #expect(
      problems == [
        "3:1-17 warning sal.template.duplicate This template was there before. [remove it, or give both as a list with weights]",
        "1:1-13 note sal.template.first-here The first one is here.",
      ])
    #expect(program?.templates.count == 3)
  }

  @Test func tellsTheWayOfACycle() {
    let (program, problems) = checked("a = $b x\nb = y $c\nc = $a | z\nd = $a\n*i $d")
    #expect(
      problems.filter { $0.contains("cycle") } == [
        "1:1-2 error sal.variable.cycle The variable a needs itself: a -> b -> c -> a. [write a repetition out: all = $one {and $one {and $one}}]"
      ])
    #expect(program == nil)
  }

  @Test func doesNotComplainTwiceAboutBrokenLines() {
    #expect(checked("*  turn on\nx = []\n*i $x").problems.count == 2)
    #expect(checked("intents = [\n *a x\n *b y\n*i $intents $missing").problems.count == 2)
    #expect(checked("$missing").problems.count == 1)
  }

  @Test func comparesWithWhatIsDeclared() {
    let declared = SALRange(file: "app.yaml", line: 3, column: 5, endLine: 3, endColumn: 9)
    let (program, problems) = checked(
      "*turn_on x [y](room)\n*_ and *book [z](size)",
      intents: [.init(name: "turnon", range: declared), .init(name: "book")],
      entities: [.init(name: "size"), .init(name: "extra")])
    #expect(program != nil)
    #expect(
      problems == [
        "warning sal.entity.unused The entity extra is declared but in no template. [use it in a template, or remove it]",
        "1:1-9 warning sal.intent.undeclared The intent turn_on is not declared in the configuration. [did you mean turnon?]",
        "1:12-21 warning sal.entity.undeclared The entity room is not declared in the configuration and has the type string. [add it to the list of entities]",
        "3:5-9 warning sal.intent.unused The intent turnon is declared but in no template. [use it in a template, or remove it]",
      ])
  }

  @Test func tellsThatALanguageHasNoStandardVariables() {
    #expect(
      checked("*i $SPEECHLY.DATE(d) $SPEECHLY.TIME", pack: nil).problems == [
        "1:4-18 error sal.variable.standard-unavailable There are no standard variables for this language. [define a variable of your own]",
        "1:22-36 error sal.variable.standard-unavailable There are no standard variables for this language. [define a variable of your own]",
      ])
  }

  // MARK: Imports

  @Test func importsListsLiterally() throws {
    let program = try #require(
      checked("*i $brand", imports: [.init(name: "brand", values: ["H & M", " 3*  [x] ", "", "C#"])]).program)
    #expect(SALPrinter.text(of: try #require(program.variables["brand"])) == "[H & M | 3\\* \\[x\\] | C#]")
  }

  @Test func complainsAboutImports() {
    let place = SALRange(file: "app.yaml", line: 2, column: 3, endLine: 2, endColumn: 8)
    #expect(
      checked("*i $brand", imports: [.init(name: "brand", values: [" "], range: place)]).problems == [
        "1:4-10 error sal.template.impossible This template matches nothing, because a list that it needs is empty. [give the list a value]"
      ])
    #expect(
      checked("brand = [x]\n*i $brand", imports: [.init(name: "brand", values: ["a"], range: place)]).problems
        == [
          "1:1-6 error sal.variable.redefined The variable brand is imported and cannot be defined again. [another name]",
          "2:3-8 note sal.variable.defined-here The import is here.",
        ])
    #expect(
      checked("*i x", imports: [.init(name: "brand", values: ["a"], range: place)]).problems == [
        "2:3-8 warning sal.variable.unused The imported variable brand is never used. [$brand in a template, or remove the import]"
      ])
  }

  // MARK: Programs

  @Test func makesAProgramOfWhatIsUsed() throws {
    let (program, problems) = checked(
      "intents = [\n *on turn $SPEECHLY.NUMBER(n) on\n *off off\n]\n$intents {and $intents}")
    #expect(problems == [])
    let variables = try #require(program).variables
    #expect(variables.keys.sorted() == ["SPEECHLY.NUMBER", "SPEECHLY.SMALL_NUMBER", "intents"])
    #expect(program?.templates.map(\.range.line) == [5])
  }

  @Test func usesDefinitionsOfEarlierDocuments() {
    let first = SALParser.parse(SALSource(name: "a.yaml", text: "x = [a]")).document
    let second = SALParser.parse(SALSource(name: "b.yaml", text: "*i $x")).document
    #expect(SALChecker.check(documents: [first, second]).program != nil)
    #expect(SALChecker.check(documents: [second, first]).program == nil)
  }

  @Test func endsInReasonableTimeWithLongChainsAndLargeCycles() {
    let count = 5_000
    let chain = (1..<count).map { "v\($0) = $v\($0 - 1) $v\($0 - 1)" }.joined(separator: "\n")
    let (program, problems) = checked("v0 = [x]\n\(chain)\n*i $v\(count - 1)")
    #expect(problems == [])
    #expect(program?.variables.count == count)
    #expect(checked("v0 = $v\(count - 1)\n\(chain)\n*i $v0").problems.count == 1)
    let unknown = (0..<count).map { "*i\($0) $unknown\($0)" }.joined(separator: "\n")
    #expect(checked("\(chain)\n\(unknown)").problems.count >= SALParser.diagnosticLimit)
  }
}
