import Testing
import VoiceTesting

@testable import SpeechUnderstanding

struct WordPairsTests {
  private static func grammar(_ source: String) throws -> Grammar {
    let (document, problems) = SALParser.parse(SALSource(name: "test.sal", text: source))
    let (program, _) = SALChecker.check(documents: [document], problems: problems, pack: EnglishPack())
    var builder = GrammarBuilder(program: try #require(program), language: EnglishPack())
    return try builder.build()
  }

  /// The pairs with their words, `|` for the edge.
  private static func pairs(_ source: String, atMost limit: Int = 1000) throws -> [String: Double] {
    let grammar = try self.grammar(source)
    let counts = try #require(grammar.wordPairs(atMost: limit))
    func name(_ word: Int32) -> String { word == WordPairs.edge ? "|" : grammar.words[Int(word)] }
    return Dictionary(
      uniqueKeysWithValues: counts.pairs.map {
        ("\(name($0.first)) \(name($0.second))", ($1 * 1000).rounded() / 1000)
      })
  }

  @Test func countsPairsAcrossLists() throws {
    #expect(
      try Self.pairs("v = [red | green]\n*a the $v(c) car")
        == ["| the": 1, "the red": 0.5, "the green": 0.5, "red car": 0.5, "green car": 0.5, "car |": 1])
  }

  @Test func aListInSeveralPlacesHasTheirNeighbours() throws {
    let pairs = try Self.pairs("v = [red | green]\n*a from $v(b) to $v(c)\n*d paint $v(e)")
    #expect(pairs["from red"] == 0.25)
    #expect(pairs["paint green"] == 0.25)
    #expect(pairs["red to"] == 0.25)
    #expect(pairs["red |"] == 0.5)
    #expect(pairs["from to"] == nil)
  }

  @Test func whatIsOptionalIsPassedOver() throws {
    let pairs = try Self.pairs("v = {very}\n*a a $v $v b")
    #expect(pairs["a b"] == 0.25)
    #expect(pairs["a very"] == 0.75)
    #expect(pairs["very very"] == 0.25)
    #expect(pairs["very b"] == 0.75)
  }

  @Test func tooManyPairsAreNone() throws {
    let grammar = try Self.grammar("*a [b | c | d] [e | f | g]")
    #expect(grammar.wordPairs(atMost: 15)?.pairs.count == 15)
    #expect(grammar.wordPairs(atMost: 14) == nil)
  }

  /// Any of a thousand values after any of a thousand others would be a million pairs, which say nothing.
  @Test func longListsBehindEachOtherHaveNoPairsOfTheirValues() throws {
    let values = (0..<1000).map { "v\($0)" }.joined(separator: " | ")
    let grammar = try Self.grammar("v = [\(values)]\n*a take $v(b) $v(c) now")
    let counts = try #require(grammar.wordPairs(atMost: 10_000))
    #expect(counts.pairs.count == 2 + 1000 + 1000)
    #expect(abs(counts.words.reduce(0, +) - 4) < 1e-6)
  }

  @Test(arguments: 0..<UInt64(15)) func samplesHaveTheExpectedNumbers(seed: UInt64) throws {
    var random = RandomSAL(seed: seed)
    let grammar = try Self.grammar(random.program())
    let counts = try #require(grammar.wordPairs(atMost: 1_000_000))
    let numbers = Dictionary(uniqueKeysWithValues: grammar.words.enumerated().map { ($1, Int32($0)) })
    var generator = SeededGenerator(seed: seed)
    var found: [WordPairs.Pair: Double] = [:]
    let samples = 4000
    for _ in 0..<samples {
      var last = WordPairs.edge
      for word in try grammar.sample(using: &generator).words {
        let number = try #require(numbers[word])
        found[.init(last, number), default: 0] += 1 / Double(samples)
        last = number
      }
      found[.init(last, WordPairs.edge), default: 0] += 1 / Double(samples)
    }
    for (pair, share) in found {
      let expected = try #require(counts.pairs[pair])
      #expect(abs(share - expected) < 0.05 + expected * 0.15, "\(pair)")
    }
    for (pair, expected) in counts.pairs where expected > 0.05 { #expect(found[pair] != nil, "\(pair)") }
  }
}
