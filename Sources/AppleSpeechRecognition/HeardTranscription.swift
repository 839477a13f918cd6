import SpeechPipeline

/// One way to understand what a task of a speech service has heard, as the service tells it.
struct HeardTranscription: Hashable, Sendable {
  /// A word, or several.
  struct Segment: Hashable, Sendable {
    var text: String
    /// From the start of the task's audio.
    var start: Duration
    /// Zero where the service does not tell times, as SFSpeechRecognizer in hypotheses.
    var duration: Duration
    /// From 0 to 1; 0 where the service does not tell it.
    var confidence: Double

    init(text: String, start: Duration, duration: Duration, confidence: Double) {
      self.text = text
      self.start = start
      self.duration = duration
      self.confidence = confidence
    }

    /// Takes times in seconds; what is no time is zero.
    init(text: String, start: Double, duration: Double, confidence: Double) {
      self.init(
        text: text, start: Self.duration(start), duration: Self.duration(duration),
        confidence: confidence.isFinite ? min(1, max(0, confidence)) : 0)
    }

    // A day is longer than any utterance.
    private static func duration(_ seconds: Double) -> Duration {
      seconds.isFinite ? .microseconds(Int64(min(86_400, max(0, seconds)) * 1_000_000)) : .zero
    }
  }

  var segments: [Segment]

  /// Whether the segments have times of their own.
  var isTimed: Bool { self.segments.contains { $0.duration > .zero } }

  /// The single words: lower case, without the punctuation around them; the time of a segment is divided by letters.
  ///
  /// - Parameter head: How much the task has heard: no word ends later.
  func words(upTo head: Duration) -> [RecognizedWord] {
    let knowsConfidence = self.segments.contains { $0.confidence > 0 }
    var words: [RecognizedWord] = []
    for segment in self.segments {
      let parts = segment.text.split(whereSeparator: \.isWhitespace)
      let letters = max(1, parts.reduce(0) { $0 + $1.count })
      var before = 0
      for part in parts {
        let start = segment.start + segment.duration * before / letters
        before += part.count
        let end = segment.start + segment.duration * before / letters
        guard let text = Self.plain(part) else { continue }
        let earliest = words.last?.end ?? .zero
        let first = min(max(start, earliest), max(earliest, head))
        words.append(
          RecognizedWord(
            text: text, start: first, end: max(first, min(end, head)),
            confidence: knowsConfidence ? segment.confidence : nil))
      }
    }
    return words
  }

  /// The word as the pipeline has it, or `nil` if there is nothing but punctuation.
  private static func plain(_ text: Substring) -> String? {
    let kept = text.drop { !Self.isPartOfWord($0) }.reversed().drop { !Self.isPartOfWord($0) }.reversed()
    return kept.isEmpty ? nil : String(kept).lowercased()
  }

  private static func isPartOfWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character.isSymbol || character == "%" || character == "&"
      || character == "#" || character == "@"
  }
}
