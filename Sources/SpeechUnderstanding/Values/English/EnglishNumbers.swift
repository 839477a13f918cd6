/// Numbers in words.
///
/// Arithmetic is exact: what has more digits than a machine word is built as text, and every product is checked.
enum EnglishNumbers {
  static let units = [
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9,
  ]
  static let teens = [
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
  ]
  static let tens = [
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
  ]
  /// Powers of ten.
  static let scales = [
    "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "quadrillion": 15, "quintillion": 18,
  ]
  /// The cardinal that stands inside an ordinal.
  static let ordinals = [
    "zeroth": "zero", "first": "one", "second": "two", "third": "three", "fourth": "four", "fifth": "five",
    "sixth": "six", "seventh": "seven", "eighth": "eight", "ninth": "nine", "tenth": "ten",
    "eleventh": "eleven", "twelfth": "twelve", "thirteenth": "thirteen", "fourteenth": "fourteen",
    "fifteenth": "fifteen", "sixteenth": "sixteen", "seventeenth": "seventeen", "eighteenth": "eighteen",
    "nineteenth": "nineteen", "twentieth": "twenty", "thirtieth": "thirty", "fortieth": "forty",
    "fiftieth": "fifty", "sixtieth": "sixty", "seventieth": "seventy", "eightieth": "eighty",
    "ninetieth": "ninety", "hundredth": "hundred", "thousandth": "thousand", "millionth": "million",
    "billionth": "billion",
  ]
  static let repetitions = ["double": 2, "triple": 3, "treble": 3]
  static let signs = ["minus": "-", "negative": "-", "plus": "", "positive": ""]

  /// Whether a word is part of a cardinal or an ordinal.
  static func isNumeral(_ word: String) -> Bool {
    self.units[word] != nil || self.teens[word] != nil || self.tens[word] != nil || self.scales[word] != nil
      || self.ordinals[word] != nil || word == "hundred" || word == "oh"
  }

  /// Reads any number.
  ///
  /// Units do not belong to a value: "fifty percent" is not a number, "fifty" is. Digits that were said one by one are
  /// kept as they are, so "zero zero three five" is `0035` and "two point five zero" is `2.50`. Fractions are
  /// rounded to six places. Ordinals are numbers too.
  static func normalForm(of words: Words) -> String? {
    var reader = WordReader(words)
    let sign = reader.take(from: self.signs)
    let words = reader.rest
    if let value = self.written(words) ?? self.unsigned(words) {
      return value.text(negative: sign == "-")
    }
    guard sign == nil, let ordinal = self.ordinal(words.removing(prefix: "the") ?? words) else { return nil }
    return String(ordinal)
  }

  private static func unsigned(_ words: Words) -> DecimalText? {
    if let value = self.cardinal(words) { return DecimalText(value) }
    if let value = self.dozens(words) { return DecimalText(value) }
    if let value = self.broken(words) { return value }
    if let last = words.last, let scale = last == "hundred" ? 2 : self.scales[last] {
      let start = words.dropLast()
      // "half a million", "three quarters of a million"
      let fraction = start.removing(suffix: "of", "a") ?? start.removing(suffix: "a") ?? start
      return self.broken(start)?.scaled(by: scale) ?? self.fraction(fraction)?.scaled(by: scale)
    }
    // A single "oh" is a sigh, not a zero.
    guard let digits = self.digits(words), digits.utf8.count > 1 else { return nil }
    return DecimalText(integer: digits)
  }

  /// Decimals, fractions, and whole numbers with a fraction.
  private static func broken(_ words: Words) -> DecimalText? {
    if let point = words.firstIndex(where: { $0 == "point" || $0 == "dot" }) {
      let integer = words[..<point]
      guard let decimals = self.digits(words[(point + 1)...]) else { return nil }
      if integer.isEmpty { return DecimalText(integer: "0", decimals: decimals) }
      guard let whole = self.cardinal(integer).map(String.init) ?? self.digits(integer) else { return nil }
      return DecimalText(integer: whole, decimals: decimals)
    }
    // "two hundred and three quarters" is 200.75, not 203 quarters.
    if let and = words.lastIndex(of: "and"), let whole = self.cardinal(words[..<and]),
      let fraction = self.fraction(words[(and + 1)...]), fraction.integer == "0"
    {
      return DecimalText(integer: String(whole), decimals: fraction.decimals)
    }
    return self.fraction(words)
  }

  /// "half", "a quarter", "three quarters", "one fifth"; "a fifth" is a fraction, "fifth" and "the fifth" are ordinals.
  private static func fraction(_ words: Words) -> DecimalText? {
    guard let name = words.last else { return nil }
    let count = words.dropLast()
    let numerator: UInt64
    let denominator: UInt64
    if let value = self.denominator(name) {
      switch Array(count) {
      case ["a"], ["one"]: break
      case [] where name == "half" || name == "quarter": break
      default: return nil
      }
      numerator = 1
      denominator = value
    } else if let value = self.denominator(name == "halves" ? "half" : String(name.dropLast())),
      name.last == "s", let several = self.cardinal(count), (1...999).contains(several)
    {
      numerator = several
      denominator = value
    } else {
      return nil
    }
    let millionths = (2 * numerator * 1_000_000 + denominator) / (2 * denominator)
    var decimals = String(String(1_000_000 + millionths % 1_000_000).dropFirst())
    while decimals.last == "0" { decimals.removeLast() }
    return DecimalText(integer: String(millionths / 1_000_000), decimals: decimals)
  }

  private static func denominator(_ name: String) -> UInt64? {
    switch name {
    case "half": return 2
    case "quarter": return 4
    default:
      guard let word = self.ordinals[name], let value = self.cardinal([word][...]), (3...1000).contains(value)
      else {
        return nil
      }
      return value
    }
  }

  /// "a dozen", "two dozen", "half a dozen".
  private static func dozens(_ words: Words) -> UInt64? {
    guard let count = words.removing(suffix: "dozen") else { return nil }
    switch Array(count) {
    case [], ["a"]: return 12
    case ["half"], ["half", "a"]: return 6
    default:
      guard let product = self.cardinal(count)?.multipliedReportingOverflow(by: 12) else { return nil }
      return product.overflow ? nil : product.partialValue
    }
  }

  /// Written with digits: "5649", "1,000", "-17.5", "3 million".
  private static func written(_ words: Words) -> DecimalText? {
    guard let first = words.first, words.count <= 2 else { return nil }
    let parts = first.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let integer = self.ungrouped(parts[0]) else { return nil }
    let decimals = parts.dropFirst().first.map(String.init) ?? ""
    guard parts.count == 1 || EnglishWords.isDigits(decimals) else { return nil }
    let value = DecimalText(integer: integer, decimals: decimals)
    guard words.count == 2, let last = words.last else { return value }
    return self.scales[last].map { value.scaled(by: $0) }
  }

  private static func ungrouped(_ text: Substring) -> String? {
    let groups = text.split(separator: ",", omittingEmptySubsequences: false)
    guard groups.allSatisfy({ EnglishWords.isDigits($0) }) else { return nil }
    guard groups.count > 1 else { return String(text) }
    guard let first = groups.first, first.count <= 3, groups.dropFirst().allSatisfy({ $0.count == 3 }) else {
      return nil
    }
    return groups.joined()
  }

  /// "twenty first", "two hundred and fifth", "21st".
  static func ordinal(_ words: Words) -> UInt64? {
    guard let last = words.last else { return nil }
    if let word = self.ordinals[last] { return self.cardinal(words.dropLast() + [word]) }
    guard words.count == 1, ["st", "nd", "rd", "th"].contains(last.suffix(2)) else { return nil }
    let digits = last.dropLast(2)
    return EnglishWords.isDigits(digits) ? UInt64(digits) : nil
  }
}

/// A number that is not negative, as text: exact, however long.
struct DecimalText: Hashable {
  /// At least one digit, with the zeros in front that were said.
  var integer: String
  /// The digits after the point.
  var decimals = ""

  init(integer: String, decimals: String = "") {
    self.integer = integer
    self.decimals = decimals
  }

  init(_ value: UInt64) {
    self.integer = String(value)
  }

  /// Moves the point to the right; what becomes whole loses the zeros at both of its former ends.
  func scaled(by power: Int) -> DecimalText {
    let moved = self.integer + self.decimals.prefix(power)
    let padded = moved + String(repeating: "0", count: max(0, power - self.decimals.utf8.count))
    let digits = padded.drop { $0 == "0" }
    return DecimalText(
      integer: digits.isEmpty ? "0" : String(digits), decimals: String(self.decimals.dropFirst(power)))
  }

  /// The normal form; there is no negative zero.
  func text(negative: Bool) -> String {
    let isZero = (self.integer + self.decimals).allSatisfy { $0 == "0" }
    return (negative && !isZero ? "-" : "") + self.integer
      + (self.decimals.isEmpty ? "" : "." + self.decimals)
  }
}
