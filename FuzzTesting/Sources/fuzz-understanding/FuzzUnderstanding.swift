import Foundation
import FuzzSupport
import SpeechUnderstanding

/// A language with a standard variable for each of the ways that texts can use one.
struct FuzzPack: LanguagePack {
  var language: String { "en" }
  var standardVariables: [String: String] { ["A": "[$SPEECHLY.B | x]", "B": "[1..9]"] }
  var fillers: Set<String> { [] }

  func spokenForms(of number: Int) -> [[String]] { [[String(number)]] }
  func normalForm(of words: [String], as type: EntityType, in context: ValueContext) -> String? { nil }
  func spokenForm(of value: String, as type: EntityType, in context: ValueContext) -> [String]? { nil }
}

/// Reading SAL and annotated text: no crash, and what is printed is read back to the same.
func fuzzLanguage(_ text: String) {
  let source = SALSource(name: "fuzz.sal", text: text)
  let (document, diagnostics) = SALParser.parse(source)
  let (program, all) = SALChecker.check(documents: [document], problems: diagnostics, pack: FuzzPack())
  _ = SALDiagnosticRenderer(sources: [source]).render(all, colors: true)
  for diagnostic in all {
    guard let range = diagnostic.range else { continue }
    require(range.line >= 1 && range.column >= 1, "places are counted from 1")
    require(
      (range.endLine, range.endColumn) >= (range.line, range.column), "a range does not end before it starts")
  }
  if let program { _ = SALPrinter.text(of: program) }
  if !diagnostics.contains(where: { $0.severity == .error }) {
    let printed = SALPrinter.text(of: document)
    let (again, problems) = SALParser.parse(SALSource(name: "again.sal", text: printed))
    require(!problems.contains { $0.severity == .error }, "printed text has no errors")
    require(SALPrinter.text(of: again) == printed, "printed text is read back to the same")
  }
  if let utterance = AnnotatedUtterance.parse(text).utterance {
    require(
      AnnotatedUtterance.parse(utterance.text).utterance == utterance, "printed utterances are read back")
  }
  _ = AnnotatedUtterance.parseLines(source)
}

/// Loading configurations: the input is a YAML file and, after a line of `=====`, a list that it can import.
func fuzzConfiguration(_ bytes: [UInt8]) {
  let separator = Array("\n=====\n".utf8)
  var yaml = bytes[...]
  var csv: ArraySlice<UInt8> = []
  if bytes.count >= separator.count {
    for index in 0...(bytes.count - separator.count)
    where bytes[index] == separator[0] && bytes[index...].starts(with: separator) {
      yaml = bytes[..<index]
      csv = bytes[(index + separator.count)...]
      break
    }
  }
  let result = VoiceInterface.load(
    files: [
      ConfigurationFile(name: "fuzz.yaml", bytes: Array(yaml)),
      ConfigurationFile(name: "list.csv", bytes: Array(csv)),
    ], packs: [FuzzPack()])
  require(
    (result.interface == nil) == result.diagnostics.contains { $0.severity == .error },
    "there is an interface or an error")
  _ = result.rendered()
}

@main
struct FuzzUnderstanding {
  static func main() {
    runFuzzer { bytes in
      // The first byte chooses the reader, so that one corpus serves both.
      if bytes.first == UInt8(ascii: "Y") {
        fuzzConfiguration(Array(bytes.dropFirst()))
      } else {
        fuzzLanguage(String(decoding: bytes, as: UTF8.self))
      }
    }
  }
}
