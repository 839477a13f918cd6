import Foundation
import SpeechUnderstanding

/// A language model of pairs of words, made from a grammar, in the format that language models are exchanged in (ARPA).
///
/// It allows what the grammar allows, and a little of everything else that has the grammar's words: what is understood
/// decides. Probabilities are those of the grammar, so nothing is smoothed.
struct GrammarLanguageModel: Sendable {
  /// The text of the model.
  let text: String

  /// How much of the probability after each word is left for words that the grammar does not have there.
  private static let leftOver = 0.01

  /// Makes a model.
  ///
  /// - Parameter keys: What the decoder calls each word; `nil` for words that nobody can pronounce.
  init(_ counts: WordPairs, keys: [String?]) {
    let known = counts.words.indices.filter { counts.words[$0] > 0 && keys[$0] != nil }
    // The end of the utterance is said once.
    let total = known.reduce(1.0) { $0 + counts.words[$1] }
    func single(_ word: Int32) -> Double {
      word == WordPairs.edge ? 1 / total : counts.words[Int(word)] / total
    }
    func key(_ word: Int32) -> String? { keys[Int(word)] }

    var followers: [Int32: [(word: Int32, count: Double)]] = [:]
    for (pair, count) in counts.pairs where count > 0 {
      guard pair.first == WordPairs.edge || key(pair.first) != nil,
        pair.second == WordPairs.edge || key(pair.second) != nil
      else { continue }
      followers[pair.first, default: []].append((pair.second, count))
    }
    var lines: [String] = []
    var singles: [String] = ["\(Self.number(1 / total)) </s>"]
    for word in [WordPairs.edge] + known.map(Int32.init) {
      let name = word == WordPairs.edge ? "<s>" : key(word) ?? ""
      let said = word == WordPairs.edge ? 1 : counts.words[Int(word)]
      let next = (followers[word] ?? []).sorted { $0.word < $1.word }
      let listed = min(1, next.reduce(0) { $0 + $1.count } / said)
      let share = min(1 - Self.leftOver, listed)
      for (word, count) in next {
        let probability = share * count / (said * listed)
        lines.append(
          "\(Self.number(probability)) \(name) \(word == WordPairs.edge ? "</s>" : key(word) ?? "")")
      }
      let others = max(1e-6, 1 - next.reduce(0) { $0 + single($1.word) })
      let backOff = Self.number(min(1, (1 - share) / others))
      singles.append("\(word == WordPairs.edge ? "-99" : Self.number(single(word))) \(name) \(backOff)")
    }
    self.text =
      "\\data\\\nngram 1=\(singles.count)\nngram 2=\(lines.count)\n\n\\1-grams:\n"
      + singles.joined(separator: "\n") + "\n\n\\2-grams:\n" + lines.joined(separator: "\n")
      + "\n\n\\end\\\n"
  }

  /// A probability as the format has it: its decimal logarithm.
  private static func number(_ probability: Double) -> String {
    String((log10(max(1e-30, probability)) * 10_000).rounded() / 10_000)
  }
}
