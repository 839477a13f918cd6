import SpeechUnderstanding
import Testing
import VoiceTesting

struct AnnotatedUtteranceTests {
  @Test(arguments: [
    (
      "fly to [x](city)",
      "1:1-4 error annotation.intent-missing An utterance starts with its intent. [*name before the first word, or *_ for none]"
    ),
    ("* x", "1:1-2 error annotation.intent-name The name of the intent is missing after the star. [*name]"),
    (
      "*a.b x",
      "1:1-5 error annotation.intent-name The name of an intent has letters a-z, digits, - and _. [*a_b]"
    ),
    (
      "*a [x",
      "1:4-6 error annotation.entity This entity is not finished. [[spoken value|normal form](entity)]"
    ),
    (
      "*a [x [y",
      "1:4-7 error annotation.entity This entity is not finished. [[spoken value|normal form](entity)]\n1:7-9 error annotation.entity This entity is not finished. [[spoken value|normal form](entity)]"
    ),
    (
      "*a [x] y",
      "1:4-7 error annotation.entity The name of the entity is missing. [[spoken value|normal form](entity)]"
    ),
    (
      "*a [x](",
      "1:4-8 error annotation.entity-name The name of an entity stands in parentheses and has letters a-z, digits, - and _. [(name)]"
    ),
    (
      "*a [x](y z)",
      "1:4-12 error annotation.entity-name The name of an entity stands in parentheses and has letters a-z, digits, - and _. [(y_z)]"
    ),
    (
      "*a [|5](n)",
      "1:4-11 error annotation.entity-empty The entity n has no spoken value. [[spoken value|normal form](n)]"
    ),
    (
      "*a [](n)",
      "1:4-9 error annotation.entity-empty The entity n has no spoken value. [[spoken value|normal form](n)]"
    ),
    (
      "*a x)",
      "1:5-6 error annotation.character \")\" belongs to entities only. [[spoken value|normal form](entity), or a backslash before the character]"
    ),
    (
      "*a x | y",
      "1:6-7 error annotation.character \"|\" belongs to entities only. [[spoken value|normal form](entity), or a backslash before the character]"
    ),
  ])
  func complains(text: String, problem: String) {
    let (utterance, diagnostics) = AnnotatedUtterance.parse(text)
    #expect(problems(in: diagnostics).joined(separator: "\n").hasPrefix(problem))
    #expect(utterance == nil)
  }

  @Test func readsSegmentsWordsAndEntities() {
    let (utterance, diagnostics) = AnnotatedUtterance.parse(
      "*filter  [nike|1273](brand) and [t shirts|t-shirts](category) *_ hm $5! *sort by [price](sort)\r\n")
    #expect(diagnostics == [])
    #expect(
      utterance
        == AnnotatedUtterance([
          .init(
            intent: "filter", words: ["nike", "and", "t", "shirts"],
            entities: [
              .init(name: "brand", value: "nike", normalizedValue: "1273", words: 0..<1),
              .init(name: "category", value: "t shirts", normalizedValue: "t-shirts", words: 2..<4),
            ]),
          .init(intent: "_", words: ["hm", "$5!"]),
          .init(
            intent: "sort", words: ["by", "price"],
            entities: [.init(name: "sort", value: "price", words: 1..<2)]),
        ]))
    #expect(utterance?.plainText == "nike and t shirts hm $5! by price")
  }

  @Test func writesTheFormOfTheCommandLine() {
    let utterance = AnnotatedUtterance([
      .init(
        intent: "call", words: ["call", "plus", "four", "now"],
        entities: [.init(name: "phone", value: "plus four", normalizedValue: "+4 (0) [x]", words: 1..<3)]),
      .init(intent: "_"),
    ])
    #expect(utterance.text == #"*call call [plus four|+4 (0) [x\]](phone) now *_"#)
  }

  @Test func leavesOutEntitiesThatHaveNoWords() {
    let entities = [(0..<9), (1..<1), (-3..<1), (0..<1), (0..<2)].map {
      AnnotatedUtterance.Entity(name: "e", value: "?", words: $0)
    }
    #expect(
      AnnotatedUtterance([.init(intent: "a", words: ["x", "y"], entities: entities)]).text == "*a [x](e) y")
  }

  @Test func readsOneUtteranceOfEachLine() {
    let (utterances, diagnostics) = AnnotatedUtterance.parseLines(
      SALSource(name: "truth.txt", text: "*a x\n\n# comment\r\n*b [\n*c y", firstLine: 10))
    #expect(utterances.map(\.text) == ["*a x", "*c y"])
    #expect(diagnostics.map(\.range?.line) == [13])
  }

  @Test func readsBackWhateverItWrites() {
    var random = SeededGenerator(seed: 5)
    let pieces = ["a", "[", "]", "(", ")", "|", "*", "\\", "#", "{", "$", "!", "é", "'", ":", "9"]
    for _ in 0..<2_000 {
      let segments = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        let words = (0..<Int.random(in: 0...6, using: &random)).map { _ in
          (0..<Int.random(in: 1...3, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "a" }
            .joined()
        }
        var segment = AnnotatedUtterance.Segment(intent: "i-\(words.count)", words: words)
        var index = 0
        while index < words.count {
          let end = Int.random(in: index...words.count, using: &random)
          if end > index {
            let normal = Bool.random(using: &random) ? nil : " \(pieces.shuffled(using: &random).joined()) "
            let value = words[index..<end].joined(separator: " ")
            segment.entities.append(
              .init(name: "e_1", value: value, normalizedValue: normal, words: index..<end))
          }
          index = end + 1
        }
        return segment
      }
      let utterance = AnnotatedUtterance(segments)
      #expect(AnnotatedUtterance.parse(utterance.text).utterance == utterance, "\(utterance.text)")
    }
  }
}
