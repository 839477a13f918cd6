import Foundation
import SpeechUnderstanding
import Testing
import VoiceTesting

struct EnglishVariablesTests {
  /// The standard variables of the protocol document, section 4.3, with the type that reads them.
  private static let types: [(name: String, type: EntityType)] = [
    ("DATE", .date), ("DATE", .dateFuture), ("DATE", .datePast), ("TIME", .time), ("NUMBER", .number),
    ("CARDINAL_NUMBER", .number), ("SMALL_NUMBER", .number), ("SMALL_CARDINAL_NUMBER", .number),
    ("FOUR_DIGIT_NUMBER", .number), ("POSITIVE_NUMBER", .number), ("NEGATIVE_NUMBER", .number),
    ("SMALL_ORDINAL_NUMBER", .number), ("IDENTIFIER_SHORT", .identifier), ("IDENTIFIER_MEDIUM", .identifier),
    ("IDENTIFIER_LONG", .identifier), ("IDENTIFIER", .identifier), ("PHONE_NUMBER", .phoneNumber),
    ("PERSON_NAME", .personName), ("EMAIL_ADDRESS", .emailAddress), ("WEB_ADDRESS", .webAddress),
  ]

  private func values(of name: String, as type: EntityType, count: Int) throws -> [String] {
    let pack = EnglishPack()
    let expander = try VariableExpander(pack.standardVariables)
    var generator = SeededGenerator(seed: 17)
    return try (0..<count).compactMap { _ in
      let words = try expander.words(of: name, using: &generator)
      let value = pack.normalForm(of: words, as: type, in: .saturdayMorning)
      #expect(value != nil, "\(words.joined(separator: " "))")
      return value
    }
  }

  @Test func everyVariableOfTheProtocolIsThere() throws {
    let variables = EnglishPack().standardVariables
    for name in Self.types.map(\.name) + ["STREET_ADDRESS"] { #expect(variables[name] != nil, "\(name)") }
    // All others are helpers, and each of them is used.
    let used = variables.values.joined(separator: " ")
    for name in variables.keys where name.hasPrefix("EN_") {
      #expect(used.contains("$SPEECHLY.\(name)"), "\(name)")
    }
    #expect(variables.keys.allSatisfy { $0.wholeMatch(of: /[A-Z0-9_]+/) != nil })
    #expect(variables.values.allSatisfy { !$0.contains("\n") })
    let expander = try VariableExpander(variables)
    var generator = SeededGenerator(seed: 1)
    for name in variables.keys.sorted() {
      for _ in 0..<100 { #expect(try !expander.words(of: name, using: &generator).isEmpty) }
    }
  }

  @Test(arguments: types)
  func whatAVariableSaysCanBeRead(name: String, type: EntityType) throws {
    #expect(try self.values(of: name, as: type, count: 3000).count == 3000)
  }

  @Test func numbersKeepTheRangeOfTheirName() throws {
    func numbers(_ name: String) throws -> [Double] {
      try self.values(of: name, as: .number, count: 2000).compactMap { Double($0) }
    }
    #expect(try numbers("POSITIVE_NUMBER").allSatisfy { (1...999_999_999).contains($0) })
    #expect(try numbers("NEGATIVE_NUMBER").allSatisfy { $0 < 0 })
    #expect(try numbers("SMALL_NUMBER").allSatisfy { abs($0) < 200 })
    #expect(try Set(numbers("SMALL_ORDINAL_NUMBER")) == Set((1...31).map(Double.init)))
    #expect(try numbers("CARDINAL_NUMBER").allSatisfy { $0 == $0.rounded() })
    let digits = try self.values(of: "FOUR_DIGIT_NUMBER", as: .number, count: 2000)
    #expect(digits.allSatisfy { $0.wholeMatch(of: /[0-9]{4}/) != nil })
  }

  @Test(arguments: [
    ("IDENTIFIER_SHORT", 1...4), ("IDENTIFIER_MEDIUM", 5...8), ("IDENTIFIER_LONG", 9...12),
    ("IDENTIFIER", 1...12),
  ])
  func identifiersKeepTheirLength(name: String, lengths: ClosedRange<Int>) throws {
    let values = try self.values(of: name, as: .identifier, count: 2000)
    #expect(Set(values.map(\.count)) == Set(lengths))
  }

  @Test func configurationsCanUseEachOfThem() {
    let lines = Set(Self.types.map(\.name) + ["STREET_ADDRESS"]).sorted().map {
      "*say it is $SPEECHLY.\($0)(value)"
    }
    let (program, problems) = checked(lines.joined(separator: "\n"), pack: EnglishPack())
    #expect(problems == [])
    #expect(program?.templates.count == lines.count)
  }

  @Test func variablesStaySmall() {
    // Names make up half of it.
    let text = EnglishPack().standardVariables.values.joined()
    #expect(text.utf8.count < 20_000, "\(text.utf8.count)")
  }
}
