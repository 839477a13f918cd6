/// Words of one value, or a part of them.
typealias Words = ArraySlice<String>

/// How words look, whatever they mean.
enum EnglishWords {
  /// Small letters, straight apostrophes, no punctuation at the end, "p.m." as "pm", "twenty-one" as two words.
  static func cleaned(_ words: [String]) -> [String] {
    // As recognisers write nearly all words; what follows costs many times more than this look.
    if words.allSatisfy({ $0.utf8.allSatisfy(self.isPlain) && !$0.isEmpty }) { return words }
    return words.flatMap { word -> [String] in
      var word = word.lowercased().replacing("\u{2019}", with: "'")
      while let last = word.last, ".,;?!".contains(last) { word.removeLast() }
      if word == "p.m" || word == "a.m" { word.remove(at: word.index(after: word.startIndex)) }
      guard !word.isEmpty else { return [] }
      let parts = word.split(separator: "-").map(String.init)
      // "x-ray" and "anne-marie" stay whole.
      return parts.count > 1 && parts.allSatisfy(self.isJoinable) ? parts : [word]
    }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "'")
  }

  private static func isJoinable(_ part: String) -> Bool {
    EnglishNumbers.isNumeral(part) || ["half", "quarter", "past", "to", "and", "a"].contains(part)
  }

  /// Whether a word is a single letter of the English alphabet.
  static func isLetter(_ word: String) -> Bool {
    word.utf8.count == 1 && word.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
  }

  /// Whether a word has at least one character, all of them digits.
  static func isDigits(_ word: some StringProtocol) -> Bool {
    !word.isEmpty && word.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}

/// Words being read from left to right; what does not fit stays unread.
struct WordReader {
  private(set) var rest: Words

  init(_ words: Words) {
    self.rest = words
  }

  var isAtEnd: Bool { self.rest.isEmpty }
  var next: String? { self.rest.first }
  /// The word after the next one.
  var second: String? { self.rest.dropFirst().first }

  /// Reads a phrase if it comes next.
  mutating func take(_ phrase: String...) -> Bool {
    guard self.rest.starts(with: phrase) else { return false }
    self.rest = self.rest.dropFirst(phrase.count)
    return true
  }

  /// Reads the next word if a table has it.
  mutating func take<Value>(from table: [String: Value]) -> Value? {
    guard let next, let value = table[next] else { return nil }
    self.rest = self.rest.dropFirst()
    return value
  }

  /// Reads the next word if it is one of several.
  mutating func take(oneOf words: Set<String>) -> Bool {
    guard let next, words.contains(next) else { return false }
    self.rest = self.rest.dropFirst()
    return true
  }

  /// Reads the next word, whatever it is.
  mutating func takeNext() -> String? {
    defer { self.rest = self.rest.dropFirst() }
    return self.rest.first
  }
}

extension Collection<String> where SubSequence == Words {
  /// The words after a phrase that they start with.
  func removing(prefix phrase: String...) -> Words? {
    self.starts(with: phrase) ? self.dropFirst(phrase.count) : nil
  }

  /// The words before a phrase that they end with.
  func removing(suffix phrase: String...) -> Words? {
    guard self.count >= phrase.count, self.suffix(phrase.count).elementsEqual(phrase) else { return nil }
    return self.dropLast(phrase.count)
  }
}
