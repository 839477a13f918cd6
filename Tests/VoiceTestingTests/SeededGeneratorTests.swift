import Testing
import VoiceTesting

@Suite struct SeededGeneratorTests {
  /// The first numbers of the reference implementation (Vigna, splitmix64.c) for the seed 1234567.
  @Test func yieldsTheNumbersOfTheReferenceImplementation() {
    var generator = SeededGenerator(seed: 1_234_567)
    let numbers = (0..<5).map { _ in generator.next() }
    #expect(
      numbers == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
        4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
      ])
  }

  @Test func aCopyGoesOnFromTheSamePlace() {
    var original = SeededGenerator(seed: 7)
    _ = original.next()
    var copy = original
    #expect(original.next() == copy.next())
  }

  @Test func differentSeedsDiffer() {
    let firsts = (0..<1000).map { (seed: UInt64) in
      var generator = SeededGenerator(seed: seed)
      return generator.next()
    }
    #expect(Set(firsts).count == firsts.count)
  }

  @Test func aSplitGeneratorIsIndependentOfLaterUse() {
    var one = SeededGenerator(seed: 3)
    var other = one
    var oneChild = one.split()
    var otherChild = other.split()
    _ = one.next()
    #expect(oneChild.next() == otherChild.next())
    var parent = other
    #expect(otherChild.next() != parent.next())
  }
}
