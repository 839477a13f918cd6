import SpeechUnderstanding

/// How well one recording was understood in one condition.
struct EvaluationScore: Hashable, Sendable {
  let label: EvaluationLabel
  /// The circumstances, of the recording and those that were added.
  let condition: String
  let hearing: EvaluationHearing
  /// Whether the intents are right; for speech outside the grammar, whether it was rejected.
  let isIntentRight: Bool
  /// Whether the intents and all entities are right.
  let isAccepted: Bool
  /// The words that are wrong, missing or added, if what was said is known.
  let wordErrors: Int?
  /// The values that are not right: what was expected and what came, `nil` for nothing.
  let confusedEntities: [Confusion]

  /// Something that was taken for something else; `nil` is nothing.
  struct Confusion: Hashable, Sendable {
    var name: String
    var expected: String?
    var understood: String?
  }

  init(label: EvaluationLabel, condition: EvaluationCondition, hearing: EvaluationHearing) {
    self.label = label
    self.condition = Self.name(condition, recorded: label.condition)
    self.hearing = hearing
    let understood = hearing.meaning?.segments.filter { !$0.intent.isEmpty && $0.intent != "_" } ?? []
    self.isIntentRight = understood.map(\.intent) == label.segments.map(\.intent)
    var confused: [Confusion] = []
    if self.isIntentRight {
      for (expected, segment) in zip(label.segments, understood) {
        confused += Self.confusions(expected.entities, segment.entities)
      }
    }
    self.confusedEntities = confused
    self.isAccepted = self.isIntentRight && confused.isEmpty
    self.wordErrors = label.words.map { words in
      Alignment(reference: words, hypothesis: Alignment.words(of: hearing.words.joined(separator: " ")))
        .errors
    }
  }

  /// The intents that were understood, as one name.
  var understoodIntents: String? {
    let names = self.hearing.meaning?.segments.map(\.intent).filter { !$0.isEmpty && $0 != "_" } ?? []
    return names.isEmpty ? nil : names.joined(separator: " + ")
  }

  /// The intents that should be understood, as one name.
  var expectedIntents: String? {
    self.label.segments.isEmpty ? nil : self.label.segments.map(\.intent).joined(separator: " + ")
  }

  /// Whether nothing was taken for an intent.
  var isRejected: Bool { self.understoodIntents == nil }

  /// Whether every word is right.
  var isSentenceRight: Bool? { self.wordErrors.map { $0 == 0 } }

  private static func name(_ condition: EvaluationCondition, recorded: String?) -> String {
    guard let recorded, recorded != "clean" else { return condition.name }
    return condition == .clean ? recorded : "\(recorded) + \(condition.name)"
  }

  /// Pairs values of the same entity that are equal; what is left is confused with each other, in order.
  private static func confusions(
    _ expected: [EvaluationLabel.Entity], _ understood: [AnnotatedUtterance.Entity]
  ) -> [Confusion] {
    var rest = understood
    var missed: [EvaluationLabel.Entity] = []
    for entity in expected {
      if let match = rest.firstIndex(where: { Self.agree(entity, $0) }) {
        rest.remove(at: match)
      } else {
        missed.append(entity)
      }
    }
    var confusions = missed.map { entity in
      let other = rest.firstIndex { $0.name == entity.name }.map { rest.remove(at: $0).value }
      return Confusion(name: entity.name, expected: entity.forms.first ?? "", understood: other)
    }
    confusions += rest.map { Confusion(name: $0.name, expected: nil, understood: $0.value) }
    return confusions
  }

  private static func agree(_ expected: EvaluationLabel.Entity, _ understood: AnnotatedUtterance.Entity)
    -> Bool
  {
    guard expected.name == understood.name else { return false }
    let forms = [understood.value, understood.normalizedValue].compactMap { $0.map(Self.folded) }
    return expected.forms.contains { forms.contains(Self.folded($0)) }
  }

  private static func folded(_ text: String) -> String {
    text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
