extension EnglishNumbers {
  /// Reads a whole number: "a hundred and five", "nineteen hundred", "two million three thousand".
  ///
  /// - Returns: `nil` if any word is left over, or if the number is too large for a machine word.
  static func cardinal(_ words: Words) -> UInt64? {
    guard !words.isEmpty else { return nil }
    if words.count == 1, words.first == "zero" { return 0 }
    var reader = WordReader(words)
    var total: UInt64 = 0
    // Groups get smaller: what comes next must be below this.
    var limit: UInt64?
    while !reader.isAtEnd {
      if limit != nil { _ = reader.take("and") }
      let scaleAlone = limit == nil && reader.next.flatMap { self.scales[$0] } != nil
      guard let group = scaleAlone ? 1 : self.group(&reader) else { return nil }
      var unit: UInt64 = 1
      let scale = reader.take(from: self.scales)
      for _ in 0..<(scale ?? 0) { unit *= 10 }
      let (product, tooLarge) = group.multipliedReportingOverflow(by: unit)
      if tooLarge { return nil }
      if let limit, product >= limit { return nil }
      let (sum, overflow) = total.addingReportingOverflow(product)
      if overflow { return nil }
      total = sum
      guard scale != nil else { break }
      limit = unit
    }
    return reader.isAtEnd ? total : nil
  }

  /// A number below ten thousand without a scale: "five", "a hundred and five", "twenty five hundred".
  private static func group(_ reader: inout WordReader) -> UInt64? {
    if let second = reader.second, reader.next == "a" {
      if self.scales[second] != nil { return reader.take("a") ? 1 : nil }
      guard second == "hundred" else { return nil }
      _ = reader.take("a")
    }
    var value: UInt64
    if reader.next == "hundred" {
      value = 1
    } else {
      guard let small = self.belowHundred(&reader) else { return nil }
      value = small
    }
    guard reader.next == "hundred" else { return value }
    // "twenty hundred" is fine, "thirty seconds hundred" never gets here.
    _ = reader.take("hundred")
    value *= 100
    var rest = reader
    _ = rest.take("and")
    guard let small = self.belowHundred(&rest) else { return value }
    reader = rest
    return value + small
  }

  /// 1 to 99.
  private static func belowHundred(_ reader: inout WordReader) -> UInt64? {
    if let teen = reader.take(from: self.teens) { return UInt64(teen) }
    if let ten = reader.take(from: self.tens) { return UInt64(ten + (self.nonzero(&reader) ?? 0)) }
    return self.nonzero(&reader).map(UInt64.init)
  }

  private static func nonzero(_ reader: inout WordReader) -> Int? {
    reader.next == "zero" ? nil : reader.take(from: self.units)
  }

  /// Reads numbers below a hundred, side by side: "five six four nine", "twenty twenty", "one oh five", "double seven".
  ///
  /// Tens take the digit behind them: "twenty one" is `21`, never `201`.
  static func digits(_ words: Words, letterO: Bool = false) -> String? {
    var reader = WordReader(words)
    var digits = ""
    while !reader.isAtEnd {
      guard let piece = self.digits(&reader, letterO: letterO) else { return nil }
      digits += piece
    }
    return digits.isEmpty ? nil : digits
  }

  /// Reads the next digits that belong together; none if there are none.
  static func digits(_ reader: inout WordReader, letterO: Bool = false) -> String? {
    if let next = reader.next, EnglishWords.isDigits(next) { return reader.takeNext() }
    if let digit = self.digit(&reader, letterO: letterO) { return digit }
    if let value = self.belowHundred(&reader) { return String(value) }
    var repeated = reader
    if let count = repeated.take(from: self.repetitions), let digit = self.digit(&repeated, letterO: letterO)
    {
      reader = repeated
      return String(repeating: digit, count: count)
    }
    return nil
  }

  /// Reads one digit that was said alone.
  static func digit(_ reader: inout WordReader, letterO: Bool = false) -> String? {
    if reader.take("oh") || (letterO && reader.take("o")) { return "0" }
    return reader.take(from: self.units).map(String.init)
  }
}
