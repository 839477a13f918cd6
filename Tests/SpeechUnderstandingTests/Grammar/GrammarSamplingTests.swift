import Testing

struct GrammarSamplingTests {
  @Test func samplesAreUnderstoodAsTheyWereMeant() throws {
    try expectSamplesToBeUnderstood(grammars: 0..<100, samples: 10)
  }
}
