import VoiceCore

/// The words and phrases of an app in the form that sherpa-onnx takes them.
///
/// Its text has signs with a meaning of their own, and it ends the process on some of them: only words of letters, digits,
/// apostrophes and hyphens pass.
struct PhraseList: Hashable, Sendable {
  /// The text for the library, or `nil` if there is nothing to prefer.
  let text: String?
  /// What cannot be preferred.
  let unknown: [String]
  private let isPossible: Bool

  /// The bonus of each token with a bias of one half; what sherpa-onnx takes by default is 1.5.
  static let bonus = 1.5

  /// Creates a list.
  ///
  /// - Parameters:
  ///   - bias: How much the phrases are preferred, from 0 (not at all) to 1.
  ///   - isPossible: Whether search and model can prefer phrases at all.
  init(vocabulary: [String], bias: Double, tokens: TokenTable, isPossible: Bool) {
    let share = bias.isFinite ? min(1, max(0, bias)) : 0
    let bonus = (2 * Self.bonus * share * 1000).rounded() / 1000
    var lines: [String] = []
    var unknown: [String] = []
    for phrase in vocabulary {
      let spelled =
        tokens.isUppercase ? phrase.uppercased() : tokens.isLowercase ? phrase.lowercased() : phrase
      let words = spelled.split(whereSeparator: \.isWhitespace)
      guard !words.isEmpty else { continue }
      if isPossible, words.allSatisfy({ Self.isWord($0) && tokens.canSpell($0) }) {
        lines.append("\(words.joined(separator: " ")) :\(bonus)")
      } else {
        unknown.append(phrase)
      }
    }
    self.unknown = unknown
    self.isPossible = isPossible
    self.text = lines.isEmpty || bonus == 0 ? nil : lines.joined(separator: "/")
  }

  private static func isWord(_ word: Substring) -> Bool {
    guard let first = word.first, first.isLetter || first.isNumber else { return false }
    return word.allSatisfy { $0.isLetter || $0.isNumber || $0 == "'" || $0 == "’" || $0 == "-" }
  }

  /// What to tell the app.
  var failure: VoiceFailure {
    let shown = self.unknown.prefix(10).map { "“\($0.prefix(40))”" }.joined(separator: ", ")
    let others = self.unknown.count - min(self.unknown.count, 10)
    let names = "\(shown)\(others > 0 ? " and \(others) more" : "")"
    return VoiceFailure(
      .vocabularyUnknown,
      message: self.isPossible
        ? "The model has no tokens for \(names): naming words does not make them heard."
        : "\(names) cannot be preferred: that takes a beam search and a model with bpe.vocab.")
  }
}
