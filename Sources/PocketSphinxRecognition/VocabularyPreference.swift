import SpeechPipeline

/// Prefers transcriptions with the words and phrases that an app named, among those that the decoder found likely.
///
/// It can only choose what was found: a word that the language model lacks is not heard by naming it.
struct VocabularyPreference: Hashable, Sendable {
  /// With the strongest preference, as many other transcriptions are looked at.
  private static let mostAlternatives = 20

  private let phrases: [[String]]
  /// How many other transcriptions to look at, best first; 0 for none.
  let alternativeCount: Int

  /// Creates a preference.
  ///
  /// - Parameter bias: From 0 (none) to 1.
  init(vocabulary: [String], bias: Double) {
    self.phrases = vocabulary.map { $0.lowercased().split(whereSeparator: \.isWhitespace).map(String.init) }
      .filter { !$0.isEmpty }
    let share = bias.isFinite ? min(1, max(0, bias)) : 0
    self.alternativeCount =
      self.phrases.isEmpty ? 0 : Int((share * Double(Self.mostAlternatives)).rounded(.up))
  }

  /// The index of the transcription with the most words of the vocabulary; of several, the likeliest.
  ///
  /// - Parameter transcriptions: The likeliest first.
  func preferred(among transcriptions: [[String]]) -> Int {
    var best = (index: 0, count: -1)
    for (index, words) in transcriptions.enumerated() {
      let count = self.count(in: words)
      if count > best.count { best = (index, count) }
    }
    return best.index
  }

  /// How many words belong to phrases of the vocabulary.
  private func count(in words: [String]) -> Int {
    var covered = [Bool](repeating: false, count: words.count)
    for phrase in self.phrases where phrase.count <= words.count {
      for start in 0...(words.count - phrase.count)
      where words[start..<start + phrase.count].elementsEqual(phrase) {
        for index in start..<start + phrase.count { covered[index] = true }
      }
    }
    return covered.count { $0 }
  }
}
