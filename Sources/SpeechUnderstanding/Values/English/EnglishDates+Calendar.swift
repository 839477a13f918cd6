import Foundation

/// Dates that name a day, a month or a year.
extension EnglishDates {
  static let months = [
    "january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8,
    "september": 9,
    "october": 10, "november": 11, "december": 12,
  ]

  /// Feasts on the same day each year.
  static let feasts: [[String]: (month: Int, day: Int)] = [
    ["christmas"]: (12, 25), ["christmas", "day"]: (12, 25), ["christmas", "eve"]: (12, 24),
    ["boxing", "day"]: (12, 26), ["new", "year's", "eve"]: (12, 31), ["new", "year's", "day"]: (1, 1),
    ["new", "year's"]: (1, 1), ["halloween"]: (10, 31), ["valentine's", "day"]: (2, 14),
    ["independence", "day"]: (7, 4),
  ]

  /// What the words say of a date.
  private struct Named {
    var weekday: Int?
    var day: Int
    var month: Int?
    var year: Int?
  }

  /// "january fifth twenty twenty", "friday the fifth", "the fifth of next month", "next christmas", "next january".
  func calendarDate(_ words: Words) -> CivilDate? {
    var reader = WordReader(words)
    let weekday = reader.take(from: Self.weekdays)
    if weekday != nil { _ = reader.take("on") }
    _ = reader.take("the")
    let rest = reader.rest
    if weekday == nil, let date = self.monthAlone(rest) { return date }
    if let date = self.dayOfMonth(rest) { return weekday == nil || date.weekday == weekday ? date : nil }
    // "next christmas" is after today, "last january fifth" before it.
    if weekday == nil, let first = rest.first, ["next", "last"].contains(first),
      let named = self.named(rest.dropFirst()),
      let month = named.month, named.year == nil
    {
      return self.nearest(step: first == "next" ? 1 : -1, includingToday: false) { year in
        CivilDate(year: year, month: month, day: named.day)
      }
    }
    guard var named = self.named(rest.removing(prefix: "this") ?? rest) else { return nil }
    named.weekday = weekday
    return self.resolve(named)
  }

  /// "january", "next january", "january twenty twenty": the first day.
  func monthAlone(_ words: Words) -> CivilDate? {
    var reader = WordReader(words)
    let isNext = reader.take("next")
    let isLast = !isNext && reader.take("last")
    if !isNext, !isLast { _ = reader.take("this") }
    guard let month = reader.take(from: Self.months) else { return nil }
    if reader.isAtEnd {
      // "last january", said in January, is that of last year.
      if isNext {
        return CivilDate(year: self.today.year + (month > self.today.month ? 0 : 1), month: month, day: 1)
      }
      if isLast {
        return CivilDate(year: self.today.year - (month < self.today.month ? 0 : 1), month: month, day: 1)
      }
      return self.resolve(Named(day: 1, month: month))
    }
    guard !isNext, !isLast else { return nil }
    return self.year(reader.rest).flatMap { CivilDate(year: $0, month: month, day: 1) }
  }

  /// "the fifth of next month", "the fifth of the month".
  private func dayOfMonth(_ words: Words) -> CivilDate? {
    guard let start = words.removing(suffix: "month") else { return nil }
    let shift: Int
    switch start.last {
    case "this", "the": shift = 0
    case "next": shift = 1
    case "last": shift = -1
    default: return nil
    }
    guard let day = start.dropLast().removing(suffix: "of").flatMap(self.day),
      let month = CivilDate(year: self.today.year, month: self.today.month, day: 1)?.adding(shift, .month)
    else { return nil }
    return CivilDate(year: month.year, month: month.month, day: day)
  }

  /// Month and day in either order with or without a year, a feast, or a day alone.
  private func named(_ words: Words) -> Named? {
    for count in stride(from: min(3, words.count), through: 1, by: -1) {
      guard let feast = Self.feasts[Array(words.prefix(count))] else { continue }
      return self.withYear(words.dropFirst(count), month: feast.month, day: feast.day)
    }
    if let first = words.first, let month = Self.months[first] {
      let rest = words.dropFirst().removing(prefix: "the") ?? words.dropFirst()
      // "twenty first nineteen ten": the shortest day that leaves a year, or nothing, behind it.
      for count in stride(from: 1, through: min(3, rest.count), by: 1) {
        guard let day = self.day(rest.prefix(count)) else { continue }
        if let named = self.withYear(rest.dropFirst(count), month: month, day: day) { return named }
      }
      return nil
    }
    if let index = words.firstIndex(where: { Self.months[$0] != nil }), let month = Self.months[words[index]]
    {
      let start = words[..<index]
      guard let day = self.day(start.removing(suffix: "of") ?? start) else { return nil }
      return self.withYear(words[(index + 1)...], month: month, day: day)
    }
    // A bare "five" is not a date; "the fifth" is.
    return EnglishNumbers.ordinal(words).flatMap { (1...31).contains($0) ? Named(day: Int($0)) : nil }
  }

  private func withYear(_ words: Words, month: Int, day: Int) -> Named? {
    if words.isEmpty { return Named(day: day, month: month) }
    return self.year(words).map { Named(day: day, month: month, year: $0) }
  }

  private func day(_ words: Words) -> Int? {
    let value =
      EnglishNumbers.ordinal(words) ?? EnglishNumbers.cardinal(words)
      ?? (words.count == 1 ? words.first.flatMap { EnglishWords.isDigits($0) ? UInt64($0) : nil } : nil)
    return value.flatMap { (1...31).contains($0) ? Int($0) : nil }
  }

  /// "twenty twenty", "two thousand and one", "nineteen oh five", "next year"; from 1000 to 2999.
  private func year(_ words: Words) -> Int? {
    let words = words.removing(prefix: "in") ?? words.removing(prefix: "of") ?? words
    switch Array(words) {
    case ["this", "year"]: return self.today.year
    case ["next", "year"]: return self.today.year + 1
    case ["last", "year"]: return self.today.year - 1
    default: break
    }
    // "january two thousand one" is not the second of January in the year 1001.
    guard let first = words.first, !["a", "hundred", "thousand"].contains(first) else { return nil }
    let value = EnglishNumbers.cardinal(words) ?? EnglishNumbers.digits(words).flatMap { UInt64($0) }
    return value.flatMap { (1000...2999).contains($0) ? Int($0) : nil }
  }

  private func resolve(_ named: Named) -> CivilDate? {
    func fits(_ date: CivilDate?) -> CivilDate? {
      guard let date, named.weekday == nil || named.weekday == date.weekday else { return nil }
      return date
    }
    guard let month = named.month else {
      let step = self.direction == .past ? -1 : 1
      for count in 0...(12 * Self.farthestYear) {
        let index = self.today.year * 12 + self.today.month - 1 + step * count
        let date = fits(CivilDate(year: index / 12, month: index % 12 + 1, day: named.day))
        if let date, step > 0 ? date >= self.today : date <= self.today { return date }
      }
      return nil
    }
    if let year = named.year { return fits(CivilDate(year: year, month: month, day: named.day)) }
    func inYear(_ year: Int) -> CivilDate? { fits(CivilDate(year: year, month: month, day: named.day)) }
    switch self.direction {
    case .currentYear:
      return inYear(self.today.year) ?? self.nearest(step: 1, includingToday: true, in: inYear)
    case .future:
      return self.nearest(step: 1, includingToday: true, in: inYear)
    case .past:
      return self.nearest(step: -1, includingToday: true, in: inYear)
    }
  }

  private func nearest(step: Int, includingToday: Bool, in date: (Int) -> CivilDate?) -> CivilDate? {
    for count in 0...Self.farthestYear {
      guard let found = date(self.today.year + step * count) else { continue }
      if step > 0 ? found > self.today : found < self.today { return found }
      if includingToday, found == self.today { return found }
    }
    return nil
  }

  /// Words of a date from 1000 to 2999, with its year, so that they mean the same at any time.
  static func spokenForm(of value: String) -> [String]? {
    guard let date = CivilDate(text: value), (1000...2999).contains(date.year),
      let month = self.months.first(where: { $0.value == date.month })?.key
    else { return nil }
    let year =
      date.year % 1000 < 10 ? EnglishNumbers.words(UInt64(date.year)) : EnglishNumbers.pairs(date.year)
    return [month] + EnglishNumbers.ordinalWords(date.day) + year
  }
}
