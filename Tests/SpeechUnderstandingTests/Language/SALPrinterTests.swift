import SpeechUnderstanding
import Testing
import VoiceTesting

struct SALPrinterTests {
  @Test func readsBackWhateverItPrints() {
    var random = SeededGenerator(seed: 2_021)
    for _ in 0..<4_000 {
      let expression = random.expression(depth: 4)
      let text = "x = " + SALPrinter.text(of: expression)
      let (document, diagnostics) = SALParser.parse(SALSource(name: "x", text: text))
      #expect(diagnostics.filter { $0.severity == .error } == [], "\(text)")
      guard document.statements.count == 1, case .definition(let definition)? = document.statements.first
      else {
        Issue.record("not one definition: \(text)")
        continue
      }
      guard definition.expression.comparable == expression.comparable else {
        Issue.record("reads back as something else: \(text)")
        continue
      }
      #expect(SALPrinter.text(of: definition.expression) == SALPrinter.text(of: expression))
    }
  }

  @Test func printsDocumentsLineByLine() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<300 {
      var document = SALDocument()
      for index in 0..<5 {
        let expression = random.expression(depth: 3)
        document.statements += [
          .definition(SALDefinition(name: "v\(index)", nameRange: .nowhere, expression: expression)),
          .template(
            SALTemplate(SALExpression([SALItem(.intent("i"), at: .nowhere)] + expression.items), at: .nowhere)
          ),
        ]
      }
      let text = SALPrinter.text(of: document)
      let (parsed, diagnostics) = SALParser.parse(SALSource(name: "x", text: text))
      #expect(diagnostics.filter { $0.severity == .error } == [])
      #expect(parsed.statements.count == 10)
      #expect(SALPrinter.text(of: parsed) == text)
    }
  }

  @Test(arguments: [
    (0.5, "*a [0.5: x | y]"), (3, "*a [3: x | y]"), (1e-7, "*a [0.0000001: x | y]"),
    (2.5e20, "*a [250000000000000000000: x | y]"),
    (1.25e-5, "*a [0.0000125: x | y]"), (1.0 / 3, "*a [0.3333333333333333: x | y]"),
  ])
  func printsWeightsWithoutExponents(weight: Double, text: String) throws {
    let list = SALItem.Kind.list([SALAlternative(.words("x"), weight: weight), SALAlternative(.words("y"))])
    let expression = SALExpression([SALItem(.intent("a"), at: .nowhere), SALItem(list, at: .nowhere)])
    #expect(SALPrinter.text(of: expression) == text)
    guard case .template(let template)? = parsed(text).document.statements.first else {
      Issue.record("?"); return
    }
    #expect(template.expression.comparable == expression.comparable)
  }

  @Test func printsProgramsInOrderOfNeedWithoutStandardVariables() throws {
    let text = "b = [x | y]\na = $b {$SPEECHLY.DATE}\n*i $a\n"
    let program = try #require(checked(text).program)
    #expect(program.variables.keys.sorted() == ["SPEECHLY.DATE", "a", "b"])
    #expect(SALPrinter.text(of: program) == text)
  }

  @Test func printsProgramsThatNeedThemselvesWithoutRunningForEver() {
    let program = SALProgram(variables: [
      "a": SALExpression([SALItem(.variable("b"), at: .nowhere)]),
      "b": SALExpression([SALItem(.variable("a"), at: .nowhere)]),
    ])
    #expect(SALPrinter.text(of: program) == "b = $a\na = $b\n")
  }
}

extension SALRange {
  static let nowhere = SALRange(file: "", line: 0, column: 0, endLine: 0, endColumn: 0)
}

extension SALExpression {
  static func words(_ words: String...) -> SALExpression {
    SALExpression(words.map { SALItem(.word($0), at: .nowhere) })
  }

  /// The expression with all places being one.
  var comparable: SALExpression { SALExpression(self.items.map(\.comparable)) }
}

extension SALItem {
  fileprivate var comparable: SALItem {
    let kind: Kind =
      switch self.kind {
      case .word, .intent, .numbers, .variable: self.kind
      case .entity(let value, let name): .entity(value.comparable, name: name)
      case .list(let alternatives):
        .list(alternatives.map { SALAlternative($0.expression.comparable, weight: $0.weight) })
      case .permutation(let expressions): .permutation(expressions.map(\.comparable))
      case .optional(let expression, let probability):
        .optional(expression.comparable, probability: probability)
      }
    return SALItem(kind, at: .nowhere)
  }
}

extension SeededGenerator {
  /// Words of the characters that mean something, and of others.
  fileprivate mutating func word() -> String {
    let pieces = [
      "a", "b", "[", "]", "{", "}", "(", ")", "|", "*", "$", "!", "\\", "#", "=", ":", ".", "..", "-", "1",
      "9", "'", "é", "語", "👍🏽", "x",
    ]
    let count = Int.random(in: 1...4, using: &self)
    return (0..<count).map { _ in pieces.randomElement(using: &self) ?? "a" }.joined()
  }

  fileprivate mutating func expression(depth: Int) -> SALExpression {
    SALExpression(
      (0..<Int.random(in: 1...3, using: &self)).map { _ in SALItem(self.kind(depth: depth), at: .nowhere) })
  }

  fileprivate mutating func alternatives(depth: Int) -> [SALAlternative] {
    (0..<Int.random(in: 1...3, using: &self)).map { _ in
      let isEmpty = Int.random(in: 0..<10, using: &self) == 0
      let weights: [Double] = [1, 1, 1, 2, 0.25, 1e-9, 12.5]
      let weight = weights.randomElement(using: &self) ?? 1
      return SALAlternative(isEmpty ? SALExpression() : self.expression(depth: depth - 1), weight: weight)
    }
  }

  fileprivate mutating func kind(depth: Int) -> SALItem.Kind {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 4), using: &self) {
    case 0: return .word(self.word())
    case 1: return .variable(["room", "SPEECHLY.DATE", "x1", "määrä"].randomElement(using: &self) ?? "x")
    case 2: return .intent(["on", "turn-off", "_"].randomElement(using: &self) ?? "x")
    case 3:
      let first = Int.random(in: -9...9, using: &self)
      return .numbers(first...(first + Int.random(in: 0...99, using: &self)))
    case 4: return .list(self.alternatives(depth: depth))
    case 5:
      return .permutation(
        (0..<Int.random(in: 1...4, using: &self)).map { _ in self.expression(depth: depth - 1) })
    case 6:
      let probabilities: [Double] = [0.5, 0.5, 0.25, 0.1, 0, 1, 1e-6]
      let probability = probabilities.randomElement(using: &self) ?? 0.5
      return .optional(self.expression(depth: depth - 1), probability: probability)
    case 7: return .entity(SALItem(.list(self.alternatives(depth: depth)), at: .nowhere), name: "size")
    default:
      let value: SALItem.Kind = Bool.random(using: &self) ? .variable("room") : .numbers(1...9)
      return .entity(SALItem(value, at: .nowhere), name: "room-1")
    }
  }
}
