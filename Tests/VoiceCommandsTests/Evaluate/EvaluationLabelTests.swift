import Testing

@testable import VoiceCommands

struct EvaluationLabelTests {
  // MARK: Bad input

  @Test(arguments: [
    ("{", "no valid JSON"),
    ("{\"intent\": \"order\"}", "“file” is missing"),
    ("{\"file\": 3, \"intent\": \"order\"}", "“file” has a value of another type"),
    ("{\"file\": \"a.wav\"}", "what should be understood is missing"),
    ("{\"file\": \"a.wav\", \"text\": \"just words\"}", "what should be understood is missing"),
    (
      "{\"file\": \"a.wav\", \"intent\": \"order\", \"entities\": [1]}",
      "“entities” has a value of another type"
    ),
    (
      "{\"file\": \"a.wav\", \"intent\": \"order\", \"entities\": {\"size\": {}}}",
      "a value is a text, a number"
    ),
    ("{\"file\": \"a.wav\", \"text\": \"*order a [tea](drink\"}", "column"),
    ("{\"file\": \"a.wav\", \"text\": \"*order tea\", \"entities\": {}}", "“entities” without “intent”"),
    ("a.wav", "after the file comes what was said"),
    ("a.wav turn on", "column"),
  ])
  func namesTheLineThatIsNoLabel(line: String, message: String) throws {
    let (labels, problems) = EvaluationLabel.parse("# labels\n\n\(line)\nb.wav *order tea")
    #expect(labels.map(\.file) == ["b.wav"])
    let problem = try #require(problems.first)
    #expect(problem.line == 3)
    #expect(problem.message.contains(message), "\(problem.message)")
    #expect(problems.count == 1)
  }

  // MARK: Forms

  @Test func readsIntentsWithValues() throws {
    let (labels, problems) = EvaluationLabel.parse(
      #"{"file": "a.wav", "intent": "order", "entities": {"size": ["big", "small"], "drink": "tea", "count": 2}}"#
    )
    #expect(problems.isEmpty)
    let label = try #require(labels.first)
    #expect(label.segments.map(\.intent) == ["order"])
    #expect(
      label.segments.first?.entities == [
        .init(name: "count", forms: ["2"]), .init(name: "drink", forms: ["tea"]),
        .init(name: "size", forms: ["big"]), .init(name: "size", forms: ["small"]),
      ])
    #expect(label.words == nil)
    #expect(label.isInGrammar)
  }

  @Test func readsAnnotatedTextInBothFiles() {
    let text = "*fly to [new york|New York](city) *pay later"
    let json =
      #"{"file": "a.wav", "text": "\#(text)", "voice": "v", "condition": "street", "domain": "d", "other": 1}"#
    let (labels, problems) = EvaluationLabel.parse("\u{FEFF}\(json)\r\na.wav\t\(text)\r\n")
    #expect(problems.isEmpty)
    #expect(labels.count == 2)
    for label in labels {
      #expect(label.words == ["to", "new", "york", "later"])
      #expect(label.segments.map(\.intent) == ["fly", "pay"])
      #expect(label.segments.first?.entities == [.init(name: "city", forms: ["new york", "New York"])])
    }
    #expect(labels.first?.voice == "v")
    #expect(labels.first?.condition == "street")
    #expect(labels.first?.domain == "d")
  }

  @Test func speechOutsideTheGrammarHasNoIntent() {
    let (labels, problems) = EvaluationLabel.parse(
      """
      {"file": "a.wav", "text": "what a day", "in_grammar": false}
      {"file": "b.wav", "in_grammar": false}
      {"file": "c.wav", "text": "*_ what a day"}
      d.wav *_ what a day
      """)
    #expect(problems.isEmpty)
    #expect(labels.map(\.isInGrammar) == [false, false, false, false])
    #expect(
      labels.map(\.words) == [["what", "a", "day"], nil, ["what", "a", "day"], ["what", "a", "day"]])
    #expect(labels.allSatisfy { $0.segments.isEmpty })
  }
}
