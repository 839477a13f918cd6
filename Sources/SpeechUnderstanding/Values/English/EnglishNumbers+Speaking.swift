extension EnglishNumbers {
  static let unitNames = Self.names(of: Self.units, from: 0, by: 1)
  static let teenNames = Self.names(of: Self.teens, from: 10, by: 1)
  static let tenNames = Self.names(of: Self.tens, from: 0, by: 10)
  private static let scaleNames = Self.scales.sorted { $0.value > $1.value }.map {
    (name: $0.key, power: $0.value)
  }

  /// Names by value; an empty one where there is none.
  private static func names(of table: [String: Int], from start: Int, by step: Int) -> [String] {
    var names = Array(repeating: "", count: 10)
    for (name, value) in table {
      let index = (value - start) / step
      if names.indices.contains(index) { names[index] = name }
    }
    return names
  }

  /// A number in the usual words, and in those that people also use: with "and", with "a hundred", in two pairs.
  static func spokenForms(of number: Int) -> [[String]] {
    let sign = number < 0 ? ["minus"] : []
    let magnitude = UInt64(number.magnitude)
    var forms = [self.words(magnitude)]
    func add(_ form: [String]) {
      if !forms.contains(form) { forms.append(form) }
    }
    add(self.words(magnitude, and: true))
    if let first = forms.first, first.first == "one", first.count > 1 {
      add(["a"] + first.dropFirst())
      add(["a"] + self.words(magnitude, and: true).dropFirst())
    }
    if (1100...2099).contains(magnitude), magnitude % 1000 >= 10 { add(self.pairs(Int(magnitude))) }
    return forms.map { sign + $0 }
  }

  /// A whole number in words.
  ///
  /// - Parameter and: Whether "and" stands before the tens and units, as in British English.
  static func words(_ number: UInt64, and: Bool = false) -> [String] {
    guard number > 0 else { return ["zero"] }
    var words: [String] = []
    var rest = number
    for scale in self.scaleNames {
      let unit = self.power(scale.power)
      guard rest >= unit else { continue }
      words += self.belowThousand(Int(rest / unit), and: and) + [scale.name]
      rest %= unit
    }
    if rest > 0 {
      if and, !words.isEmpty, rest < 100 { words.append("and") }
      words += self.belowThousand(Int(rest), and: and)
    }
    return words
  }

  private static func power(_ exponent: Int) -> UInt64 {
    (0..<exponent).reduce(1) { power, _ in power * 10 }
  }

  private static func belowThousand(_ number: Int, and: Bool) -> [String] {
    var words: [String] = []
    if number >= 100 {
      words = [self.unitNames[number / 100 % 10], "hundred"]
      if and, number % 100 > 0 { words.append("and") }
    }
    return words + self.belowHundred(number % 100)
  }

  /// No words for zero.
  static func belowHundred(_ number: Int) -> [String] {
    switch number {
    case 1...9: [self.unitNames[number]]
    case 10...19: [self.teenNames[number - 10]]
    case 20...99: [self.tenNames[number / 10]] + self.belowHundred(number % 10)
    default: []
    }
  }

  /// A number of four digits in two pairs: "nineteen eighty four", "nineteen oh five", "nineteen hundred".
  static func pairs(_ number: Int) -> [String] {
    let (hundreds, rest) = (number / 100, number % 100)
    switch rest {
    case 0: return self.belowHundred(hundreds) + ["hundred"]
    case 1...9: return self.belowHundred(hundreds) + ["oh"] + self.belowHundred(rest)
    default: return self.belowHundred(hundreds) + self.belowHundred(rest)
    }
  }

  /// An ordinal from 1 to 99: "twenty first".
  static func ordinalWords(_ number: Int) -> [String] {
    var words = self.belowHundred(number)
    guard let last = words.popLast() else { return [] }
    return words + [self.ordinals.first { $0.value == last }?.key ?? last]
  }

  /// Each digit alone.
  static func digitWords(_ digits: some StringProtocol) -> [String]? {
    var words: [String] = []
    for digit in digits.utf8 {
      let value = Int(digit) - Int(UInt8(ascii: "0"))
      guard self.unitNames.indices.contains(value) else { return nil }
      words.append(self.unitNames[value])
    }
    return words
  }

  /// The words of a number in normal form; long ones and those with zeros in front digit by digit.
  static func spokenForm(of value: String) -> [String]? {
    let sign = value.hasPrefix("-") ? ["minus"] : []
    let parts = value.dropFirst(sign.count).split(separator: ".", omittingEmptySubsequences: false)
    guard let integer = parts.first, parts.count <= 2, EnglishWords.isDigits(integer) else { return nil }
    let isPlain = integer == "0" || integer.first != "0"
    let whole: [String]? =
      if isPlain, integer.utf8.count <= 18, let number = UInt64(integer) {
        self.words(number)
      } else {
        self.digitWords(integer)
      }
    guard let whole else { return nil }
    guard let decimals = parts.dropFirst().first else { return sign + whole }
    guard !decimals.isEmpty, let digits = self.digitWords(decimals) else { return nil }
    return sign + whole + ["point"] + digits
  }
}
