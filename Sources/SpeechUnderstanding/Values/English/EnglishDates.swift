import Foundation

/// Dates in words.
///
/// Decisions where people differ:
/// - "friday" and "coming friday" are the first after today; for a date in the past, the last before today.
/// - "this friday" may be today. "next friday" is the one of next week, and weeks start on Monday. "last friday" is the
///   last before today.
/// - Words that say the direction ("yesterday", "next friday") win over the direction of the entity's type.
/// - A period stands for its first day: "next week" is a Monday, "next month" and "january" are the first of a month.
/// - Without a year, `date` takes the current one, `date_future` and `date_past` the nearest, today included. In
///   `date`, February 29 and a date with a weekday take the next year that has them if the current one has not.
/// - Without a month, `date` takes the nearest day in the future.
/// - A date whose year and weekday contradict each other is no date.
struct EnglishDates {
  /// Where dates are looked for that the words leave open.
  enum Direction {
    case currentYear
    case future
    case past
  }

  /// How many years to look for a day: February 29 falls on the same weekday after 40 years at the latest.
  static let farthestYear = 40

  let today: CivilDate
  let direction: Direction

  /// `nil` if the present time is outside the years 1 to 9999.
  init?(_ context: ValueContext, direction: Direction) {
    guard let today = CivilDate(context.now, in: context.timeZone) else { return nil }
    self.today = today
    self.direction = direction
  }

  /// Reads a date.
  func normalForm(of words: Words) -> String? {
    self.date(words)?.text
  }

  /// Each step of the recursion reads fewer words.
  func date(_ words: Words) -> CivilDate? {
    if let rest = words.removing(prefix: "on") { return self.date(rest) }
    if words.count == 1, let first = words.first, let date = CivilDate(text: first) { return date }
    return self.nearDay(words) ?? self.offset(words) ?? self.period(words) ?? self.weekday(words)
      ?? self.calendarDate(words)
  }

  private func nearDay(_ words: Words) -> CivilDate? {
    let days: Int? =
      switch Array(words.removing(prefix: "the") ?? words) {
      case ["today"], ["tonight"], ["now"]: 0
      case ["tomorrow"]: 1
      case ["day", "after", "tomorrow"]: 2
      case ["yesterday"]: -1
      case ["day", "before", "yesterday"]: -2
      default: nil
      }
    return days.flatMap { self.today.adding($0, .day) }
  }

  /// "in three days", "two weeks ago", "a week from monday", "the day after christmas", "monday week".
  private func offset(_ words: Words) -> CivilDate? {
    if let rest = words.removing(prefix: "in") { return self.counted(rest, from: self.today, by: 1) }
    if let rest = words.removing(suffix: "ago") { return self.counted(rest, from: self.today, by: -1) }
    if let rest = words.removing(suffix: "from", "now") { return self.counted(rest, from: self.today, by: 1) }
    if let rest = words.removing(suffix: "week"), let date = self.nearDay(rest) ?? self.plainWeekday(rest) {
      return date.adding(7, .day)
    }
    guard let index = words.firstIndex(where: { ["after", "before", "from", "on"].contains($0) }),
      let date = self.date(words[(index + 1)...])
    else { return nil }
    let span = words[..<index]
    let sign = words[index] == "before" ? -1 : 1
    if words[index] == "on" { return Array(span) == ["a", "week"] ? date.adding(7, .day) : nil }
    return self.counted(span, from: date, by: sign)
  }

  private static let units: [String: (Int, Calendar.Component)] = [
    "day": (1, .day), "days": (1, .day), "week": (7, .day), "weeks": (7, .day), "fortnight": (14, .day),
    "fortnights": (14, .day), "month": (1, .month), "months": (1, .month), "year": (1, .year),
    "years": (1, .year),
  ]

  private func counted(_ words: Words, from date: CivilDate, by sign: Int) -> CivilDate? {
    guard let name = words.last, let (size, unit) = Self.units[name] else { return nil }
    let count = words.dropLast()
    let number: Int
    switch Array(count) {
    case ["a"], ["the"]: number = 1
    case ["a", "couple", "of"], ["a", "couple"]: number = 2
    default:
      guard let value = EnglishNumbers.cardinal(count), value <= 99_999 else { return nil }
      number = Int(value)
    }
    return date.adding(sign * number * size, unit)
  }

  private static let shifts = ["this": 0, "next": 1, "last": -1]

  /// "next week", "this month", "end of next month", "beginning of january".
  private func period(_ words: Words) -> CivilDate? {
    var reader = WordReader(words)
    _ = reader.take("the")
    if reader.take(oneOf: ["end", "beginning", "start"]) {
      let isEnd = words.contains("end")
      guard reader.take("of") else { return nil }
      if let shift = self.shiftOfPeriod(&reader), let unit = reader.takeNext(), reader.isAtEnd {
        return isEnd ? self.end(of: unit, shift) : self.start(of: unit, shift)
      }
      guard let start = self.monthAlone(reader.rest) else { return nil }
      return isEnd ? start.endOfMonth : start
    }
    guard let shift = reader.take(from: Self.shifts), let unit = reader.takeNext(), reader.isAtEnd else {
      return nil
    }
    return self.start(of: unit, shift)
  }

  private func shiftOfPeriod(_ reader: inout WordReader) -> Int? {
    reader.take("the") ? 0 : reader.take(from: Self.shifts)
  }

  private func start(of unit: String, _ shift: Int) -> CivilDate? {
    switch unit {
    case "week": self.day(1, ofWeek: shift)
    case "weekend": self.day(6, ofWeek: shift)
    case "month": CivilDate(year: self.today.year, month: self.today.month, day: 1)?.adding(shift, .month)
    case "year": CivilDate(year: self.today.year + shift, month: 1, day: 1)
    default: nil
    }
  }

  private func end(of unit: String, _ shift: Int) -> CivilDate? {
    switch unit {
    case "week", "weekend": self.day(7, ofWeek: shift)
    case "month": self.start(of: unit, shift)?.endOfMonth
    case "year": CivilDate(year: self.today.year + shift, month: 12, day: 31)
    default: nil
    }
  }

  /// A day from Monday, 1, to Sunday, 7, of a week as seen from this one.
  func day(_ weekday: Int, ofWeek shift: Int) -> CivilDate? {
    self.today.adding(weekday - self.today.weekday + 7 * shift, .day)
  }

  static let weekdays = [
    "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6, "sunday": 7,
  ]

  private func plainWeekday(_ words: Words) -> CivilDate? {
    guard words.count == 1, let first = words.first, let weekday = Self.weekdays[first] else { return nil }
    return self.direction == .past ? self.before(weekday) : self.after(weekday)
  }

  private func after(_ weekday: Int) -> CivilDate? {
    self.today.adding((weekday - self.today.weekday + 6) % 7 + 1, .day)
  }

  private func before(_ weekday: Int) -> CivilDate? {
    self.today.adding(-((self.today.weekday - weekday + 6) % 7 + 1), .day)
  }

  /// "friday", "next friday", "friday next week", "next week friday", "the friday after next".
  private func weekday(_ words: Words) -> CivilDate? {
    if let date = self.plainWeekday(words) { return date }
    var reader = WordReader(words)
    _ = reader.take("the")
    if reader.take("coming") || reader.take("following") {
      guard let weekday = reader.take(from: Self.weekdays), reader.isAtEnd else { return nil }
      return self.after(weekday)
    }
    if let shift = reader.take(from: Self.shifts) ?? (reader.take("past") ? -1 : nil) {
      if reader.take("week") {
        _ = reader.take("on")
        return reader.take(from: Self.weekdays).flatMap { reader.isAtEnd ? self.day($0, ofWeek: shift) : nil }
      }
      guard let weekday = reader.take(from: Self.weekdays), reader.isAtEnd else { return nil }
      switch shift {
      case 1: return self.day(weekday, ofWeek: 1)
      case -1: return self.before(weekday)
      default:
        if weekday == self.today.weekday { return self.today }
        return self.direction == .past ? self.before(weekday) : self.after(weekday)
      }
    }
    guard let weekday = reader.take(from: Self.weekdays) else { return nil }
    if reader.take("after", "next") { return reader.isAtEnd ? self.day(weekday, ofWeek: 2) : nil }
    _ = reader.take("in")
    guard let shift = self.shiftOfPeriod(&reader), reader.take("week"), reader.isAtEnd else { return nil }
    return self.day(weekday, ofWeek: shift)
  }
}
