import Foundation
import SpeechUnderstanding
import Testing

/// A language with a few standard variables, for tests of what is above languages.
struct TinyPack: LanguagePack {
  var language = "en"
  var standardVariables = [
    "DATE": "[today | tomorrow]", "NUMBER": "[$SPEECHLY.SMALL_NUMBER | hundred]", "SMALL_NUMBER": "[1..9]",
    "BROKEN": "[one", "LOST": "$SPEECHLY.NOWHERE", "EN_DIGIT": "[1..9]",
  ]
  var fillers: Set<String> = []

  func spokenForms(of number: Int) -> [[String]] { [[String(number)]] }
  func normalForm(of words: [String], as type: EntityType, in context: ValueContext) -> String? { nil }
  func spokenForm(of value: String, as type: EntityType, in context: ValueContext) -> [String]? { nil }
}

/// The diagnostics of a text in one line each: `3:10-14 error sal.code message [suggestion]`.
func problems(in diagnostics: [SALDiagnostic]) -> [String] {
  diagnostics.map { diagnostic in
    var place = ""
    if let range = diagnostic.range {
      place = "\(range.line):\(range.column)-"
      if range.endLine != range.line { place += "\(range.endLine):" }
      place += "\(range.endColumn) "
    }
    let suggestion = diagnostic.suggestion.map { " [\($0)]" } ?? ""
    return "\(place)\(diagnostic.severity) \(diagnostic.code) \(diagnostic.message)\(suggestion)"
  }
}

/// What the parser says of a text.
func parsed(_ text: String) -> (document: SALDocument, problems: [String]) {
  let (document, diagnostics) = SALParser.parse(SALSource(name: "test.sal", text: text))
  return (document, problems(in: diagnostics))
}

/// What parser and checker say of a text.
func checked(
  _ text: String, imports: [SALChecker.Import] = [], pack: (any LanguagePack)? = TinyPack(),
  intents: [SALChecker.Declaration] = [], entities: [SALChecker.Declaration] = []
) -> (program: SALProgram?, problems: [String]) {
  let (document, diagnostics) = SALParser.parse(SALSource(name: "test.sal", text: text))
  let (program, all) = SALChecker.check(
    documents: [document], problems: diagnostics, imports: imports, pack: pack, intents: intents,
    entities: entities)
  return (program, problems(in: all))
}
