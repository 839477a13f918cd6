import Foundation
import SpeechUnderstanding

/// What was measured of matching texts.
struct MatchFigures: Codable {
  /// How many utterances the grammar has.
  var utterances: Double
  /// Utterances per second of CPU time that are as the grammar has them.
  var exactPerSecond: Double
  /// The same with a word that the grammar does not expect in each.
  var tolerantPerSecond: Double
  /// How many of the texts were understood.
  var exactShare: Double
  var tolerantShare: Double
}

/// What was measured of compiling a large configuration, in milliseconds of CPU time.
struct CompileFigures: Codable {
  var checking: Double
  var compiling: Double
  var states: Int
  var arcs: Int
  var utterances: Double
}

/// Understanding texts and compiling configurations; to be run in a process of their own.
enum MatchSubject {
  private static let values = ValueContext(now: Date(timeIntervalSince1970: 1_790_000_000), timeZone: .gmt)

  /// A home with more than a million utterances; some begin alike, and times and numbers are among the values.
  private static func home() -> String {
    let rooms = Self.names(
      40, after: ["upper", "lower", "old", "new"], ["kitchen", "office", "hall", "garage", "attic"])
    let devices = Self.names(
      60, after: ["small", "big", "red", "white"], ["lamp", "radio", "heater", "fan", "screen", "camera"])
    return """
      room = [\(rooms.joined(separator: " | "))]
      device = [\(devices.joined(separator: " | "))]
      *on {please} [turn on | switch on] the $device(device) {in the $room(room)} {at $SPEECHLY.TIME(time)}
      *off {please} [turn off | switch off] the $device(device) {in the $room(room)} {at $SPEECHLY.TIME(time)}
      *dim set the $device(device) in the $room(room) to [1..100](level) percent
      *query is the $device(device) in the $room(room) on
      """
  }

  /// A list of ten thousand values, a permutation of seven, and the standard variables.
  private static func large() -> String {
    let syllables = [
      "al", "be", "cor", "dan", "el", "far", "gro", "har", "il", "jun", "kes", "lo", "mi", "nor", "os",
    ]
    var generator = BenchGenerator(state: 2)
    // Names that have no more in common than those of a real catalogue.
    let products = (0..<10_000).map { _ in
      (0..<Int.random(in: 1...3, using: &generator)).map { _ in
        (0..<Int.random(in: 1...3, using: &generator))
          .map { _ in syllables[Int.random(in: 0..<syllables.count, using: &generator)] }.joined()
      }.joined(separator: " ")
    }
    return """
      product = [\(products.joined(separator: " | "))]
      part = [small | big | red | green | blue]
      *order order ![$product(product) | [1..99](amount) pieces | in $part(colour) | for $SPEECHLY.PERSON_NAME(name) | \
      by $SPEECHLY.DATE(date) | at $SPEECHLY.TIME(time) | {as a} [gift | sample](kind)]
      *find {please} find $product(product) {near $SPEECHLY.STREET_ADDRESS(address)}
      *call call $SPEECHLY.PHONE_NUMBER(number)
      """
  }

  private static func names(_ count: Int, after adjectives: [String], _ nouns: [String]) -> [String] {
    Array(
      adjectives.flatMap { adjective in nouns.flatMap { noun in [noun, "\(adjective) \(noun)"] } }.reduce(
        into: []) {
          if !$0.contains($1) { $0.append($1) }
        }.prefix(count))
  }

  private static func program(_ text: String) throws -> SALProgram {
    let (document, problems) = SALParser.parse(SALSource(name: "bench.sal", text: text))
    let (program, all) = SALChecker.check(documents: [document], problems: problems, pack: EnglishPack())
    guard let program else {
      throw Child.Failure(description: "the templates are wrong: \(all.first?.message ?? "")")
    }
    return program
  }

  /// Understands sampled texts.
  static func match(count: Int) throws {
    let understanding = try Understanding(
      VoiceInterface(program: try self.program(self.home())), language: EnglishPack())
    var generator = BenchGenerator(state: 1)
    let texts = try (0..<count).map { _ in
      try understanding.sample(using: &generator, in: Self.values).annotated.plainText
    }
    let wrong = texts.map { text in
      var words = text.split(separator: " ").map(String.init)
      words.insert("nevertheless", at: words.count / 2)
      return words.joined(separator: " ")
    }
    func measure(_ texts: [String]) -> (perSecond: Double, share: Double) {
      var understood = 0
      let start = clock()
      for text in texts where understanding.understand(text, in: Self.values) != nil { understood += 1 }
      let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
      return (Double(texts.count) / max(seconds, 1e-9), Double(understood) / Double(texts.count))
    }
    _ = measure(Array(texts.prefix(count / 10)))
    let exact = measure(texts)
    let tolerant = measure(Array(wrong.prefix(count / 4)))
    let figures = MatchFigures(
      utterances: understanding.grammar.utteranceCount, exactPerSecond: exact.perSecond,
      tolerantPerSecond: tolerant.perSecond, exactShare: exact.share, tolerantShare: tolerant.share)
    print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
  }

  /// Compiles the large configuration.
  static func compile() throws {
    let text = self.large()
    let start = clock()
    let program = try self.program(text)
    let checked = clock()
    let understanding = try Understanding(VoiceInterface(program: program), language: EnglishPack())
    let end = clock()
    func milliseconds(_ ticks: clock_t) -> Double { Double(ticks) / Double(CLOCKS_PER_SEC) * 1_000 }
    let figures = CompileFigures(
      checking: milliseconds(checked - start), compiling: milliseconds(end - checked),
      states: understanding.grammar.stateCount, arcs: understanding.grammar.arcCount,
      utterances: understanding.grammar.utteranceCount)
    print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
  }
}

/// SplitMix64: the same numbers in every run.
struct BenchGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    self.state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = self.state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
