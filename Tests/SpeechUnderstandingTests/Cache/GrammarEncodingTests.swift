import Testing
import VoiceTesting

@testable import SpeechUnderstanding

struct GrammarEncodingTests {
  private static let bytes = Result { () -> [UInt8] in
    try SAL.grammar(
      [
        SAL.intent("a") + SAL.words("one two") + SAL.entity("e", SAL.variable("v")),
        SAL.intent("b") + SAL.permutation(SAL.words("x y"), SAL.variable("v"), SAL.optional(SAL.words("z"))),
      ],
      ["v": SALExpression([SAL.item(.list((0..<30).map { SALAlternative(SAL.words("value\($0) tail")) }))])]
    ).encoded()
  }

  private func decoded(_ bytes: [UInt8]) -> Grammar? {
    bytes.withUnsafeBytes { Grammar(decoding: $0) }
  }

  /// Uses a grammar in every way that follows its numbers.
  private func use(_ grammar: Grammar, _ generator: inout SeededGenerator) {
    _ = grammar.utteranceCount
    for _ in 0..<3 { _ = try? grammar.sample(using: &generator) }
    for text in ["one two value3 tail", "x y value1 tail z", "uh one too value3", "z"] {
      _ = GrammarMatcher.interpretations(of: text, in: grammar)
    }
  }

  @Test func anyTruncationIsNoGrammar() throws {
    let bytes = try Self.bytes.get()
    #expect(self.decoded(bytes) != nil)
    for length in 0..<bytes.count { #expect(self.decoded(Array(bytes.prefix(length))) == nil) }
    #expect(self.decoded(bytes + [0]) == nil)
  }

  /// A file is checked by its checksum first; this is about what comes through all the same.
  @Test func anyChangeOfBytesIsNoGrammarOrOneThatCanBeUsed() throws {
    let bytes = try Self.bytes.get()
    var generator = SeededGenerator(seed: 7)
    var usable = 0
    for _ in 0..<3000 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let values: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &generator)]
        changed[Int.random(in: 0..<bytes.count, using: &generator)] =
          values.randomElement(using: &generator) ?? 0
      }
      guard let grammar = self.decoded(changed) else { continue }
      usable += 1
      self.use(grammar, &generator)
    }
    #expect(usable > 0 && usable < 3000)
  }

  @Test func hugeCountsTakeNoMemory() {
    var writer = ByteWriter()
    for _ in 0..<64 { writer.write(UInt32.max) }
    #expect(self.decoded(writer.bytes) == nil)
    #expect(self.decoded([]) == nil)
  }

  private func hash(_ bytes: [UInt8]) -> String {
    bytes.withUnsafeBytes { ContentHash($0).hexadecimal }
  }

  @Test func equalContentsHaveEqualHashesAndOthersHaveOthers() {
    var seen: Set<String> = []
    for length in 0..<200 {
      let bytes = [UInt8](repeating: 0, count: length)
      let hash = self.hash(bytes)
      #expect(hash == self.hash(bytes))
      seen.insert(hash)
      guard length > 0 else { continue }
      seen.insert(self.hash(bytes.dropLast() + [1]))
    }
    #expect(seen.count == 399)
    #expect(seen.allSatisfy { $0.count == 32 })
  }
}
