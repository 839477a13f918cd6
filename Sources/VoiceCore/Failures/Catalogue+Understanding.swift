extension VoiceFailure.Code {
  /// The recogniser cannot know how a word sounds.
  public static let wordUnpronounceable = Self("speech.understanding.word-unpronounceable")
  /// An app's templates allow more than a recogniser can be bound to.
  public static let grammarTooLarge = Self("speech.understanding.grammar-too-large")
  /// A compiled grammar in the cache is damaged or is something else.
  public static let cacheDamaged = Self("speech.understanding.cache-damaged")
  /// Compiled grammars cannot be kept.
  public static let cacheNotWritable = Self("speech.understanding.cache-not-writable")
}

extension FailureCatalogue {
  static let understanding: [Definition] = [
    Definition(
      .wordUnpronounceable, .process, .changeConfiguration("the templates, or the vocabulary"),
      happens: "The dictionary lacks a word, and its spelling does not tell how it sounds.",
      response: "Names the words and recognises everything else; sentences with these words are not heard.",
      advice: "Write the word as it is spoken, in letters of the language: “at” for “@”, “tokyo” for “東京”.",
      reproduce: "`voice recognize --local --config FILE --mic` with the template `*go fly to 東京`"),
    Definition(
      .grammarTooLarge, .process, .changeConfiguration("the templates"),
      happens: "An app's templates allow more than a recogniser can be bound to, or nothing at all.",
      response:
        "Binds the recogniser to pairs of words that follow each other in the templates instead, which hears less "
        + "surely; with millions of pairs it recognises free text. Either is understood.",
      advice: "Use fewer values in each place, or shorter permutations. Texts are understood all the same.",
      reproduce:
        "`voice recognize --config FILE --mic` with a permutation of seven lists of 10,000 values"),
    Definition(
      .cacheDamaged, .process, .none,
      happens: "A compiled grammar in the cache is damaged, or is something else.",
      response: "Ignores the file, compiles the grammar again, and replaces the file.",
      advice: "Nothing. If it happens again, check the disk, and who else writes to the folder.",
      reproduce:
        "`voice understand` twice, with a byte of `~/.cache/swift-voice/*.grammar` changed in between"),
    Definition(
      .cacheNotWritable, .process, .changeConfiguration("the cache folder"),
      happens: "A compiled grammar cannot be kept.",
      response: "Goes on with the grammar; it is compiled again at the next start.",
      advice: "Make the folder writable, or set XDG_CACHE_HOME to one that is.",
      reproduce: "`XDG_CACHE_HOME=/proc voice understand --config FILE TEXT`"),
  ]
}
