import SpeechPipeline

/// What a caller said, as far as the assistant needs it: one segment.
struct AssistantUtterance: Hashable, Sendable {
  var words: [String] = []
  /// Empty for free text, and for what was not understood.
  var intent = ""
  /// Types and values, in the order in which they were said.
  var entities: [Entity] = []
  /// Whether the app's interface does not cover it, or it is a goodbye in which a word does not fit.
  var isRejected = false
  /// How sure the word is that is least so, from 0 to 1; 1 where the recogniser does not say.
  var confidence = 1.0

  struct Entity: Hashable, Sendable {
    var type: String
    var value: String
  }

  /// Whether the caller wants to end the call.
  ///
  /// The intent comes from the templates that ``AssistantInterface`` adds; apps without an interface have words alone.
  var isGoodbye: Bool {
    if self.isRejected { return false }
    if !self.intent.isEmpty { return self.intent == AssistantInterface.goodbyeIntent }
    let text = self.words.joined(separator: " ").lowercased()
    return AssistantInterface.farewells.contains(text)
  }
}

extension AssistantUtterance {
  /// A grammar is found in many a noise; a call is not to be lost for one.
  private static let sureGoodbye = 0.5

  /// Whether it sounds like a goodbye in which a word does not fit.
  fileprivate var isUnsureGoodbye: Bool {
    self.intent == AssistantInterface.goodbyeIntent && self.confidence < Self.sureGoodbye
  }

  fileprivate mutating func heard(_ word: RecognizedWord) {
    self.words.append(word.text)
    self.confidence = min(self.confidence, word.confidence ?? 1)
  }
}

/// Puts segments together from the events of recognition.
struct AssistantHearing: Sendable {
  private var segments: [Int: AssistantUtterance] = [:]

  /// What an event means for the dialogue; `nil` for nothing yet.
  mutating func event(for event: RecognitionEvent) -> AssistantMachine.Event? {
    switch event {
    case .hypothesis(_, _, let words): return words.isEmpty ? nil : .heardWords
    case .word(let segment, _, let word):
      self.segments[segment, default: AssistantUtterance()].heard(word)
      return .heardWords
    case .entity(let segment, let entity):
      self.segments[segment, default: AssistantUtterance()].entities.append(
        .init(type: entity.type, value: entity.value))
      return nil
    case .intent(let segment, let intent, isFinal: true):
      self.segments[segment, default: AssistantUtterance()].intent = intent
      return nil
    case .segmentEnded(let segment, let summary):
      var utterance = self.segments.removeValue(forKey: segment) ?? AssistantUtterance()
      utterance.isRejected = summary.isRejected || utterance.isUnsureGoodbye
      return .understood(utterance, endsPassage: summary.endsPassage)
    case .tentativeEntities, .intent: return nil
    }
  }
}
