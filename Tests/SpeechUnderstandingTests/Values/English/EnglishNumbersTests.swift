import SpeechUnderstanding
import Testing
import VoiceTesting

struct EnglishNumbersTests {
  @Test(arguments: [
    "", "hello", "five hello", "and", "hundred and", "five and", "oh", "a", "the", "point", "five point",
    "five point six point seven", "minus", "minus minus five", "five minus", "thousand thousand",
    "five thousand million",
    "zero thousand", "one hundred hundred", "fifty percent", "minus fifth", "two third", "five point hundred",
    "twenty eleven hundred thousand thousand", "dozen dozen", "1,00", "1.2.3",
    "five and three quarters and a half",
    "nine hundred quintillion", "1e5", "0x10", "double", "double fifteen", "two and five quarters", "٣",
  ])
  func rejectsWhatIsNoNumber(words: String) {
    Spoken(words, nil).expect(as: .number)
  }

  @Test(arguments: [
    // The examples of the protocol document and of the documentation of standard variables.
    Spoken("five six four nine", "5649"), Spoken("seventeen point five", "17.5"),
    Spoken("three hundred thousand", "300000"), Spoken("three quarters", "0.75"),
    Spoken("minus zero point zero five", "-0.05"), Spoken("zero zero three five", "0035"),
    Spoken("five million five hundred twenty-eight thousand eight point twelve", "5528008.12"),
    Spoken("eleven hundred eleven", "1111"), Spoken("eleven hundred point sixteen", "1100.16"),
    Spoken("negative twenty-four", "-24"), Spoken("thirty-first", "31"), Spoken("nineteen", "19"),
    // Cardinals.
    Spoken("zero", "0"), Spoken("a hundred and five", "105"), Spoken("hundred", "100"),
    Spoken("a thousand", "1000"),
    Spoken("hundred thousand", "100000"), Spoken("two thousand and one", "2001"),
    Spoken("one hundred one", "101"),
    Spoken("nineteen hundred", "1900"), Spoken("twenty five hundred", "2500"),
    Spoken("one million two hundred and three thousand four hundred and fifty six", "1203456"),
    Spoken("nine hundred ninety nine quadrillion", "999000000000000000"),
    Spoken("nine quintillion", "9000000000000000000"),
    // Digits and pairs.
    Spoken("twenty twenty", "2020"), Spoken("nineteen eighty four", "1984"),
    Spoken("nineteen oh five", "1905"),
    Spoken("double seven", "77"), Spoken("triple oh seven", "0007"), Spoken("one oh one", "101"),
    Spoken("one twenty", "120"), Spoken("twenty one", "21"),
    Spoken(Array(repeating: "nine", count: 60).joined(separator: " "), String(repeating: "9", count: 60)),
    // Decimals and fractions.
    Spoken("point five", "0.5"), Spoken("two point five zero", "2.50"), Spoken("one two point five", "12.5"),
    Spoken("one point five million", "1500000"), Spoken("zero point zero five thousand", "50"),
    Spoken("one point two three four thousand", "1234"),
    Spoken("two point seven one eight two thousand", "2718.2"),
    Spoken("two and a half", "2.5"), Spoken("half", "0.5"), Spoken("a half", "0.5"),
    Spoken("a quarter", "0.25"),
    Spoken("two and three quarters", "2.75"), Spoken("two hundred and three quarters", "200.75"),
    Spoken("two and a half million", "2500000"), Spoken("half a million", "500000"),
    Spoken("a quarter of a million", "250000"), Spoken("one third", "0.333333"),
    Spoken("two thirds", "0.666667"),
    Spoken("a fifth", "0.2"), Spoken("seven halves", "3.5"), Spoken("five hundredths", "0.05"),
    Spoken("a dozen", "12"), Spoken("two dozen", "24"), Spoken("half a dozen", "6"),
    // Signs.
    Spoken("minus five", "-5"), Spoken("plus five", "5"), Spoken("minus a half", "-0.5"),
    Spoken("minus zero", "0"),
    // Ordinals.
    Spoken("first", "1"), Spoken("the second", "2"), Spoken("fifth", "5"), Spoken("twenty fifth", "25"),
    Spoken("two hundred and fifth", "205"), Spoken("hundredth", "100"), Spoken("21st", "21"),
    // Typed.
    Spoken("5649", "5649"), Spoken("17.5", "17.5"), Spoken("1,000,000", "1000000"),
    Spoken("3 million", "3000000"),
    Spoken("Twenty-One", "21"), Spoken("five.", "5"),
  ])
  func readsNumbers(spoken: Spoken) {
    spoken.expect(as: .number)
  }

  @Test func saysNumbersInTheWaysThatPeopleUse() {
    let pack = EnglishPack()
    #expect(pack.spokenForms(of: 0) == [["zero"]])
    #expect(pack.spokenForms(of: 21) == [["twenty", "one"]])
    #expect(
      pack.spokenForms(of: 101) == [
        ["one", "hundred", "one"], ["one", "hundred", "and", "one"], ["a", "hundred", "one"],
        ["a", "hundred", "and", "one"],
      ])
    #expect(pack.spokenForms(of: -7) == [["minus", "seven"]])
    #expect(pack.spokenForms(of: 1984).contains(["nineteen", "eighty", "four"]))
    #expect(pack.spokenForms(of: 2005).contains(["two", "thousand", "and", "five"]))
  }

  @Test func readsEveryFormOfANumberBack() {
    var generator = SeededGenerator(seed: 7)
    let pack = EnglishPack()
    var numbers = Array(-100...2500) + [Int.max, Int.min, 1_000_000, 1_000_001]
    for _ in 0..<3000 {
      numbers.append(
        Int.random(in: 0...Int.max, using: &generator) >> Int.random(in: 0...62, using: &generator))
    }
    for number in numbers {
      for form in pack.spokenForms(of: number) {
        #expect(pack.normalForm(of: form, as: .number, in: .saturdayMorning) == String(number), "\(form)")
      }
    }
  }
}
