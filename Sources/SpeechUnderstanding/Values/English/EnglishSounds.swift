import Foundation

/// How English words sound, roughly, after their letters: near enough to tell which words are taken for each other.
///
/// The longest rule that fits at a letter says what the letters of the rule sound like; see ``EnglishSounds/Rule``.
struct EnglishSounds: Sendable {
  static let standard = EnglishSounds()

  /// Longer words are not read to the end.
  static let longestWord = 40

  private let rules: [[Rule]]
  private let exceptions: [String: [SpeechSound]]

  private init() {
    var rules = [[Rule]](repeating: [], count: 26)
    for line in Self.ruleLines.split(whereSeparator: \.isWhitespace) {
      guard let rule = Rule(line), let first = rule.letters.first, let index = Self.index(of: first) else {
        continue
      }
      rules[index].append(rule)
    }
    self.rules = rules
    var exceptions: [String: [SpeechSound]] = [:]
    for line in Self.exceptionLines.split(whereSeparator: \.isWhitespace) {
      let parts = line.split(separator: "=")
      guard parts.count == 2 else { continue }
      for word in parts[0].split(separator: ",") { exceptions[String(word)] = Rule.sounds(parts[1].utf8) }
    }
    self.exceptions = exceptions
  }

  func sounds(of word: String) -> [SpeechSound] {
    let word =
      word.utf8.allSatisfy { $0 < 0x80 } ? word : word.folding(options: .diacriticInsensitive, locale: nil)
    if let known = self.exceptions[word] { return known }
    let letters = word.utf8.prefix(Self.longestWord).filter { $0 != UInt8(ascii: "'") }
    var sounds: [SpeechSound] = []
    sounds.reserveCapacity(letters.count)
    var place = 0
    while place < letters.count {
      guard let index = Self.index(of: letters[place]),
        let rule = self.rules[index].first(where: { $0.fits(letters, at: place) })
      else {
        sounds += self.soundsOfSign(letters[place])
        place += 1
        continue
      }
      sounds += rule.sounds
      place += rule.letters.count
    }
    return sounds
  }

  /// Digits sound as their names; other signs are silent.
  private func soundsOfSign(_ sign: UInt8) -> [SpeechSound] {
    guard sign >= UInt8(ascii: "0"), sign <= UInt8(ascii: "9") else { return [] }
    let name = EnglishNumbers.spokenForms(of: Int(sign - UInt8(ascii: "0"))).first ?? []
    return name.flatMap { self.sounds(of: $0) }
  }

  private static func index(of letter: UInt8) -> Int? {
    guard letter >= UInt8(ascii: "a"), letter <= UInt8(ascii: "z") else { return nil }
    return Int(letter - UInt8(ascii: "a"))
  }
}

extension EnglishSounds {
  /// What some letters sound like between others, written `left[letters]right=sounds`.
  ///
  /// In the neighbours `_` is the edge of the word, `#` a vowel, `^` a consonant, `+` one of e, i, y, and `:` any number of
  /// consonants. Sounds are single characters; see ``soundsByCharacter``.
  struct Rule: Sendable {
    let left: [UInt8]
    let letters: [UInt8]
    let right: [UInt8]
    let sounds: [SpeechSound]

    init?(_ text: Substring) {
      let bytes = Array(text.utf8)
      guard let open = bytes.firstIndex(of: UInt8(ascii: "[")),
        let close = bytes.firstIndex(of: UInt8(ascii: "]")),
        let equals = bytes.lastIndex(of: UInt8(ascii: "=")), open < close, close < equals
      else { return nil }
      self.left = bytes[..<open].reversed()
      self.letters = Array(bytes[(open + 1)..<close])
      self.right = Array(bytes[(close + 1)..<equals])
      self.sounds = Self.sounds(bytes[(equals + 1)...])
    }

    static func sounds(_ text: some Sequence<UInt8>) -> [SpeechSound] {
      text.compactMap { EnglishSounds.soundsByCharacter[$0] }
    }

    func fits(_ word: [UInt8], at place: Int) -> Bool {
      guard word.count - place >= self.letters.count, word[place...].starts(with: self.letters) else {
        return false
      }
      return Self.fits(self.right, word, from: place + self.letters.count, step: 1)
        && Self.fits(self.left, word, from: place - 1, step: -1)
    }

    private static func fits(_ pattern: [UInt8], _ word: [UInt8], from start: Int, step: Int) -> Bool {
      var place = start
      for symbol in pattern {
        let letter = word.indices.contains(place) ? word[place] : nil
        switch symbol {
        case UInt8(ascii: "_"):
          guard letter == nil else { return false }
        case UInt8(ascii: ":"):
          while word.indices.contains(place), !self.isVowel(word[place]) { place += step }
        case UInt8(ascii: "#"):
          guard let letter, self.isVowel(letter) else { return false }
          place += step
        case UInt8(ascii: "^"):
          guard let letter, !self.isVowel(letter) else { return false }
          place += step
        case UInt8(ascii: "+"):
          guard let letter, "eiy".utf8.contains(letter) else { return false }
          place += step
        default:
          guard letter == symbol else { return false }
          place += step
        }
      }
      return true
    }

    private static func isVowel(_ letter: UInt8) -> Bool {
      switch letter {
      case UInt8(ascii: "a"), UInt8(ascii: "e"), UInt8(ascii: "i"), UInt8(ascii: "o"), UInt8(ascii: "u"),
        UInt8(ascii: "y"):
        true
      default: false
      }
    }
  }
}
