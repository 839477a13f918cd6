import VoiceTesting

@testable import SpeechUnderstanding

/// Expressions of tests, in the order in which they are said; no parser is needed to read them.
enum SAL {
  static let place = SALRange(file: "test", line: 1, column: 1, endLine: 1, endColumn: 1)

  static func item(_ kind: SALItem.Kind) -> SALItem { SALItem(kind, at: self.place) }

  static func words(_ text: String) -> SALExpression {
    SALExpression(text.split(separator: " ").map { self.item(.word(String($0))) })
  }

  static func intent(_ name: String) -> SALExpression { SALExpression([self.item(.intent(name))]) }

  static func list(_ alternatives: SALExpression...) -> SALExpression {
    SALExpression([self.item(.list(alternatives.map { SALAlternative($0) }))])
  }

  static func optional(_ expression: SALExpression, _ probability: Double = 0.5) -> SALExpression {
    SALExpression([self.item(.optional(expression, probability: probability))])
  }

  static func permutation(_ items: SALExpression...) -> SALExpression {
    SALExpression([self.item(.permutation(items))])
  }

  static func variable(_ name: String) -> SALExpression { SALExpression([self.item(.variable(name))]) }

  static func entity(_ name: String, _ value: SALExpression) -> SALExpression {
    let list = self.item(.list([SALAlternative(value)]))
    return SALExpression([self.item(.entity(value.items.count == 1 ? value.items[0] : list, name: name))])
  }

  static func grammar(
    _ templates: [SALExpression], _ variables: [String: SALExpression] = [:]
  ) throws -> Grammar {
    let program = SALProgram(
      templates: templates.map { SALTemplate($0, at: self.place) }, variables: variables)
    var builder = GrammarBuilder(program: program, language: Digits())
    return try builder.build()
  }

  /// A language in which the only numbers are the digits.
  struct Digits: LanguagePack {
    var language: String { "en" }
    var standardVariables: [String: String] { [:] }
    var fillers: Set<String> { ["please", "uh"] }
    func spokenForms(of number: Int) -> [[String]] { ["\(number)".map { "d\($0)" }] }
    func normalForm(of words: [String], as type: EntityType, in context: ValueContext) -> String? { nil }
    func spokenForm(of value: String, as type: EntityType, in context: ValueContext) -> [String]? { nil }
  }
}

func + (left: SALExpression, right: SALExpression) -> SALExpression {
  SALExpression(left.items + right.items)
}

extension GrammarMatcher {
  /// Everything the text can mean, best first.
  static func interpretations(
    of text: String, in grammar: Grammar, settings: MatchSettings = MatchSettings()
  ) -> [Interpretation] {
    var matcher = GrammarMatcher(grammar: grammar, settings: settings, fillers: ["please", "uh"])
    for word in text.split(separator: " ") { matcher.append(String(word)) }
    return matcher.interpretations(atMost: 5)
  }
}

extension Interpretation {
  /// `*intent some words [value](entity)`, as people write annotated utterances.
  var annotated: String {
    self.segments.map { segment in
      var parts = ["*\(segment.intent)"]
      var position = segment.words.lowerBound
      for entity in segment.entities {
        parts += self.words[position..<entity.words.lowerBound]
        parts.append("[\(entity.value.joined(separator: " "))](\(entity.name))")
        position = entity.words.upperBound
      }
      parts += self.words[position..<segment.words.upperBound]
      return parts.joined(separator: " ")
    }.joined(separator: " ")
  }
}
