/// Written text as words that could have been spoken.
enum SpokenText {
  /// The words of a text in lower case, without the punctuation around them.
  static func words(of text: String) -> [String] {
    text.split(whereSeparator: \.isWhitespace).map { self.folded(String($0)) }.filter { !$0.isEmpty }
  }

  /// A word in lower case, without the punctuation around it: `Hello!` is `hello`, `p.m.` stays as it is.
  static func folded(_ word: String) -> String {
    var text = word.lowercased().replacing("\u{2019}", with: "'")[...]
    while let last = text.last, Self.closing.contains(last) { text.removeLast() }
    while let first = text.first, Self.opening.contains(first) { text.removeFirst() }
    // A full stop ends a sentence, unless the word is an abbreviation with stops of its own.
    if text.last == ".", !text.dropLast().contains(".") { text.removeLast() }
    return String(text)
  }

  private static let closing: Set<Character> = [",", "!", "?", ";", ":", "\"", ")", "…", "\u{201D}"]
  private static let opening: Set<Character> = ["\"", "(", "\u{201C}", "¿", "¡"]
}
