import ArgumentParser
import PocketSphinxRecognition
import SherpaOnnxRecognition
import SpeechPipeline
import VoiceCore

/// Which engine recognises in this process.
struct EngineOptions: ParsableArguments {
  enum Choice: String, ExpressibleByArgument, CaseIterable {
    case pocketsphinx
    case sherpa
  }

  @Option(
    help: ArgumentHelp("With --local or --config: the engine (default: pocketsphinx).", valueName: "name"))
  var engine: Choice?

  @Option(
    help: ArgumentHelp(
      "With --engine sherpa: the library (default: what \(SherpaOnnxEngine.libraryVariable) names).",
      valueName: "file"))
  var engineLibrary: String?

  /// Whether there is anything that needs an engine.
  var isGiven: Bool { self.engine != nil || self.engineLibrary != nil }

  func validate() throws {
    if self.engineLibrary != nil, self.engine != .sherpa {
      throw ValidationError(
        "--engine-library names the library of sherpa-onnx: give --engine sherpa as well.")
    }
  }

  /// Makes the engine; nothing is loaded.
  func engine(
    language: String?, modelFolder: String?, environment: [String: String]
  ) throws(VoiceFailure) -> any RecognitionEngine {
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    switch self.engine ?? .pocketsphinx {
    case .pocketsphinx:
      return try PocketSphinxEngine(language: language, modelFolder: modelFolder)
    case .sherpa:
      return try SherpaOnnxEngine(
        library: self.engineLibrary ?? variable(SherpaOnnxEngine.libraryVariable),
        modelFolder: modelFolder ?? variable(SherpaOnnxModel.folderVariable), language: language)
    }
  }
}
