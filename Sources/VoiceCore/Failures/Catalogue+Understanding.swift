extension VoiceFailure.Code {
  /// The recogniser cannot know how a word sounds.
  public static let wordUnpronounceable = Self("speech.understanding.word-unpronounceable")
}

extension FailureCatalogue {
  static let understanding: [Definition] = [
    Definition(
      .wordUnpronounceable, .process, .changeConfiguration("the templates, or the vocabulary"),
      happens: "The dictionary lacks a word, and its spelling does not tell how it sounds.",
      response: "Names the words and recognises everything else; sentences with these words are not heard.",
      advice: "Write the word as it is spoken, in letters of the language: “at” for “@”, “tokyo” for “東京”.",
      reproduce: "`voice recognize --local --config FILE --mic` with the template `*go fly to 東京`")
  ]
}
