import Foundation
import SpeechUnderstanding
import Testing
import VoiceTesting

struct EnglishPackTests {
  private static let spokenTypes = EntityType.allCases.filter { $0 != .string && $0 != .lookup }

  @Test func saysNothingOfTypesThatAreNotOfALanguage() {
    let pack = EnglishPack()
    for type in [EntityType.string, .lookup] {
      #expect(pack.normalForm(of: ["one"], as: type, in: .saturdayMorning) == nil)
      #expect(pack.spokenForm(of: "1", as: type, in: .saturdayMorning) == nil)
    }
  }

  @Test(arguments: spokenTypes)
  func saysNothingOfValuesThatAreNotNormal(type: EntityType) {
    for value in [
      "", " ", "hello world?", "\u{1F600}", "-", "+", "1.", "--1", "-0", "24:00", "2021-02-29", "a@", "0-0-0",
    ] {
      guard let words = EnglishPack().spokenForm(of: value, as: type, in: .saturdayMorning) else { continue }
      #expect(EnglishPack().normalForm(of: words, as: type, in: .saturdayMorning) == value)
    }
  }

  @Test(arguments: spokenTypes)
  func readsNoEndlessValues(type: EntityType) {
    let pack = EnglishPack()
    for word in ["one", "a", "on", "and", "minus", "in", "hour", "after", "half", "at", "dot", "double"] {
      #expect(pack.normalForm(of: Array(repeating: word, count: 121), as: type, in: .saturdayMorning) == nil)
      _ = pack.normalForm(of: Array(repeating: word, count: 120), as: type, in: .saturdayMorning)
    }
    #expect(pack.spokenForm(of: String(repeating: "1", count: 121), as: type, in: .saturdayMorning) == nil)
  }

  @Test func keepsFillersApartFromValues() {
    // "oh" is a digit as well.
    for filler in EnglishPack().fillers.subtracting(["oh"]) {
      #expect(filler == filler.lowercased() && !filler.contains(" "))
      for type in Self.spokenTypes where type != .personName {
        #expect(EnglishPack().normalForm(of: [filler], as: type, in: .saturdayMorning) == nil, "\(filler)")
      }
    }
  }

  @Test(arguments: spokenTypes)
  func readsBackWhatItSays(type: EntityType) {
    var generator = SeededGenerator(seed: 11)
    let pack = EnglishPack()
    for _ in 0..<2000 {
      let value = RandomValue.of(type, using: &generator)
      let words = pack.spokenForm(of: value, as: type, in: .saturdayMorning)
      #expect(words != nil, "\(value)")
      guard let words else { continue }
      #expect(pack.normalForm(of: words, as: type, in: .saturdayMorning) == value, "\(words)")
      #expect(words.allSatisfy { $0 == $0.lowercased() && !$0.isEmpty }, "\(words)")
    }
  }

  /// 120,000 values made of the words that the pack knows: none may trap, and each normal form is well-formed.
  @Test(arguments: spokenTypes)
  func readsWordSaladWithoutTrapping(type: EntityType) {
    var generator = SeededGenerator(seed: 13)
    let pack = EnglishPack()
    for _ in 0..<12_000 {
      let count = Int.random(in: 1...8, using: &generator)
      let words = (0..<count).compactMap { _ in Self.vocabulary.randomElement(using: &generator) }
      guard let value = pack.normalForm(of: words, as: type, in: .saturdayMorning) else { continue }
      #expect(Self.isWellFormed(value, as: type), "\(words) → \(value)")
    }
  }

  private static func isWellFormed(_ value: String, as type: EntityType) -> Bool {
    switch type {
    case .number: value.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?/) != nil
    case .date, .dateFuture, .datePast: value.wholeMatch(of: /[0-9]{4}-[01][0-9]-[0-3][0-9]/) != nil
    case .time: value.wholeMatch(of: /[0-2][0-9]:[0-5][0-9]/) != nil
    case .identifier, .webAddress: value.wholeMatch(of: /[!-~]+/) != nil
    case .phoneNumber: value.wholeMatch(of: /\+?[0-9 ]+/) != nil
    case .personName: value.first?.isUppercase == true
    case .emailAddress: value.wholeMatch(of: /[a-z0-9._+-]+@[a-z0-9.-]+/) != nil
    case .string, .lookup: false
    }
  }

  private static let vocabulary = """
    zero oh one two three five nine ten twelve nineteen twenty thirty ninety hundred thousand million quintillion point dot
    and a an the half quarter quarters third fifth twentieth hundredth dozen minus plus double triple first second
    thirty-first today tomorrow yesterday monday friday week weeks day days month year years next last this coming in on at
    of from after before ago now january february may december christmas eve end beginning past to noon midnight o'clock
    am p.m. p m morning night evening minutes hour hours b x o u as for capital upper case slash dash underscore colon
    alpha x-ray john o'brien mcdonald space apostrophe hyphen company com w http https question mark sign 5 17.5 3:30
    2020 21st 2021-01-05 +44 a@b.com 1,000 99999999999999999999 - ' \u{E9} \u{1F600} \u{0}
    """.split(whereSeparator: \.isWhitespace).map(String.init)
}
