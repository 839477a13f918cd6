/// Telephone numbers.
///
/// A number with a plus gets a blank behind its country code and is grouped as is usual there, if this is known and the
/// length fits; every other one is written as it was said, without blanks. Hyphens between the digits are not kept.
enum EnglishPhoneNumbers {
  /// From the shortest emergency number to the longest that ITU-T E.164 allows.
  private static let lengths = 3...15

  /// How the digits behind the country code are grouped.
  private static let groups: [(code: String, sizes: [Int])] = [
    ("1", [3, 3, 4]), ("44", [3, 3, 4]), ("33", [1, 2, 2, 2, 2]), ("34", [3, 3, 3]), ("45", [2, 2, 2, 2]),
    ("47", [3, 2, 3]), ("48", [3, 3, 3]), ("61", [3, 3, 3]), ("7", [3, 3, 2, 2]), ("91", [5, 5]),
    ("351", [3, 3, 3]),
  ]

  /// Reads a telephone number: "plus four four two oh seven …", "one eight hundred five five five …".
  static func normalForm(of words: Words) -> String? {
    var reader = WordReader(words)
    var hasPlus = reader.take("plus")
    var digits = ""
    while !reader.isAtEnd {
      if let piece = self.hundreds(&reader) ?? EnglishNumbers.digits(&reader, letterO: true) {
        digits += piece
      } else if !digits.isEmpty, reader.take("dash") || reader.take("hyphen") {
        guard !reader.isAtEnd else { return nil }
      } else if let next = reader.takeNext(), let typed = self.typed(next),
        !typed.hasPrefix("+") || digits.isEmpty
      {
        hasPlus = hasPlus || typed.hasPrefix("+")
        digits += typed.drop { $0 == "+" }
      } else {
        return nil
      }
    }
    guard self.lengths.contains(digits.utf8.count) else { return nil }
    return hasPlus ? self.international(digits) : digits
  }

  /// "eight hundred".
  private static func hundreds(_ reader: inout WordReader) -> String? {
    var ahead = reader
    guard let digit = EnglishNumbers.digit(&ahead), digit != "0", ahead.take("hundred") else { return nil }
    reader = ahead
    return digit + "00"
  }

  /// "+44", "207-730-1234", "(0)20".
  private static func typed(_ word: String) -> String? {
    let plain = word.filter { !"-()./".contains($0) }
    return EnglishWords.isDigits(plain.drop { $0 == "+" }) && plain.filter({ $0 == "+" }).count <= 1
      ? plain : nil
  }

  private static func international(_ digits: String) -> String {
    for (code, sizes) in self.groups where digits.hasPrefix(code) {
      var rest = digits.dropFirst(code.count)
      guard rest.count == sizes.reduce(0, +) else { continue }
      var parts = ["+" + code]
      for size in sizes {
        parts.append(String(rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
      return parts.joined(separator: " ")
    }
    return "+" + digits
  }

  /// Words of a telephone number, digit by digit.
  static func spokenForm(of value: String) -> [String]? {
    let digits = value.filter { $0 != "+" && $0 != " " }
    guard let words = EnglishNumbers.digitWords(digits), !words.isEmpty else { return nil }
    return (value.hasPrefix("+") ? ["plus"] : []) + words
  }
}
