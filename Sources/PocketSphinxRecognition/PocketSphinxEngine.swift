public import SpeechPipeline
public import VoiceCore

/// Recognises free text on the device with PocketSphinx and a model from Debian.
///
/// A recogniser takes about 0.3 s to load and 90 MB. Free text with the Debian model is a rough dictation: about a
/// quarter of the words are wrong on read prose.
public struct PocketSphinxEngine: RecognitionEngine {
  /// How the decoder searches.
  ///
  /// What the two options cost and give, from `VOICE_MEASURE=LIST swift test --filter RecognitionMeasurements` on 167
  /// recordings with 1485 words; the delay is the median time that the end of an utterance takes:
  ///
  ///     second pass   best path   errors   delay
  ///     no            yes         25.1 %    15 ms   (default)
  ///     yes           yes         25.1 %   196 ms
  ///     yes           no          26.2 %   170 ms
  ///     no            no          28.2 %    13 ms
  public struct Configuration: Hashable, Sendable {
    /// The model.
    public var model: PocketSphinxModel
    /// How many model states may be active in a frame; bounds the time that noise costs.
    public var maximumActiveStates: Int
    /// How many words may end in a frame.
    public var maximumWordEnds: Int
    /// Whether the end of an utterance is searched a second time, over the words that the first pass found.
    public var searchesTwice: Bool
    /// Whether the final words come from the best path through the word lattice; without it words have no confidence.
    public var usesBestPath: Bool

    /// Creates a configuration.
    public init(
      model: PocketSphinxModel,
      maximumActiveStates: Int = 3000,
      maximumWordEnds: Int = 10,
      searchesTwice: Bool = false,
      usesBestPath: Bool = true
    ) {
      self.model = model
      self.maximumActiveStates = maximumActiveStates
      self.maximumWordEnds = maximumWordEnds
      self.searchesTwice = searchesTwice
      self.usesBestPath = usesBestPath
    }
  }

  /// How the decoder searches.
  public let configuration: Configuration
  private let plans = GrammarPlans()

  /// Creates an engine; nothing is loaded.
  public init(configuration: Configuration) {
    self.configuration = configuration
  }

  /// Creates an engine with the installed model of a language.
  ///
  /// - Parameters:
  ///   - language: A BCP 47 tag; `nil` for the first model that is installed.
  ///   - folder: Where the models are; by default what `VOICE_POCKETSPHINX_MODEL` names, else Debian's folder.
  /// - Throws: As ``PocketSphinxModel/find(language:in:)``.
  public init(language: String? = nil, modelFolder folder: String? = nil) throws(VoiceFailure) {
    self.init(configuration: Configuration(model: try PocketSphinxModel.find(language: language, in: folder)))
  }

  public var name: String { "PocketSphinx \(self.configuration.model.language)" }

  public var capabilities: RecognitionCapabilities {
    RecognitionCapabilities(
      languages: [self.configuration.model.language],
      sampleRate: 16_000,
      reportsPartialResults: true,
      revisesAtEnd: self.configuration.searchesTwice || self.configuration.usesBestPath,
      reportsWordTimes: true,
      reportsConfidence: self.configuration.usesBestPath,
      maximumAlternatives: 10,
      detectsVoiceActivity: true,
      followsGrammars: true)
  }

  public func makeRecognizer() throws(VoiceFailure) -> any Recognizer {
    try PocketSphinxRecognizer(configuration: self.configuration, plans: self.plans)
  }

  public func problems(of grammar: RecognitionGrammar) -> [VoiceFailure] {
    do throws(VoiceFailure) {
      let plan = try self.plans.plan(of: grammar, model: self.configuration.model)
      return plan.problems
    } catch {
      return [error]
    }
  }
}
