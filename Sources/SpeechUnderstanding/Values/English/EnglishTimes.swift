import Foundation

/// Times of the day in words.
///
/// Decisions where people differ:
/// - Without "am", "pm" or a part of the day, the hour is taken as it was said: "three thirty" is 03:30.
/// - The part of the day belongs to the result: "quarter to one pm" is 12:45, "ten to twelve at night" is 23:50.
/// - "half eleven" is 11:30, as in British English.
/// - "twelve" in the morning, in the evening and at night is midnight, in the afternoon noon; at night the hours from
///   one to four are early ones.
struct EnglishTimes {
  let context: ValueContext

  init(_ context: ValueContext) {
    self.context = context
  }

  /// Reads a time.
  func normalForm(of words: Words) -> String? {
    if let seconds = self.offset(words) { return self.clockTime(after: seconds) }
    let words = words.removing(prefix: "at") ?? words
    guard let (rest, part) = Self.splittingPartOfDay(words), let time = Self.time(rest) else { return nil }
    guard let hour = part.map({ $0.hour(from: time.hour) }) ?? time.hour else { return nil }
    return CivilDate.twoDigits(hour) + ":" + CivilDate.twoDigits(time.minute)
  }

  private struct ClockTime {
    var hour: Int
    var minute: Int

    init?(_ hour: Int, _ minute: Int) {
      guard (0...23).contains(hour), (0...59).contains(minute) else { return nil }
      self.hour = hour
      self.minute = minute
    }
  }

  private enum PartOfDay {
    case morning
    case afternoon
    case evening
    case night

    /// The hour of 24, or `nil` if the part of the day does not have this hour.
    func hour(from hour: Int) -> Int? {
      switch self {
      case .morning:
        return hour == 12 ? 0 : hour < 12 ? hour : nil
      case .afternoon:
        return hour == 0 ? nil : hour < 12 ? hour + 12 : hour
      case .evening:
        return hour == 0 ? nil : hour == 12 ? 0 : hour < 12 ? hour + 12 : hour
      case .night:
        return hour == 12 ? 0 : (5...11).contains(hour) ? hour + 12 : hour
      }
    }
  }

  private static let partsOfDay: [([String], PartOfDay)] = [
    (["am"], .morning), (["a", "m"], .morning), (["pm"], .afternoon), (["p", "m"], .afternoon),
    (["in", "the", "morning"], .morning), (["in", "the", "afternoon"], .afternoon),
    (["in", "the", "evening"], .evening), (["at", "night"], .night), (["tonight"], .night),
    (["this", "morning"], .morning), (["this", "afternoon"], .afternoon), (["this", "evening"], .evening),
  ]

  private static func splittingPartOfDay(_ words: Words) -> (Words, PartOfDay?)? {
    for (phrase, part) in self.partsOfDay where words.suffix(phrase.count).elementsEqual(phrase) {
      return (words.dropLast(phrase.count), part)
    }
    // Typed: "3:30pm".
    if words.count == 1, let word = words.first, word.first?.isNumber == true {
      if word.hasSuffix("am") { return ([String(word.dropLast(2))], .morning) }
      if word.hasSuffix("pm") { return ([String(word.dropLast(2))], .afternoon) }
    }
    return (words, nil)
  }

  private static func time(_ words: Words) -> ClockTime? {
    switch Array(words) {
    case ["noon"], ["midday"], ["twelve", "noon"]: return ClockTime(12, 0)
    case ["midnight"], ["twelve", "midnight"]: return ClockTime(0, 0)
    default: break
    }
    if let start = words.removing(suffix: "o'clock") ?? words.removing(suffix: "oclock")
      ?? words.removing(suffix: "o", "clock")
    {
      return self.dialHour(start).flatMap { ClockTime($0, 0) }
    }
    if let time = self.pastOrTo(words) { return time }
    if words.count == 1, let word = words.first, word.contains(":") { return self.written(word) }
    return self.hourAndMinute(words)
  }

  /// "half past eleven", "ten minutes to five", "quarter of six".
  private static func pastOrTo(_ words: Words) -> ClockTime? {
    if words.count == 2, let hour = words.removing(prefix: "half").flatMap(self.dialHour) {
      return ClockTime(hour, 30)
    }
    guard let index = words.firstIndex(where: { self.directions[$0] != nil }),
      let direction = self.directions[words[index]]
    else { return nil }
    let count = words[..<index]
    let minutes: Int
    switch Array(count) {
    case ["half"] where direction > 0: minutes = 30
    case ["quarter"], ["a", "quarter"]: minutes = 15
    default:
      let number = count.removing(suffix: "minutes") ?? count.removing(suffix: "minute") ?? count
      guard let value = EnglishNumbers.cardinal(number), (1...59).contains(value) else { return nil }
      minutes = Int(value)
    }
    let target = words[(index + 1)...]
    let hour: Int
    switch Array(target) {
    case ["noon"], ["midday"]: hour = 12
    case ["midnight"]: hour = direction > 0 ? 0 : 24
    default:
      guard let spoken = self.dialHour(target), spoken > 0 else { return nil }
      hour = spoken
    }
    if direction > 0 { return ClockTime(hour, minutes) }
    return ClockTime(hour == 1 ? 12 : hour - 1, 60 - minutes)
  }

  private static let directions = [
    "past": 1, "after": 1, "to": -1, "till": -1, "til": -1, "until": -1, "before": -1, "of": -1,
  ]

  /// "three", "three thirty", "fifteen twenty five", "nine oh five", "oh nine hundred hours", "one five three zero".
  private static func hourAndMinute(_ words: Words) -> ClockTime? {
    let words = words.count > 1 ? words.removing(suffix: "hours") ?? words : words
    if let start = words.removing(suffix: "hundred") { return self.hour(start).flatMap { ClockTime($0, 0) } }
    for count in stride(from: 1, through: min(2, words.count), by: 1) {
      guard let hour = self.hour(words.prefix(count)) else { continue }
      let rest = words.dropFirst(count)
      // Hours with a zero in front are said with minutes.
      if rest.isEmpty { return hour > 0 && !self.isZero(words.first) ? ClockTime(hour, 0) : nil }
      if let minute = self.minute(rest) { return ClockTime(hour, minute) }
    }
    var reader = WordReader(words)
    var digits: [Int] = []
    while let digit = EnglishNumbers.digit(&reader, letterO: true).flatMap({ Int($0) }) {
      digits.append(digit)
    }
    guard reader.isAtEnd, digits.count == 4 else { return nil }
    return ClockTime(digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
  }

  private static func isZero(_ word: String?) -> Bool {
    word == "zero" || word == "oh" || word == "o"
  }

  /// 0 to 23: "three", "twenty three", "oh nine", "zero".
  private static func hour(_ words: Words) -> Int? {
    if words.count == 2, self.isZero(words.first),
      let digit = words.last.flatMap({ EnglishNumbers.units[$0] })
    {
      return digit
    }
    return self.dialHour(words)
  }

  /// 0 to 23, without a zero in front.
  private static func dialHour(_ words: Words) -> Int? {
    if words.count == 1, let word = words.first, EnglishWords.isDigits(word) {
      return Int(word).flatMap { (0...23).contains($0) ? $0 : nil }
    }
    return EnglishNumbers.cardinal(words).flatMap { (0...23).contains($0) ? Int($0) : nil }
  }

  /// Two digits: "thirty", "oh five", "zero zero", "double oh".
  private static func minute(_ words: Words) -> Int? {
    guard let digits = EnglishNumbers.digits(words, letterO: true), digits.utf8.count == 2 else { return nil }
    // "three five six" has no minutes.
    let isPair = words.count == 1 || self.isZero(words.first) || EnglishNumbers.cardinal(words) != nil
    return isPair || words.first == "double" ? Int(digits) : nil
  }

  private static func written(_ text: String) -> ClockTime? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
      parts.allSatisfy({ EnglishWords.isDigits($0) }), let hour = Int(parts[0]), let minute = Int(parts[1])
    else { return nil }
    return ClockTime(hour, minute)
  }

  /// Words of a time.
  static func spokenForm(of value: String) -> [String]? {
    guard value.utf8.count == 5, let time = self.written(value) else { return nil }
    if time.minute == 0, time.hour % 12 == 0 { return [time.hour == 0 ? "midnight" : "noon"] }
    let hour = EnglishNumbers.belowHundred((time.hour + 11) % 12 + 1)
    let minute = (1...9).contains(time.minute) ? ["oh"] : []
    return hour + minute + EnglishNumbers.belowHundred(time.minute) + [time.hour < 12 ? "am" : "pm"]
  }
}
