/// Addresses of e-mail and the web.
///
/// What is said as words is written without blanks; letters and digits that are said one by one are joined. Words of
/// the spelling alphabet stand for themselves, since "mike" and "charlie" are names. Addresses are written small.
enum EnglishAddresses {
  private static let emailSigns = [
    "dot": ".", "point": ".", "period": ".", "dash": "-", "hyphen": "-", "minus": "-", "underscore": "_",
    "plus": "+",
  ]
  private static let webSigns = [
    "dot": ".", "point": ".", "period": ".", "dash": "-", "hyphen": "-", "minus": "-", "underscore": "_",
    "plus": "+", "colon": ":", "slash": "/", "equals": "=", "ampersand": "&", "hash": "#", "tilde": "~",
    "percent": "%",
  ]
  private static let longSigns: [([String], String)] = [
    (["forward", "slash"], "/"), (["double", "slash"], "//"), (["question", "mark"], "?"),
    (["at", "sign"], "@"),
    (["under", "score"], "_"),
  ]

  /// Reads an e-mail address; the last "at" is the sign, those before it are words.
  static func emailNormalForm(of words: Words) -> String? {
    var words = Array(words)
    if let at = words.lastIndex(of: "at") {
      if at + 1 < words.count, words[at + 1] == "sign" { words.remove(at: at + 1) }
      guard let local = self.text(words[..<at], signs: self.emailSigns),
        let domain = self.text(words[(at + 1)...], signs: self.emailSigns)
      else { return nil }
      return self.email(local, domain)
    }
    // Typed.
    guard words.count == 1, let word = words.first, let at = word.lastIndex(of: "@") else { return nil }
    return self.email(String(word[..<at]), String(word[word.index(after: at)...]))
  }

  private static func email(_ local: String, _ domain: String) -> String? {
    let parts = local.split(separator: ".", omittingEmptySubsequences: false)
    // RFC 5321, section 4.5.3.1.1.
    guard local.utf8.count <= 64, parts.allSatisfy({ !$0.isEmpty }),
      local.allSatisfy({ self.isPlain($0) || "._-+".contains($0) }), self.isDomain(domain)
    else { return nil }
    return local + "@" + domain
  }

  /// Reads an address of the web; the scheme is kept if it was said, and none is added.
  static func webNormalForm(of words: Words) -> String? {
    guard let text = self.text(words, signs: self.webSigns) else { return nil }
    var rest = text[...]
    for scheme in ["http://", "https://"] where rest.hasPrefix(scheme) {
      rest = rest.dropFirst(scheme.count)
      break
    }
    let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    let authority = rest[..<end].split(separator: ":", omittingEmptySubsequences: false)
    guard let host = authority.first, authority.count <= 2 else { return nil }
    if let port = authority.dropFirst().first {
      guard EnglishWords.isDigits(port), UInt16(port) != nil else { return nil }
    }
    guard self.isDomain(String(host)) || host == "localhost" || self.isIPv4(host) else { return nil }
    return rest[end...].allSatisfy { self.isPlain($0) || "._-+:/=&#~%?@".contains($0) } ? text : nil
  }

  private static func text(_ words: Words, signs: [String: String]) -> String? {
    var reader = WordReader(words)
    var text = ""
    while !reader.isAtEnd {
      if let long = self.longSigns.first(where: { reader.rest.starts(with: $0.0) }) {
        for _ in long.0 { _ = reader.takeNext() }
        text += long.1
      } else if let sign = reader.take(from: signs) {
        text += sign
      } else if let piece = EnglishSpelling.letter(&reader) ?? EnglishSpelling.repeatedLetter(&reader)
        ?? EnglishNumbers.digits(&reader)
      {
        text += piece
      } else if let word = reader.takeNext(), self.webSigns[word] == nil {
        // "o'brien" is written without its apostrophe.
        text += word.filter { $0 != "'" }
      } else {
        // A sign of the web inside an e-mail address.
        return nil
      }
    }
    return text.isEmpty ? nil : text
  }

  private static func isPlain(_ character: Character) -> Bool {
    self.isLetter(character) || EnglishWords.isDigits(String(character))
  }

  private static func isLetter(_ character: Character) -> Bool {
    EnglishWords.isLetter(String(character))
  }

  /// At least two labels of RFC 1035, the last one without digits.
  private static func isDomain(_ text: String) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    guard labels.count >= 2, text.utf8.count <= 253, let last = labels.last else { return false }
    return last.count >= 2 && last.allSatisfy(self.isLetter)
      && labels.allSatisfy { label in
        (1...63).contains(label.count) && label.allSatisfy { self.isPlain($0) || $0 == "-" }
          && label.first != "-" && label.last != "-"
      }
  }

  private static func isIPv4(_ text: Substring) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { EnglishWords.isDigits($0) && UInt8($0) != nil }
  }

  private static let signNames: [Character: [String]] = [
    ".": ["dot"], "-": ["dash"], "_": ["underscore"], "+": ["plus"], "@": ["at"], ":": ["colon"],
    "/": ["slash"],
    "=": ["equals"], "&": ["ampersand"], "#": ["hash"], "~": ["tilde"], "%": ["percent"],
    "?": ["question", "mark"],
  ]

  /// Words that would not be taken as themselves.
  private static func isReserved(_ word: String) -> Bool {
    self.webSigns[word] != nil || EnglishNumbers.isNumeral(word) || EnglishNumbers.repetitions[word] != nil
      || ["at", "forward", "question", "under", "sign", "as", "for", "like"].contains(word)
  }

  /// Words of an address: runs of letters as words, digits one by one.
  static func spokenForm(of value: String) -> [String]? {
    var words: [String] = []
    var run = ""
    func endRun() {
      // Words with a meaning are spelled.
      words += self.isReserved(run) || run.count == 1 ? run.map(String.init) : run.isEmpty ? [] : [run]
      run = ""
    }
    for character in value {
      if self.isLetter(character) {
        run.append(character)
        continue
      }
      endRun()
      if let digits = EnglishNumbers.digitWords(String(character)) {
        words += digits
      } else if let sign = self.signNames[character] {
        // In the web, "at" alone is a word.
        words += character == "@" && value.contains("/") ? ["at", "sign"] : sign
      } else {
        return nil
      }
    }
    endRun()
    return words.isEmpty ? nil : words
  }
}
