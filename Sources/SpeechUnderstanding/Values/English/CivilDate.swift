import Foundation

/// A day of the calendar, without a time or a time zone.
struct CivilDate: Hashable, Comparable {
  /// From 1 to 9999.
  let year: Int
  let month: Int
  let day: Int

  /// `nil` if there is no such day.
  init?(year: Int, month: Int, day: Int) {
    guard (1...9999).contains(year), let days = Self.days(in: month, of: year), (1...days).contains(day)
    else {
      return nil
    }
    self.year = year
    self.month = month
    self.day = day
  }

  /// The day on which a moment lies; `nil` outside the years 1 to 9999.
  init?(_ moment: Date, in timeZone: TimeZone) {
    // Calendars are not made for dates at the ends of time.
    guard abs(moment.timeIntervalSinceReferenceDate) < 300_000_000_000 else { return nil }
    let parts = Self.calendar(in: timeZone).dateComponents([.era, .year, .month, .day], from: moment)
    guard parts.era == 1, let year = parts.year, let month = parts.month, let day = parts.day else {
      return nil
    }
    self.init(year: year, month: month, day: day)
  }

  /// `YYYY-MM-DD`.
  var text: String {
    String(String(10_000 + self.year).dropFirst()) + "-" + Self.twoDigits(self.month) + "-"
      + Self.twoDigits(self.day)
  }

  /// Reads `YYYY-MM-DD`.
  init?(text: some StringProtocol) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2], parts.allSatisfy({ EnglishWords.isDigits($0) }),
      let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2])
    else { return nil }
    self.init(year: year, month: month, day: day)
  }

  /// From Monday, 1, to Sunday, 7.
  var weekday: Int {
    // The calendar counts from Sunday, 1.
    (Self.universal.component(.weekday, from: self.moment) + 5) % 7 + 1
  }

  /// Counts on; a month or year without such a day gives its last one.
  func adding(_ count: Int, _ unit: Calendar.Component) -> CivilDate? {
    guard abs(count) < 4_000_000,
      let moment = Self.universal.date(byAdding: unit, value: count, to: self.moment)
    else {
      return nil
    }
    return CivilDate(moment, in: .gmt)
  }

  /// The last day of the month.
  var endOfMonth: CivilDate? {
    Self.days(in: self.month, of: self.year).flatMap {
      CivilDate(year: self.year, month: self.month, day: $0)
    }
  }

  static func < (left: CivilDate, right: CivilDate) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }

  /// How many days a month has.
  static func days(in month: Int, of year: Int) -> Int? {
    switch month {
    case 1, 3, 5, 7, 8, 10, 12: 31
    case 4, 6, 9, 11: 30
    case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    default: nil
    }
  }

  static func twoDigits(_ number: Int) -> String {
    number < 10 ? "0\(number)" : String(number)
  }

  /// Days are counted at noon in a zone without daylight saving, so that no change of clocks moves a date.
  private var moment: Date {
    let parts = DateComponents(year: self.year, month: self.month, day: self.day, hour: 12)
    return Self.universal.date(from: parts) ?? .distantPast
  }

  private static let universal = Self.calendar(in: .gmt)

  private static func calendar(in timeZone: TimeZone) -> Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.locale = Locale(identifier: "en_US_POSIX")
    calendar.timeZone = timeZone
    return calendar
  }
}
