import Foundation
import SpeechPipeline
import SpeechUnderstanding
import Testing
import VoiceCore

@testable import PocketSphinxRecognition

struct GrammarLanguageModelTests {
  private func understanding(_ templates: String) throws -> Understanding {
    let loaded = VoiceInterface.load(
      files: [ConfigurationFile(name: "app.sal", bytes: Array(templates.utf8))], packs: [EnglishPack()])
    return try Understanding(try #require(loaded.interface, "\(loaded.rendered())"), language: EnglishPack())
  }

  /// Probabilities as written, by what they are of.
  private func entries(of model: GrammarLanguageModel) -> [String: (probability: Double, backOff: Double?)] {
    var result: [String: (Double, Double?)] = [:]
    for line in model.text.split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard let first = parts.first, let number = Double(first) else { continue }
      let backOff = parts.count > 2 ? parts.last.flatMap { Double($0) } : nil
      let words = parts.dropFirst().prefix(parts.count - 1 - (backOff == nil ? 0 : 1))
      result[words.joined(separator: " ")] = (pow(10, number), backOff.map { pow(10, $0) })
    }
    return result
  }

  @Test func whatMayFollowAWordAddsUpToOne() throws {
    let grammar = try self.understanding(
      "v = [red | dark green | blue]\n*a the $v(c) car {please}\n*b paint {it} $v(c) and $v(d)"
    ).grammar
    let counts = try #require(grammar.wordPairs(atMost: 1000))
    let entries = self.entries(of: GrammarLanguageModel(counts, keys: grammar.words))
    let words = grammar.words + ["</s>"]
    #expect(abs(words.reduce(0) { $0 + (entries[$1]?.probability ?? 0) } - 1) < 0.001)
    for first in grammar.words + ["<s>"] {
      let sum = words.reduce(0.0) { sum, second in
        sum
          + (entries["\(first) \(second)"]?.probability
            ?? (entries[first]?.backOff ?? 0) * (entries[second]?.probability ?? 0))
      }
      #expect(abs(sum - 1) < 0.02, "\(first): \(sum)")
    }
  }

  @Test func wordsThatNobodyCanPronounceAreLeftOut() throws {
    let grammar = try self.understanding("*a take [one | 東京] now").grammar
    let counts = try #require(grammar.wordPairs(atMost: 1000))
    let model = GrammarLanguageModel(counts, keys: grammar.words.map { $0 == "東京" ? nil : $0 })
    #expect(!model.text.contains("東京"))
    #expect(model.text.contains("ngram 1=5\n"))
    #expect(model.text.contains(" take one\n"))
  }

  // MARK: With the real decoder

  @Test func aGrammarThatIsTooLargeForANetworkIsSearchedByPairs() throws {
    let understanding = try self.understanding(
      "*move go [forward | backward](direction) [ten | nine](distance) [meters | steps]\n*stop [stop | halt]")
    let pronouncer = try Pronouncer(model: try PocketSphinxModel.find())
    let plan = try GrammarPlan(understanding.grammar, pronouncer: pronouncer, mostArcs: 3)
    guard case .languageModel = plan.space else {
      Issue.record("a network")
      return
    }
    #expect(plan.problems.map(\.code) == [.grammarTooLarge])
    let engine = try PocketSphinxEngine()
    let recognizer = try PocketSphinxRecognizer(
      configuration: engine.configuration, plans: GrammarPlans(mostArcs: 3))
    try recognizer.begin(RecognitionTask(grammar: RecognitionGrammar(understanding.grammar)))
    var hypotheses: [String] = []
    let samples = Recording.goForward.samples
    for start in stride(from: 0, to: samples.count, by: 1600) {
      try samples[start..<min(start + 1600, samples.count)].withUnsafeBufferPointer {
        _ = try recognizer.process($0)
      }
      hypotheses.append(recognizer.hypothesis().map(\.text).joined(separator: " "))
    }
    let result = try recognizer.finish(alternatives: 0)
    #expect(result.words.map(\.text) == ["go", "forward", "ten", "meters"])
    #expect(!result.isRejected)
    #expect(hypotheses.contains("go forward"))
  }

  @Test func tooManyPairsAreAFailure() throws {
    let grammar = try self.understanding("*a [b | c | d] [e | f | g]").grammar
    let failure = #expect(throws: VoiceFailure.self) {
      _ = try GrammarPlan(
        grammar, pronouncer: Pronouncer(model: try PocketSphinxModel.find()), mostArcs: 3, mostPairs: 3)
    }
    #expect(failure?.code == .grammarTooLarge)
    #expect(failure?.message.contains("free text") == true)
  }
}
