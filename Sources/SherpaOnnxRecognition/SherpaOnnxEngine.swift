import Foundation
public import SpeechPipeline
public import VoiceCore

/// Recognises free text on the device with a streaming transducer model and sherpa-onnx.
///
/// The library is loaded when the first recogniser is made; nothing links to it. Library and model come from the app, or from
/// the environment variables ``libraryVariable`` and ``SherpaOnnxModel/folderVariable``. All recognisers of an engine share one
/// loaded model, which is freed with the last of them.
///
/// ```swift
/// let engine = try SherpaOnnxEngine(
///   library: "/opt/sherpa-onnx/lib/libsherpa-onnx-c-api.so", modelFolder: "/opt/models/zipformer-en", language: "en-US")
/// let pool = RecognizerPool(engine: engine, size: 4)
/// ```
///
/// The files of a model are checked before the library sees them, because the library ends the process on some that are broken.
/// What remains is in `docs/engines.md`.
public struct SherpaOnnxEngine: RecognitionEngine {
  /// How words are searched.
  public enum Search: Hashable, Sendable {
    /// The likeliest token of each frame. Fast; a ``RecognitionTask/vocabulary`` has no effect.
    case greedy
    /// The likeliest sequences, of which so many are kept; 1 to 64. Prefers a ``RecognitionTask/vocabulary`` if the model comes
    /// with ``SherpaOnnxModel/pieceScores``.
    case beam(width: Int)
  }

  /// What the engine works with.
  public struct Configuration: Hashable, Sendable {
    /// The path of the shared library, `libsherpa-onnx-c-api.so`.
    public var library: String
    /// The model.
    public var model: SherpaOnnxModel
    /// The languages of the model as BCP 47 tags, the default first; the model does not tell them.
    public var languages: [String]
    /// How words are searched.
    public var search: Search
    /// On how many processor threads one step of a network is computed; 1 to 64. Recognisers run side by side all the same.
    public var threadCount: Int

    /// Creates a configuration.
    public init(
      library: String, model: SherpaOnnxModel, languages: [String], search: Search = .greedy,
      threadCount: Int = 1
    ) {
      self.library = library
      self.model = model
      self.languages = languages
      self.search = search
      self.threadCount = threadCount
    }
  }

  /// The environment variable that names the library.
  public static let libraryVariable = "VOICE_SHERPA_ONNX"

  /// The sample rate of all models, in Hz.
  static let sampleRate = 16_000

  /// What the engine works with.
  public let configuration: Configuration
  private let models = LoadedModels()

  /// Creates an engine; nothing is loaded.
  public init(configuration: Configuration) {
    self.configuration = configuration
  }

  /// Creates an engine with the model of a folder; nothing is loaded.
  ///
  /// - Parameters:
  ///   - library: The path of the shared library; by default what ``libraryVariable`` names.
  ///   - folder: The folder of the model; by default what ``SherpaOnnxModel/folderVariable`` names.
  ///   - language: The language of the model as a BCP 47 tag; `und` (not determined) if nobody says.
  ///   - search: How words are searched.
  /// - Throws: ``VoiceFailure`` with code `speech.engine.library-missing` if nobody names a library, and as
  ///   ``SherpaOnnxModel/find(in:)``.
  public init(
    library: String? = nil, modelFolder folder: String? = nil, language: String? = nil,
    search: Search = .greedy
  ) throws(VoiceFailure) {
    guard let library = library ?? Self.environment(Self.libraryVariable) else {
      throw VoiceFailure(
        .engineLibraryMissing,
        message:
          "Name the shared library of sherpa-onnx, libsherpa-onnx-c-api.so, in \(Self.libraryVariable).")
    }
    guard let folder = folder ?? Self.environment(SherpaOnnxModel.folderVariable) else {
      throw VoiceFailure(
        .modelMissing,
        message:
          "Name the folder of a streaming transducer model for sherpa-onnx in \(SherpaOnnxModel.folderVariable)."
      )
    }
    self.init(
      configuration: Configuration(
        library: library, model: try SherpaOnnxModel.find(in: folder), languages: [language ?? "und"],
        search: search))
  }

  public var name: String {
    let folder = URL(fileURLWithPath: self.configuration.model.encoder).deletingLastPathComponent()
      .lastPathComponent
    return "sherpa-onnx \(folder)"
  }

  public var capabilities: RecognitionCapabilities {
    // The library tells silence by the lack of words. The pipeline's detector tells it by the sound, for every engine alike.
    RecognitionCapabilities(
      languages: self.configuration.languages, sampleRate: Self.sampleRate, reportsPartialResults: true,
      revisesAtEnd: false, reportsWordTimes: true, reportsConfidence: true, maximumAlternatives: 1,
      detectsVoiceActivity: false, followsGrammars: false)
  }

  /// Loads library and model unless another recogniser has, and makes a recogniser.
  ///
  /// - Throws: ``VoiceFailure`` with code `speech.engine.library-missing`, `speech.engine.library-unsupported`,
  ///   `speech.engine.model-missing` or `speech.engine.model-invalid`.
  public func makeRecognizer() throws(VoiceFailure) -> any Recognizer {
    SherpaOnnxRecognizer(model: try self.models.model(self.configuration))
  }

  public func problems(of grammar: RecognitionGrammar) -> [VoiceFailure] { [] }

  public func problems(ofVocabulary vocabulary: [String]) -> [VoiceFailure] {
    let wanted = vocabulary.filter { !$0.isEmpty }
    guard !wanted.isEmpty else { return [] }
    do throws(VoiceFailure) {
      let phrases = PhraseList(
        vocabulary: wanted, bias: 1, tokens: try ModelCheck(self.configuration.model).tokens,
        isPossible: self.configuration.prefersPhrases)
      guard !phrases.unknown.isEmpty else { return [] }
      return [phrases.failure]
    } catch {
      return [error]
    }
  }

  private static func environment(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension SherpaOnnxEngine.Configuration {
  /// How many hypotheses a beam search keeps; 0 for a greedy search.
  var beamWidth: Int {
    switch self.search {
    case .greedy: 0
    case .beam(let width): min(64, max(1, width))
    }
  }

  /// Whether a vocabulary has an effect.
  var prefersPhrases: Bool { self.beamWidth > 0 && self.model.pieceScores != nil }
}
