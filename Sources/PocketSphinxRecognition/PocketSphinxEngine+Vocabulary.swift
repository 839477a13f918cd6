public import VoiceCore

extension PocketSphinxEngine {
  public func problems(ofVocabulary vocabulary: [String]) -> [VoiceFailure] {
    let words = Set(vocabulary.flatMap { $0.lowercased().split(whereSeparator: \.isWhitespace).map(String.init) })
    let dictionary = PronunciationDictionary(path: self.configuration.model.dictionary)
    do throws(VoiceFailure) {
      let known = try dictionary.pronunciations(of: words)
      let unknown = words.filter { known[$0] == nil }.sorted()
      return unknown.isEmpty ? [] : [Self.unknown(unknown)]
    } catch {
      return [error]
    }
  }

  private static let mostNamed = 10

  private static func unknown(_ words: [String]) -> VoiceFailure {
    let shown = words.prefix(self.mostNamed).map { "“\($0.prefix(40))”" }.joined(separator: ", ")
    let others = words.count - min(words.count, self.mostNamed)
    return VoiceFailure(
      .vocabularyUnknown,
      message: "The model does not know \(shown)\(others > 0 ? " and \(others) more" : ""): naming a word as likely "
        + "does not make it heard. A grammar (an interface of templates) can hold such words.")
  }
}
