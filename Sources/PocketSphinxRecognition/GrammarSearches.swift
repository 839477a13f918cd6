import SpeechPipeline
import VoiceCore

/// The decoders of a grammar.
///
/// Those for whole utterances are loaded when they are first needed, as many channels need only one of them; each takes some
/// megabytes.
final class GrammarDecoders {
  /// Searches while somebody speaks, with narrow beams.
  let live: CepstralDecoder
  private(set) var whole: [WholePass: CepstralDecoder] = [:]
  private let plan: GrammarPlan
  private let model: PocketSphinxModel
  private let dimension: Int

  init(_ plan: GrammarPlan, model: PocketSphinxModel, dimension: Int) throws(VoiceFailure) {
    self.plan = plan
    self.model = model
    self.dimension = dimension
    self.live = try CepstralDecoder(.live(plan), model: model, dimension: dimension)
  }

  /// Whether there is a quick way through whole utterances; for language models it is not known to be as good.
  var hasQuickPass: Bool {
    switch self.plan.space {
    case .network: true
    case .languageModel: false
    }
  }

  /// Searches whole utterances.
  func whole(_ pass: WholePass) throws(VoiceFailure) -> CepstralDecoder {
    if let known = self.whole[pass] { return known }
    let decoder = try CepstralDecoder(.whole(self.plan, pass), model: self.model, dimension: self.dimension)
    self.whole[pass] = decoder
    return decoder
  }
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
    return try GrammarDecoders(plan, model: self.model, dimension: self.dimension)
  }
}
