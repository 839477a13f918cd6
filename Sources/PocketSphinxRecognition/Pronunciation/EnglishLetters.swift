import CFlite

/// How English letters sound: one by one, and in words after the rules of flite.
enum EnglishLetters {
  /// The names of the letters.
  static let names: [Character: [String]] = [
    "a": ["EY"], "b": ["B", "IY"], "c": ["S", "IY"], "d": ["D", "IY"], "e": ["IY"], "f": ["EH", "F"],
    "g": ["JH", "IY"], "h": ["EY", "CH"], "i": ["AY"], "j": ["JH", "EY"], "k": ["K", "EY"], "l": ["EH", "L"],
    "m": ["EH", "M"], "n": ["EH", "N"], "o": ["OW"], "p": ["P", "IY"], "q": ["K", "Y", "UW"],
    "r": ["AA", "R"],
    "s": ["EH", "S"], "t": ["T", "IY"], "u": ["Y", "UW"], "v": ["V", "IY"],
    "w": ["D", "AH", "B", "AH", "L", "Y", "UW"], "x": ["EH", "K", "S"], "y": ["W", "AY"], "z": ["Z", "IY"],
  ]

  /// Whether the letters cannot be said as a word.
  static func lacksVowels(_ word: String) -> Bool {
    !word.contains { "aeiouy".contains($0) }
  }

  /// Longer words would be no words; the rules take time that grows with the length.
  static let longestWord = 64

  /// The phones of a word after flite's lexicon and its letter-to-sound rules; `nil` if they give none.
  ///
  /// - Parameter word: Letters from a to z; anything else gives `nil`.
  static func phones(of word: String) -> [String]? {
    guard (1...Self.longestWord).contains(word.utf8.count), word.utf8.allSatisfy(Self.isLetter) else {
      return nil
    }
    let phones = FliteLibrary.withLexicon { lexicon -> [String] in
      guard let list = lex_lookup(lexicon, word, nil, nil) else { return [] }
      defer { delete_val(list) }
      var phones: [String] = []
      var rest: UnsafePointer<cst_val>? = UnsafePointer(list)
      while let cell = rest {
        if let head = val_car(cell), let text = val_string(head),
          let phone = Self.modelPhone(String(cString: text))
        {
          phones.append(phone)
        }
        rest = val_cdr(cell)
      }
      return phones
    }
    guard let phones, !phones.isEmpty else { return nil }
    return phones
  }

  /// Flite marks stress by a digit and has a phone of its own for the unstressed vowel.
  private static func modelPhone(_ phone: String) -> String? {
    let name = phone.last?.isNumber == true ? String(phone.dropLast()) : phone
    return switch name {
    case "pau", "": nil
    case "ax": "AH"
    default: name.uppercased()
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }
}
