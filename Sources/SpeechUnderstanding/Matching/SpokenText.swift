/// Written text as words that could have been spoken.
enum SpokenText {
  /// The words of a text in lower case, without the punctuation around them.
  static func words(of text: String) -> [String] {
    if let words = self.plainWords(of: text) { return words }
    return text.split(whereSeparator: \.isWhitespace).map { self.folded(String($0)) }.filter { !$0.isEmpty }
  }

  /// A word in lower case, without the punctuation around it: `Hello!` is `hello`, `p.m.` stays as it is.
  static func folded(_ word: String) -> String {
    guard !self.isFolded(word.utf8) else { return word }
    var text = word.lowercased().replacing("\u{2019}", with: "'")[...]
    while let last = text.last, Self.closing.contains(last) { text.removeLast() }
    while let first = text.first, Self.opening.contains(first) { text.removeFirst() }
    // A full stop ends a sentence, unless the word is an abbreviation with stops of its own.
    if text.last == ".", !text.dropLast().contains(".") { text.removeLast() }
    return String(text)
  }

  /// The words of a text as recognisers write it: ASCII, with spaces between words. `nil` for any other text.
  ///
  /// Most texts are like that, and looking at bytes is many times faster than looking at characters.
  private static func plainWords(of text: String) -> [String]? {
    let space = UInt8(ascii: " ")
    guard text.utf8.allSatisfy({ (space..<127).contains($0) }) else { return nil }
    return text.utf8.split(separator: space).map { word in
      self.isFolded(word) ? String(Substring(word)) : self.folded(String(Substring(word)))
    }.filter { !$0.isEmpty }
  }

  /// Whether folding certainly changes nothing: there are neither capitals nor other letters than those of ASCII, and the
  /// word begins and ends with a letter or a digit.
  private static func isFolded(_ word: some BidirectionalCollection<UInt8>) -> Bool {
    guard let first = word.first, let last = word.last else { return true }
    return self.isPlain(first) && self.isPlain(last)
      && word.allSatisfy { $0 < 128 && !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static let closing: Set<Character> = [",", "!", "?", ";", ":", "\"", ")", "…", "\u{201D}"]
  private static let opening: Set<Character> = ["\"", "(", "\u{201C}", "¿", "¡"]
}
