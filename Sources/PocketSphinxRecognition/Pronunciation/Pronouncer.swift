package import VoiceCore

/// Says how words sound: after the model's dictionary, and for words that it lacks after their spelling.
///
/// Spelling is read as English: flite's lexicon and letter-to-sound rules for words, names of letters for what has no vowels
/// ("mqtt") and for single letters, number words for digits. Models of other languages have their dictionary alone.
package struct Pronouncer: Sendable {
  /// What is known of some words.
  package struct Findings: Hashable, Sendable {
    /// How each word may sound, most likely first.
    package var pronunciations: [String: [Pronunciation]] = [:]
    /// The words that the dictionary lacks: their pronunciations come from the spelling.
    package var derived: Set<String> = []
    /// The words of which nobody knows how they sound, in alphabetical order.
    package var unpronounceable: [String] = []

    /// A report that names the words without a pronunciation, with code `speech.understanding.word-unpronounceable`;
    /// `nil` if there are none.
    package var failure: VoiceFailure? {
      guard !self.unpronounceable.isEmpty else { return nil }
      let isOne = self.unpronounceable.count == 1
      let shown = self.unpronounceable.prefix(Self.mostNamed).map { "“\($0.prefix(40))”" }
      let others = self.unpronounceable.count - shown.count
      let names = shown.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
      let words = isOne ? "word \(names)" : "words \(names)"
      return VoiceFailure(
        .wordUnpronounceable,
        message: "The \(words) cannot be recognised: the dictionary lacks \(isOne ? "it" : "them"), and the "
          + "spelling does not tell how \(isOne ? "it sounds. Write it as it is" : "they sound. Write them as they are") "
          + "spoken, in letters from a to z.")
    }

    private static let mostNamed = 10
  }

  private let dictionary: PronunciationDictionary
  private let phones: PhoneSet
  private let readsSpelling: Bool

  /// Creates a pronouncer for a model.
  ///
  /// - Throws: ``VoiceFailure`` with code `speech.engine.model-missing` or `speech.engine.model-invalid`.
  package init(model: PocketSphinxModel) throws(VoiceFailure) {
    let language = model.language.lowercased()
    self.init(
      dictionary: PronunciationDictionary(path: model.dictionary), phones: try PhoneSet(model: model),
      readsSpelling: language == "en" || language.hasPrefix("en-"))
  }

  init(dictionary: PronunciationDictionary, phones: PhoneSet, readsSpelling: Bool = true) {
    self.dictionary = dictionary
    self.phones = phones
    self.readsSpelling = readsSpelling
  }

  /// How the words sound.
  ///
  /// Goes through the whole dictionary once, so ask for all words of a grammar together.
  ///
  /// - Parameter words: Words as a grammar spells them; case does not matter.
  /// - Throws: ``VoiceFailure`` with code `speech.engine.model-missing` if there is no dictionary. Words without a
  ///   pronunciation are no error here; see ``Findings/failure``.
  package func pronunciations(of words: some Sequence<String>) throws(VoiceFailure) -> Findings {
    let spelled = Dictionary(words.map { ($0, SpelledWord($0)) }, uniquingKeysWith: { first, _ in first })
    var wanted: Set<String> = []
    for (word, spelling) in spelled {
      wanted.formUnion([word.lowercased(), spelling.folded])
      guard self.readsSpelling else { continue }
      for part in spelling.parts ?? [] { wanted.formUnion(Self.wordsToLookUp(of: part)) }
    }
    let known = try self.dictionary.pronunciations(of: wanted).compactMapValues { found in
      let usable = found.filter { self.phones.phones.isSuperset(of: $0.phones) }
      return usable.isEmpty ? nil : usable
    }
    var findings = Findings()
    for (word, spelling) in spelled {
      if let found = known[word.lowercased()] ?? known[spelling.folded] {
        findings.pronunciations[word] = found
      } else if let derived = self.derive(spelling, known: known) {
        findings.pronunciations[word] = derived
        findings.derived.insert(word)
      } else {
        findings.unpronounceable.append(word)
      }
    }
    findings.unpronounceable.sort()
    return findings
  }

  // MARK: Spelling

  private typealias Phones = [String]

  /// More ways to say a word confuse a recogniser more than they help it.
  private static let mostPronunciations = 6
  /// Letters up to this number may be an abbreviation that is spelled, even if they can be said as a word.
  private static let longestAbbreviation = 4

  /// What is said at the end of a word after an apostrophe, and what of it sounds how.
  private static let endings: [(spelling: String, phones: [String])] = [
    ("'s", ["Z"]), ("s'", ["Z"]), ("'ll", ["AH", "L"]), ("'d", ["D"]), ("'ve", ["V"]), ("'re", ["ER"]),
    ("'m", ["M"]),
  ]

  private static func wordsToLookUp(of part: SpelledWord.Part) -> [String] {
    switch part {
    case .word(let text): [text, self.stem(of: text).text] + text.split(separator: "'").map(String.init)
    case .letters: []
    case .phrase(let forms): forms.flatMap { $0 }
    }
  }

  private static func stem(of text: String) -> (text: String, ending: [String]?) {
    for ending in self.endings where text.hasSuffix(ending.spelling) && text.count > ending.spelling.count {
      return (String(text.dropLast(ending.spelling.count)), ending.phones)
    }
    return (text, nil)
  }

  private func derive(_ spelling: SpelledWord, known: [String: [Pronunciation]]) -> [Pronunciation]? {
    guard self.readsSpelling, let parts = spelling.parts else { return nil }
    var ways: [Phones] = [[]]
    for part in parts {
      guard let sounds = self.sounds(of: part, known: known) else { return nil }
      ways = Self.product(ways, sounds)
    }
    let usable = ways.filter { !$0.isEmpty && self.phones.phones.isSuperset(of: $0) }
    return usable.isEmpty ? nil : usable.map(Pronunciation.init)
  }

  private func sounds(of part: SpelledWord.Part, known: [String: [Pronunciation]]) -> [Phones]? {
    switch part {
    case .letters(let letters):
      return self.spelled(letters).map { [$0] }
    case .word(let text):
      return self.sounds(ofWord: text, known: known)
    case .phrase(let forms):
      let ways = forms.compactMap { form -> [Phones]? in
        var ways: [Phones] = [[]]
        for word in form {
          guard let sounds = self.sounds(ofWord: word, known: known) else { return nil }
          ways = Self.product(ways, Array(sounds.prefix(1)))
        }
        return ways
      }
      return ways.isEmpty ? nil : Self.unique(ways.flatMap { $0 })
    }
  }

  private func sounds(ofWord text: String, known: [String: [Pronunciation]]) -> [Phones]? {
    if let found = known[text] { return found.map(\.phones) }
    let stem = Self.stem(of: text)
    if let ending = stem.ending {
      guard let sounds = self.sounds(ofWord: stem.text, known: known) else { return nil }
      return sounds.map { $0 + Self.ending(ending, after: $0.last) }
    }
    if text.contains("'") {
      // `o'kotlin` is said as its parts; a letter alone has its name.
      var ways: [Phones] = [[]]
      for piece in text.split(separator: "'") {
        let sounds =
          piece.count == 1
          ? self.spelled(String(piece)).map { [$0] } : self.sounds(ofWord: String(piece), known: known)
        guard let sounds else { return nil }
        ways = Self.product(ways, sounds)
      }
      return ways
    }
    if EnglishLetters.lacksVowels(text) { return self.spelled(text).map { [$0] } }
    // The rules give no sounds to a few spellings, such as "dde".
    guard let said = EnglishLetters.phones(of: text) else { return self.spelled(text).map { [$0] } }
    guard text.count <= Self.longestAbbreviation, let spelled = self.spelled(text) else { return [said] }
    return Self.unique([said, spelled])
  }

  private func spelled(_ letters: String) -> Phones? {
    guard letters.count <= EnglishLetters.longestWord else { return nil }
    var phones: Phones = []
    for letter in letters {
      guard let name = EnglishLetters.names[letter] else { return nil }
      phones += name
    }
    return phones
  }

  /// The sound of a genitive depends on what it follows: "Kotlin's", "Swift's", "Xbox's".
  private static func ending(_ ending: Phones, after last: String?) -> Phones {
    guard ending == ["Z"], let last else { return ending }
    switch last {
    case "S", "Z", "SH", "ZH", "CH", "JH": return ["IH", "Z"]
    case "P", "T", "K", "F", "TH": return ["S"]
    default: return ending
    }
  }

  private static func product(_ beginnings: [Phones], _ endings: [Phones]) -> [Phones] {
    var ways: [Phones] = []
    for beginning in beginnings {
      for ending in endings where ways.count < self.mostPronunciations { ways.append(beginning + ending) }
    }
    return ways
  }

  private static func unique(_ ways: [Phones]) -> [Phones] {
    var seen: Set<Phones> = []
    return ways.filter { seen.insert($0).inserted }
  }
}
