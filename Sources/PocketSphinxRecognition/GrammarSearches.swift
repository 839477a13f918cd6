import SpeechPipeline
import VoiceCore

/// The two decoders of a grammar.
struct GrammarDecoders {
  /// Searches while somebody speaks, with narrow beams.
  let live: CepstralDecoder
  /// Searches whole utterances, with wide beams.
  let whole: CepstralDecoder
}

/// The searches of one recogniser over grammars; each is loaded when it is first needed.
///
/// Not `Sendable`: it belongs to a recogniser, on its thread.
final class GrammarSearches {
  private struct Entry {
    weak var grammar: RecognitionGrammar?
    /// `nil` if the grammar cannot be searched.
    let decoders: GrammarDecoders?
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
  func search(_ grammar: RecognitionGrammar) throws(VoiceFailure) -> GrammarDecoders? {
    self.entries.removeAll { $0.grammar == nil }
    if let index = self.entries.firstIndex(where: { $0.grammar === grammar }) {
      self.entries.append(self.entries.remove(at: index))
      return self.entries.last?.decoders
    }
    let decoders = try self.load(grammar)
    if self.entries.count >= Self.mostSearches { self.entries.removeFirst() }
    self.entries.append(Entry(grammar: grammar, decoders: decoders))
    return decoders
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

  private func load(_ grammar: RecognitionGrammar) throws(VoiceFailure) -> GrammarDecoders? {
    let plan: GrammarPlan
    do throws(VoiceFailure) {
      plan = try self.plans.plan(of: grammar, model: self.model)
    } catch  where error.code == .grammarTooLarge || error.code == .wordUnpronounceable {
      return nil
    }
    return GrammarDecoders(
      live: try CepstralDecoder(
        .grammar(plan, isLive: true), model: self.model, dimension: self.dimension),
      whole: try CepstralDecoder(
        .grammar(plan, isLive: false), model: self.model, dimension: self.dimension))
  }
}
