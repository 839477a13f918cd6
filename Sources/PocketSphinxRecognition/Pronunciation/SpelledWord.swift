import Foundation
import SpeechUnderstanding

/// What is said for a word as it is written: `3d` is said as a number and a letter.
struct SpelledWord: Hashable, Sendable {
  enum Part: Hashable, Sendable {
    /// Letters from a to z, perhaps with apostrophes between them.
    case word(String)
    /// Letters that are said one by one.
    case letters(String)
    /// Several words, in one of several ways.
    case phrase([[String]])
  }

  /// The word in lower case, without accents.
  let folded: String
  /// What is said one after the other; `nil` if the word has characters that nobody knows how to say.
  let parts: [Part]?

  private static let longestWord = 128
  /// Longer numbers are said digit by digit.
  private static let mostDigits = 4

  init(_ word: String) {
    let folded = Self.fold(word)
    self.folded = folded
    self.parts = folded.utf8.count <= Self.longestWord ? Self.parts(of: folded) : nil
  }

  private static func fold(_ word: String) -> String {
    let plain = word.lowercased().map { Self.foreignLetters[$0] ?? String($0) }.joined()
    return plain.folding(options: [.diacriticInsensitive, .widthInsensitive], locale: nil)
  }

  /// Letters that are no letter of the alphabet with an accent.
  private static let foreignLetters: [Character: String] = [
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "th", "þ": "th", "ı": "i", "’": "'",
    "‘": "'",
    "‐": "-", "–": "-",
  ]

  private static let symbols: [Character: String] = [
    "&": "and", "+": "plus", "@": "at", "%": "percent", "#": "number", "=": "equals", "$": "dollars",
    "€": "euros",
    "£": "pounds", "°": "degrees", "*": "star",
  ]

  private static func parts(of word: String) -> [Part]? {
    // `p.m.` and `u.s.` are letters; in `node.js` the stop only separates.
    let pieces = word.split(separator: ".")
    if word.contains("."), !pieces.isEmpty,
      pieces.allSatisfy({ $0.count == 1 && $0.allSatisfy(Self.isLetter) })
    {
      return [.letters(pieces.joined())]
    }
    var parts: [Part] = []
    var rest = word[...]
    while let first = rest.first {
      if Self.isLetter(first) {
        let run = rest.prefix { Self.isLetter($0) || $0 == "'" }
        rest = rest.dropFirst(run.count)
        let text = run.trimmingCharacters(in: CharacterSet(charactersIn: "'"))
        parts.append(text.count == 1 ? .letters(text) : .word(text))
      } else if Self.isDigit(first) {
        let run = rest.prefix(while: Self.isDigit)
        rest = rest.dropFirst(run.count)
        parts.append(.phrase(Self.spokenForms(ofDigits: String(run))))
      } else {
        rest = rest.dropFirst()
        if let symbol = Self.symbols[first] {
          parts.append(.phrase([[symbol]]))
        } else if !"-_/.,:'".contains(first) {
          return nil
        }
      }
    }
    return parts.isEmpty ? nil : parts
  }

  private static func spokenForms(ofDigits digits: String) -> [[String]] {
    let language = EnglishPack()
    let single = digits.compactMap(\.wholeNumberValue).flatMap { language.spokenForms(of: $0).first ?? [] }
    guard digits.count > 1, digits.count <= Self.mostDigits, digits.first != "0", let number = Int(digits)
    else {
      return [single]
    }
    return Array(language.spokenForms(of: number).prefix(3)) + [single]
  }

  private static func isLetter(_ character: Character) -> Bool {
    character.isASCII && character.isLetter
  }

  private static func isDigit(_ character: Character) -> Bool {
    character.isASCII && character.isNumber
  }
}
