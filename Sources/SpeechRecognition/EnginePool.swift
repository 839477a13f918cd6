import Dispatch
import Foundation
import SpeechPipeline
import SpeechUnderstanding
import Synchronization
import VoiceAudio
import VoiceCore

/// The recognisers of a utility: made when they are first needed.
final class EnginePool: Sendable {
  private struct State {
    var pool: RecognizerPool?
    /// The recogniser could not be made: it must be tried before the engine counts as usable again.
    var mustLoad = false
  }

  private let configuration: SpeechRecognitionUtility.Configuration
  private let grammar: RecognitionGrammar?
  private let state = Mutex(State())

  init(configuration: SpeechRecognitionUtility.Configuration) {
    self.configuration = configuration
    self.grammar = configuration.understanding.map { RecognitionGrammar($0) }
  }

  /// Why the engine cannot be used, if it cannot.
  func check() async -> VoiceFailure? {
    do throws(VoiceFailure) {
      try Self.validate(try self.currentEngine(), for: self.configuration)
      guard self.state.withLock({ $0.mustLoad }) else { return nil }
      try await self.pool().load()
      self.state.withLock { $0.mustLoad = false }
      return nil
    } catch {
      return error
    }
  }

  /// What of the configuration the engine cannot recognise.
  func problems() async -> [VoiceFailure] {
    guard let engine = try? self.pool().engine else { return [] }
    let vocabulary = self.configuration.contextualStrings
    let grammar = self.grammar
    guard !vocabulary.isEmpty || grammar != nil else { return [] }
    return await withCheckedContinuation { continuation in
      // Reading a dictionary blocks for a moment, which the threads of Swift's concurrency must not.
      DispatchQueue.global(qos: .utility).async {
        var problems = vocabulary.isEmpty ? [] : engine.problems(ofVocabulary: vocabulary)
        if let grammar {
          problems +=
            engine.capabilities.followsGrammars
            ? engine.problems(of: grammar) : [VoiceFailure(.grammarNotFollowed)]
        }
        continuation.resume(returning: problems)
      }
    }
  }

  /// Begins to recognise; waits while the recogniser is being loaded.
  func beginContext(
    adaptation: RecognizerAdaptation?
  ) async throws(VoiceFailure) -> RecognitionContext {
    let pool = try self.pool()
    do throws(VoiceFailure) {
      return try await pool.beginContext(
        self.options(for: pool.engine, adaptation: adaptation),
        patience: self.configuration.recognizerPatience)
    } catch {
      if error.code.rawValue.hasPrefix("speech.engine.") { self.state.withLock { $0.mustLoad = true } }
      throw error
    }
  }

  /// The rate that the engine wants, in Hz.
  var sampleRate: Int {
    (try? self.pool().engine.capabilities.sampleRate) ?? AudioFormat.recognition.sampleRate
  }

  private func pool() throws(VoiceFailure) -> RecognizerPool {
    if case .pool(let pool) = self.configuration.engine.kind { return pool }
    if let pool = self.state.withLock({ $0.pool }) { return pool }
    let engine = try self.currentEngine()
    return self.state.withLock { state in
      let pool = state.pool ?? RecognizerPool(engine: engine, size: 1, clock: self.configuration.clock)
      state.pool = pool
      return pool
    }
  }

  private func currentEngine() throws(VoiceFailure) -> any RecognitionEngine {
    switch self.configuration.engine.kind {
    case .make(let make):
      try make(
        SpeechRecognitionUtility.EngineSource.Request(
          language: self.configuration.language,
          requiresOnDevice: self.configuration.requiresOnDeviceRecognition))
    case .engine(let engine): engine
    case .pool(let pool): pool.engine
    }
  }

  private func options(
    for engine: any RecognitionEngine, adaptation: RecognizerAdaptation?
  ) -> ContextOptions {
    let understanding = self.configuration.understanding.map {
      ContextUnderstanding(
        $0, values: self.configuration.values?() ?? ValueContext.current,
        grammar: engine.capabilities.followsGrammars ? self.grammar : nil)
    }
    return ContextOptions(
      silence: self.configuration.timeoutPeriod,
      alternatives: max(0, self.configuration.maximumTranscriptions - 1),
      adaptation: adaptation, understanding: understanding, vocabulary: self.configuration.contextualStrings,
      vocabularyBias: self.configuration.contextualBias)
  }

  private static func validate(
    _ engine: any RecognitionEngine, for configuration: SpeechRecognitionUtility.Configuration
  ) throws(VoiceFailure) {
    let wanted = configuration.language.lowercased()
    let capabilities = engine.capabilities
    let isKnown = capabilities.languages.contains { language in
      let known = language.lowercased()
      return known == wanted || known.hasPrefix(wanted + "-") || wanted.hasPrefix(known + "-")
    }
    guard isKnown else {
      throw VoiceFailure(
        .engineLanguageMissing,
        message: "\(engine.name) does not recognise “\(configuration.language.prefix(40))”; it knows "
          + "\(capabilities.languages.joined(separator: ", ")).")
    }
    if configuration.requiresOnDeviceRecognition, capabilities.needsNetwork {
      throw VoiceFailure(.recognitionNotOnDevice)
    }
  }
}
