import Foundation
import SpeechUnderstanding

/// What is known of one recording: what was said in it, and what should be understood.
struct EvaluationLabel: Hashable, Sendable {
  /// An intent that should be understood, with its values.
  struct Segment: Hashable, Sendable {
    var intent: String
    var entities: [Entity] = []
  }

  /// A value that should be understood; any of the forms is right.
  struct Entity: Hashable, Sendable {
    var name: String
    var forms: [String]
  }

  /// The recording, relative to the folder of the labels.
  var file: String
  /// What should be understood, in order; empty for speech that should be rejected.
  var segments: [Segment] = []
  /// The words that were said, if they are known.
  var words: [String]?
  /// Whether the app's grammar covers what was said.
  var isInGrammar = true
  /// Who speaks.
  var voice: String?
  /// How the recording was made.
  var condition: String?
  /// The domain that the sentence belongs to.
  var domain: String?
}

extension EvaluationLabel {
  /// A line that is no label, with its number from 1.
  struct Problem: Error, Hashable, Sendable {
    var line: Int
    var message: String
  }

  /// Reads labels, one on each line.
  ///
  /// A line is a JSON object or `FILE *intent words [value](entity)`. Empty lines and those that begin with `#` are skipped.
  static func parse(_ text: String) -> (labels: [EvaluationLabel], problems: [Problem]) {
    var labels: [EvaluationLabel] = []
    var problems: [Problem] = []
    var number = 0
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      number += 1
      let line = line.trimmingCharacters(in: .whitespaces.union(.init(charactersIn: "\u{FEFF}")))
      if line.isEmpty || line.hasPrefix("#") { continue }
      do throws(LabelError) {
        labels.append(line.hasPrefix("{") ? try Self.object(line) : try Self.plain(line))
      } catch {
        problems.append(Problem(line: number, message: error.message))
      }
    }
    return (labels, problems)
  }

  private struct LabelError: Error {
    var message: String
  }

  /// `FILE *intent words [value](entity)`.
  private static func plain(_ line: String) throws(LabelError) -> EvaluationLabel {
    guard let end = line.firstIndex(where: \.isWhitespace) else {
      throw LabelError(message: "after the file comes what was said: “FILE *intent words [value](entity)”")
    }
    var label = EvaluationLabel(file: String(line[..<end]))
    try label.take(annotated: line[end...].trimmingCharacters(in: .whitespaces))
    return label
  }

  private static func object(_ line: String) throws(LabelError) -> EvaluationLabel {
    let object: LabelObject
    do {
      object = try JSONDecoder().decode(LabelObject.self, from: Data(line.utf8))
    } catch let error as DecodingError {
      throw LabelError(message: Self.description(error))
    } catch {
      throw LabelError(message: "this is no JSON object")
    }
    guard let file = object.file, !file.isEmpty else { throw LabelError(message: "“file” is missing") }
    var label = EvaluationLabel(
      file: file, voice: object.voice, condition: object.condition, domain: object.domain)
    if let intent = object.intent {
      if let text = object.text { label.words = Alignment.words(of: text) }
      label.take(intent: intent, entities: object.entities ?? [:])
    } else if let text = object.text, text.contains("*") {
      guard object.entities == nil else { throw LabelError(message: "“entities” without “intent”") }
      try label.take(annotated: text)
    } else if object.in_grammar == false {
      label.words = object.text.map(Alignment.words)
      label.isInGrammar = false
    } else {
      throw LabelError(message: "what should be understood is missing: “intent”, or “text” with “*intent …”")
    }
    if object.in_grammar == false {
      label.isInGrammar = false
      label.segments = []
    }
    return label
  }

  private mutating func take(annotated text: String) throws(LabelError) {
    let (utterance, diagnostics) = AnnotatedUtterance.parse(text)
    guard let utterance, !utterance.segments.isEmpty else {
      let first = diagnostics.first { $0.severity == .error }
      throw LabelError(
        message: first.map { "\($0.range.map { "column \($0.column) of the text: " } ?? "")\($0.message)" }
          ?? "the text says nothing")
    }
    self.words = Alignment.words(of: utterance.plainText)
    self.segments = utterance.segments.map { segment in
      Segment(
        intent: segment.intent,
        entities: segment.entities.map { entity in
          Entity(name: entity.name, forms: [entity.value] + (entity.normalizedValue.map { [$0] } ?? []))
        })
    }
    self.leaveOutWhatMeansNothing()
  }

  private mutating func take(intent: String, entities: [String: LabelObject.Value]) {
    self.segments = [
      Segment(
        intent: intent,
        entities: entities.sorted { $0.key < $1.key }.flatMap { name, value in
          value.texts.map { Entity(name: name, forms: [$0]) }
        })
    ]
    self.leaveOutWhatMeansNothing()
  }

  /// `_` is how annotated text writes that words have no intent.
  private mutating func leaveOutWhatMeansNothing() {
    self.segments.removeAll { $0.intent.isEmpty || $0.intent == "_" }
    self.isInGrammar = !self.segments.isEmpty
  }

  private static func description(_ error: DecodingError) -> String {
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      let key = context.codingPath.first?.stringValue ?? ""
      return key.isEmpty ? "this is no JSON object" : "“\(key)” has a value of another type than expected"
    case .keyNotFound(let key, _): return "“\(key.stringValue)” is missing"
    case .dataCorrupted(let context):
      guard let key = context.codingPath.first?.stringValue else { return "this is no valid JSON" }
      return "“\(key)”: \(context.debugDescription)"
    @unknown default: return "this is no valid JSON"
    }
  }
}

/// A label as it is written; other fields may be there.
private struct LabelObject: Decodable {
  var file: String?
  var intent: String?
  var entities: [String: Value]?
  var text: String?
  var voice: String?
  var condition: String?
  var domain: String?
  var in_grammar: Bool?

  /// A value, or several of the same entity.
  struct Value: Decodable {
    var texts: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let text = try? container.decode(String.self) {
        self.texts = [text]
      } else if let number = try? container.decode(Int.self) {
        self.texts = [String(number)]
      } else if let number = try? container.decode(Double.self) {
        self.texts = [String(number)]
      } else if let texts = try? container.decode([String].self) {
        self.texts = texts
      } else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "a value is a text, a number or a list of texts")
      }
    }
  }
}
