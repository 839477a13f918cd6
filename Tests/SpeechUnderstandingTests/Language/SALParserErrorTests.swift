import Foundation
import SpeechUnderstanding
import Testing

/// Every complaint of the parser, with its exact place, and what is read all the same.
struct SALParserErrorTests {
  @Test(arguments: [
    (
      "*a [red | blue",
      "1:4-5 error sal.bracket.unclosed There is no \"]\" for this \"[\". [add \"]\", or \\[ for the character itself]"
    ),
    (
      "*a {red",
      "1:4-5 error sal.bracket.unclosed There is no \"}\" for this \"{\". [add \"}\", or \\{ for the character itself]"
    ),
    (
      "*a red]",
      "1:7-8 error sal.bracket.unopened There is no \"[\" for this \"]\". [remove it, or \\] for the character itself]"
    ),
    (
      "*a red}",
      "1:7-8 error sal.bracket.unopened There is no \"{\" for this \"}\". [remove it, or \\} for the character itself]"
    ),
    (
      "*a red )",
      "1:8-9 error sal.bracket.unopened There is no \"(\" for this \")\". [remove it, or \\) for the character itself]"
    ),
    ("*a x []", "1:6-8 error sal.list.empty There is nothing between the brackets. [[first | second]]"),
    ("*a x ![]", "1:6-9 error sal.list.empty There is nothing between the brackets. [![first | second]]"),
    ("*a x {}", "1:6-8 error sal.optional.empty There is nothing between the braces. [{maybe this}]"),
    (
      "*a [x | | y]",
      "1:9-10 warning sal.list.empty-item There is nothing before this \"|\"; the empty item is ignored. [remove the \"|\", or {[one | other]} if nothing may be said]"
    ),
    (
      "*a [| x]",
      "1:5-6 warning sal.list.empty-item There is nothing before this \"|\"; the empty item is ignored. [remove the \"|\", or {[one | other]} if nothing may be said]"
    ),
    (
      "*a x | y",
      "1:6-7 error sal.bar.outside-list \"|\" separates the items of a list, and this is none. [[one | other], or \\| for the character itself]"
    ),
    (
      "*a {x | y}",
      "1:7-8 error sal.bar.outside-list \"|\" separates the items of a list, and this is none. [{[one | other]}]"
    ),
    (
      "* a",
      "1:1-2 error sal.intent.name-missing The name of the intent is missing after the star. [*name, without a blank between; \\* for the character itself]"
    ),
    (
      "*turn.on x",
      "1:1-9 error sal.name.character The name of an intent has letters a-z, digits, - and _, not \".\". [*turn_on]"
    ),
    (
      "*käynnistä x",
      "1:1-11 error sal.name.character The name of an intent has letters a-z, digits, - and _, not \"ä\". [*k_ynnist]"
    ),
    (
      "*a f*ck",
      "1:5-8 warning sal.intent.inside-word The intent *ck starts in the middle of a word. [f *ck with a blank, or f\\*ck for the character itself]"
    ),
    (
      "*a $ 5",
      "1:4-5 error sal.variable.name-missing The name of the variable is missing after the dollar sign. [$name; \\$ for the character itself]"
    ),
    (
      "*a $sort-by",
      "1:4-12 error sal.variable.name The name of a variable has letters, digits and underscores, not \"-\". [$sort_by]"
    ),
    (
      "sort-by = x",
      "1:1-8 error sal.variable.name The name of a variable has letters, digits and underscores, not \"-\". [sort_by]"
    ),
    (
      "$room = [hall]",
      "1:1-6 error sal.variable.name The name of a variable has letters, digits and underscores, not \"$\"; the dollar sign belongs only where it is used. [room]"
    ),
    (
      "room =",
      "1:1-5 error sal.definition.empty The variable room holds nothing. [room = [first value | second value], on one line up to the bracket]"
    ),
    (
      "a = [x] b = [y]",
      "1:9-10 warning sal.definition.inside-line The definition of b starts inside a line. [put it on a line of its own; in YAML, \"templates: |\" keeps lines and \">\" joins them]"
    ),
    (
      "*a [x] (e)",
      "1:8-11 warning sal.entity.detached There is a blank between the value and the name of its entity. [[value](e), without a blank]"
    ),
    ("*a [x](e", "1:7-9 error sal.entity.unclosed The parenthesis of the entity's name is not closed. [(e)]"),
    ("*a [x]()", "1:7-9 error sal.entity.name-missing The name of the entity is missing. [[value](name)]"),
    (
      "*a [x](my name)",
      "1:7-16 error sal.name.character The name of an entity has letters a-z, digits, - and _, not a blank. [my_name]"
    ),
    (
      "*a x(e)",
      "1:5-8 error sal.entity.value The value of an entity is a list, a range or a variable, and has one name. [[x](e)]"
    ),
    (
      "*a {x}(e)",
      "1:7-10 error sal.entity.value The value of an entity is a list, a range or a variable, and has one name. [{[value](e)}, or [value](e)]"
    ),
    (
      "*a ![x|y](e)",
      "1:10-13 error sal.entity.value The value of an entity is a list, a range or a variable, and has one name. [[![first | second]](e)]"
    ),
    (
      "*a [x](e)(f)",
      "1:10-13 error sal.entity.value The value of an entity is a list, a range or a variable, and has one name. [one name only]"
    ),
    (
      "*a x (e)",
      "1:6-9 error sal.parenthesis.stray A parenthesis names an entity and must follow its value. [[value](e), or \\( and \\) for the characters themselves]"
    ),
    (
      "*a hello!",
      "1:9-10 error sal.exclamation.stray \"!\" starts a permutation and must be followed by a bracket. [![first | second], or \\! for the character itself]"
    ),
    ("*a [9..1]", "1:4-10 error sal.range.reversed The range ends before it starts. [[1..9]]"),
    (
      "*a [0..1000000]",
      "1:4-16 error sal.range.huge A range has at most 1000000 numbers. [$SPEECHLY.NUMBER for any number]"
    ),
    (
      "*a [-9223372036854775808..9223372036854775807]",
      "1:4-47 error sal.range.huge A range has at most 1000000 numbers. [$SPEECHLY.NUMBER for any number]"
    ),
    (
      "*a [1..99999999999999999999]",
      "1:4-29 error sal.range.overflow These numbers are too large to be said. [[1..100]]"
    ),
    (
      "*a 1..9",
      "1:4-8 error sal.range.malformed A range of numbers is two whole numbers with two dots, alone in brackets. [[1..9]]"
    ),
    (
      "*a [1...9]",
      "1:5-10 error sal.range.malformed A range of numbers is two whole numbers with two dots, alone in brackets. [[1..9]]"
    ),
    (
      "*a {1..9}",
      "1:5-9 error sal.range.malformed A range of numbers is two whole numbers with two dots, alone in brackets. [[1..9]]"
    ),
    ("*a [-2: x | y]", "1:5-8 error sal.weight.negative A weight cannot be negative. [a number above 0]"),
    (
      "*a [0: x | y]",
      "1:5-7 warning sal.weight.zero An item of weight 0 is never said; it is left out. [remove the item]"
    ),
    (
      "*a {1.5: x}",
      "1:5-9 error sal.optional.probability A probability is a number from 0 to 1, not 1.5. [0.5:]"
    ),
    (
      "*a {30: x}",
      "1:5-8 error sal.optional.probability A probability is a number from 0 to 1, not 30. [0.3:]"
    ),
    (
      "*a {-0.5: x}",
      "1:5-10 error sal.optional.probability A probability is a number from 0 to 1, not -0.5. [0.5:]"
    ),
    (
      "*a {0: x} y",
      "1:5-7 warning sal.optional.certain With the probability 0 this is never said. [remove it]"
    ),
    (
      "*a {1: x} y",
      "1:5-7 warning sal.optional.certain With the probability 1 this is always said. [leave out the braces]"
    ),
    (
      "*a ![2: x | y]",
      "1:6-8 warning sal.permutation.weight All orders of a permutation are equally likely; the weight is ignored. [remove \"2:\"]"
    ),
    (
      "*a ![x]",
      "1:4-8 warning sal.permutation.single A permutation of one item has only one order. [leave out ![ and ], or separate the items by \"|\"]"
    ),
    (
      "*a ![1|2|3|4|5|6|7|8|9|10|11]",
      "1:4-30 error sal.permutation.long A permutation has at most 10 items; this one has 11. [permute the most important ones only]"
    ),
    (
      "*a x - y",
      "1:6-7 warning sal.word.unsayable Nobody says \"-\", so this will never match. [write what is said, or remove it]"
    ),
    ("*a x\u{0}y", "1:5-6 error sal.character.control Here is a control character, U+0000. [remove it]"),
    (
      "*a x\u{200b}y",
      "1:5-6 warning sal.character.invisible Here is an invisible character, U+200B; it counts as a blank. [remove it]"
    ),
    (
      "*a x\\n y",
      "1:5-6 error sal.escape.unknown A backslash takes the meaning from punctuation; \"n\" after it has none. [\\\\ for the backslash itself]"
    ),
    (
      "*a x\\",
      "1:5-6 error sal.escape.unknown A backslash takes the meaning from punctuation; a blank after it has none. [\\\\ for the backslash itself]"
    ),
  ])
  func complains(text: String, problem: String) {
    #expect(parsed(text).problems == [problem])
  }

  @Test func complainsOnceIfAllWeightsAreZero() {
    #expect(
      parsed("*a [0: x | 0: y] z").problems == [
        "1:4-17 error sal.weight.all-zero All items of this list have the weight 0, so nothing is left. [give at least one a positive weight]",
        "1:5-7 warning sal.weight.zero An item of weight 0 is never said; it is left out. [remove the item]",
        "1:12-14 warning sal.weight.zero An item of weight 0 is never said; it is left out. [remove the item]",
      ])
  }

  @Test func goesOnAfterEveryProblem() {
    let (document, problems) = parsed("*a x)\n*b [1..9\n*c {} y\nz = [q]\n*d $z(")
    #expect(SALPrinter.text(of: document) == "*a x\n*b [1\\.\\.9]\n*c y\nz = [q]\n*d $z\n")
    #expect(problems.map { $0.prefix(4) } == ["1:5-", "2:4-", "2:5-", "3:4-", "5:6-"])
  }

  @Test func doesNotLetAnUnclosedListHideWhatFollows() {
    let (document, problems) = parsed(
      "rooms = [\n  kitchen\n  hall\n\nfloor = [first | second]\n*go to $rooms on $floor\n*x )")
    #expect(
      SALPrinter.text(of: document) == "rooms = \nfloor = [first | second]\n*go to $rooms on $floor\n*x\n")
    #expect(problems.map { $0.split(separator: " ")[2] } == ["sal.bracket.unclosed", "sal.bracket.unopened"])
    #expect(problems.first?.hasPrefix("1:9-10 ") == true)
  }

  @Test func pairsBracketsOfDifferentKinds() {
    let (document, problems) = parsed("*a [x {y ] z")
    #expect(SALPrinter.text(of: document) == "*a [x {y}] z\n")
    #expect(problems.map { $0.split(separator: " ")[0] } == ["1:7-8"])
  }

  @Test func limitsHowDeepBracketsStand() {
    let depth = SALParser.nestingLimit
    let allowed = String(repeating: "[", count: depth) + "x" + String(repeating: "]", count: depth)
    #expect(parsed("*a \(allowed)").problems == [])
    let tooDeep = String(repeating: "{[", count: depth) + "x" + String(repeating: "]}", count: depth)
    let (document, problems) = parsed("*a \(tooDeep) y\n*b z")
    #expect(
      problems == [
        "1:68-69 error sal.nesting.deep Brackets are nested more than 64 deep. [give the inner part a name: name = […], and use $name]"
      ])
    #expect(document.statements.count == 2)
  }

  @Test(arguments: [
    "[", "{", "![", "]", "}", "(", "[a](", "|", "*", "$", "\\", "[1..", "{0.5:", "#", "=", "x=", "[[[{",
    "\u{0}",
  ])
  func endsInReasonableTimeWithAnything(part: String) {
    let (_, diagnostics) = SALParser.parse(SALSource(name: "x", text: String(repeating: part, count: 20_000)))
    #expect(diagnostics.count <= SALParser.diagnosticLimit + 1)
    let lines = String(repeating: part + "\n", count: 20_000)
    #expect(
      SALParser.parse(SALSource(name: "x", text: lines)).diagnostics.count <= SALParser.diagnosticLimit + 1)
  }

  @Test func fitsOnTheStackOfAnyWorkerThread() async {
    let depth = SALParser.nestingLimit / 2
    let text =
      "*i " + String(repeating: "{![", count: depth) + "x|y" + String(repeating: "]}", count: depth) + " z"
    let printed = await withCheckedContinuation { continuation in
      let thread = Thread {
        let (document, diagnostics) = SALParser.parse(SALSource(name: "x", text: text))
        let program = SALChecker.check(documents: [document], problems: diagnostics).program
        continuation.resume(returning: program.map { SALPrinter.text(of: $0) })
      }
      thread.stackSize = 512 * 1024
      thread.start()
    }
    #expect(printed == text.replacing("x|y", with: "x | y") + "\n")
  }

  @Test func saysWhenThereAreTooManyProblems() throws {
    let (_, diagnostics) = SALParser.parse(SALSource(name: "x", text: String(repeating: ")\n", count: 5_000)))
    #expect(diagnostics.count == SALParser.diagnosticLimit + 1)
    let last = try #require(diagnostics.last)
    #expect(last.code == "sal.limit.diagnostics")
    #expect(last.severity == .error)
  }
}
