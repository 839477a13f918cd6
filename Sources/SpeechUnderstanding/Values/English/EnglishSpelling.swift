/// Characters that were said one by one.
enum EnglishSpelling {
  /// The spelling alphabet of radio, with the usual variants.
  static let radioAlphabet: [String: String] = [
    "alpha": "a", "alfa": "a", "bravo": "b", "charlie": "c", "delta": "d", "echo": "e", "foxtrot": "f",
    "golf": "g",
    "hotel": "h", "india": "i", "juliet": "j", "juliett": "j", "juliette": "j", "kilo": "k", "lima": "l",
    "mike": "m",
    "november": "n", "oscar": "o", "papa": "p", "quebec": "q", "romeo": "r", "sierra": "s", "tango": "t",
    "uniform": "u", "victor": "v", "whiskey": "w", "whisky": "w", "x-ray": "x", "xray": "x", "yankee": "y",
    "zulu": "z",
  ]

  /// Names of letters that are no letters themselves.
  static let letterNames = ["zee": "z", "zed": "z"]

  /// Reads a letter: "b", "b as in bravo", "double u" (the name of one letter, not two).
  static func letter(_ reader: inout WordReader) -> String? {
    if reader.take("double", "u") || reader.take("double", "you") { return "w" }
    guard let next = reader.next, EnglishWords.isLetter(next) else { return nil }
    _ = reader.takeNext()
    var example = reader
    if example.take("as", "in") || example.take("for") || example.take("like"), let word = example.takeNext(),
      word.utf8.count > 1, word.hasPrefix(next)
    {
      reader = example
    }
    return next
  }

  /// Reads "double l", "triple w" and the like.
  static func repeatedLetter(_ reader: inout WordReader) -> String? {
    var repeated = reader
    guard let count = repeated.take(from: EnglishNumbers.repetitions), let letter = self.letter(&repeated)
    else {
      return nil
    }
    reader = repeated
    return String(repeating: letter, count: count)
  }
}
