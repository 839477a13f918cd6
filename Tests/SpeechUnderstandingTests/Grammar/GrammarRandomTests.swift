import Testing

struct GrammarRandomTests {
  /// 100,000 samples over all.
  @Test(arguments: 0..<UInt64(20)) func samplesAreUnderstoodAsTheyWereMeant(part: UInt64) throws {
    let first = 1000 + part * 250
    try expectSamplesToBeUnderstood(grammars: first..<first + 250, samples: 20)
  }
}
