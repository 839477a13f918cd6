import Foundation
import SpeechPipeline
import SpeechUnderstanding
import Synchronization
import VoiceCore

/// What PocketSphinx needs to search a grammar: a network of words that all have pronunciations, or a language model made
/// from the grammar where the network would be too large.
struct GrammarPlan: Sendable {
  /// What is searched; its words are as the decoder knows them, each once.
  enum Space: Sendable {
    /// Exactly what the grammar allows.
    case network(WordNetwork)
    /// Words that follow each other somewhere in what the grammar allows.
    case languageModel(GrammarLanguageModel)
  }

  let space: Space
  /// The lines of the decoder's dictionary.
  let dictionary: String
  /// What the decoder's keys stand for, where that is another word.
  let words: [String: String]
  /// What works less well than it could: words that cannot be recognised, because nobody knows how they sound, and a grammar
  /// that is too large for a network.
  let problems: [VoiceFailure]

  /// Beyond it, a search would take hundreds of megabytes.
  static let mostArcs = 120_000
  /// Beyond it, reading the language model would take seconds.
  static let mostPairs = 1_500_000
  /// How likely it is that another sentence follows in the same breath, as a negative logarithm.
  static let sentenceCost: Float = 6
  /// How likely it is that nobody speaks in what was taken for speech, as a negative logarithm.
  static let silenceCost: Float = 0

  /// Plans the search of a grammar.
  ///
  /// - Throws: ``VoiceFailure`` with code `speech.understanding.grammar-too-large` or
  ///   `speech.understanding.word-unpronounceable` (nothing of it can be recognised), or those of the model's files.
  init(
    _ grammar: Grammar, pronouncer: Pronouncer, mostArcs: Int = Self.mostArcs,
    mostPairs: Int = Self.mostPairs
  ) throws(VoiceFailure) {
    let network = grammar.wordNetwork(atMost: mostArcs)
    let counts = network == nil ? grammar.wordPairs(atMost: mostPairs) : nil
    guard network != nil || counts != nil else {
      throw Self.tooLarge(mostArcs, "free text is recognised instead")
    }
    let findings = try pronouncer.pronunciations(of: grammar.words)
    var keys: [String] = []
    var words: [String: String] = [:]
    var lines: [String] = []
    // The decoder refuses words without a pronunciation, so the others are numbered anew.
    var numbers = [Int32?](repeating: nil, count: grammar.words.count)
    for (index, word) in grammar.words.enumerated() {
      guard let pronunciations = findings.pronunciations[word], !pronunciations.isEmpty else { continue }
      let key = Self.isPlain(word) ? word : "=\(index)"
      numbers[index] = Int32(keys.count)
      keys.append(key)
      if key != word { words[key] = word }
      for (number, pronunciation) in pronunciations.enumerated() {
        lines.append(number == 0 ? "\(key) \(pronunciation)" : "\(key)(\(number + 1)) \(pronunciation)")
      }
    }
    self.dictionary = lines.joined(separator: "\n") + "\n"
    self.words = words
    guard let network else {
      guard let counts, !keys.isEmpty else { throw findings.failure ?? Self.empty }
      self.space = .languageModel(
        GrammarLanguageModel(counts, keys: numbers.map { number in number.map { keys[Int($0)] } }))
      self.problems =
        [Self.tooLarge(mostArcs, "it is bound to pairs of words in them instead")]
        + (findings.failure.map { [$0] } ?? [])
      return
    }
    let arcs = network.arcs.compactMap { arc -> WordNetwork.Arc? in
      guard arc.word >= 0 else { return arc }
      guard numbers.indices.contains(Int(arc.word)), let number = numbers[Int(arc.word)] else { return nil }
      var renumbered = arc
      renumbered.word = number
      return renumbered
    }
    guard Self.reaches(network.end, from: network.start, by: arcs, stateCount: network.stateCount) else {
      throw findings.failure ?? Self.empty
    }
    self.space = .network(network.replacing(arcs: arcs, words: keys))
    self.problems = findings.failure.map { [$0] } ?? []
  }

  private static let empty = VoiceFailure(.grammarTooLarge, message: "The templates allow no utterance.")

  private static func tooLarge(_ limit: Int, _ instead: String) -> VoiceFailure {
    VoiceFailure(
      .grammarTooLarge,
      message: "The templates allow too much for a search that is bound to them (more than \(limit) "
        + "steps from word to word): \(instead). Use fewer values in each place, or shorter permutations.")
  }

  /// Whether PocketSphinx takes a word as it is: its dictionaries give brackets, hashes and signs a meaning of their own.
  private static func isPlain(_ word: String) -> Bool {
    guard let first = word.utf8.first, (97...122).contains(first) || (48...57).contains(first) else {
      return false
    }
    return word.utf8.allSatisfy { byte in
      (97...122).contains(byte) || (48...57).contains(byte) || byte == 39 || byte == 45 || byte == 46
        || byte == 95
    }
  }

  private static func reaches(
    _ end: Int32, from start: Int32, by arcs: [WordNetwork.Arc], stateCount: Int
  ) -> Bool {
    var targets = [[Int32]](repeating: [], count: stateCount)
    for arc in arcs { targets[Int(arc.from)].append(arc.to) }
    var seen = [Bool](repeating: false, count: stateCount)
    var work = [start]
    while let state = work.popLast() {
      if state == end { return true }
      guard !seen[Int(state)] else { continue }
      seen[Int(state)] = true
      work += targets[Int(state)]
    }
    return false
  }
}

/// The plans of the grammars that are in use; made once for all recognisers of an engine.
final class GrammarPlans: Sendable {
  private struct Entry: Sendable {
    weak var grammar: RecognitionGrammar?
    let plan: Result<GrammarPlan, VoiceFailure>
  }

  private struct State: Sendable {
    var pronouncer: Pronouncer?
    var entries: [ObjectIdentifier: Entry] = [:]
  }

  private let state = Mutex(State())
  private let mostArcs: Int

  init(mostArcs: Int = GrammarPlan.mostArcs) {
    self.mostArcs = mostArcs
  }

  /// The plan of a grammar; the first call for a grammar takes as long as reading the model's dictionary.
  func plan(of grammar: RecognitionGrammar, model: PocketSphinxModel) throws(VoiceFailure) -> GrammarPlan {
    let result = self.state.withLock { state -> Result<GrammarPlan, VoiceFailure> in
      let key = ObjectIdentifier(grammar)
      if let entry = state.entries[key], entry.grammar === grammar { return entry.plan }
      state.entries = state.entries.filter { $0.value.grammar != nil }
      let plan: Result<GrammarPlan, VoiceFailure>
      do throws(VoiceFailure) {
        let pronouncer: Pronouncer
        if let known = state.pronouncer {
          pronouncer = known
        } else {
          pronouncer = try Pronouncer(model: model)
          state.pronouncer = pronouncer
        }
        plan = .success(try GrammarPlan(grammar.grammar, pronouncer: pronouncer, mostArcs: self.mostArcs))
      } catch {
        plan = .failure(error)
      }
      state.entries[key] = Entry(grammar: grammar, plan: plan)
      return plan
    }
    return try result.get()
  }
}
