import Foundation
import SpeechUnderstanding
import Testing

/// A spoken value and what it means; `nil` if it means nothing.
struct Spoken: CustomTestStringConvertible, Sendable {
  let words: String
  let value: String?

  init(_ words: String, _ value: String?) {
    self.words = words
    self.value = value
  }

  var testDescription: String { "\(self.words) → \(self.value ?? "nothing")" }

  func expect(
    as type: EntityType, in context: ValueContext = .saturdayMorning,
    at location: SourceLocation = #_sourceLocation
  ) {
    #expect(
      EnglishPack().normalForm(of: self.words, as: type, in: context) == self.value, sourceLocation: location)
  }
}

extension EnglishPack {
  func normalForm(of text: String, as type: EntityType, in context: ValueContext = .saturdayMorning)
    -> String?
  {
    self.normalForm(of: text.split(separator: " ").map(String.init), as: type, in: context)
  }
}

extension ValueContext {
  /// Saturday, 2021-05-15, 10:20:30 in New York; there is daylight saving.
  static let saturdayMorning = ValueContext(moment: "2021-05-15T10:20:30-04:00", zone: "America/New_York")

  init(moment: String, zone: String) {
    let now = try? Date(moment, strategy: .iso8601)
    self.init(now: now ?? .distantPast, timeZone: TimeZone(identifier: zone) ?? .gmt)
  }
}
