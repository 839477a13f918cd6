import VoiceCore

/// A speech service of the system: hears one task at a time.
///
/// All functions are called on the thread of the recogniser. `tell` may be called on any thread, also after the task was
/// dropped.
protocol SpeechService: AnyObject {
  /// Begins a task.
  ///
  /// - Throws: ``VoiceFailure`` if the service cannot be used now.
  func start(
    _ request: SpeechServiceRequest, tell: @escaping @Sendable (SpeechRequestMachine.TaskEvent) -> Void
  ) throws(VoiceFailure)

  /// Gives mono samples at the engine's rate to the task.
  func append(_ samples: UnsafeBufferPointer<Int16>)

  /// Tells the task that no more audio comes; its final result is awaited.
  func endAudio()

  /// Drops the task.
  func cancel()
}

/// What a task is to recognise.
struct SpeechServiceRequest: Hashable, Sendable {
  /// The most phrases that Apple's recogniser takes.
  static let phraseLimit = 100

  /// Phrases that are likely to be said.
  var contextualStrings: [String]

  /// Takes a vocabulary: without empty and repeated phrases, and at most as many as the service takes.
  init(vocabulary: [String], bias: Double) {
    guard bias > 0 else {
      self.contextualStrings = []
      return
    }
    var seen: Set<String> = []
    let phrases = vocabulary.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    self.contextualStrings = Array(
      phrases.filter { !$0.isEmpty && seen.insert($0.lowercased()).inserted }.prefix(Self.phraseLimit))
  }

  /// What of a vocabulary cannot be taken.
  static func problems(ofVocabulary vocabulary: [String]) -> [VoiceFailure] {
    let taken = Set(
      SpeechServiceRequest(vocabulary: vocabulary, bias: 1).contextualStrings.map { $0.lowercased() })
    let left = vocabulary.filter { phrase in
      let plain = phrase.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      return !plain.isEmpty && !taken.contains(plain.lowercased())
    }
    guard !left.isEmpty else { return [] }
    return [
      VoiceFailure(
        .vocabularyUnknown,
        message: "Apple's recogniser takes \(Self.phraseLimit) phrases; \(left.count) were left out, from "
          + "“\(left[0].prefix(40))” on.")
    ]
  }
}
