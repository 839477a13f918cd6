import SpeechPipeline
public import VoiceCore

extension SpeechRecognitionResult: TranscriptContent {
  /// The words of ``engineBest``, which are those that ``meanings`` are about.
  public var transcriptWords: [TranscriptWord] {
    self.engineBest.segments.map { TranscriptWord(text: $0.text, isFinal: $0.isFinal) }
  }

  public var transcriptEntities: [TranscriptEntity] {
    var first = 0
    var entities: [TranscriptEntity] = []
    for meaning in self.meanings {
      entities += meaning.entities.map { entity in
        TranscriptEntity(
          type: entity.type, value: entity.value,
          words: first + entity.words.lowerBound..<first + entity.words.upperBound, isFinal: meaning.isFinal)
      }
      first += meaning.text.split(separator: " ").count
    }
    return entities
  }
}
