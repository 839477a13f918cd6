#if canImport(Speech) && !os(tvOS)
  import Foundation
  import Speech
  public import VoicePlatform

  /// Tells when Apple's speech recognition for a language becomes available or stops being so, as with the network.
  // @unchecked: nothing is changed after the initialiser.
  public final class AppleSpeechAvailability: NSObject, AvailabilityMonitor, SFSpeechRecognizerDelegate, @unchecked Sendable {
    private let readers = ManualAvailabilityMonitor()
    private let recognizer: SFSpeechRecognizer?

    /// Creates a monitor; for an unknown language it never tells anything.
    public init(language: String) {
      self.recognizer = SFSpeechRecognizer(locale: Locale(identifier: language))
      super.init()
      self.recognizer?.delegate = self
    }

    public func changes() -> AsyncStream<Void> { self.readers.changes() }

    public func speechRecognizer(
      _ speechRecognizer: SFSpeechRecognizer, availabilityDidChange available: Bool
    ) {
      self.readers.change()
    }
  }
#endif
