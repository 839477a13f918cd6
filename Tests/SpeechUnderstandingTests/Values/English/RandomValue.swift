import SpeechUnderstanding
import VoiceTesting

/// Random values in normal form.
enum RandomValue {
  static func of(_ type: EntityType, using generator: inout SeededGenerator) -> String {
    switch type {
    case .number: self.number(&generator)
    case .date, .dateFuture, .datePast: self.date(&generator)
    case .time: self.twoDigits(0...23, &generator) + ":" + self.twoDigits(0...59, &generator)
    case .identifier: self.text("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789-._/#,:+*@\\", 1...20, &generator)
    case .phoneNumber: self.phoneNumber(&generator)
    case .personName: self.name(&generator)
    case .emailAddress: self.label(&generator) + "@" + self.domain(&generator)
    case .webAddress: self.webAddress(&generator)
    case .string, .lookup: ""
    }
  }

  private static func text(
    _ alphabet: String, _ count: ClosedRange<Int>, _ generator: inout SeededGenerator
  ) -> String {
    String(
      (0..<Int.random(in: count, using: &generator)).compactMap { _ in
        alphabet.randomElement(using: &generator)
      })
  }

  private static func twoDigits(_ range: ClosedRange<Int>, _ generator: inout SeededGenerator) -> String {
    let number = Int.random(in: range, using: &generator)
    return number < 10 ? "0\(number)" : "\(number)"
  }

  private static func number(_ generator: inout SeededGenerator) -> String {
    let sign = Int.random(in: 0...3, using: &generator) == 0 ? "-" : ""
    let decimals = Bool.random(using: &generator) ? "" : "." + self.text("0123456789", 1...8, &generator)
    // Never zero, which has no sign.
    return sign + self.text("0123456789", 0...30, &generator) + self.text("123456789", 1...1, &generator)
      + decimals
  }

  private static func date(_ generator: inout SeededGenerator) -> String {
    "\(Int.random(in: 1000...2999, using: &generator))-" + self.twoDigits(1...12, &generator) + "-"
      + self.twoDigits(1...28, &generator)
  }

  private static func phoneNumber(_ generator: inout SeededGenerator) -> String {
    let digits = (0..<10).map { _ in Int.random(in: 0...9, using: &generator) }.map(String.init).joined()
    switch Int.random(in: 0...2, using: &generator) {
    case 0: return self.text("0123456789", 3...15, &generator)
    case 1: return "+358" + self.text("0123456789", 3...12, &generator)
    default: return "+44 " + digits.prefix(3) + " " + digits.dropFirst(3).prefix(3) + " " + digits.suffix(4)
    }
  }

  private static func name(_ generator: inout SeededGenerator) -> String {
    let names = [
      "John", "Amelia", "O'Brien", "McDonald", "Anne-Marie", "Smith", "M", "A", "J", "Ren\u{e9}e", "Charlie",
    ]
    return (0..<Int.random(in: 1...4, using: &generator)).compactMap { _ in
      names.randomElement(using: &generator)
    }
    .joined(separator: " ")
  }

  private static let words = [
    "john", "at", "dot", "one", "double", "u", "w", "for", "x", "company", "7", "42", "as", "oh", "slash",
  ]

  private static func label(_ generator: inout SeededGenerator) -> String {
    (0..<Int.random(in: 1...3, using: &generator)).compactMap { _ in
      self.words.randomElement(using: &generator)
    }
    .joined(separator: ["", "-", ""].randomElement(using: &generator) ?? "")
  }

  private static func domain(_ generator: inout SeededGenerator) -> String {
    self.label(&generator) + (["", ".co"].randomElement(using: &generator) ?? "")
      + ([".com", ".at", ".uk", ".one", ".dot"].randomElement(using: &generator) ?? ".org")
  }

  private static func webAddress(_ generator: inout SeededGenerator) -> String {
    let scheme = ["", "https://", "http://"].randomElement(using: &generator) ?? ""
    let port = Bool.random(using: &generator) ? "" : ":\(Int.random(in: 0...65535, using: &generator))"
    let path =
      Bool.random(using: &generator) ? "" : "/" + self.text("abcou019-_./=&#~%?@+:", 0...20, &generator)
    return scheme + self.domain(&generator) + port + path
  }
}
