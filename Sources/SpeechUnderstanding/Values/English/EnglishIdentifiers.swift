/// Identifiers: letters, digits and signs, said one by one.
///
/// Letters are small unless they were said to be capitals ("capital a"). Words that are neither letters nor signs make
/// the whole no identifier: nobody can tell how they are written.
enum EnglishIdentifiers {
  static let signs = [
    "dash": "-", "hyphen": "-", "minus": "-", "dot": ".", "point": ".", "period": ".", "slash": "/",
    "backslash": "\\", "underscore": "_", "hash": "#", "comma": ",", "colon": ":", "plus": "+", "star": "*",
    "asterisk": "*", "at": "@",
  ]
  private static let longSigns: [([String], String)] = [
    (["forward", "slash"], "/"), (["back", "slash"], "\\"), (["under", "score"], "_"),
    (["number", "sign"], "#"),
    (["at", "sign"], "@"), (["hash", "sign"], "#"), (["plus", "sign"], "+"),
  ]

  /// Reads an identifier.
  static func normalForm(of words: Words) -> String? {
    var reader = WordReader(words)
    var text = ""
    while !reader.isAtEnd {
      guard let characters = self.characters(&reader) else { return nil }
      text += characters
    }
    return text
  }

  private static func characters(_ reader: inout WordReader) -> String? {
    if let round = self.roundNumber(&reader) { return round }
    if let letter = EnglishSpelling.letter(&reader) { return letter }
    if let letters = EnglishSpelling.repeatedLetter(&reader) { return letters }
    if let digits = EnglishNumbers.digits(&reader) { return digits }
    if let letter = self.cased(&reader) { return letter }
    for (phrase, sign) in self.longSigns where reader.rest.starts(with: phrase) {
      for _ in phrase { _ = reader.takeNext() }
      return sign
    }
    if let sign = reader.take(from: self.signs) { return sign }
    if let letter = reader.take(from: EnglishSpelling.radioAlphabet) { return letter }
    if let letter = reader.take(from: EnglishSpelling.letterNames) { return letter }
    // Typed: "ab123".
    guard let next = reader.next, next.utf8.contains(where: { (48...57).contains($0) }),
      next.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-./_#,:+*@".contains($0)) })
    else { return nil }
    return reader.takeNext()
  }

  /// "seven hundred" is `700`, unless more of the number follows: then it could be `7005` or `705`.
  private static func roundNumber(_ reader: inout WordReader) -> String? {
    var ahead = reader
    guard let digit = EnglishNumbers.digit(&ahead), digit != "0" else { return nil }
    guard let zeros = ahead.take("hundred") ? "00" : ahead.take("thousand") ? "000" : nil else { return nil }
    if let next = ahead.next, EnglishNumbers.isNumeral(next) || next == "and" { return nil }
    reader = ahead
    return digit + zeros
  }

  private static func cased(_ reader: inout WordReader) -> String? {
    var ahead = reader
    let isCapital = ahead.take("capital") || ahead.take("uppercase") || ahead.take("upper", "case")
    guard isCapital || ahead.take("lowercase") || ahead.take("lower", "case") else { return nil }
    guard let letter = EnglishSpelling.letter(&ahead) ?? ahead.take(from: EnglishSpelling.radioAlphabet)
    else {
      return nil
    }
    reader = ahead
    return isCapital ? letter.uppercased() : letter
  }

  private static let signNames = [
    "-": "dash", ".": "dot", "/": "slash", "\\": "backslash", "_": "underscore", "#": "hash", ",": "comma",
    ":": "colon", "+": "plus", "*": "star", "@": "at",
  ]

  /// Words of an identifier, one for each character.
  static func spokenForm(of value: String) -> [String]? {
    var words: [String] = []
    for character in value {
      let text = String(character)
      if EnglishWords.isDigits(text) {
        words += EnglishNumbers.digitWords(text) ?? []
      } else if EnglishWords.isLetter(text) {
        words.append(text)
      } else if EnglishWords.isLetter(text.lowercased()) {
        words += ["capital", text.lowercased()]
      } else if let name = self.signNames[text] {
        words.append(name)
      } else {
        return nil
      }
    }
    return words.isEmpty ? nil : words
  }
}
