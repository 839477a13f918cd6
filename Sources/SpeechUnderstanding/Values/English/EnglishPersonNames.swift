/// Names of people.
///
/// Every part gets a capital, also behind an apostrophe after one letter (O'Brien), a hyphen (Anne-Marie) and "mc"
/// (McDonald). Letters that were said one by one are joined, unless they can only be initials: two or three without a
/// vowel ("j r r tolkien" is J R R Tolkien, "c o n a n" is Conan). The word "space" parts two spelled names.
enum EnglishPersonNames {
  private static let vowels: Set<String> = ["a", "e", "i", "o", "u", "y"]
  private static let longestPart = 40

  /// Reads a name.
  static func normalForm(of words: Words) -> String? {
    var reader = WordReader(words)
    var parts: [String] = []
    var letters: [String] = []
    // "space" and hyphens need a part on both sides.
    var isOpen = true
    func endSpelling() {
      let isInitials = letters.count <= 3 && letters.allSatisfy { !self.vowels.contains($0) && $0.count == 1 }
      if isInitials { parts += letters } else { parts.append(letters.joined()) }
      letters = []
    }
    while !reader.isAtEnd {
      if !isOpen, reader.take("space") {
        if !letters.isEmpty { endSpelling() }
        isOpen = true
      } else if !isOpen, reader.take("dash") || reader.take("hyphen") {
        if !letters.isEmpty { endSpelling() }
        guard let left = parts.popLast() else { return nil }
        letters = [left + "-"]
        isOpen = true
      } else if !letters.isEmpty, reader.take("apostrophe") {
        letters.append("'")
        isOpen = true
      } else if let letter = EnglishSpelling.letter(&reader) ?? EnglishSpelling.repeatedLetter(&reader) {
        letters.append(letter)
        isOpen = false
      } else if let word = reader.takeNext(), self.isName(word) {
        if let prefix = letters.last, prefix.hasSuffix("-") || prefix == "'" {
          letters.append(word)
          endSpelling()
        } else {
          if !letters.isEmpty { endSpelling() }
          parts.append(word)
        }
        isOpen = false
      } else {
        return nil
      }
    }
    guard !isOpen else { return nil }
    if !letters.isEmpty { endSpelling() }
    guard parts.allSatisfy({ $0.utf8.count <= self.longestPart }) else { return nil }
    return parts.map(self.capitalized).joined(separator: " ")
  }

  /// Letters, with single apostrophes or hyphens between them.
  private static func isName(_ word: String) -> Bool {
    let runs = word.split(omittingEmptySubsequences: false) { $0 == "'" || $0 == "-" }
    return !["space", "dash", "hyphen", "apostrophe"].contains(word)
      && runs.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isLetter) }
  }

  private static func capitalized(_ name: String) -> String {
    name.split(separator: "-").map { part in
      var runs = part.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
      for index in runs.indices where index == 0 || runs[0].count == 1 {
        runs[index] = self.withCapital(runs[index])
      }
      return runs.joined(separator: "'")
    }
    .joined(separator: "-")
  }

  private static func withCapital(_ text: String) -> String {
    if text.hasPrefix("mc"), text.count > 3 { return "Mc" + self.withCapital(String(text.dropFirst(2))) }
    return text.prefix(1).uppercased() + text.dropFirst()
  }

  /// Words of a name.
  static func spokenForm(of value: String) -> [String]? {
    let parts = value.lowercased().split(separator: " ").map(String.init)
    var words: [String] = []
    for part in parts {
      // Two initials beside each other could be taken for a spelled name.
      if let last = words.last, EnglishWords.isLetter(last), EnglishWords.isLetter(part) {
        words.append("space")
      }
      words.append(part)
    }
    return words.isEmpty ? nil : words
  }
}
