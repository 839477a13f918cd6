import Foundation
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
    /// The path of RNNoise's shared library, which takes noise out of commands that follow a grammar; `nil` for none.
    public var noiseLibrary: String?

    /// Creates a configuration.
    public init(
      model: PocketSphinxModel,
      maximumActiveStates: Int = 3000,
      maximumWordEnds: Int = 10,
      searchesTwice: Bool = false,
      usesBestPath: Bool = true,
      noiseLibrary: String? = nil
    ) {
      self.model = model
      self.maximumActiveStates = maximumActiveStates
      self.maximumWordEnds = maximumWordEnds
      self.searchesTwice = searchesTwice
      self.usesBestPath = usesBestPath
      self.noiseLibrary = noiseLibrary
    }
  }

  /// The environment variable that names RNNoise's shared library, such as `/opt/rnnoise/librnnoise.so`.
  public static let noiseLibraryVariable = "VOICE_RNNOISE"

  /// How the decoder searches.
  public let configuration: Configuration
  private let plans = GrammarPlans()

  /// Creates an engine; nothing is loaded.
  public init(configuration: Configuration) {
    self.configuration = configuration
  }

  /// Creates an engine with the installed model of a language, and the library that ``noiseLibraryVariable`` names.
  ///
  /// - Parameters:
  ///   - language: A BCP 47 tag; `nil` for the first model that is installed.
  ///   - folder: Where the models are; by default what `VOICE_POCKETSPHINX_MODEL` names, else Debian's folder.
  /// - Throws: As ``PocketSphinxModel/find(language:in:)``.
  public init(language: String? = nil, modelFolder folder: String? = nil) throws(VoiceFailure) {
    let library = ProcessInfo.processInfo.environment[Self.noiseLibraryVariable] ?? ""
    self.init(
      configuration: Configuration(
        model: try PocketSphinxModel.find(language: language, in: folder),
        noiseLibrary: library.isEmpty ? nil : library))
  }

  /// Loads RNNoise's shared library, which stays loaded, and tries whether it gives back speech.
  ///
  /// - Throws: ``VoiceFailure`` with code `speech.engine.library-missing` or `speech.engine.library-unsupported`.
  public static func checkNoiseLibrary(_ path: String) throws(VoiceFailure) {
    _ = try RNNoiseLibrary.load(path)
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
