import SpeechPipeline
import VoiceCore

/// The searches of one recogniser over grammars; each is loaded when it is first needed.
///
/// Not `Sendable`: it belongs to a recogniser, on its thread.
final class GrammarSearches {
  private struct Entry {
    weak var grammar: RecognitionGrammar?
    /// `nil` if the grammar cannot be searched.
    let decoder: CepstralDecoder?
  }

  private let plans: GrammarPlans
  private let model: PocketSphinxModel
  private let dimension: Int
  /// Those used last come last.
  private var entries: [Entry] = []
  private var phoneDecoder: CepstralDecoder?

  /// A search takes some megabytes; a server with many apps would else keep all of them in each recogniser.
  private static let mostSearches = 4

  init(plans: GrammarPlans, model: PocketSphinxModel, dimension: Int) {
    self.plans = plans
    self.model = model
    self.dimension = dimension
  }

  /// The search of a grammar, or `nil` if the grammar is one for which free text has to be recognised.
  ///
  /// - Throws: ``VoiceFailure`` with a `speech.engine.*` code if the model is missing or broken.
  func search(_ grammar: RecognitionGrammar) throws(VoiceFailure) -> CepstralDecoder? {
    self.entries.removeAll { $0.grammar == nil }
    if let index = self.entries.firstIndex(where: { $0.grammar === grammar }) {
      self.entries.append(self.entries.remove(at: index))
      return self.entries.last?.decoder
    }
    let decoder = try self.load(grammar)
    if self.entries.count >= Self.mostSearches { self.entries.removeFirst() }
    self.entries.append(Entry(grammar: grammar, decoder: decoder))
    return decoder
  }

  /// The search of phones in any order, or `nil` if the model has none.
  func phones() throws(VoiceFailure) -> CepstralDecoder? {
    guard let phoneModel = self.model.phoneModel else { return nil }
    if let known = self.phoneDecoder { return known }
    let decoder = try CepstralDecoder(
      .phones(languageModel: phoneModel), model: self.model, dimension: self.dimension)
    self.phoneDecoder = decoder
    return decoder
  }

  private func load(_ grammar: RecognitionGrammar) throws(VoiceFailure) -> CepstralDecoder? {
    let plan: GrammarPlan
    do throws(VoiceFailure) {
      plan = try self.plans.plan(of: grammar, model: self.model)
    } catch  where error.code == .grammarTooLarge || error.code == .wordUnpronounceable {
      return nil
    }
    return try CepstralDecoder(.grammar(plan), model: self.model, dimension: self.dimension)
  }
}
