import Foundation
import SpeechPipeline
import SpeechUnderstanding
import VoiceCore

/// What an app understands now: its configuration, compiled once for all streams.
///
/// Whoever holds the value keeps it: a stream that began with one configuration ends with it, whatever is deployed
/// meanwhile.
struct DeployedInterface: Sendable {
  /// Identifies the configuration.
  let configID: UUID
  /// When it was deployed, in seconds since 1970-01-01T00:00:00 UTC.
  let deployedAt: Int64
  /// How long it took to compile.
  let compileTime: Duration
  /// Finds intents and entities.
  let understanding: Understanding
  /// What recognisers take; the same object for all streams, because they keep what they make from it.
  let recognitionGrammar: RecognitionGrammar
  /// What of it the recogniser cannot recognise.
  let problems: [VoiceFailure]

  /// - Parameter engine: Is asked what it cannot recognise, which can take a second and blocks.
  init(
    configID: UUID, deployedAt: Int64, compileTime: Duration, understanding: Understanding,
    engine: (any RecognitionEngine)? = nil
  ) {
    self.configID = configID
    self.deployedAt = deployedAt
    self.compileTime = compileTime
    self.understanding = understanding
    self.recognitionGrammar = RecognitionGrammar(understanding)
    self.problems = engine?.problems(of: self.recognitionGrammar) ?? []
  }
}
