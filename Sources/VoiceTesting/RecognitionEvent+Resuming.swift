public import SpeechPipeline
import VoiceAudio

extension [RecognitionEvent] {
  /// What a new context must give that goes on at the resume point of a segment: the events behind that segment,
  /// with segments counted from zero and times from the new context's start.
  ///
  /// - Parameters:
  ///   - segment: The last segment that the new context does not hear.
  ///   - sample: The sample at which the new context starts.
  public func resumed(after segment: Int, at sample: Int64) -> [RecognitionEvent] {
    let end = self.lastIndex { event in
      if case .segmentEnded(segment, _) = event { true } else { false }
    }
    guard let end else { return [] }
    let shift = AudioChunk.time(ofSample: sample, sampleRate: AudioFormat.recognition.sampleRate)
    func moved(_ word: RecognizedWord) -> RecognizedWord {
      var word = word
      word.start -= shift
      word.end -= shift
      return word
    }
    return self[(end + 1)...].map { event in
      switch event {
      case .hypothesis(let old, let first, let words):
        return .hypothesis(segment: old - segment - 1, firstIndex: first, words: words.map(moved))
      case .word(let old, let index, let word):
        return .word(segment: old - segment - 1, index: index, moved(word))
      case .tentativeEntities(let old, let entities):
        return .tentativeEntities(segment: old - segment - 1, entities)
      case .entity(let old, let entity):
        return .entity(segment: old - segment - 1, entity)
      case .intent(let old, let text, let isFinal):
        return .intent(segment: old - segment - 1, text, isFinal: isFinal)
      case .segmentEnded(let old, var summary):
        summary.alternatives = summary.alternatives.map { $0.map(moved) }
        summary.resumePoint.sample -= sample
        return .segmentEnded(segment: old - segment - 1, summary)
      }
    }
  }
}
