import SpeechUnderstanding

/// A sentence that is spoken in the demonstration, with what should be understood of it.
struct SpokenCommand: Hashable, Sendable {
  /// What is special about it, for people.
  var remark: String
  /// The words with their intents and entities; the intent `_` marks words that are no command of the app.
  var meaning: AnnotatedUtterance
  private let label: EvaluationLabel

  /// Creates a command from annotated text; `nil` if it cannot be read.
  init?(_ annotated: String, _ remark: String) {
    guard let meaning = AnnotatedUtterance.parse(annotated).utterance,
      let label = EvaluationLabel.parse("- \(annotated)").labels.first
    else { return nil }
    self.meaning = meaning
    self.label = label
    self.remark = remark
  }

  /// What is said.
  var text: String { self.meaning.plainText }

  /// Whether the app covers it.
  var isCovered: Bool { self.label.isInGrammar }

  /// Whether the intents and all their entities are those that were meant, or there are none for words that mean nothing.
  func isUnderstood(by hearing: EvaluationHearing) -> Bool {
    EvaluationScore(label: self.label, condition: .clean, hearing: hearing).isAccepted
  }
}

extension SpokenCommand {
  /// What the demonstration says to the demo app.
  static let all: [SpokenCommand] = [
    SpokenCommand("*turn_on turn on the [lights](device) in the [kitchen](room)", "a device and a room"),
    SpokenCommand(
      "*set_brightness dim the [lights](device) in the [bedroom](room) to [forty|40](brightness) percent",
      "a number"),
    SpokenCommand(
      "*turn_off turn off the [television](device) *open_blinds open the [blinds](device) in the [living room](room)",
      "two intents in a breath"),
    SpokenCommand("*set_timer set a timer for [twenty|20](amount) [minutes](unit)", "a length of time"),
    SpokenCommand("*_ we had a wonderful dinner with our neighbors last week", "no command"),
    SpokenCommand("*play_music play some [jazz](genre) music in the [garden](room)", "music"),
    SpokenCommand("*ask_temperature how warm is it in the [bathroom](room)", "a question"),
  ].compactMap(\.self)

  /// What alice says to bob.
  static let inCall: [SpokenCommand] = [
    SpokenCommand("*turn_on turn on the [lights](device) in the [kitchen](room)", "before the cut"),
    SpokenCommand("*play_music play some [jazz](genre) music in the [garden](room)", "without the server"),
    SpokenCommand("*set_timer set a timer for [twenty|20](amount) [minutes](unit)", "after the cut"),
  ].compactMap(\.self)
}

extension EvaluationHearing {
  /// The final segments of a context.
  init(segments: [TranscriptSegment]) {
    self.words = segments.flatMap { $0.words.map(\.text) }
    let annotated = AnnotatedUtterance(
      segments.map { segment in
        let words = segment.words.map(\.text)
        return AnnotatedUtterance.Segment(
          intent: segment.intent, words: words,
          entities: segment.entities.map { entity in
            // A server may name words that it has not told.
            let range = max(0, entity.start)..<max(0, entity.start, entity.end)
            return AnnotatedUtterance.Entity(
              name: entity.type, value: words[range.clamped(to: words.indices)].joined(separator: " "),
              normalizedValue: entity.value, words: range)
          })
      })
    self.meaning = segments.contains { !$0.intent.isEmpty } ? annotated : nil
  }
}
