import SpeechUnderstanding

extension EventObject {
  /// What became of one recording in one condition.
  static func evaluated(_ score: EvaluationScore) -> JSONValue {
    var fields: [JSONValue.Field] = [
      .init(name: "event", value: .string("evaluated")),
      .init(name: "file", value: .string(score.label.file)),
      .init(name: "condition", value: .string(score.condition)),
    ]
    if let domain = score.label.domain { fields.append(.init(name: "domain", value: .string(domain))) }
    if let voice = score.label.voice { fields.append(.init(name: "voice", value: .string(voice))) }
    fields += [
      .init(name: "inGrammar", value: .bool(score.label.isInGrammar)),
      .init(name: "text", value: .string(score.hearing.words.joined(separator: " "))),
      .init(name: "expectedIntent", value: .string(score.expectedIntents ?? "")),
      .init(name: "intent", value: .string(score.understoodIntents ?? "")),
      .init(name: "expectedEntities", value: self.entities(score.label.segments)),
      .init(name: "entities", value: self.entities(score.hearing)),
      .init(name: "intentRight", value: .bool(score.isIntentRight)),
      .init(name: "accepted", value: .bool(score.isAccepted)),
      .init(name: "rejected", value: .bool(score.isRejected)),
    ]
    if let words = score.label.words {
      fields.append(.init(name: "reference", value: .string(words.joined(separator: " "))))
      fields.append(.init(name: "words", value: .integer(words.count)))
      fields.append(.init(name: "wordErrors", value: .integer(score.wordErrors ?? 0)))
    }
    return .object(fields)
  }

  /// The figures of one row of the table; a share is missing if there is nothing that it is a share of.
  static func summary(_ row: EvaluationReport.Row) -> JSONValue {
    var fields: [JSONValue.Field] = [
      .init(name: "event", value: .string("summary")),
      .init(name: "condition", value: .string(row.condition)),
    ]
    if let domain = row.domain { fields.append(.init(name: "domain", value: .string(domain))) }
    if let voice = row.voice { fields.append(.init(name: "voice", value: .string(voice))) }
    fields.append(.init(name: "files", value: .integer(row.covered)))
    fields.append(.init(name: "filesOutsideGrammar", value: .integer(row.uncovered)))
    let shares: [(String, Double?)] = [
      ("intentAccuracy", row.intentAccuracy), ("acceptance", row.acceptance),
      ("sentenceAccuracy", row.sentenceAccuracy), ("wordErrorRate", row.wordErrorRate),
      ("nothingRecognized", row.unheardRate), ("rejected", row.rejectionRate),
      ("acceptedOutsideGrammar", row.falseAcceptance),
    ]
    for (name, share) in shares {
      if let share { fields.append(.init(name: name, value: .decimal(share))) }
    }
    return .object(fields)
  }

  private static func entities(_ segments: [EvaluationLabel.Segment]) -> JSONValue {
    .array(segments.flatMap(\.entities).map { self.entity($0.name, $0.forms.last ?? "") })
  }

  private static func entities(_ hearing: EvaluationHearing) -> JSONValue {
    let entities = hearing.meaning?.segments.flatMap(\.entities) ?? []
    return .array(entities.map { self.entity($0.name, $0.normalizedValue ?? $0.value) })
  }

  private static func entity(_ name: String, _ value: String) -> JSONValue {
    .object(["type": .string(name), "value": .string(value)])
  }
}
