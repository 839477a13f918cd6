public import SpeechPipeline
public import VoiceCore

extension SpeechRecognitionUtility {
  /// Where a utility gets its recogniser.
  public struct EngineSource: Sendable {
    /// What is asked of an engine.
    public struct Request: Hashable, Sendable {
      /// The language as a BCP 47 tag.
      public var language: String
      /// Whether audio must stay on the device.
      public var requiresOnDevice: Bool

      /// Creates a request.
      public init(language: String, requiresOnDevice: Bool) {
        self.language = language
        self.requiresOnDevice = requiresOnDevice
      }
    }

    enum Kind: Sendable {
      case make(@Sendable (Request) throws(VoiceFailure) -> any RecognitionEngine)
      case engine(any RecognitionEngine)
      case pool(RecognizerPool)
    }

    let kind: Kind
    /// Files and folders without which the engine cannot work.
    let watchedPaths: [String]
    let isSystem: Bool

    /// The engine of the platform: on Linux PocketSphinx with the installed model of the language.
    public static var system: EngineSource {
      EngineSource(kind: .make(SystemEngine.make), watchedPaths: SystemEngine.watchedPaths, isSystem: true)
    }

    /// An engine that is there; the utility has a recogniser of its own.
    public static func engine(_ engine: any RecognitionEngine) -> EngineSource {
      EngineSource(kind: .engine(engine), watchedPaths: [], isSystem: false)
    }

    /// Recognisers that are shared with others, and loaded already if the app wants.
    public static func pool(_ pool: RecognizerPool) -> EngineSource {
      EngineSource(kind: .pool(pool), watchedPaths: [], isSystem: false)
    }

    /// An engine that is made when it is needed.
    ///
    /// - Parameters:
    ///   - watchedPaths: Files and folders that the engine needs: when they change, `make` is called again to see whether the
    ///     engine can be used.
    ///   - make: Makes an engine, quickly and without loading it, on any thread; throws a failure if it cannot be used.
    public static func making(
      watching watchedPaths: [String] = [],
      _ make: @escaping @Sendable (Request) throws(VoiceFailure) -> any RecognitionEngine
    ) -> EngineSource {
      EngineSource(kind: .make(make), watchedPaths: watchedPaths, isSystem: false)
    }
  }
}
