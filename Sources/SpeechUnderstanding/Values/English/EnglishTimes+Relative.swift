import Foundation

/// Times as seen from the present.
extension EnglishTimes {
  /// Seconds from now: "in ten minutes", "an hour and a half ago", "now".
  func offset(_ words: Words) -> Int? {
    if Array(words) == ["now"] || Array(words) == ["right", "now"] { return 0 }
    if let rest = words.removing(prefix: "in") { return Self.seconds(rest) }
    if let rest = words.removing(suffix: "from", "now") { return Self.seconds(rest) }
    if let rest = words.removing(suffix: "ago") { return Self.seconds(rest).map { -$0 } }
    return nil
  }

  /// What clocks show after so many seconds; seconds are cut off, as people do.
  func clockTime(after seconds: Int) -> String? {
    let now = self.context.now.timeIntervalSinceReferenceDate
    // Calendars are not made for dates at the ends of time.
    guard abs(now) < 300_000_000_000 else { return nil }
    var calendar = Calendar(identifier: .gregorian)
    calendar.locale = Locale(identifier: "en_US_POSIX")
    calendar.timeZone = self.context.timeZone
    let moment = Date(timeIntervalSinceReferenceDate: now + Double(seconds))
    let parts = calendar.dateComponents([.hour, .minute], from: moment)
    guard let hour = parts.hour, let minute = parts.minute else { return nil }
    return CivilDate.twoDigits(hour) + ":" + CivilDate.twoDigits(minute)
  }

  private static let units = [
    "second": 1, "seconds": 1, "minute": 60, "minutes": 60, "hour": 3600, "hours": 3600,
  ]

  /// "ten minutes", "half an hour", "an hour and a half", "two and a half hours", "two hours and ten minutes".
  private static func seconds(_ words: Words) -> Int? {
    guard let index = words.firstIndex(where: { self.units[$0] != nil }), let unit = self.units[words[index]],
      let first = self.amount(of: unit, words[..<index])
    else { return nil }
    let rest = words[(index + 1)...]
    guard !rest.isEmpty else { return first }
    let addition = rest.removing(prefix: "and") ?? rest
    switch Array(addition) {
    case ["a", "half"], ["half"]: return unit > 1 ? first + unit / 2 : nil
    case ["a", "quarter"]: return unit > 1 ? first + unit / 4 : nil
    default: return self.seconds(addition).map { first + $0 }
    }
  }

  private static func amount(of unit: Int, _ words: Words) -> Int? {
    let (quarters, rest): (Int, Words) =
      switch Array(words) {
      case ["half", "an"], ["half", "a"], ["a", "half"]: (2, [])
      case ["quarter", "of", "an"], ["a", "quarter", "of", "an"], ["a", "quarter"], ["quarter"]: (1, [])
      case ["three", "quarters", "of", "an"]: (3, [])
      default: words.removing(suffix: "and", "a", "half").map { (2, $0) } ?? (0, words)
      }
    guard quarters == 0 || unit > 1 else { return nil }
    switch Array(rest) {
    case []: return quarters > 0 ? unit * quarters / 4 : nil
    case ["a"], ["an"]: return unit + unit * quarters / 4
    case ["a", "couple", "of"]: return 2 * unit
    default:
      let digits = rest.count == 1 ? rest.first.flatMap { EnglishWords.isDigits($0) ? UInt64($0) : nil } : nil
      guard let number = EnglishNumbers.cardinal(rest) ?? digits, number < 1_000_000 else { return nil }
      return Int(number) * unit + unit * quarters / 4
    }
  }
}
