import CPocketSphinx
public import VoiceCore

extension PocketSphinxEngine {
  /// Names the words that no preference can make heard: those that the dictionary or the language model lacks.
  ///
  /// Reads the dictionary and the language model, which takes about a tenth of a second.
  public func problems(ofVocabulary vocabulary: [String]) -> [VoiceFailure] {
    let words = Set(
      vocabulary.flatMap { $0.lowercased().split(whereSeparator: \.isWhitespace).map(String.init) })
    let model = self.configuration.model
    do throws(VoiceFailure) {
      let pronounced = try PronunciationDictionary(path: model.dictionary).pronunciations(of: words)
      let expected = try LanguageModelWords(path: model.languageModel)
      let unknown = words.filter { pronounced[$0] == nil || !expected.contains($0) }.sorted()
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
      message:
        "The model does not know \(shown)\(others > 0 ? " and \(others) more" : ""): naming a word as likely "
        + "does not make it heard. A grammar (an interface of templates) can hold such words.")
  }
}

/// The words that an n-gram language model can expect.
private final class LanguageModelWords {
  private let logarithms: OpaquePointer
  private let model: OpaquePointer

  /// - Throws: ``VoiceFailure`` with code `speech.engine.model-invalid`.
  init(path: String) throws(VoiceFailure) {
    PocketSphinxLog.silence()
    _ = PocketSphinxLog.takeMessages()
    // The library's usual base of logarithms: no probability is read from the model.
    guard let logarithms = logmath_init(1.0001, 0, 0) else {
      throw VoiceFailure(.engineFailed, message: "There is no memory for a table of logarithms.")
    }
    guard let model = ngram_model_read(nil, path, NGRAM_AUTO, logarithms) else {
      logmath_free(logarithms)
      throw VoiceFailure(
        .modelInvalid, message: "The language model \(path) is missing or cannot be read.",
        cause: PocketSphinxLog.takeMessages())
    }
    self.logarithms = logarithms
    self.model = model
  }

  deinit {
    ngram_model_free(self.model)
    logmath_free(self.logarithms)
  }

  func contains(_ word: String) -> Bool {
    ngram_wid(self.model, word) != ngram_unknown_wid(self.model)
  }
}
