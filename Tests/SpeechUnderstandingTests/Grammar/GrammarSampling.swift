import Testing
import VoiceTesting

@testable import SpeechUnderstanding

/// Samples random grammars, and expects to understand each sample as it was meant, or as something at least as likely.
func expectSamplesToBeUnderstood(grammars seeds: Range<UInt64>, samples: Int) throws {
  for seed in seeds {
    var random = RandomSAL(seed: seed)
    let source = random.program()
    let (document, diagnostics) = SALParser.parse(SALSource(name: "random.sal", text: source))
    let (program, all) = SALChecker.check(
      documents: [document], problems: diagnostics, imports: [], pack: EnglishPack(), intents: [],
      entities: [])
    guard let program else {
      Issue.record("seed \(seed): \(all.filter { $0.severity == .error }.map(\.message)) in\n\(source)")
      continue
    }
    var builder = GrammarBuilder(program: program, language: EnglishPack())
    let grammar = try builder.build()
    let shared = GrammarMatcher.Shared(grammar: grammar, settings: MatchSettings(), fillers: [])
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<samples {
      let sample = try grammar.sample(using: &generator)
      var matcher = GrammarMatcher(shared: shared)
      for word in sample.words { matcher.append(word) }
      let found = matcher.interpretations(atMost: 1).first
      let isUnderstood =
        found.map { $0.edits.isEmpty && ($0.segments == sample.segments || $0.cost <= sample.cost + 0.01) }
        ?? false
      if !isUnderstood || !matcher.isExact {
        Issue.record(
          """
          seed \(seed): “\(sample.annotated)” (\(sample.cost)) was understood as \
          “\(found?.annotated ?? "nothing")” (\(found?.cost ?? 0)) with \(found?.edits ?? []) in
          \(source)
          """)
        return
      }
    }
  }
}
