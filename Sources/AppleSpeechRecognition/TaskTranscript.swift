import SpeechPipeline

/// The words of one task of a speech service, from its successive hypotheses.
///
/// Three habits of the services are evened out. Hypotheses may have no times: then a word that is new is put where the audio was
/// when it came. A recogniser on the device may begin its hypotheses anew after a pause, without a final result: what was there
/// before is kept if the new words are later than all of it. And a final result may be empty although there were words: then the
/// last hypothesis counts.
struct TaskTranscript: Hashable, Sendable {
  /// How long a word without times is at most.
  private static let longestGuess = Duration.milliseconds(500)

  /// Words of earlier hypotheses that the newest ones go on after.
  private var kept: [RecognizedWord] = []
  private var current: [RecognizedWord] = []
  private var isTimed = false
  private(set) var alternatives: [[RecognizedWord]] = []

  /// The best transcription; times count from the start of the task's audio.
  var words: [RecognizedWord] { self.kept + self.current }

  /// Whether the end of the last word is known, not guessed.
  var hasExactEnd: Bool { self.isTimed || self.words.isEmpty }

  /// Takes a hypothesis or the final result.
  ///
  /// - Parameters:
  ///   - transcriptions: All transcriptions, the best first.
  ///   - head: How much of the task's audio was given to the service.
  mutating func heard(_ transcriptions: [HeardTranscription], upTo head: Duration) {
    guard let best = transcriptions.first else { return }
    let words = best.words(upTo: head)
    guard let first = words.first else { return }
    if best.isTimed {
      if self.isTimed, let last = self.current.last, last.end <= first.start { self.kept += self.current }
      self.kept.removeAll { $0.end > first.start }
      self.current = words
    } else {
      self.current = self.placed(words, upTo: head)
    }
    self.isTimed = best.isTimed
    self.alternatives = transcriptions.dropFirst().map { self.kept + $0.words(upTo: head) }
  }

  /// Words without times: those that were there before keep their place, the others are before the head.
  private func placed(_ words: [RecognizedWord], upTo head: Duration) -> [RecognizedWord] {
    let same = zip(words, self.current).prefix { $0.text == $1.text }.count
    var placed = Array(self.current.prefix(same))
    let new = words.dropFirst(same)
    guard !new.isEmpty else { return placed }
    let earliest = (placed.last ?? self.kept.last)?.end ?? .zero
    let start = max(earliest, head - Self.longestGuess * new.count)
    let length = max(.zero, head - start) / new.count
    for (index, word) in new.enumerated() {
      placed.append(
        RecognizedWord(
          text: word.text, start: start + length * index, end: start + length * (index + 1),
          confidence: word.confidence))
    }
    return placed
  }
}
