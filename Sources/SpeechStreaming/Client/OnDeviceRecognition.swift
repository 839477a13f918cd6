import Foundation
import SpeechMessages
public import SpeechPipeline
public import SpeechUnderstanding
import VoiceCore

/// Recognition in the app's own process, in place of a server or for when there is none.
///
/// ```swift
/// var configuration = SpeechClient.Configuration(app: .app(appId))
/// configuration.onDevice = OnDeviceRecognition(engine: try PocketSphinxEngine(), understanding: understanding)
/// ```
///
/// Options of the protocol (`silence_triggered_segmentation`, `timezone`, `vocabulary`, `vocabulary_bias`) count as they do with a
/// server. The voice interface of a server does not come along: give the same one as `understanding`.
public struct OnDeviceRecognition: Sendable {
  /// The recognisers; they are loaded by ``SpeechClient/prepare()``, else with the first utterance that needs one.
  public var pool: RecognizerPool
  /// The app's voice interface; `nil` for words alone.
  public var understanding: Understanding?
  /// What binds recognition to the interface, with engines that follow grammars.
  public var grammar: RecognitionGrammar?

  static let patience: Duration = .seconds(30)

  /// Creates recognition with one recogniser, bound to the interface if the engine follows grammars.
  ///
  /// - Parameters:
  ///   - engine: Makes the recogniser; it has to take 16 kHz.
  ///   - understanding: The app's voice interface.
  public init(engine: any RecognitionEngine, understanding: Understanding? = nil) {
    self.init(
      pool: RecognizerPool(engine: engine, size: 1), understanding: understanding,
      grammar: understanding.map { RecognitionGrammar($0) })
  }

  /// Creates recognition with recognisers that several clients share.
  public init(pool: RecognizerPool, understanding: Understanding? = nil, grammar: RecognitionGrammar? = nil) {
    self.pool = pool
    self.understanding = understanding
    self.grammar = grammar
  }

  func contextOptions(_ options: StreamOptions, sealing: any ResumePointSealing) -> ContextOptions {
    var values = ValueContext.current
    if let timeZone = options.timeZone { values.timeZone = timeZone }
    let silence: Duration? =
      switch options.silence {
      case .asTheApp: self.understanding?.interface.options.silenceTriggeredSegmentation
      case .never: nil
      case .after(let duration): duration
      }
    return ContextOptions(
      silence: silence == .zero ? nil : silence,
      adaptation: options.resumeToken.flatMap(sealing.open(text:)).flatMap { $0.bytes.isEmpty ? nil : $0 },
      understanding: self.understanding.map {
        ContextUnderstanding($0, values: values, grammar: self.grammar)
      },
      vocabulary: options.vocabulary, vocabularyBias: options.vocabularyBias)
  }
}
