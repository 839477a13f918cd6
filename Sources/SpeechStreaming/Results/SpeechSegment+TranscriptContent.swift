public import VoiceCore

extension SpeechSegment: TranscriptContent {
  public var transcriptWords: [TranscriptWord] {
    self.transcripts.map { TranscriptWord(text: $0.value, isFinal: $0.isFinal) }
  }

  /// The entities by the places of their words in ``transcriptWords``, which are not their indices while words are missing.
  public var transcriptEntities: [TranscriptEntity] {
    self.entities.map { entity in
      let start = self.transcripts.prefix { $0.index < entity.startIndex }.count
      let end = self.transcripts.prefix { $0.index < entity.endIndex }.count
      return TranscriptEntity(
        type: entity.type, value: entity.value, words: start..<max(start, end), isFinal: entity.isFinal)
    }
  }
}
