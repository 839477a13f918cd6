import SpeechPipeline

/// Gathers the segments of the pipeline that make one text.
struct TextAssembler: Sendable {
  private struct Part: Sendable {
    let id: Int
    var words: [RecognizedWord] = []
    var tail: [RecognizedWord] = []
    var alternatives: [[RecognizedWord]] = []
    var intent = ""
    var entities: [RecognizedEntity] = []
    var tentativeEntities: [RecognizedEntity] = []
    var isRejected = false
    var isFinal = false

    var meaning: SpeechMeaning {
      SpeechMeaning(
        text: (self.words + self.tail).map(\.text).joined(separator: " "), intent: self.intent,
        entities: self.entities + self.tentativeEntities, isRejected: self.isRejected, isFinal: self.isFinal)
    }
  }

  private var parts: [Part] = []

  /// Whether it holds no word.
  var isEmpty: Bool { self.parts.allSatisfy { $0.words.isEmpty && $0.tail.isEmpty } }

  /// Takes an event.
  ///
  /// - Returns: Whether it ends a passage: a pause was long enough, or the audio has ended.
  mutating func take(_ event: RecognitionEvent) -> Bool {
    switch event {
    case .hypothesis(let id, _, let words):
      self.change(id, unless: words.isEmpty) { $0.tail = words }
    case .word(let id, _, let word):
      self.change(id) { part in
        part.words.append(word)
        if !part.tail.isEmpty { part.tail.removeFirst() }
      }
    case .tentativeEntities(let id, let entities):
      self.change(id, unless: entities.isEmpty) { $0.tentativeEntities = entities }
    case .entity(let id, let entity):
      self.change(id) { part in
        part.entities.append(entity)
        part.tentativeEntities.removeAll { $0.words == entity.words }
      }
    case .intent(let id, let intent, _):
      self.change(id, unless: intent.isEmpty) { $0.intent = intent }
    case .segmentEnded(let id, let summary):
      self.change(id) { part in
        part.tail = []
        part.tentativeEntities = []
        part.alternatives = summary.alternatives
        part.isRejected = summary.isRejected
        part.isFinal = true
      }
      return summary.endsPassage
    }
    return false
  }

  /// What is known of the text.
  func result(index: Int, isFinal: Bool) -> SpeechRecognitionResult {
    let parts = self.parts.filter { !$0.words.isEmpty || !$0.tail.isEmpty }
    let best = SpeechTranscription(
      segments: parts.flatMap { part in
        part.words.map { Self.segment($0, isFinal: true) }
          + part.tail.map { Self.segment($0, isFinal: isFinal) }
      })
    // The n-th of each part joined, with the best where a part has fewer.
    let count = isFinal ? parts.map(\.alternatives.count).max() ?? 0 : 0
    let others = (0..<count).map { rank in
      SpeechTranscription(
        segments: parts.flatMap { part in
          let words = rank < part.alternatives.count ? part.alternatives[rank] : part.words
          return words.map { Self.segment($0, isFinal: true) }
        })
    }
    return SpeechRecognitionResult(
      index: index, isFinal: isFinal, transcriptions: [best] + others, meanings: parts.map(\.meaning))
  }

  private mutating func change(_ id: Int, unless isNothing: Bool = false, _ body: (inout Part) -> Void) {
    if let index = self.parts.lastIndex(where: { $0.id == id }) {
      body(&self.parts[index])
    } else if !isNothing {
      var part = Part(id: id)
      body(&part)
      self.parts.append(part)
    }
  }

  private static func segment(_ word: RecognizedWord, isFinal: Bool) -> SpeechTranscription.Segment {
    SpeechTranscription.Segment(
      text: word.text, timestamp: word.start, duration: word.end - word.start, confidence: word.confidence,
      isFinal: isFinal)
  }
}
