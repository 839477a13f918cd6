import SpeechUnderstanding
import Testing

/// Every complaint about a configuration, with its exact place.
struct ConfigurationErrorTests {
  private func complaints(_ text: String, _ others: ConfigurationFile...) -> [String] {
    let files = [ConfigurationFile(name: "app.yaml", text: text)] + others
    let result = VoiceInterface.load(files: files, packs: [TinyPack()])
    #expect((result.interface == nil) == result.diagnostics.contains { $0.severity == .error })
    return problems(in: result.diagnostics)
  }

  @Test(arguments: [
    (
      "",
      "1:1-1 warning configuration.file.empty There is nothing in this file. [templates: | with one template a line]"
    ),
    (
      "# nothing\n",
      "1:1-1 warning configuration.file.empty There is nothing in this file. [templates: | with one template a line]"
    ),
    (
      "- a\n- b",
      "1:1-2 error configuration.yaml.shape A configuration is a group of keys, and this is a list. [templates: | with one template a line below it]"
    ),
    (
      "hello",
      "1:1-6 error configuration.yaml.shape A configuration is a group of keys, and this is \"hello\". [templates: | with one template a line below it]"
    ),
    (
      "lang: en-US\nentities: [a",
      "3:1-2 error configuration.yaml.invalid This is not YAML: did not find expected ',' or ']'. [correct the indentation, brackets and quotes on this line or the one above]"
    ),
    (
      "lang: en-US\n\tmodel: x",
      "2:1-2 error configuration.yaml.invalid This is not YAML: found a tab character that violates indentation. [blanks instead of tabs, and quotes around special characters]"
    ),
    (
      "lang: en-US\nmodel: a\nlang: fi",
      "1:1-2 error configuration.yaml.invalid This is not YAML: the key lang is there twice. [each key once]"
    ),
    (
      "lang: en-US\n---\nmodel: x",
      "2:1-2 error configuration.yaml.invalid This is not YAML: but found another document. [one document a file, without a line \"---\" inside]"
    ),
    (
      "lang: en-US\nmodel: a\u{1}b",
      "2:9-10 error configuration.yaml.invalid This is not YAML: control characters are not allowed. [remove the control character]"
    ),
    (
      "langs: en-US",
      "1:1-6 warning configuration.key.unknown The key langs is not known and has no effect. [did you mean lang?]"
    ),
    (
      "lang: [en]",
      "1:7-8 error configuration.value.type lang must be a text, and this is a list. [lang: en-US]"
    ),
    ("lang:", "1:6-7 error configuration.value.type lang must be a text, and this is nothing. [lang: en-US]"),
    (
      "lang: english!",
      "1:7-15 error configuration.value.type lang must be a language tag, and this is \"english!\". [lang: en-US]"
    ),
    (
      "templates:\n- '*i x'",
      "2:1-2 error configuration.value.type templates must be a text in SAL, and this is a list. [templates: | with one template a line below it]"
    ),
    (
      "entities: color",
      "1:11-16 error configuration.value.type entities must be a list, and this is \"color\". [- name: color]"
    ),
    (
      "fast_intent_detector: maybe",
      "1:23-28 error configuration.value.type fast_intent_detector must be true or false, and this is \"maybe\". [fast_intent_detector: true]"
    ),
    (
      "silence_triggered_segmentation: 0.5",
      "1:33-36 error configuration.value.type silence_triggered_segmentation must be a whole number from 0 to 600000, and this is \"0.5\". [silence_triggered_segmentation: 720]"
    ),
    (
      "silence_triggered_segmentation: -60",
      "1:33-36 error configuration.value.type silence_triggered_segmentation must be a whole number from 0 to 600000, and this is \"-60\". [silence_triggered_segmentation: 720]"
    ),
    (
      "silence_triggered_segmentation: 500",
      "1:33-36 warning configuration.silence.multiple Multiples of 60 ms work best. [silence_triggered_segmentation: 480]"
    ),
    (
      "adaptation_audio_package: 1234",
      "1:27-31 error configuration.value.type adaptation_audio_package must be a UUID, and this is \"1234\". [adaptation_audio_package: 15F425DD-7A95-4D4B-A4A6-0DF059715A9C]"
    ),
    (
      "lang: fi-FI",
      "warning configuration.language.unknown Numbers, dates and standard variables are not available in the language fi-FI. [one of en]"
    ),
    (
      "entities: [{type: number}]",
      "1:12-13 error configuration.key.missing This entity has no name. [name: color]"
    ),
    ("intents: [{}]", "1:11-12 error configuration.key.missing This intent has no name. [name: turn_on]"),
    (
      "entities: [{name: a b}]\n",
      "1:19-22 error sal.name.character The name of an entity has letters a-z, digits, - and _, not a blank. [a_b]"
    ),
    (
      "imports: [{name: x}]",
      "1:11-12 error configuration.key.missing This import has no source. [source: colors.csv]"
    ),
    (
      "imports: [{name: x, source: a.csv, field: 0}]",
      "1:43-44 error configuration.value.type field must be a whole number from 1 to 100000, and this is \"0\". [field: 1]"
    ),
    (
      "imports: [{name: a-b, source: a.csv}]",
      "1:18-21 error sal.variable.name The name of a variable has letters, digits and underscores, not \"-\". [a_b]"
    ),
  ])
  func complains(text: String, problem: String) {
    #expect(complaints(text) == [problem])
  }

  @Test(arguments: [
    "x: " + String(repeating: "[", count: 990) + String(repeating: "]", count: 990),
    String(repeating: "- ", count: 900) + "x",
    "a: &a [x]\n"
      + (1...40).map {
        "b\($0): &b\($0) [*\($0 == 1 ? "a" : "b\($0 - 1)"), *\($0 == 1 ? "a" : "b\($0 - 1)")]\n"
      }.joined() + "? *b40\n: x",
    "a: &a [x]\n"
      + (1...40).map {
        "b\($0): &b\($0) [*\($0 == 1 ? "a" : "b\($0 - 1)"), *\($0 == 1 ? "a" : "b\($0 - 1)")]\n"
      }.joined(),
  ])
  func refusesValuesThatStandTooDeepOrBecomeHuge(text: String) {
    #expect(
      complaints(text) == [
        "1:1-1 error configuration.yaml.nesting The values of this file stand too deep in each other. [a configuration has lists of groups, and no more]"
      ])
  }

  @Test func allowsReferencesAndTheirCharactersInTemplates() {
    let lines = (0..<50).map { "  *i\($0) rock &roll\($0)\n" }.joined()
    #expect(complaints("templates: |\n\(lines)lang: &l en-US\nmodel: *l\n") == [])
  }

  @Test func complainsAboutEntities() {
    let text = """
      entities:
        - {name: a, type: numbr}
        - {name: b, type: moon, input_items: $x}
        - {name: c, type: lookup, input_items: $list}
        - {name: d, type: lookup, input_items: $list, output_items: $lists, output_file: x}
        - name: a
        - {name: b, type: date}
      imports: [{name: list, source: list.csv}]
      templates: "*i [x](a) [x](b) [x](c) [x](d)"
      """
    #expect(
      complaints(text, ConfigurationFile(name: "list.csv", text: "x")) == [
        "2:21-26 warning configuration.entity.type There is no entity type numbr; the entity has the type string. [did you mean number?]",
        "3:21-25 warning configuration.entity.type There is no entity type moon; the entity has the type string. [one of string, number, date, date_future, date_past, time, identifier, phone_number, person_name, email_address, web_address, lookup]",
        "3:40-42 warning configuration.lookup.type Only entities of the type lookup have items. [type: lookup]",
        "4:12-13 error configuration.key.missing The lookup c has no output_items. [output_items: $variable, the name of an import]",
        "5:63-69 error configuration.lookup.not-imported There is no import named lists. [did you mean $list?]",
        "5:71-82 warning configuration.key.unknown The key output_file is not known and has no effect. [did you mean output_field?]",
        "6:11-12 warning configuration.entity.repeated The entity a is declared a second time. [remove one of the two]",
        "7:12-13 error configuration.entity.repeated The entity b is declared a second time. [remove one of the two]",
      ])
  }

  @Test func complainsAboutLists() {
    let text = """
      imports:
        - {name: a, source: long.csv}
        - {name: b, source: short.csv, field: 1}
        - {name: c, source: short.csv, field: 2}
        - {name: d, source: semicolons.csv, field: 2}
        - {name: e, source: empty.csv}
        - {name: f, source: bad.csv}
      entities:
        - {name: x, type: lookup, input_items: $a, output_items: $b}
        - {name: y, type: lookup, input_items: $b, output_items: $c}
      templates: "*i $a(x) $b(y) $c $d $e $f"
      """
    #expect(
      complaints(
        text, ConfigurationFile(name: "long.csv", text: "1\n2\n3\n"),
        ConfigurationFile(name: "short.csv", text: "One,1\none,2\nTwo\n"),
        ConfigurationFile(name: "semicolons.csv", text: "a;b\nc;d"),
        ConfigurationFile(name: "empty.csv", text: ""),
        ConfigurationFile(name: "bad.csv", text: "a\n\"b")
      ) == [
        "2:1-1 error csv.quote.unclosed A value starts with a quote on this line and does not end. [\"value\", and two quotes for one inside]",
        "3:1-1 warning csv.row-short This row has no column 2. [add the value, or remove the row]",
        "5:12-13 error csv.field-missing The file semicolons.csv has no column 2. [separate the columns by commas, not semicolons]",
        "6:23-32 warning csv.empty The file empty.csv has no rows. [one value a line]",
        "10:42-44 warning configuration.lookup.ambiguous The value \"one\" of b has several normal forms; the first one holds. [each value once]",
        "11:31-33 error sal.template.impossible This template matches nothing, because a list that it needs is empty. [give the list a value]",
      ])
  }

  @Test func complainsAboutListsOfDifferentLength() {
    let text = """
      imports: [{name: a, source: a.csv}, {name: b, source: b.csv}]
      entities: [{name: x, type: lookup, input_items: a, output_items: b}]
      templates: "*i $a(x)"
      """
    #expect(
      complaints(
        text, ConfigurationFile(name: "a.csv", text: "1\n2\n3\n"),
        ConfigurationFile(name: "b.csv", text: "1\n2")) == [
          "2:66-67 error configuration.lookup.length The lists of a lookup must be equally long: a has 3 values, b has 2. [two columns of one file]"
        ])
  }

  @Test func complainsAboutFiles() {
    let files = [
      ConfigurationFile(name: "a.yaml", text: "model: x\nlang: en-US"),
      ConfigurationFile(name: "b.yaml", text: "lang: en-GB"),
      ConfigurationFile(name: "c.yaml", bytes: Array("lang: en\n# ä".utf8) + [0xff, 0x0a]),
      ConfigurationFile(name: "d.yaml", bytes: [0xff, 0xfe, 0x61, 0x00]),
      ConfigurationFile(name: "e.yml", text: "lang: fi"), ConfigurationFile(name: "f.txt", text: "?"),
    ]
    let diagnostics = VoiceInterface.load(files: files).diagnostics
    #expect(
      problems(in: diagnostics) == [
        "1:1-5 error configuration.key.repeated The key lang is already in a.yaml. [remove one of the two]",
        "2:4-5 error configuration.file.encoding This file is not in UTF-8. [save it in UTF-8]",
        "1:1-2 error configuration.file.encoding This file is in UTF-16. [save it in UTF-8]",
        "1:1-1 warning configuration.file.yml Files named .yml are not part of a configuration; this one is left out. [name it e.yaml]",
        "note configuration.file.ignored The file f.txt is neither .yaml, .sal nor .csv.",
      ])
    #expect(diagnostics.map(\.range?.file) == ["b.yaml", "c.yaml", "d.yaml", "e.yml", nil])
    #expect(
      problems(in: VoiceInterface.load(files: []).diagnostics) == [
        "error configuration.file.none There is no .yaml and no .sal file. [add app.yaml with templates: | and one template a line]"
      ])
  }

  @Test func showsTheLineOfAProblemInATemplate() {
    let text = "lang: en-US\ntemplates: |\n  room = [hall|attic]\n\n  *go to $rooom and $room\n"
    let result = VoiceInterface.load(files: [ConfigurationFile(name: "app.yaml", text: text)])
    #expect(
      result.rendered() == """
        app.yaml:5:10: error: There is no variable rooom. [sal.variable.undefined]
          5 |   *go to $rooom and $room
            |          ^~~~~~
        help: did you mean $room?

        """)
  }

  @Test func warnsAboutIntentsThatAreDeclaredTwiceOrNever() {
    #expect(
      complaints("intents: [a, name, {name: a}]\ntemplates: '*a x *b y'") == [
        "1:14-18 warning sal.intent.unused The intent name is declared but in no template. [use it in a template, or remove it]",
        "1:27-28 warning configuration.intent.repeated The intent a is declared a second time. [remove one of the two]",
        "2:18-20 warning sal.intent.undeclared The intent b is not declared in the configuration. [add it to the list of intents]",
      ])
  }
}
